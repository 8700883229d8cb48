package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"

	"beamcdc/transforms/catalog"
)

// deliver appends the request's rows until each is acknowledged or rejected, and
// is the writer's state machine: one append at a time, [classify] its outcome,
// act. Time without progress is bounded by RetryFor. Rows that may wait aside don't wait
// here: those of a table that follows its source for BigQuery's writers to know it, and
// others for longer than FinishFor. patient says that they have waited, and are to be
// tried once.
func (w *writer) deliver(ctx context.Context, r *request, patient bool) *result {
	d := &delivery{
		writer: w, request: r, patience: w.newPatience(), patient: patient,
		result: result{table: r.rows[0].table(r.key), tokens: r.tokens, rows: r.rows},
		grows:  w.aside && w.grows(r.key.table), leaves: w.leaves(),
	}
	if lags, schema := w.streams.lags.of(r.key); !patient && (d.leaves && lags || d.grows && schema) {
		d.wait(r.rows...)
		return &d.result
	}
	d.work = append(d.one.work[:0], r.rows)
	d.result.acknowledged, d.result.appends = d.one.rests[:0], d.one.appends[:0]
	for n := 0; len(d.work) > 0 && d.result.err == nil; n++ {
		rows := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		st, response, took, err := w.append(ctx, r, rows, d.alone, d.leaves && !patient)
		switch o := classify(response, err); o {
		case acknowledged:
			if n == 0 { // a try that was given up may still be sent
				d.result.packed = r.packed
			}
			d.acknowledge(ctx, rows, took)
		case rejectedRows:
			d.reject(rows, response)
		case tooLarge:
			d.split(rows, response, err)
		default:
			d.repeat(ctx, rows, st, response, o, err)
		}
	}
	if len(d.result.waiting) > 0 {
		d.result.packed = nil // their bytes are there
	}
	return &d.result
}

// delivery is the state of delivering one request.
type delivery struct {
	writer  *writer
	request *request
	work    [][]pending // the appends that are left
	one     struct {    // the memory of three lists that rarely have more than one of these
		work, rests [1][]pending
		appends     [1]appendFigures
	}
	alone    bool // on streams of the request's own
	grows    bool // rows may wait aside for BigQuery's writers to know their schema
	leaves   bool // rows may wait aside for anything
	patient  bool // they have
	patience patience
	result   result
}

// again puts rows back to be appended because the last append of them came to o.
func (d *delivery) again(o outcome, rows ...[]pending) {
	d.work = append(d.work, rows...)
	d.result.repeats[o]++
}

// wait leaves rows to wait aside.
func (d *delivery) wait(rows ...pending) {
	for i := range rows {
		d.result.waiting = append(d.result.waiting, d.request.rowOf(&rows[i]))
	}
}

// leave lets all that is left wait aside, and what comes of the stream after it: who
// tries the rows again tells when it is over. err is why.
func (d *delivery) leave(rows []pending, o outcome, err error) {
	c := &d.writer.config
	d.writer.streams.lags.note(d.request.key, 2*c.MaxBackoff+c.AppendTimeout, false)
	d.result.cause = fmt.Errorf("%s: %w", o, err)
	for _, left := range append(d.work, rows) {
		d.wait(left...)
	}
	d.work = nil
}

// acknowledge takes the rows for written, but for those that a truncate has passed
// meanwhile: they are written again, as DELETEs, or to another table.
func (d *delivery) acknowledge(ctx context.Context, rows []pending, took time.Duration) {
	d.writer.streams.lags.over(d.request.key)
	bytes := d.request.data
	if !d.request.isAll(rows) {
		bytes = dataBytes(rows)
	}
	d.result.appends = append(d.result.appends, appendFigures{len(rows), bytes, took})
	d.result.answered, d.result.inflightRequests, d.result.inflightBytes = time.Now(), inflight.requests.Load(), inflight.bytes.Load()
	d.patience = d.writer.newPatience()
	switch first := rows[0].fenced; {
	case first != nil && first.view != "": // and so are all of the table
		var err error
		if rows, err = d.follow(ctx, first.view, rows); err != nil {
			d.unfenced(ctx, rows, err)
			return
		}
	case d.request.schema.plan != nil:
		others, below, err := d.belowFence(ctx, rows)
		if err != nil {
			d.unfenced(ctx, rows, err)
			return
		}
		if rows = others; len(below) > 0 {
			d.work = append(d.work, below)
		}
	}
	d.result.acknowledged = append(d.result.acknowledged, rows)
}

// unfenced gives up rows that were acknowledged, but of which can't be told whether a
// truncate has passed them: they are written again.
func (d *delivery) unfenced(ctx context.Context, rows []pending, err error) {
	if d.leaves && ctx.Err() == nil && !catalog.IsPermanent(err) {
		d.leave(rows, transient, err)
		return
	}
	d.fail(rows, transient, err)
}

