package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// compare holds BigQuery against the source: every table, value by value, the history's
// distinct changes, and the dead letters.
func (s *system) compare() {
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	total := 0
	for _, t := range s.source.tables {
		rows, err := s.bigquery.rows("shop", t.name)
		if err != nil {
			s.problem(fmt.Errorf("reading shop.%s: %w", t.name, err))
			continue
		}
		total += len(rows)
		s.problem(t.compare(rows))
	}
	for _, t := range s.source.tables {
		if !t.remembers() {
			continue
		}
		if n, err := s.bigquery.query("SELECT COUNT(*) FROM shop." + t.name + "_history_distinct"); err != nil {
			s.problem(err)
		} else if want := fmt.Sprint(t.history); n != want {
			s.problem(fmt.Errorf("the history of %s has %s distinct changes, the source made %s", t.name, n, want))
		}
	}
	s.printf("compared %d rows of %d tables", total, len(s.source.tables))
	s.problem(s.checkLetters())
}

// compare holds a table's rows against the source's.
func (t *sourceTable) compare(rows []map[string]any) error {
	want := maps.Clone(t.rows)
	if t.soft {
		maps.Copy(want, t.ever)
	}
	var wrong []string
	for _, got := range rows {
		name := t.gotKey(got)
		r, there := want[name]
		if !there {
			wrong = append(wrong, name+": it is not at the source")
			continue
		}
		delete(want, name)
		expected := map[string]any{}
		for _, c := range t.columns {
			expected[c.name] = c.wanted(r[c.name])
		}
		if t.soft {
			_, alive := t.rows[name]
			expected["is_deleted"] = !alive
			expected["deleted_at"] = nil
			if !alive {
				expected["deleted_at"] = column{kind: moment}.wanted(t.deleted[name].at * 1000)
			}
		}
		for column, value := range expected {
			if got[column] != value {
				wrong = append(wrong, fmt.Sprintf("%s: %s is %v, at the source %v", name, column, got[column], value))
			}
		}
		for column := range got {
			if _, known := expected[column]; !known && column != "beamcdc_versions" {
				wrong = append(wrong, fmt.Sprintf("%s: there is a column %s", name, column))
			}
		}
	}
	for name := range want {
		wrong = append(wrong, name+": it is missing")
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("shop.%s differs in %d places: %s", t.name, len(wrong), strings.Join(wrong[:min(len(wrong), 5)], "; "))
}

// gotKey is a row's key as keyText writes it.
func (t *sourceTable) gotKey(got map[string]any) string {
	r := row{}
	for _, name := range t.key {
		r[name] = got[name]
		if t.columns[t.index(name)].kind == number {
			var n int64
			_, _ = fmt.Sscan(fmt.Sprint(got[name]), &n) // another number is not at the source
			r[name] = n
		}
	}
	return t.keyText(r)
}

// deadLetters returns the stored letters.
func (s *system) deadLetters() ([]map[string]any, error) {
	rows, err := s.bigquery.rows("ops", "dead_letters")
	if err != nil {
		return nil, fmt.Errorf("reading the dead letters: %w", err)
	}
	return rows, nil
}

// checkLetters looks for each message that can't be used in the dead letters: once, with
// its stage and reason. There must be no others by then.
func (s *system) checkLetters() error {
	letters, err := s.deadLetters()
	if err != nil {
		return err
	}
	seen := map[string]int{}
	var errs []error
	for _, l := range letters {
		if s.isOverdue(l) {
			s.overdue[fmt.Sprint(l["id"])] = true
			continue
		}
		id := fmt.Sprint(l["message_id"])
		seen[id]++
		want, known := s.source.poison[id]
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("there is a dead letter of a good message: %s", describe(l)))
		case want.stage != "" && (l["stage"] != want.stage || l["reason"] != want.reason):
			errs = append(errs, fmt.Errorf("a dead letter is %s, not %s: %s", describe(l), want.stage, want.reason))
		}
	}
	for id, p := range s.source.poison {
		if seen[id] != 1 {
			errs = append(errs, fmt.Errorf("message %s (%s %s) has %d dead letters", id, p.stage, p.reason, seen[id]))
		}
	}
	s.letters = len(seen)
	if len(errs) > 5 {
		errs = append(errs[:5], fmt.Errorf("and %d more", len(errs)-5))
	}
	return errors.Join(errs...)
}

