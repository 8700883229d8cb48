package query

import (
	"testing"

	"beamcdc/emulator/internal/engine"
)

// Results that are too many to be kept go, the oldest first; the latest one stays,
// whatever it has.
func TestJobs_ForgetsLargeResults(t *testing.T) {
	s := NewJobs()
	run := func(id string, rows int) {
		t.Helper()
		j := &Job{Project: "p", ID: id}
		if err := s.Begin(j); err != nil {
			t.Fatal(err)
		}
		s.End(j, func() {
			j.Result = &Result{Columns: make([]*engine.Column, 100), Rows: make([][]any, rows)}
		})
	}
	const most = maxKeptValues / 100
	for _, step := range []struct {
		id   string
		rows int
		kept string
	}{
		{"a", most / 2, "a"}, {"b", most / 2, "ab"}, {"c", 1, "bc"}, {"d", most * 2, "d"}, {"e", most - 1, "e"}, {"f", 1, "ef"},
	} {
		run(step.id, step.rows)
		kept := ""
		for _, j := range s.list {
			if j.Result != nil {
				kept += j.ID
			}
		}
		if kept != step.kept {
			t.Errorf("after %s: the results of %q are kept, want %q", step.id, kept, step.kept)
		}
	}
}
