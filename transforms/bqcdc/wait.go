package bqcdc

import (
	"context"
	"fmt"
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

// waitFn writes the rows of one table, its key, that BigQuery did not take in their
// bundles: its writers don't know the schema yet, or, where Aside is set, the table is in
// trouble. It keeps them in state and tries again by a timer: to wait for minutes
// where a bundle ends, or in the middle of one, would stall all that the worker does.
//
// A runner that persists state persists the rows. Where none does, their messages are
// not acked yet.
type waitFn struct {
	Config Config

	Rows  state.Bag[[]byte]     // see chunks
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

// ProcessElement keeps rows.
func (f *waitFn) ProcessElement(
	_ context.Context, sp state.Provider, tp timers.Provider, _ string, rows []byte,
	_ func(beam.EventTime, change.Receipt), _ func(beam.EventTime, deadletter.Letter),
) error {
	if err := f.Rows.Add(sp, rows); err != nil {
		return err
	}
	since, _, err := f.Since.Read(sp)
	if err != nil || since != 0 { // the timer is set
		return err
	}
	return f.wait(sp, tp, time.Now())
}

// wait sets the timer; rows have been waiting since then. The longer they have, the less
// often they are tried.
func (f *waitFn) wait(sp state.Provider, tp timers.Provider, since time.Time) error {
	now := time.Now()
	pause := min(max(f.writer.waitPause(), now.Sub(since)/4), f.writer.config.MaxBackoff)
	f.Next.Set(tp, now.Add(pause))
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
	t, err := f.try(ctx, rows, emit(ctx, f.writer, f.figures, receipt, letter, nil))
	if err != nil {
		return fmt.Errorf("writing rows that waited: %w", err)
	}
	if !t.same {
		if err := f.Rows.Clear(sp); err != nil {
			return err
		}
		for _, chunk := range t.still {
			if err := f.Rows.Add(sp, chunk); err != nil {
				return err
			}
		}
	}
	if len(t.still) == 0 {
		return f.Since.Clear(sp)
	}
	now := time.Now()
	if t.progress {
		since = now
	}
	// Invariant 7: neither that BigQuery doesn't know its own table nor that it takes no
	// rows is a fault of the rows.
	switch waited, c := now.Sub(since), &f.writer.config; {
	case t.cause != nil && waited > c.RetryFor:
		return fmt.Errorf("writing to table %s: giving up after %v: %w", table, waited.Round(time.Millisecond), t.cause)
	case t.cause == nil && waited > c.WaitFor:
		return fmt.Errorf("rows of table %s have waited for more than %v: the Storage Write API does not know the table as tables.get shows it", table, c.WaitFor)
	}
	return f.wait(sp, tp, since)
}

// tried is what a try of rows came to.
type tried struct {
	still    [][]byte // what must wait on
	same     bool     // that is all, as it was
	progress bool     // some came to rest
	cause    error    // why the others must wait, if not for their table's schema
}

// try appends the rows once: those of the first chunk, and when any of these came to rest,
// the others.
func (f *waitFn) try(ctx context.Context, all [][]byte, take func(*result)) (*tried, error) {
	t := new(tried)
	for i, n := 0, 1; i < len(all); i, n = i+n, len(all)-1 {
		before := len(t.still)
		if err := f.write(ctx, all[i:i+n], t, take); err != nil {
			return nil, err
		}
		if i == 0 && !t.progress && len(t.still) > before {
			t.still, t.same = all, true
			break
		}
	}
	return t, nil
}

func (f *waitFn) write(ctx context.Context, all [][]byte, t *tried, take func(*result)) error {
	at := mtime.Now()
	sort := func(r *result) {
		take(r)
		t.progress = t.progress || len(r.acknowledged) > 0 || len(r.rejected) > 0
		chunks(r.waiting, func(_ string, chunk []byte) { t.still = append(t.still, chunk) })
		if r.cause != nil {
			t.cause = r.cause
		}
	}
	b := f.writer.begin(ctx)
	b.patient = true
	for _, chunk := range all {
		err := rowsOfChunk(chunk, func(row *change.Row) error {
			if err := b.collect(sort); err != nil {
				return err
			}
			return b.take(row, at)
		})
		if err != nil {
			b.cancel(err)
			return err
		}
	}
	return b.finish(sort)
}

// waitPause is how long rows wait before they are tried again.
func (w *writer) waitPause() time.Duration {
	return min(8*w.config.InitialBackoff, w.config.MaxBackoff)
}
