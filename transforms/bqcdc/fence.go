package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/transforms/catalog"
)

// A table whose truncates are followed has a fence: the sequence of its latest
// truncate, which BigQuery's own table holds (see the catalog). Of a row at or below
// it nothing may be left, whatever order things happen in. Package truncate has the
// proof; what the writer adds to it is two looks at the fence:
//
//   - before a row is sent: below the fence it is sent as a DELETE at the fence's
//     sequence. It is not left out, since an earlier try may have stored it.
//   - after it is acknowledged: the fence that is compared is one that was read no
//     longer than a lease before. A row that turns out to be below it is followed by
//     such a DELETE, and rests only with that.

// fenced is what a row of a table with a fence needs besides the row.
type fenced struct {
	view     string // the row's table, if that is a view over the one that it is written to
	key      []byte
	sequence change.Sequence
	raised   bool // it became a DELETE at the fence's sequence, or nothing
}

// raised is of all rows that were below the fence before they were sent.
var raised = &fenced{raised: true}

// belowFence returns the row, or, if it is an UPSERT at or below the fence, the DELETE
// that it comes to.
func (b *bundle) belowFence(l *lane, row *change.Row) (_ *change.Row, below *fenced, err error) {
	if row.Type == change.Delete {
		return row, nil, nil
	}
	w := b.writer
	if time.Since(l.fence.AsOf) > w.lease/2 { // sooner than the look after the acknowledgement would have it
		if l.fence, err = w.currentFence(b.ctx, row.Table, w.lease/2, w.config.RetryFor); err != nil {
			return nil, nil, err
		}
	}
	if row.Sequence.Compare(l.fence.Truncated) > 0 {
		return row, &fenced{key: row.Key, sequence: row.Sequence}, nil
	}
	data, err := deleteOf(l.schema.plan, row.Key, l.fence.Truncated)
	if err != nil {
		return nil, nil, fmt.Errorf("deleting a row that was truncated from table %s: %w", row.Table, err)
	}
	deleted := *row
	deleted.Type, deleted.Sequence, deleted.Data = change.Delete, l.fence.Truncated, data
	return &deleted, raised, nil
}

// belowFence returns those of the acknowledged rows that a fence has passed meanwhile,
// as the DELETEs that they come to, and the others.
func (d *delivery) belowFence(ctx context.Context, rows []pending) (others, below []pending, err error) {
	w, key := d.writer, d.request.key
	upserts := false
	for i := range rows {
		upserts = upserts || rows[i].kind == change.Upsert
	}
	if !upserts {
		return rows, nil, nil
	}
	fence, err := w.currentFence(ctx, key.table, w.lease, w.inBundle())
	if err != nil {
		return nil, nil, err
	}
	others = rows
	for i := range rows {
		p := rows[i]
		if p.kind == change.Delete || p.fenced.sequence.Compare(fence.Truncated) > 0 {
			if below != nil {
				others = append(others, p)
			}
			continue
		}
		if below == nil { // the request's own slice is not written to
			others = append(make([]pending, 0, len(rows)), rows[:i]...)
		}
		data, err := deleteOf(d.request.schema.plan, p.fenced.key, fence.Truncated)
		if err != nil {
			return nil, nil, fmt.Errorf("deleting a row that was truncated from table %s: %w", key.table, err)
		}
		p.remake(data)
		below = append(below, p)
	}
	return others, below, nil
}

// inBundle is for how long a request is tried in its bundle.
func (w *writer) inBundle() time.Duration {
	if w.leaves() {
		return min(w.config.FinishFor, w.config.RetryFor)
	}
	return w.config.RetryFor
}

// currentFence returns the table's fence as it was no longer ago than age, asking
// for it for as long as atMost.
func (w *writer) currentFence(ctx context.Context, table string, age, atMost time.Duration) (catalog.Fence, error) {
	asOf := time.Now().Add(-age) // of the acknowledgement, however long the answer takes
	patience := w.newPatience()
	patience.budget = atMost
	for {
		fence, err := w.fence(ctx, table, asOf)
		if err == nil || catalog.IsPermanent(err) {
			return fence, err
		}
		w.streams.faults.note(ctx, table, transient, err)
		if err := patience.wait(ctx, transient, err); err != nil {
			return fence, err
		}
	}
}

// deleteOf encodes the DELETE of a key.
func deleteOf(plan *rowproto.Plan, key []byte, sequence change.Sequence) ([]byte, error) {
	values, err := change.Key(key).Values()
	if err != nil {
		return nil, err
	}
	names := plan.Table().PrimaryKey
	if len(values) != len(names) {
		return nil, errors.New("the row's key is not the table's")
	}
	columns := make([]change.Column, len(names))
	for i := range names {
		columns[i] = change.Column{Name: names[i], Value: values[i]}
	}
	return plan.AppendDelete(nil, columns, sequence)
}
