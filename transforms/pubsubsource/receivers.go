package pubsubsource

import (
	"context"
	"sync"
	"time"
)

// receivers holds the process's receivers. Beam's DoFns come and go without a
// word (Teardown is not called), so what must outlive a bundle lives here.
var receivers = struct {
	mu     sync.Mutex
	open   map[receiverKey]*receiver
	closed map[receiverKey]Counts
	past   Counts // of all those that were closed
}{open: map[receiverKey]*receiver{}, closed: map[receiverKey]Counts{}}

type receiverKey struct{ subscription, where string }

func (c Config) key() receiverKey { return receiverKey{c.Subscription, c.where()} }

// receiverOf returns the subscription's receiver; the first Config to ask decides its settings.
func receiverOf(c Config) *receiver {
	receivers.mu.Lock()
	defer receivers.mu.Unlock()
	r := receivers.open[c.key()]
	if r == nil {
		r = newReceiver(c)
		receivers.open[c.key()] = r
	}
	return r
}

// openReceiver returns the subscription's receiver, nil if there is none.
func openReceiver(c Config) *receiver {
	receivers.mu.Lock()
	defer receivers.mu.Unlock()
	return receivers.open[c.key()]
}

// forget makes room for a new receiver; the old one's last counts stay readable.
func forget(r *receiver) {
	receivers.mu.Lock()
	defer receivers.mu.Unlock()
	if key := r.config.key(); receivers.open[key] == r {
		delete(receivers.open, key)
		last := r.snapshot()
		receivers.closed[key] = last
		receivers.past.add(last)
	}
}

// dataOf returns what a delivery holds that is outstanding in this process, of whatever
// subscription.
func dataOf(token uint64) ([]byte, bool) {
	receivers.mu.Lock()
	defer receivers.mu.Unlock()
	for _, r := range receivers.open {
		if data, ok := r.data(token); ok {
			return data, true
		}
	}
	return nil, false
}

// Drain ends the taking of messages, for a pipeline that runs in this process:
// [Read] emits what was taken before and ends, which ends the job once all is
// written. It does not wait. A pipeline that starts later is drained too, until
// [Close].
func Drain(c Config) { receiverOf(c).drain() }

// Close ends the receiving of a subscription in this process, after the job is
// done: it returns what is not acked to Pub/Sub and waits, until ctx is done, for
// the last acks to reach it. Acks that do not are no loss: their messages come again.
// A pipeline that starts later receives anew. Close of what was never read is nil.
func Close(ctx context.Context, c Config) error {
	r := openReceiver(c)
	if r == nil {
		return nil
	}
	err := r.close(ctx)
	forget(r)
	return err
}

// Trouble returns what keeps a subscription's messages from coming, and since when; nil
// if nothing does.
func Trouble(c Config) (since time.Time, trouble error) {
	if r := openReceiver(c); r != nil {
		return r.gate.troubleSince()
	}
	return time.Time{}, nil
}

// Stats returns the subscription's counts; after [Close], the last ones.
func Stats(c Config) Counts {
	receivers.mu.Lock()
	r, closed := receivers.open[c.key()], receivers.closed[c.key()]
	receivers.mu.Unlock()
	if r == nil {
		return closed
	}
	return r.snapshot()
}
