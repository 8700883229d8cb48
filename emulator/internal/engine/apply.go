package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// defaultMergeRows is the number of pending changes below which reads bear their
// cost rather than an apply that isn't due by time.
const defaultMergeRows = 200_000

// applyInterval is after how long pending changes of a table without max_staleness
// are applied. BigQuery doesn't document its own.
const applyInterval = 10 * time.Minute

// applyTick is how often the engine looks which applies are due.
const applyTick = time.Second

// mergeThreshold is the number of pending changes from which on an apply pays for
// a baseline of this many rows: its cost is that of a look at the whole baseline,
// so the cost for each change stays the same however many there have been.
func (e *Engine) mergeThreshold(baseline int64) int64 { return max(e.mergeRows, baseline/2) }

// applyIsDue says whether the table's pending changes have to be applied by now: early
// enough that the baseline isn't older than max_staleness when that is done. Before
// the first apply the time runs from the first change. A time of the future is of a
// clock that was set back since, and doesn't count.
func (t *Table) applyIsDue(now time.Time) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, due := t.applyDue(now)
	return due
}

// applyDue is applyIsDue, and since when. The caller holds mu.
func (t *Table) applyDue(now time.Time) (at time.Time, due bool) {
	interval := t.maxStaleness() * 9 / 10
	if interval == 0 {
		interval = applyInterval
	}
	since := t.watermark.Load()
	if since == 0 {
		since = t.pendingSince.Load()
	}
	from := time.UnixMicro(since)
	if now.Before(from) {
		return now, true
	}
	return from.Add(interval), now.Sub(from) >= interval
}

// applyRetry is after how long a background apply that failed is tried again.
const applyRetry = time.Minute

// background applies a table's pending changes, unless it is made to fail.
func (e *Engine) background(ctx context.Context, t *Table) error {
	if e.onApply == nil {
		return e.Apply(ctx, t)
	}
	now := e.now()
	if now.Sub(time.UnixMicro(t.applyFailed.Load())).Abs() < applyRetry {
		return nil
	}
	err := e.onApply(t.ref)
	if err == nil {
		return e.Apply(ctx, t)
	}
	t.applyFailed.Store(now.UnixMicro())
	t.mu.RLock()
	job := t.applyJob(now)
	t.apply.Store(nil)
	t.mu.RUnlock()
	job.Started, job.Ended, job.Err = now, now, err
	e.jobs.add(job)
	return nil
}

// applyJob is the job of an apply that is asked for now, or that was before. The caller
// holds mu.
func (t *Table) applyJob(now time.Time) ApplyJob {
	if asked := t.apply.Load(); asked != nil {
		return *asked
	}
	return ApplyJob{ID: newJobID(), Table: t.ref, Location: t.resource.Location, Created: now}
}

// askForDue makes jobs, which wait, of the applies that are due while they are held back.
func (e *Engine) askForDue(now time.Time) {
	if !e.held.Load() {
		return
	}
	for _, t := range e.catalog.all() {
		t.mu.RLock()
		if at, due := t.applyDue(now); due && t.pendingRows.Load() > 0 && t.apply.Load() == nil {
			job := t.applyJob(at)
			t.apply.CompareAndSwap(nil, &job)
		}
		t.mu.RUnlock()
	}
}

// HoldApplies holds background applies back, or lets them go on: BigQuery may fall
// behind too. Apply itself isn't held.
func (e *Engine) HoldApplies(hold bool) { e.held.Store(hold) }

// ApplyDue applies the pending changes of all tables for which that is due, and
// forgets what is too old to be kept. The engine does so too, each second.
func (e *Engine) ApplyDue(ctx context.Context) error {
	now := e.now()
	if e.held.Load() {
		e.askForDue(now)
		return nil
	}
	e.upkeep.Lock()
	defer e.upkeep.Unlock()
	var failed []error
	for _, t := range e.catalog.all() {
		if t.pendingRows.Load() > 0 && t.applyIsDue(now) {
			if err := e.background(ctx, t); err != nil {
				failed = append(failed, fmt.Errorf("applying pending changes of %s: %w", t.ref, err))
			}
		}
	}
	if now.Sub(e.tidied).Abs() >= tidyInterval {
		e.tidied = now
		failed = append(failed, e.tidy(ctx))
	}
	return errors.Join(failed...)
}

// tidyInterval is how often the engine looks for what is too old to be kept.
const tidyInterval = time.Hour

// tidy forgets what is too old to be kept.
func (e *Engine) tidy(ctx context.Context) error {
	var failed []error
	for _, t := range e.catalog.all() {
		failed = append(failed, e.forgetStreams(ctx, t), e.trimHistory(ctx, t))
	}
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	return errors.Join(append(failed, e.trimJobs(ctx), e.purgeDropped(ctx))...)
}

