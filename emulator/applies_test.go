package emulator

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/api/iterator"

	"cloud.google.com/go/bigquery"
)

// applyJobs are the background applies that JOBS shows, with the minutes from start at
// which they were created, started and ended; -1 for not yet.
func (e *env) applyJobs(start time.Time) []string {
	e.t.Helper()
	rows, err := e.bq.Query("SELECT job_id, state, creation_time, start_time, end_time, error_result.reason, error_result.message FROM `region-us`.INFORMATION_SCHEMA.JOBS WHERE job_id LIKE '%cdc_background%' ORDER BY creation_time").Read(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	var jobs []string
	for {
		var row []bigquery.Value
		switch err := rows.Next(&row); {
		case err == iterator.Done: //nolint:errorlint // it is returned as it is
			return jobs
		case err != nil:
			e.t.Fatal(err)
		}
		text := fmt.Sprint(row[1])
		for _, at := range row[2:5] {
			if at, ok := at.(time.Time); ok {
				text += fmt.Sprintf(" %.0f", at.Sub(start).Minutes())
			} else {
				text += " -"
			}
		}
		if row[5] != nil {
			text += fmt.Sprintf(" %v: %v", row[5], row[6])
		}
		jobs = append(jobs, text)
	}
}

func (e *env) wantApplyJobs(start time.Time, want ...string) {
	e.t.Helper()
	if got := e.applyJobs(start); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		e.t.Errorf("jobs %q, want %q", got, want)
	}
}

// An apply that is held back is a job from when it was due, and stays the same job until
// it is through: how long it waited counts as its duration.
func TestApplies_held(t *testing.T) {
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	clock := &Clock{}
	clock.Freeze(start)
	e := newEnv(t, Options{Clock: clock})
	e.table("t", "id INTEGER", "id")
	e.HoldApplies(true)
	e.writer("t", true).append(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	clock.Advance(9 * time.Minute)
	e.wantApplyJobs(start)
	clock.Advance(3 * time.Minute)
	e.wantApplyJobs(start, "PENDING 10 - -")
	clock.Advance(3 * time.Minute)
	e.wantApplyJobs(start, "PENDING 10 - -")
	e.HoldApplies(false)
	if err := e.ApplyDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.wantApplyJobs(start, "DONE 10 15 15")
}

// A background apply that a fault makes fail leaves the watermark where it was, and is
// tried again after a minute.
func TestApplies_fail(t *testing.T) {
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	clock := &Clock{}
	clock.Freeze(start)
	e := newEnv(t, Options{Clock: clock})
	e.table("t", "id INTEGER", "id")
	e.writer("t", true).append(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	if err := e.SetFaults([]Fault{{Method: "BackgroundApply", Table: "d.t", Times: 2, Effect: Effect{Code: "RESOURCE_EXHAUSTED", Message: "no slots"}}}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		jobs  int
	}{{10 * time.Minute, 1}, {time.Second, 1}, {10 * time.Minute, 2}, {10 * time.Minute, 3}} {
		clock.Advance(step.after)
		if err := e.ApplyDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(e.applyJobs(start)); n != step.jobs {
			t.Errorf("%d jobs at %v, want %d", n, clock.Now(), step.jobs)
		}
	}
	e.wantApplyJobs(start, "DONE 10 10 10 rateLimitExceeded: no slots", "DONE 20 20 20 rateLimitExceeded: no slots", "DONE 30 30 30")
}
