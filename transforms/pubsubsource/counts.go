package pubsubsource

import "time"

// Counts tell what happened to a subscription's messages in this process, since
// its first bundle or since [Close] of an earlier pipeline.
type Counts struct {
	Taken      uint64 // deliveries taken from Pub/Sub
	TakenBytes uint64 // their data, unpacked, attributes and ordering keys
	Emitted    uint64 // deliveries that went into the pipeline
	Acked      uint64 // deliveries acked; Pub/Sub learns of them within 100 ms
	Returned   uint64 // deliveries given back unacked: lost by the runner, older than MaxExtension, or left at Close

	// Redelivered counts the deliveries of a message of which another was
	// outstanding, or whose attempt Pub/Sub counts as above the first; it does so
	// only for subscriptions with a dead-letter policy. Others are not recognized.
	Redelivered uint64

	// UnknownReceipts counts receipts that no outstanding delivery goes with: late
	// repeats, and receipts of another process.
	UnknownReceipts uint64

	// Restarts counts streams that failed and were opened again, or tried to be. Pub/Sub
	// ends each now and then, without anything being wrong.
	Restarts uint64

	Queued           int   // taken and not yet emitted, now
	Outstanding      int   // taken and not yet acked or returned, now
	OutstandingBytes int64 // their bytes

	LastAcked   time.Time // when a delivery was last acked; zero if none was
	OldestTaken time.Time // when the delivery that is outstanding for longest was taken; zero if none is
}

// snapshot returns the counts as they are now.
func (r *receiver) snapshot() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.stats
	stats.Queued = r.queue.len()
	stats.Outstanding = len(r.outstanding)
	for _, d := range r.outstanding {
		stats.OutstandingBytes += d.size
		if stats.OldestTaken.IsZero() || d.taken.Before(stats.OldestTaken) {
			stats.OldestTaken = d.taken
		}
	}
	stats.Restarts = r.gate.restarts.Load()
	return stats
}

// processCounts adds up what all receivers of the process count.
func processCounts() Counts {
	receivers.mu.Lock()
	defer receivers.mu.Unlock()
	all := receivers.past
	for _, r := range receivers.open {
		now := r.snapshot()
		all.add(now)
		all.Queued += now.Queued
		all.Outstanding += now.Outstanding
		all.OutstandingBytes += now.OutstandingBytes
		if all.OldestTaken.IsZero() || !now.OldestTaken.IsZero() && now.OldestTaken.Before(all.OldestTaken) {
			all.OldestTaken = now.OldestTaken
		}
	}
	return all
}

// add adds what only grows.
func (c *Counts) add(o Counts) {
	c.Taken += o.Taken
	c.TakenBytes += o.TakenBytes
	c.Emitted += o.Emitted
	c.Acked += o.Acked
	c.Returned += o.Returned
	c.Redelivered += o.Redelivered
	c.UnknownReceipts += o.UnknownReceipts
	c.Restarts += o.Restarts
}
