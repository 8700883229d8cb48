package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// machine tells what the figures are of.
func machine() string {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value[:min(len(s.Value), 7)]
			}
		}
	}
	return fmt.Sprintf("%s, %s/%s, %d processors, commit %s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), commit, time.Now().UTC().Format("2006-01-02 15:04 MST"))
}

// say prints. What can't be printed is of no use to anyone.
func say(w io.Writer, format string, a ...any) { _, _ = fmt.Fprintf(w, format, a...) }

// print prints what a run came to.
func (r *result) print(w io.Writer) {
	say(w, "\n%s: %d messages in %v (published in %v), %d rows, %d superseded, %d dead letters; %v of processor time a message\n",
		r.scenario.name, r.published, r.elapsed.Round(time.Millisecond), r.drained.Round(time.Millisecond), r.written,
		r.counts["bqcdc/rows_superseded"], r.letters, r.perMessage().Round(100*time.Nanosecond))
	say(w, "publish to acked: p50 %v, p99 %v, most %v\n", short(r.latencies.quantile(0.5)), short(r.latencies.quantile(0.99)), short(r.latencies.most))
	say(w, "last third to middle third: heap %.2f, memory %.2f, goroutines %.2f, sockets %.2f, p50 %.2f, processor time a message %.2f\n",
		r.drift(func(s *sample) float64 { return float64(s.heap) }), r.drift(func(s *sample) float64 { return float64(s.memory) }),
		r.drift(func(s *sample) float64 { return float64(s.goroutines) }), r.drift(func(s *sample) float64 { return float64(s.sockets) }),
		r.drift(func(s *sample) float64 { return s.p50.Seconds() }), r.drift((*sample).perMessage))
	say(w, "connections to BigQuery opened: %d; appends sent again: %s; messages delivered again: %d\n", r.opened, r.repeats(), r.source.Redelivered)
	if r.fast > 0 {
		say(w, "BigQuery was slow until %v\n", r.fast.Round(time.Second))
	}
	say(w, "afterwards: %d MB of heap alive, %d goroutines\n", r.left>>20, r.goroutines)
	for _, problem := range r.problems {
		say(w, "PROBLEM: %s\n", problem)
	}
}

const sampleHead = `| at | published/s | acked/s | p50 | p99 | heap MB | memory MB | goroutines | sockets | BigQuery streams | taken | in Pub/Sub | CPU µs/message |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

func (s *sample) print(w io.Writer) {
	say(w, "| %v | %d | %.0f | %v | %v | %d | %d | %d | %d | %d | %d | %d | %.0f |\n", s.at.Round(time.Second/10), s.rate, s.acked, short(s.p50), short(s.p99),
		s.heap>>20, s.memory>>20, s.goroutines, s.sockets, s.streams, s.outstanding, s.waiting, s.perMessage())
}

// perMessage is the processor time for a message.
func (r *result) perMessage() time.Duration { return r.cpu / time.Duration(max(r.source.Acked, 1)) }

// perMessage is the processor time for a message acked in the interval, in microseconds.
func (s *sample) perMessage() float64 {
	if s.acked == 0 {
		return 0
	}
	return s.cpu.Seconds() * 1e6 / (s.acked * s.length.Seconds())
}

// repeats tells how often appends were sent again, by why.
func (r *result) repeats() string {
	var texts []string
	for _, why := range []string{"transient", "throttled", "schema_mismatch", "rejected_rows", "too_large", "permanent"} {
		if n := r.counts["bqcdc/repeats/"+why]; n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, why))
		}
	}
	if texts == nil {
		return "none"
	}
	return strings.Join(texts, ", ")
}

// summary is the table of docs/benchmarks.md.
func summary(results []*result) string {
	var b strings.Builder
	b.WriteString("| scenario | messages/s | p50 | p99 | p50 / idle | p99 / idle | heap alive, most, MB | last third / middle third |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		p50, p99 := r.latencies.quantile(0.5), r.latencies.quantile(0.99)
		ratios := "| | |"
		if r.idle != nil {
			ratios = fmt.Sprintf("| %.1f | %.1f |", p50.Seconds()/r.idle.latencies.quantile(0.5).Seconds(), p99.Seconds()/r.idle.latencies.quantile(0.99).Seconds())
		}
		heap := uint64(0)
		for _, s := range r.samples {
			heap = max(heap, s.heap)
		}
		fmt.Fprintf(&b, "| %s | %.0f | %v | %v %s %d | %.2f |\n", r.scenario.name, float64(r.published)/r.drained.Seconds(), short(p50), short(p99), ratios, heap>>20,
			r.drift(func(s *sample) float64 { return float64(s.heap) }))
	}
	return b.String()
}

func short(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// save writes the samples and the chart of them to a directory.
func (r *result) save(directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{
		"seconds", "published_per_second", "acked_per_second", "p50_ms", "p99_ms", "heap_bytes", "memory_bytes",
		"goroutines", "sockets", "bigquery_streams", "outstanding", "waiting", "cpu_us_per_message",
	})
	for i := range r.samples {
		s := &r.samples[i]
		_ = w.Write([]string{
			fmt.Sprintf("%.1f", s.at.Seconds()), strconv.Itoa(s.rate), fmt.Sprintf("%.0f", s.acked),
			strconv.FormatInt(s.p50.Milliseconds(), 10), strconv.FormatInt(s.p99.Milliseconds(), 10),
			strconv.FormatUint(s.heap, 10), strconv.FormatUint(s.memory, 10),
			strconv.Itoa(s.goroutines), strconv.Itoa(s.sockets), strconv.Itoa(s.streams),
			strconv.Itoa(s.outstanding), strconv.Itoa(s.waiting), fmt.Sprintf("%.1f", s.perMessage()),
		})
	}
	w.Flush() // a Builder takes everything
	base := filepath.Join(directory, r.scenario.name)
	if err := os.WriteFile(base+".csv", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".svg", []byte(chart(r)), 0o644)
}
