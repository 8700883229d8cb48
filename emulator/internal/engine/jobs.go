package engine

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxJobs bounds how many background applies are remembered; the oldest go first.
const maxJobs = 10_000

// ApplyJobUser is who BigQuery's background applies run as.
const ApplyJobUser = "bigquery-adminbot@system.gserviceaccount.com"

// ApplyJob is a background apply. Its times are of the engine's clock; Started is zero
// while it waits, and Ended until it is through.
type ApplyJob struct {
	ID       string // has "cdc_background" in it
	Table    TableRef
	Location string // the dataset's

	Created, Started, Ended time.Time

	Rows       int64 // changes that it applied
	Bytes      int64 // their size, as BigQuery counts it
	SlotMillis int64 // what it took in fact, at least 1

	Err error // why it failed; such a job isn't kept in the database
}

func newJobID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return fmt.Sprintf("cdc_background_%x", b)
}

// save writes the job's entry of the catalog.
func (j *ApplyJob) save(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO emulator_jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", j.ID, j.Table.Project, j.Table.Dataset, j.Table.Table,
		j.Location, j.Created.UnixMicro(), j.Started.UnixMicro(), j.Ended.UnixMicro(), j.Bytes, j.Rows, j.SlotMillis)
	if err != nil {
		return fmt.Errorf("keeping a job of %s: %w", j.Table, err)
	}
	return nil
}

// jobList holds the jobs that are remembered, oldest first.
type jobList struct {
	mu   sync.Mutex
	jobs []ApplyJob
}

func (l *jobList) add(j ApplyJob) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs = append(l.jobs, j)
	if len(l.jobs) > maxJobs+maxJobs/10 {
		l.jobs = slices.Clone(l.jobs[len(l.jobs)-maxJobs:])
	}
}

// OpenApplies lists the background applies that are due and held back, and those that run.
func (e *Engine) OpenApplies() []ApplyJob {
	e.askForDue(e.now())
	var open []ApplyJob
	for _, t := range e.catalog.all() {
		if job := t.apply.Load(); job != nil {
			open = append(open, *job)
		}
	}
	return open
}

// ApplyJobs lists the background applies that ended, oldest first: the latest 10,000.
func (e *Engine) ApplyJobs() []ApplyJob {
	e.jobs.mu.Lock()
	defer e.jobs.mu.Unlock()
	return slices.Clone(e.jobs.jobs[max(0, len(e.jobs.jobs)-maxJobs):])
}

// trimJobs forgets the jobs in the database that are too many.
func (e *Engine) trimJobs(ctx context.Context) error {
	_, err := e.db.ExecContext(ctx, fmt.Sprintf("DELETE FROM emulator_jobs WHERE rowid IN (SELECT rowid FROM emulator_jobs ORDER BY started DESC, rowid DESC OFFSET %d)", maxJobs))
	if err != nil {
		return fmt.Errorf("forgetting jobs: %w", err)
	}
	return nil
}

// loadJobs reads the jobs of a database that was just opened.
func (e *Engine) loadJobs(ctx context.Context) error {
	rows, err := e.db.QueryContext(ctx, "SELECT * FROM emulator_jobs ORDER BY started, rowid")
	if err != nil {
		return fmt.Errorf("reading the catalog's jobs: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	for rows.Next() {
		var j ApplyJob
		var created, started, ended int64
		if err := rows.Scan(&j.ID, &j.Table.Project, &j.Table.Dataset, &j.Table.Table, &j.Location, &created, &started, &ended, &j.Bytes, &j.Rows, &j.SlotMillis); err != nil {
			return fmt.Errorf("reading the catalog's jobs: %w", err)
		}
		j.Created, j.Started, j.Ended = time.UnixMicro(created), time.UnixMicro(started), time.UnixMicro(ended)
		e.jobs.add(j)
	}
	return rows.Err()
}