// requestApply asks for an apply of the table, without waiting. A request that
// doesn't fit the queue is made again by the next append.
func (e *Engine) requestApply(t *Table) {
	if e.held.Load() || !t.applyRequested.CompareAndSwap(false, true) {
		return
	}
	select {
	case e.applies <- t:
	default:
		t.applyRequested.Store(false)
	}
}

func (e *Engine) applyLoop() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-e.stop
		cancel()
	}()
	tick := time.NewTicker(applyTick)
	defer tick.Stop()
	for {
		select {
		case t := <-e.applies:
			t.applyRequested.Store(false)
			if err := e.background(ctx, t); err != nil && ctx.Err() == nil {
				e.log.Error("applying pending changes", "table", t.ref, "error", err)
			}
		case <-tick.C:
			if err := e.ApplyDue(ctx); err != nil && ctx.Err() == nil {
				e.log.Error("background work", "error", err)
			}
			e.requestReclaim()
		case <-e.stop:
			return
		}
	}
}

// Apply applies a table's pending changes to its baseline now: a background apply.
// Appends and reads go on meanwhile. Without pending changes it does nothing.
func (e *Engine) Apply(ctx context.Context, t *Table) error {
	t.admin.Lock()
	defer t.admin.Unlock()

	t.mu.Lock()
	if t.dropped || len(t.generations()) == 0 || len(t.schema.Key) == 0 {
		t.mu.Unlock()
		return nil
	}
	// From here on appends go to the next generation: what was ingested before now is
	// in those that are applied.
	last := t.generation
	t.generation++
	closed := t.generations()
	asked, job := t.apply.Load(), t.applyJob(e.now())
	job.Started = e.now()
	t.apply.Store(&job)
	t.mu.Unlock()
	through := false
	defer func() {
		if !through { // it is asked for as before
			t.apply.Store(asked)
		}
	}()

	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() { _ = conn.Close() }() // gives it back
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning an apply: %w", err)
	}
	done, err := e.applySQL(ctx, tx, t, closed, job)
	if err != nil {
		return rollback(tx, err)
	}
	var rows int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+baseName(t.id)).Scan(&rows); err != nil {
		return rollback(tx, fmt.Errorf("counting the rows of the baseline: %w", err))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing an apply: %w", err)
	}
	t.dropPending(last)
	t.rows.Store(rows)
	t.applied(done.Started)
	through = true
	t.apply.Store(nil)
	e.jobs.add(done)
	e.ended.Add(done.Rows)
	e.counts.merges.Add(1)
	return nil
}

// applySQL applies generations of pending changes in a transaction, and keeps what
// the apply did: job, which has started. The caller holds admin.
func (e *Engine) applySQL(ctx context.Context, tx *sql.Tx, t *Table, generations []generation, job ApplyJob) (ApplyJob, error) {
	begun := time.Now() // what the apply costs in fact, whatever clock it runs by
	var changes, bytes int64
	pending := t.schema.pendingSQL(t.id, generations)
	err := tx.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*), coalesce(sum(%s), 0)::BIGINT FROM (%s)", sizeSQL(t.schema.Columns), pending)).Scan(&changes, &bytes)
	if err != nil {
		return ApplyJob{}, fmt.Errorf("counting pending changes: %w", err)
	}
	history := t.settings.HistorySince > 0
	now := job.Started.UnixMicro()
	var statements []string
	if history && !t.hasHistory {
		statements = append(statements, t.schema.createHistorySQL(t.id))
	}
	statements = append(statements, t.schema.mergeSQL(t.id, generations, e.forgotten(), now, history)...)
	past := t.pastSince.Load()
	if !history {
		past = now
	}
	statements = append(statements, t.cdcSQL(now, past)...)
	if err := execute(ctx, tx, statements); err != nil {
		return ApplyJob{}, fmt.Errorf("merging: %w", err)
	}
	job.Ended, job.Rows, job.Bytes, job.SlotMillis = e.now(), changes, bytes, max(1, time.Since(begun).Milliseconds())
	return job, job.save(ctx, tx)
}

// cdcSQL keeps the table's watermark, and since when its past is known.
func (t *Table) cdcSQL(watermark, past int64) []string {
	return []string{
		fmt.Sprintf("DELETE FROM emulator_cdc WHERE id = %d", t.id),
		fmt.Sprintf("INSERT INTO emulator_cdc VALUES (%d, %d, %d)", t.id, watermark, past),
	}
}

// applied makes known that an apply which began at started is through. The caller
// holds mu for writing.
func (t *Table) applied(started time.Time) {
	t.watermark.Store(started.UnixMicro())
	if t.settings.HistorySince > 0 {
		t.hasHistory = true
	} else {
		t.pastSince.Store(started.UnixMicro())
	}
	t.pendingSince.Store(0)
	if t.pendingRows.Load() > 0 {
		t.pendingSince.Store(started.UnixMicro())
	}
}
