package pubsubsource

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/metric"
)

func init() {
	dofn.Register(func(f *ackFn) dofn.Func { return dofn.Func3x0(f.ProcessElement) })
	register.Emitter1[bool]()
	register.Function1x0(never)
}

var (
	messagesAcked   = metrics.Counter("messages_acked", metric.Messages, "Deliveries that were acked: all that was made of them has come to rest.")
	ackLag          = metrics.Histogram("ack_lag_ms", metric.Milliseconds, "From a message's publishing to its ack, of whatever was made of it.", metric.Latencies)
	unknownReceipts = metrics.Counter("unknown_receipts", metric.Receipts, "Receipts of no outstanding delivery: late repeats, and those of another process.")
)

// Ack takes PCollection<change.Receipt>s and acks the messages whose parts have
// all come to rest, whichever collections tell of them. It adds nothing where the
// runner acks.
func Ack(s beam.Scope, c Config, receipts ...beam.PCollection) {
	if c.RunnerOwned {
		return
	}
	s = s.Scope("pubsubsource.Ack")
	// One by one: Prism can stall on a Flatten of unbounded collections, and so
	// each stays in its producer's stage, without a hop in between.
	for _, collection := range receipts {
		nothing := beam.ParDo(s, &ackFn{Config: c}, collection)
		// Prism spins a core while a bundle runs of a stage that has no output. So this
		// one has an output, to a stage of its own, and nothing is ever emitted to it.
		beam.ParDo0(s, never, beam.Reshuffle(s, nothing))
	}
}

func never(bool) {}

// ackFn hands receipts to the process's receiver.
type ackFn struct {
	Config Config

	batch []change.Receipt
}

// settleSize is how many receipts are settled at a time, under one lock.
const settleSize = 512

// StartBundle begins a bundle.
func (fn *ackFn) StartBundle(context.Context, func(bool)) {
	fn.batch = fn.batch[:0]
}

// ProcessElement takes one receipt.
func (fn *ackFn) ProcessElement(ctx context.Context, receipt change.Receipt, _ func(bool)) {
	fn.batch = append(fn.batch, receipt)
	if len(fn.batch) >= settleSize {
		fn.settle(ctx)
	}
}

// FinishBundle settles the rest.
func (fn *ackFn) FinishBundle(ctx context.Context, _ func(bool)) { fn.settle(ctx) }

func (fn *ackFn) settle(ctx context.Context) {
	var acked []*delivery
	unknown := len(fn.batch)
	if r := openReceiver(fn.Config); r != nil {
		acked, unknown = r.settle(fn.batch)
	}
	fn.batch = fn.batch[:0]
	if len(acked) > 0 {
		messagesAcked.Inc(ctx, int64(len(acked)))
	}
	now := time.Now()
	for _, d := range acked {
		ackLag.Update(ctx, max(0, now.Sub(d.message.PublishTime).Milliseconds()))
	}
	if unknown > 0 {
		unknownReceipts.Inc(ctx, int64(unknown))
	}
}
