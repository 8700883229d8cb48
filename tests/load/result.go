package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/pubsubsource/firehose"
)

// result is what a run came to.
type result struct {
	scenario scenario
	settings settings
	idle     *result // the one before, to compare with; nil if there was none

	rate      int // messages a second; the last, where it adapts
	published int
	elapsed   time.Duration // from the job's start to the last ack
	cpu       time.Duration // of the process: the graph, Prism and both servers
	drained   time.Duration // when the publishing ended
	fast      time.Duration // when BigQuery was no longer slow; 0 where it never was
	samples   []sample
	latencies *latencies
	source    firehose.Counts
	counts    map[string]int64 // of the graph
	written   int64            // rows that BigQuery has counted
	tables    map[string]int64 // of them, by table
	opened    int              // connections to BigQuery's default streams, one after the other too

	left       uint64 // of the heap, when the job was over
	goroutines int    // then
	letters    int
	problems   []string
}

func (r *result) problem(format string, a ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, a...))
}

// check finds what is wrong with the result. Its error is one of the checking.
func (r *result) check(letters string) error {
	want := func(what string, got, want int) {
		if got != want {
			r.problem("%s: %d, want %d", what, got, want)
		}
	}
	want("messages acked", r.source.Acked, r.published)
	tooLarge := 0
	for i := 0; r.scenario.letter != nil && i < r.published; i++ {
		if r.scenario.letter(i) {
			tooLarge++
		}
	}
	count := func(names ...string) (n int) {
		for _, name := range names {
			n += int(r.counts[name])
		}
		return n
	}
	rows := count("bqcdc/rows_upserted", "bqcdc/rows_deleted")
	// What Pub/Sub delivered again is written again, or not.
	again := r.source.Delivered - r.published
	if n := rows + count("bqcdc/rows_superseded") + count("deadletter/letters"); n < r.published || n > r.published+again {
		r.problem("rows, changes superseded and dead letters: %d, want %d, and up to %d for messages delivered again", n, r.published, again)
	}
	// An append whose answer came too late is sent again.
	if n := int(r.written); n < rows || n > rows && r.repeats() == "none" {
		r.problem("rows that BigQuery has counted: %d, want %d", n, rows)
	}
	if r.scenario.tables > 0 {
		want("tables that were written", len(r.tables), min(r.scenario.tables, r.published))
	}
	return r.checkLetters(letters, tooLarge)
}

// checkLetters looks at the directory of dead letters: each message that should be
// there is, once, with its bytes.
func (r *result) checkLetters(directory string, want int) error {
	files, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil {
		return err
	}
	seen, wrong := make(map[int]bool), make(map[string]int) // what is wrong, and of how many
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var l deadletter.Stored
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("reading the dead letter %s: %w", filepath.Base(name), err)
		}
		i, err := strconv.Atoi(l.MessageID)
		switch {
		case err != nil || i < 0 || i >= r.published || r.scenario.letter == nil || !r.scenario.letter(i):
			wrong["messages should be no dead letters, and are because of "+l.Reason+": "+l.Error]++
		case seen[i]:
			wrong["messages are dead letters twice"]++
		case l.Reason != "row_too_large":
			wrong["dead letters are there because of "+l.Reason]++
		case !bytes.Equal(l.DataBase64, r.scenario.message(i).GetData()):
			wrong["dead letters have other bytes than their messages"]++
		}
		seen[i] = true
	}
	for what, n := range wrong {
		r.problem("%d %s", n, what)
	}
	r.letters = len(seen)
	if len(seen) != want {
		r.problem("dead letters stored: %d, want %d", len(seen), want)
	}
	return nil
}

// drift compares the mean of the last third of the samples from the publishing with
// that of the middle third; 1 means flat. The first third fills what has bounds.
// Samples without a value don't count; without any it is 0.
func (r *result) drift(of func(*sample) float64) float64 {
	var busy []sample
	for _, s := range r.samples {
		if s.at <= r.drained {
			busy = append(busy, s)
		}
	}
	third := len(busy) / 3
	if third == 0 {
		return 0
	}
	mean := func(samples []sample) float64 {
		sum, n := 0.0, 0
		for i := range samples {
			if value := of(&samples[i]); value > 0 {
				sum += value
				n++
			}
		}
		return sum / float64(max(n, 1))
	}
	middle := mean(busy[third : 2*third])
	if middle == 0 {
		return 0
	}
	return mean(busy[len(busy)-third:]) / middle
}
