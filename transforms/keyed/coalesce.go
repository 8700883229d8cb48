package keyed

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/metric"
)

func init() {
	register.Function2x1(change.Supersede)
	dofn.Register(func(f *rowOfKeyFn) dofn.Func { return dofn.Func4x0(f.ProcessElement) })
	dofn.Register(func(f *arrivalFn) dofn.Func { return dofn.Func4x0(f.ProcessElement) })
	register.Emitter1[change.Row]()
	register.Emitter3[beam.EventTime, []byte, change.Row]()
}

var (
	coalescedCounter       = metrics.Counter("rows_coalesced", metric.Rows, "Rows that go on to be written: one for each key and window.")
	supersededCounter      = metrics.Counter("rows_superseded", metric.Rows, "Rows that a later one of their key and window stands for: they are never sent.")
	supersededBytesCounter = metrics.Counter("bytes_superseded", metric.Bytes, "Encoded bytes of the superseded rows: what coalescing saves.")
)

// Window says in which span of arrival time rows of one key are coalesced.
type Window struct {
	Size time.Duration // more than 0

	// RunnerOwnsSource says that event times are the runner's, not the times of
	// arrival, and so is the watermark (Dataflow): one old message can hold it back.
	// Rows are then stamped with the time now, and windows fire early, by processing
	// time. Nowhere else: Beam's local runner can't fire early without failing, and
	// a source of our own keeps the watermark at now.
	RunnerOwnsSource bool
}

// allowedLateness is for the clocks of workers that differ from the runner's: a
// row stamped with a worker's time can be late by that much.
const allowedLateness = time.Minute

// Coalesce takes a PCollection<KV<[]byte, change.Row>> and returns a
// PCollection<change.Row> in the global window: of each key and pane of a window
// the row with the highest sequence, standing for the others. Panes discard,
// since sequences order whatever they hold. It panics unless the window's size is
// more than 0.
func Coalesce(s beam.Scope, w Window, rows beam.PCollection) beam.PCollection {
	if w.Size <= 0 {
		panic(fmt.Sprintf("keyed.Coalesce: a window of %v", w.Size))
	}
	s = s.Scope("keyed.Coalesce")
	var options []beam.WindowIntoOption
	if w.RunnerOwnsSource {
		rows = beam.ParDo(s, &arrivalFn{}, rows)
		options = []beam.WindowIntoOption{
			beam.Trigger(trigger.AfterEndOfWindow().
				EarlyFiring(trigger.Repeat(trigger.AfterProcessingTime().PlusDelay(w.Size))).
				LateFiring(trigger.Repeat(trigger.AfterCount(1)))),
			beam.AllowedLateness(allowedLateness),
			beam.PanesDiscard(),
		}
	}
	rows = beam.WindowInto(s, window.NewFixedWindows(w.Size), rows, options...)
	// Runners combine before they shuffle, which a GroupByKey would prevent.
	rows = beam.CombinePerKey(s, change.Supersede, rows)
	last := beam.ParDo(s, &rowOfKeyFn{}, rows)
	// What FinishBundle emits is in the global window, so what comes after must be too.
	return beam.WindowInto(s, window.NewGlobalWindows(), last)
}

// arrivalFn stamps rows with the time now. Never with an earlier time than they
// have: that could be before the watermark.
type arrivalFn struct{}

// ProcessElement stamps one row.
func (*arrivalFn) ProcessElement(ts beam.EventTime, key []byte, row change.Row, emit func(beam.EventTime, []byte, change.Row)) {
	emit(max(ts, beam.EventTime(time.Now().UnixMilli())), key, row)
}

// rowOfKeyFn drops the key and counts.
type rowOfKeyFn struct{}

// ProcessElement passes one row on.
func (*rowOfKeyFn) ProcessElement(ctx context.Context, _ []byte, row change.Row, emit func(change.Row)) {
	coalescedCounter.Inc(ctx, 1)
	if row.Superseded > 0 {
		supersededCounter.Inc(ctx, int64(row.Superseded))
		supersededBytesCounter.Inc(ctx, int64(row.SupersededBytes))
	}
	emit(row)
}
