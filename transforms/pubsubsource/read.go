package pubsubsource

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/internal/logs"
	"beamcdc/schemas/change"

	_ "beamcdc/transforms/coders" // of change.Message and change.Receipt
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/metric"
)

// namespace is where the package's metrics are.
const namespace = "pubsubsource"

// idleTime is how long a bundle waits for its first message: as long, the
// watermark stands still. takeSize is how many messages are taken at a time, under one lock.
const (
	idleTime = 100 * time.Millisecond
	takeSize = 256
)

func init() {
	dofn.Register(func(f *readFn) dofn.Func { return dofn.Func5x2(f.ProcessElement) })
	register.Emitter2[beam.EventTime, change.Message]()
	beam.RegisterType(reflect.TypeFor[restriction]())
	deadletter.HoldBy(dataOf)
}

var metrics = metric.In(namespace)

var (
	messagesTaken  = metrics.Counter("messages_taken", metric.Messages, "Deliveries that went into the pipeline.")
	bytesTaken     = metrics.Counter("bytes_taken", metric.Bytes, "Their data, unpacked, attributes and ordering keys.")
	bundleMessages = metrics.Distribution("bundle_messages", metric.Messages, "Deliveries that went into one bundle.")
)

// Read reads a subscription and returns an unbounded PCollection<change.Message>,
// each element with the time of its taking as event time. It panics on a Config
// that does not validate.
func Read(s beam.Scope, c Config) beam.PCollection {
	if err := c.Validate(); err != nil {
		panic(fmt.Sprintf("pubsubsource.Read: %v", err))
	}
	if c.RunnerOwned {
		return ReadDataflow(s, c)
	}
	s = s.Scope("pubsubsource.Read")
	return beam.ParDo(s, &readFn{Config: c}, beam.Impulse(s))
}

// readFn emits what the process's receiver takes.
type readFn struct {
	Config Config
}

// CreateInitialRestriction returns the whole subscription.
func (fn *readFn) CreateInitialRestriction([]byte) restriction { return restriction{} }

// SplitRestriction returns the restriction as it is: there must be only one.
func (fn *readFn) SplitRestriction(_ []byte, rest restriction) []restriction {
	return []restriction{rest}
}

// RestrictionSize returns a made-up size. The SDK asks under a lock that holds up the whole worker.
func (fn *readFn) RestrictionSize([]byte, restriction) float64 { return 1 }

// CreateTracker returns the restriction's tracker.
func (fn *readFn) CreateTracker(rest restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(&tracker{rest: rest})
}

// TruncateRestriction ends the source for a runner that drains. What is queued is
// not emitted, and comes again.
func (fn *readFn) TruncateRestriction(*sdf.LockRTracker, []byte) restriction {
	receiverOf(fn.Config).truncate()
	return restriction{Over: true}
}

// CreateWatermarkEstimator returns an estimator that is not behind the one before.
func (fn *readFn) CreateWatermarkEstimator() *watermark { return newWatermark(clock.watermark()) }

// ProcessElement emits one bundle.
func (fn *readFn) ProcessElement(
	ctx context.Context, mark *watermark, rt *sdf.LockRTracker, _ []byte, emit func(beam.EventTime, change.Message),
) (sdf.ProcessContinuation, error) {
	committed := rt.GetRestriction().(restriction).Bundle
	bundle := committed + 1
	if !rt.TryClaim(bundle) {
		return sdf.StopProcessing(), nil
	}
	r := receiverOf(fn.Config)
	if committed == 0 && r.isTruncated() {
		forget(r) // the pipeline that a runner drained is over, this is another
		r = receiverOf(fn.Config)
	}
	if err := r.start(); err != nil {
		forget(r)
		return sdf.StopProcessing(), err
	}
	r.resume(committed)

	var messages, bytes int64
	taken := make([]*delivery, 0, takeSize)
	end := time.Now().Add(idleTime)
	for {
		if !rt.TryClaim(bundle) { // the runner has cut the bundle short
			return sdf.StopProcessing(), nil
		}
		var done bool
		var err error
		taken, done, err = r.next(taken[:0], bundle, min(takeSize, r.config.BundleMessages-int(messages)))
		if err != nil {
			forget(r)
			return sdf.StopProcessing(), receiveError(r.config, err)
		}
		if messages == 0 && len(taken) > 0 {
			end = time.Now().Add(r.config.BundleTime)
		}
		at := clock.eventTime()
		for _, d := range taken {
			emit(at, d.element())
			d.release()
			messages++
			bytes += d.size
		}
		if done {
			count(ctx, messages, bytes)
			rt.Mu.Lock()
			rt.Rt.(*tracker).finish()
			rt.Mu.Unlock()
			return sdf.StopProcessing(), nil
		}
		left := time.Until(end)
		if messages >= int64(r.config.BundleMessages) || bytes >= r.config.BundleBytes || left <= 0 || ctx.Err() != nil {
			break
		}
		if len(taken) == 0 {
			r.wait(ctx, left)
		}
	}
	count(ctx, messages, bytes)
	if trouble := r.silent(); trouble != nil {
		logs.Warn(ctx, "no messages come; still trying", logs.Subscription.Of(r.config.Subscription), logs.Error.Of(receiveError(r.config, trouble)))
	}
	mark.set(clock.watermark())
	return sdf.ResumeProcessingIn(0), nil
}

func count(ctx context.Context, messages, bytes int64) {
	if messages == 0 {
		return
	}
	messagesTaken.Inc(ctx, messages)
	bytesTaken.Inc(ctx, bytes)
	bundleMessages.Update(ctx, messages)
}
