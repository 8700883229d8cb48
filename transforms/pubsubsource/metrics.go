package pubsubsource

import (
	"time"

	"beamcdc/transforms/metric"
)

// What the process's receivers know at any time, whether or not bundles end.
func init() {
	gauge := func(name string, unit metric.Unit, help string, of func(Counts) int64) {
		metrics.LiveGauge(name, unit, help, func() int64 { return of(processCounts()) })
	}
	counter := func(name string, unit metric.Unit, help string, of func(Counts) uint64) {
		metrics.LiveCounter(name, unit, help, func() int64 { return int64(of(processCounts())) })
	}
	gauge("outstanding_messages", metric.Messages, "Deliveries taken and not yet acked or given back.",
		func(c Counts) int64 { return int64(c.Outstanding) })
	gauge("outstanding_bytes", metric.Bytes, "Their data, unpacked, attributes and ordering keys.",
		func(c Counts) int64 { return c.OutstandingBytes })
	gauge("queued_messages", metric.Messages, "Of outstanding_messages, those that no bundle has taken up.",
		func(c Counts) int64 { return int64(c.Queued) })
	gauge("oldest_outstanding_seconds", metric.Seconds, "How long ago the delivery was taken that is outstanding for longest; 0 if none is.",
		func(c Counts) int64 {
			if c.OldestTaken.IsZero() {
				return 0
			}
			return int64(time.Since(c.OldestTaken).Seconds())
		})
	counter("restarts", metric.Tries, "Streams of Pub/Sub's that ended and were opened again, or tried to be. Pub/Sub ends each now and then, without anything being wrong.",
		func(c Counts) uint64 { return c.Restarts })
	counter("redeliveries", metric.Messages, "Deliveries of messages of which another was outstanding, or that Pub/Sub says to be repeated, as it does for subscriptions with a dead-letter policy.",
		func(c Counts) uint64 { return c.Redelivered })
	counter("messages_returned", metric.Messages, "Deliveries given back unacked: lost by the runner, too old, or left at the end.",
		func(c Counts) uint64 { return c.Returned })
}
