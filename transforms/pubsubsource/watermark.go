package pubsubsource

import (
	"sync/atomic"
	"time"
)

// watermark is the source's watermark. Beam's own ManualWatermarkEstimator is read,
// when a runner splits or checkpoints, by another goroutine than ProcessElement's,
// without a lock; this one may be.
type watermark struct{ micros atomic.Int64 }

func newWatermark(t time.Time) *watermark {
	w := new(watermark)
	w.set(t)
	return w
}

// CurrentWatermark returns the time before which no more elements come.
func (w *watermark) CurrentWatermark() time.Time { return time.UnixMicro(w.micros.Load()) }

func (w *watermark) set(t time.Time) { w.micros.Store(t.UnixMicro()) }
