package bqcdc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *waitFn) dofn.Func { return dofn.Func7x1(f.ProcessElement) })
}

// waitFn writes the rows of one table, its key, that BigQuery's writers don't know the
// schema of yet. It keeps them in state and tries again by a timer: to wait for minutes
// where a bundle ends, or in the middle of one, would stall all that the worker does.
//
// A runner that persists state persists the rows. Where none does, their messages are
// not acked yet.
type waitFn struct {
	Config Config

	Rows  state.Bag[[]byte]     // coded change.Rows
	Since state.Value[int64]    // when the first of them came without one being written since, in nanoseconds since 1970; 0 for none
	Next  timers.ProcessingTime // when they are tried again

	writer  *writer
	figures *figures
}

func newWaitFn(c Config) *waitFn {
	return &waitFn{
		Config: c, Rows: state.MakeBagState[[]byte]("rows"), Since: state.MakeValueState[int64]("since"),
		Next: timers.InProcessingTime("next"),
	}
}

// Setup opens what the process shares.
func (f *waitFn) Setup(ctx context.Context) error {
	var err error
	f.writer, err = openWriter(ctx, f.Config)
	if err == nil {
		f.figures, f.writer.aside = newFigures(f.writer.config.Namespace), true
	}
	return err
}

// ProcessElement keeps one row.
func (f *waitFn) ProcessElement(
	_ context.Context, sp state.Provider, tp timers.Provider, _ string, row []byte,
	_ func(beam.EventTime, change.Receipt), _ func(beam.EventTime, deadletter.Letter),
) error {
	if err := f.Rows.Add(sp, row); err != nil {
		return err
	}
	since, _, err := f.Since.Read(sp)
	if err != nil || since != 0 { // the timer is set
		return err
	}
	return f.wait(sp, tp, time.Now())
}

// wait sets the timer; rows have been waiting since then.
func (f *waitFn) wait(sp state.Provider, tp timers.Provider, since time.Time) error {
	f.Next.Set(tp, time.Now().Add(f.writer.waitPause()))
	return f.Since.Write(sp, since.UnixNano())
}

// OnTimer tries all rows once, and keeps those that must still wait.
func (f *waitFn) OnTimer(
	ctx context.Context, sp state.Provider, tp timers.Provider, table string, _ timers.Context,
	receipt func(beam.EventTime, change.Receipt), letter func(beam.EventTime, deadletter.Letter),
) error {
	rows, _, err := f.Rows.Read(sp)
	if err != nil {
		return err
	}
	nanos, _, err := f.Since.Read(sp)
	if err != nil {
		return err
	}
	since := time.Unix(0, nanos)
	still, progress, err := f.try(ctx, rows, emit(ctx, f.writer, f.figures, receipt, letter, nil))
	if err != nil {
		return fmt.Errorf("writing rows that waited: %w", err)
	}
	if err := f.Rows.Clear(sp); err != nil {
		return err
	}
	for _, row := range still {
		if err := f.Rows.Add(sp, row); err != nil {
			return err
		}
	}
	if len(still) == 0 {
		return f.Since.Clear(sp)
	}
	now := time.Now()
	if progress {
		since = now
	}
	if limit := f.writer.config.WaitFor; now.Sub(since) > limit {
		// Invariant 7: that BigQuery doesn't know its own table is no fault of the rows.
		return fmt.Errorf("%d rows of table %s have waited for more than %v: the Storage Write API does not know the table as tables.get shows it", len(still), table, limit)
	}
	return f.wait(sp, tp, since)
}

// try appends the rows once. It returns those that must still wait, and whether any
// came to rest.
func (f *waitFn) try(ctx context.Context, rows [][]byte, take func(*result)) (still [][]byte, progress bool, err error) {
	at := mtime.Now()
	sort := func(r *result) {
		take(r)
		progress = progress || len(r.acknowledged) > 0 || len(r.rejected) > 0
		for i := range r.waiting {
			still = append(still, change.AppendRow(nil, &r.waiting[i]))
		}
	}
	b := f.writer.begin(ctx)
	b.patient = true
	for _, coded := range rows {
		row, err := change.ReadRow(coded)
		if err == nil {
			err = b.collect(sort)
		}
		if err == nil {
			err = b.take(&row, at)
		}
		if err != nil {
			b.cancel(err)
			return nil, false, err
		}
	}
	return still, progress, b.finish(sort)
}

// lags are the streams whose schema BigQuery's writers did not know when they were
// last asked. Rows of such a stream wait without asking again for a while.
type lags struct {
	mu   sync.Mutex
	seen map[streamKey]time.Time
}

func (l *lags) note(key streamKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = make(map[streamKey]time.Time)
	}
	l.seen[key] = time.Now()
}

func (l *lags) over(key streamKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, key)
}

// since reports whether the stream's schema was unknown less than d ago.
func (l *lags) since(key streamKey, d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.seen[key]
	return ok && time.Since(at) < d
}

// waitPause is how long rows wait before they are tried again.
func (w *writer) waitPause() time.Duration {
	return min(8*w.config.InitialBackoff, w.config.MaxBackoff)
}

// rowOf returns the row as it is to wait: what pending has left out, its bytes tell.
func (p *pending) rowOf(key streamKey) change.Row {
	row := change.Row{
		Table: p.table(key), Schema: key.schema, Type: p.kind, Data: p.data, Message: p.message, Receipts: p.receipts,
		Superseded: p.superseded, SupersededBytes: p.supersededBytes,
	}
	if p.committed != 0 {
		row.CommitTime = time.UnixMilli(p.committed)
	}
	if p.fenced != nil {
		row.Key, row.Sequence = p.fenced.key, p.fenced.sequence
	}
	return row
}
