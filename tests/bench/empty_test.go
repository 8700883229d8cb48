package bench

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/pipeline"
	"beamcdc/schemas/change"
	"beamcdc/tests/internal/orders"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/keyed"
	"beamcdc/transforms/pubsubsource"
)

func init() {
	dofn.Register(func(f *emptyDecodeFn) dofn.Func { return dofn.Func4x0(f.ProcessElement) })
	dofn.Register(func(f *emptyRowsFn) dofn.Func { return dofn.Func4x0(f.ProcessElement) })
	dofn.Register(func(f *emptyWriteFn) dofn.Func { return dofn.Func4x0(f.ProcessElement) })
	dofn.Register(func(f *emptyStoreFn) dofn.Func { return dofn.Func3x0(f.ProcessElement) })
	register.Emitter1[change.Event]()
	register.Emitter1[change.Receipt]()
	register.Emitter1[deadletter.Letter]()
	register.Emitter2[[]byte, change.Row]()
	register.Emitter2[beam.EventTime, change.Receipt]()
	register.Emitter2[beam.EventTime, deadletter.Letter]()
}

// emptyRowBytes is the size of the empty graph's rows: about the mean of the real
// ones, which TestGraphs holds it to.
const emptyRowBytes = 352

// buildEmpty adds pipeline.Build's graph with DoFns that do nothing but hand on
// elements of the same types and sizes: the same source, hops, coders, windows,
// combining and acks, and no decoding, keying, encoding and writing. What is left
// is what Pub/Sub, Beam and Prism cost.
func buildEmpty(s beam.Scope, o pipeline.Options) {
	messages := pubsubsource.Read(s, o.SourceConfig())
	events, controlled, undecodable := beam.ParDo3(s, &emptyDecodeFn{}, messages)
	rows, filtered, unkeyable := beam.ParDo3(s, &emptyRowsFn{}, events)
	last := keyed.Coalesce(s, keyed.Window{Size: o.Window}, rows)
	written, unwritable := beam.ParDo2(s, &emptyWriteFn{}, beam.WindowInto(s, window.NewGlobalWindows(), last))
	receipts := []beam.PCollection{controlled, filtered, written}
	for _, letters := range []beam.PCollection{undecodable, unkeyable, unwritable} {
		receipts = append(receipts, beam.ParDo(s, &emptyStoreFn{}, beam.WindowInto(s, window.NewGlobalWindows(), letters)))
	}
	pubsubsource.Ack(s, o.SourceConfig(), receipts...)
}

// emptyDecodeFn makes one event of a message, without a look at it.
type emptyDecodeFn struct{}

func (*emptyDecodeFn) ProcessElement(m change.Message, emit func(change.Event), _ func(change.Receipt), _ func(deadletter.Letter)) {
	emit(change.Event{Message: m, Parts: 1})
}

// emptyRowsFn makes one row of an event: the message's ordering key is its key,
// and its bytes are nothing.
type emptyRowsFn struct {
	sequence uint64
}

const emptyTable = project + ".shop.orders"

func (f *emptyRowsFn) ProcessElement(e change.Event, emit func([]byte, change.Row), _ func(change.Receipt), _ func(deadletter.Letter)) {
	f.sequence++
	receipts := deadletter.Receipts(&e.Message, 0, 1)
	if deadletter.Held(&e.Message) { // as keyed's rows
		e.Message.Data = nil
	}
	key := append(append(append(make([]byte, 0, 64), emptyTable...), 0), e.Message.OrderingKey...)
	emit(key, change.Row{
		Table: emptyTable, Schema: 1 << 60, Key: key[len(emptyTable)+1:], Type: change.Upsert,
		Sequence: change.NewSequence(0, orders.FirstLSN, orders.FirstLSN+f.sequence, 1), Data: make([]byte, emptyRowBytes),
		Message: e.Message, Receipts: receipts,
	})
}

// emptyWriteFn takes a row for written.
type emptyWriteFn struct{}

func (*emptyWriteFn) ProcessElement(at beam.EventTime, row change.Row, receipt func(beam.EventTime, change.Receipt), _ func(beam.EventTime, deadletter.Letter)) {
	for _, r := range row.Receipts {
		receipt(at, r)
	}
}

// emptyStoreFn takes a letter for stored. There are none.
type emptyStoreFn struct{}

func (*emptyStoreFn) ProcessElement(at beam.EventTime, l deadletter.Letter, receipt func(beam.EventTime, change.Receipt)) {
	for _, r := range l.Receipts {
		receipt(at, r)
	}
}

// The real DoFns' bundles have an end, so these have one too.

func (*emptyWriteFn) FinishBundle(context.Context, func(beam.EventTime, change.Receipt), func(beam.EventTime, deadletter.Letter)) {
}
