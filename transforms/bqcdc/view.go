package bqcdc

import (
	"context"
	"errors"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
)

// A destination can be a view, with a fence, over one table after the other: that of
// its latest truncate. What the writer adds to package truncate's proof is again two
// looks at the fence:
//
//   - before a row is sent: it goes to the table of the fence. Of a row at or below it
//     that table has nothing, so that it rests.
//   - after it is acknowledged: if the fence has risen since, a row above it is sent
//     again, to the fence's table. The table that it was sent to is left behind.

// view is what a bundle knows of a view.
type view struct {
	fence catalog.Fence // as of the latest look
	table string        // that of the fence
}

// throughView returns the row as it is to be written: if its table is a view, to the
// table behind it. It returns no row if a truncate has passed it, and lets it rest.
func (b *bundle) throughView(row *change.Row, at beam.EventTime) (*change.Row, *fenced, error) {
	w := b.writer
	if w.isView == nil {
		return row, nil, nil
	}
	v, known := b.views[row.Table]
	if !known {
		if w.isView(row.Table) {
			v = new(view)
		}
		if b.views == nil {
			b.views = make(map[string]*view)
		}
		b.views[row.Table] = v
	}
	if v == nil {
		return row, nil, nil
	}
	if time.Since(v.fence.AsOf) > w.lease/2 { // sooner than the look after the acknowledgement would have it
		var err error
		if v.fence, err = w.currentFence(b.ctx, row.Table, w.lease/2, w.config.RetryFor); err != nil {
			return nil, nil, err
		}
		v.table = catalog.Behind(row.Table, v.fence.Truncated)
	}
	if row.Sequence.Compare(v.fence.Truncated) <= 0 {
		p := newPending(row, at)
		p.pass()
		b.results.mu.Lock()
		b.results.outstanding++
		b.results.mu.Unlock()
		b.results.add(&result{table: row.Table, tokens: true, acknowledged: [][]pending{{p}}})
		return nil, nil, nil
	}
	moved := *row
	moved.Table = v.table
	return &moved, &fenced{view: row.Table, key: row.Key, sequence: row.Sequence}, nil
}

// follow returns those of the acknowledged rows that rest: all, if the view's fence is
// where it was. Else those above it are delivered again, to the table that is behind
// the view now, as part of this delivery.
func (d *delivery) follow(ctx context.Context, view string, rows []pending) (rest []pending, err error) {
	w, key := d.writer, d.request.key
	fence, err := w.currentFence(ctx, view, w.lease, w.inBundle())
	if err != nil {
		return rows, err
	}
	if key.table = catalog.Behind(view, fence.Truncated); key.table == d.request.key.table {
		return rows, nil
	}
	var again []pending
	for i := range rows {
		p := rows[i]
		if p.fenced.sequence.Compare(fence.Truncated) > 0 {
			again = append(again, p)
			continue
		}
		p.pass()
		rest = append(rest, p)
	}
	if len(again) == 0 {
		return rest, nil
	}
	s, err := w.describe(ctx, key)
	if errors.Is(err, errUnknownSchema) {
		for _, p := range again {
			d.letter(p, reasonSchemaChanged, err.Error())
		}
		return rest, nil
	}
	if err != nil {
		return rows, err
	}
	d.result.merge(w.deliver(ctx, &request{key: key, schema: s, rows: again, packed: d.request.packed, some: true}, true))
	return rest, nil
}

// merge adds what became of rows that were delivered elsewhere.
func (r *result) merge(o *result) {
	r.acknowledged = append(r.acknowledged, o.acknowledged...)
	r.rejected = append(r.rejected, o.rejected...)
	r.waiting = append(r.waiting, o.waiting...)
	if o.cause != nil {
		r.cause = o.cause
	}
	r.appends = append(r.appends, o.appends...)
	for i := range r.repeats {
		r.repeats[i] += o.repeats[i]
	}
	r.err = o.err
}
