package truncate

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"beamcdc/internal/logs"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// recreate does the step that comes after before of a truncate of a view: it puts a
// new table behind it, or, when all that was written to the old one without knowing
// can be seen, copies what is from after the truncate. An earlier truncate whose rows
// are not copied yet is done first.
func (f *truncateFn) recreate(ctx context.Context, e *change.Event, d *catalog.Destination, before restriction) (after restriction, wait time.Duration, err error) {
	view := d.Table.Name
	var fence catalog.Fence
	var left *catalog.Left
	err = f.retry(ctx, func() (err error) {
		if fence, err = f.catalog.RaiseView(ctx, view, e.Sequence); err == nil && fence.Emptied.Compare(fence.Truncated) < 0 {
			left, err = f.catalog.Left(ctx, view, fence)
		}
		return err
	})
	if err != nil {
		return before, 0, err
	}
	if fence.Truncated.Compare(e.Sequence) > 0 || fence.Emptied.Compare(e.Sequence) >= 0 {
		// A later truncate's message is on its way, and copies what there is to copy; or
		// this one's was delivered before.
		if left == nil {
			if err := f.retry(ctx, func() error { return f.catalog.Copied(ctx, view, fence) }); err != nil {
				return before, 0, err
			}
		}
		repeatedCounter.Inc(ctx, 1)
		return restriction{Over: true}, 0, nil
	}
	if at := fence.Truncated.String(); before.Fence != at {
		before = restriction{Raised: time.Now().UnixMilli(), Fence: at}
		logs.Info(ctx, "a table was truncated; a new one is behind its view", logs.SourceTable.Of(e.Table), logs.Sequence.Of(at), logs.Table.Of(view), logs.To.Of(left.To.Name))
	}
	readable := time.UnixMilli(before.Raised + 1).Add(f.catalog.Lease() + left.MaxStaleness)
	if wait = time.Until(readable); wait > 0 {
		return before, wait, nil
	}
	var refused refusal
	written, err := bqcdc.WriteAll(ctx, f.Writer, copies(ctx, left, e), func(l deadletter.Letter) {
		if refused.rows++; refused.rows == 1 {
			refused.reason, refused.text, refused.doing = l.Reason, l.Error, "copied"
		}
	})
	if err == nil && refused.rows > 0 {
		err = &refused
	}
	if err == nil {
		err = f.retry(ctx, func() error { return f.catalog.Copied(ctx, view, fence) })
	}
	if err != nil {
		return before, 0, err
	}
	logs.Info(ctx, "rows from after a truncate were copied to the new table", logs.Rows.Of(written), logs.From.Of(left.From.Name), logs.Sequence.Of(before.Fence), logs.To.Of(left.To.Name))
	if fence.Truncated != e.Sequence {
		return before, 0, nil // the earlier one is done
	}
	emptiedCounter.Inc(ctx, 1)
	return restriction{Over: true}, 0, nil
}

// copies returns the rows that are left, hidden ones too, each as an UPSERT at its own
// sequence.
func copies(ctx context.Context, left *catalog.Left, e *change.Event) iter.Seq2[change.Row, error] {
	return func(yield func(change.Row, error) bool) {
		plan, err := rowproto.Compile(left.To)
		if err != nil {
			yield(change.Row{}, fmt.Errorf("table %v: %w", left.To.Name, err))
			return
		}
		encoder := plan.NewEncoder()
		row := change.Row{
			Table: left.To.Name.String(), Schema: plan.Fingerprint(), Type: change.Upsert, CommitTime: e.CommitTime, Message: e.Message,
		}
		for columns, err := range left.Rows(ctx) {
			if err == nil {
				row.Sequence, err = sequenceOf(columns)
			}
			if err == nil {
				row.Data, err = encoder.AppendUpsert(nil, columns, row.Sequence, rowproto.RowOptions{})
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// sequenceOf returns the sequence that a row was written with.
func sequenceOf(row []change.Column) (change.Sequence, error) {
	for i := range row {
		if strings.EqualFold(row[i].Name, table.SequenceColumn) {
			return change.ParseSequence(row[i].Value.Text())
		}
	}
	return change.Sequence{}, fmt.Errorf("a row has no %s", table.SequenceColumn)
}