// isOverdue tells a dead letter that package fill documents and no replay mends: of an
// update that came again after its row's later delete was written and acked, and whose
// values BigQuery has deleted. Nothing is lost with it.
func (s *system) isOverdue(l map[string]any) bool {
	if l["stage"] != "fill" || l["reason"] != "unavailable_value" {
		return false
	}
	var message struct {
		After  map[string]any
		Source struct {
			Table string
			LSN   uint64
		}
	}
	text, _ := base64.StdEncoding.DecodeString(fmt.Sprint(l["data"]))
	if json.Unmarshal(text, &message) != nil {
		return false
	}
	t := s.source.table(message.Source.Table)
	key := row{}
	for _, name := range t.key {
		key[name] = message.After[name]
	}
	return t.deleted[t.gotKey(key)].position > message.Source.LSN
}

func describe(l map[string]any) string {
	return fmt.Sprintf("%v %v: %v: %v: %v", l["id"], l["source_table"], l["stage"], l["reason"], l["error"])
}

// The reasons for which good messages become dead letters under these faults: their
// rows were rejected, or what completes them came too late. They are to be replayed.
const replayable = "rejected_row,unavailable_value,schema_changed"

// replay publishes the messages of good changes' dead letters again, as an operator
// does once BigQuery takes the rows.
func (s *system) replay(ctx context.Context) {
	letters, err := s.deadLetters()
	if err != nil {
		s.problem(err)
		return
	}
	good := map[string]int{}
	for _, l := range letters {
		if _, poison := s.source.poison[fmt.Sprint(l["message_id"])]; !poison {
			good[fmt.Sprint(l["reason"])]++
		}
	}
	if len(good) == 0 {
		return
	}
	command := exec.CommandContext(ctx, s.cdc, "dead-letters", "replay", "-config", s.config, "-reason", replayable, "-to", topic,
		"-bigquery_rest_endpoint", "http://"+s.bigquery.rest, "-bigquery_grpc_endpoint", s.bigquery.grpc)
	command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+s.broker.addr)
	out, err := command.CombinedOutput()
	if err != nil {
		s.problem(fmt.Errorf("replaying dead letters %v: %w\n%s", good, err, out))
		return
	}
	for _, n := range good {
		s.replayed += n
	}
	s.printf("replayed dead letters: %v", good)
}

// A process may end by itself where it finds no BigQuery when it starts, or is stopped
// before it has found it. A service manager starts it again; the driver does.
var startMarks = []string{"checking the tables: ", "checking the histories: ", "checking the dead letters: ", "interrupted before it had started", "ended at once: "}

// What a process ends by that may not write to a table, as it is told to.
const forbidden = "permanent: rpc error: code = PermissionDenied"

// checkExits looks for processes that ended by themselves for another reason.
func (s *system) checkExits() {
	for _, text := range s.pipeline.counts().exits {
		expected := slices.ContainsFunc(startMarks, func(mark string) bool { return strings.Contains(text, mark) }) ||
			s.happenedAlready("forbid") && strings.Contains(text, forbidden)
		if !expected {
			s.problem(fmt.Errorf("the pipeline ended by itself: %.500s", text))
		}
	}
}

func (s *system) happenedAlready(fault string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[fault] > 0
}

// checkLog holds the number of lines that the pipeline logged against the faults: a line
// a fault, for each table and outcome, and not one a row.
func (s *system) checkLog() {
	p := s.pipeline.counts()
	s.mu.Lock()
	allowed := s.budget + 2*p.starts // its end, and one of the source's
	s.mu.Unlock()
	if lines := s.journal.lines(); lines > allowed {
		s.problem(fmt.Errorf("the pipeline logged %d lines, more than the %d that its faults explain: %s", lines, allowed, s.journal))
	}
	if unknown := s.journal.unknown(); len(unknown) > 0 {
		s.printf("lines of no known kind: %d: %q", len(unknown), unknown)
	}
}