// reject makes dead letters of the rows that the response names. None of the
// request was stored, and the list may be cut short: the rest is sent again until
// none is named. Each round names at least one.
func (d *delivery) reject(rows []pending, response *storagepb.AppendRowsResponse) {
	complaints, err := rowErrors(response, len(rows))
	if err != nil {
		d.fail(rows, permanent, err)
		return
	}
	d.writer.streams.lags.over(d.request.key)
	var good []pending
	// BigQuery's writers may go by REQUIRED and by types that are no longer true.
	young := d.grows && d.writer.young(d.request.key.table)
	for i, p := range rows {
		switch text, named := complaints[i]; {
		case !named:
			good = append(good, p)
		case young:
			d.wait(p)
		default:
			d.letter(p, reasonRejected, text)
		}
	}
	if len(good) > 0 {
		d.again(rejectedRows, good)
	}
	d.patience = d.writer.newPatience()
}

// split halves what the server finds too large. A row that is too large alone is
// a dead letter.
func (d *delivery) split(rows []pending, response *storagepb.AppendRowsResponse, err error) {
	switch {
	case response == nil && !d.alone:
		// The connection failed, and with it every request on it: any of them may be
		// the one. Alone there is no doubt.
		d.alone = true
		d.again(tooLarge, rows)
	case len(rows) == 1:
		d.letter(rows[0], reasonTooLarge, clip(err.Error()))
	default:
		half := len(rows) / 2
		d.again(tooLarge, rows[half:], rows[:half])
	}
}

// repeat waits before the rows are appended again, unless there is no point.
func (d *delivery) repeat(ctx context.Context, rows []pending, st *stream, response *storagepb.AppendRowsResponse, o outcome, err error) {
	w, table := d.writer, d.request.key.table
	if errors.Is(err, errAside) {
		w.streams.faults.note(ctx, table, o, err)
		d.result.repeats[o]++
		d.leave(rows, o, err)
		return
	}
	if st != nil && st.shares() && response == nil && (o == permanent || o == schemaMismatch) {
		// The connection failed, and with it the requests of all its tables: any of
		// them may be the one. On a connection of its own there is no doubt.
		w.streams.part(st)
		w.streams.faults.note(ctx, table, o, err)
		if err = d.patience.wait(ctx, transient, err); err == nil {
			d.again(o, rows)
			return
		}
		d.fail(rows, o, err)
		return
	}
	if o == schemaMismatch {
		fits, wrong := w.fits(ctx, d.request.key)
		switch {
		case catalog.IsPermanent(wrong): // the table is gone
			o, err = permanent, fmt.Errorf("%w; %w", err, wrong)
		case wrong == nil && !fits:
			for _, p := range rows {
				d.letter(p, reasonSchemaChanged, clip(err.Error()))
			}
			return
		case wrong == nil && d.grows:
			if st != nil {
				w.streams.part(st)
			}
			w.streams.lags.note(d.request.key, w.waitPause(), true)
			w.streams.faults.note(ctx, table, o, err)
			d.result.repeats[o]++
			d.wait(rows...)
			return
		}
	}
	if st != nil && w.spoils(o, err, &d.patience) {
		w.streams.leaveFor(st, o, err)
	}
	if o != permanent {
		if ctx.Err() == nil {
			w.streams.faults.note(ctx, table, o, err)
		}
		if d.leaves && ctx.Err() == nil && (d.patient || d.patience.spent() > w.config.FinishFor) {
			d.result.repeats[o]++
			d.leave(rows, o, err)
			return
		}
		if d.patience.tries > 0 && !d.leaves { // see settle
			w.streams.lags.note(d.request.key, 2*w.config.MaxBackoff, false)
		}
		if err = d.patience.wait(ctx, o, err); err == nil {
			d.again(o, rows)
			return
		}
	}
	d.fail(rows, o, err)
}

func (d *delivery) letter(p pending, reason, text string) {
	d.result.rejected = append(d.result.rejected, rejection{p, p.table(d.request.key), reason, text})
}

func (d *delivery) fail(rows []pending, o outcome, err error) {
	d.result.err = fmt.Errorf("writing %d rows to table %s: %s: %w", len(rows), d.request.key.table, o, err)
}

// spoils tells whether the next try should have a stream of its own rather than
// the one that gave err. Throttling is no fault of the stream's. A new schema is
// seen only by new connections. A permanent error may have been stored in the
// stream for ever (managedwriter's connection.err), and so may one that repeats;
// the first transient one is cured by managedwriter's own reconnecting.
func (w *writer) spoils(o outcome, err error, p *patience) bool {
	if o == transient {
		open := new(openError)
		return p.tries > 0 || errors.Is(err, errSilent) || errors.As(err, &open)
	}
	return o != throttled
}
