package pubsubsource

import (
	"context"
	"time"

	"cloud.google.com/go/pubsub/v2"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// take is the client's callback: it queues the message and returns at once.
func (r *receiver) take(_ context.Context, m *pubsub.Message) {
	size := messageSize(m.Data, m.Attributes, m.OrderingKey)
	r.gate.take(size)
	r.mu.Lock()
	if r.draining {
		r.mu.Unlock()
		m.Nack()
		r.gate.unqueue(1, size)
		r.gate.leave(1, size)
		return
	}
	d := &delivery{message: m, token: newToken(), size: size, taken: time.Now()}
	r.outstanding[d.token] = d
	r.queue.push(d)
	r.stats.Taken++
	r.stats.TakenBytes += uint64(size)
	if r.byID[m.ID]++; r.byID[m.ID] > 1 || m.DeliveryAttempt != nil && *m.DeliveryAttempt > 1 {
		r.stats.Redelivered++
	}
	r.mu.Unlock()
	r.signal()
}

// next moves up to so many queued messages to a bundle and appends them to dst.
// It reports done when there will never be more, and why if that is an error.
func (r *receiver) next(dst []*delivery, bundle int64, messages int) (_ []*delivery, done bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return dst, true, r.err
	}
	r.bundle = bundle
	before, bytes := r.queue.len(), int64(0)
	for r.queue.len() > 0 && messages > 0 {
		d := r.queue.pop()
		bytes += d.size
		if r.outstanding[d.token] != d {
			continue // given up while it was queued
		}
		d.bundle = bundle
		dst = append(dst, d)
		r.stats.Emitted++
		messages--
	}
	r.gate.unqueue(before-r.queue.len(), bytes)
	return dst, r.draining && r.queue.len() == 0, nil
}

// resume is told which bundle was the last that the runner committed. What later
// bundles emitted is lost: the runner retries, or went back to a checkpoint. Those
// messages are returned to Pub/Sub, which delivers them again.
func (r *receiver) resume(committed int64) {
	r.mu.Lock()
	if r.bundle <= committed {
		r.mu.Unlock()
		return
	}
	lost := r.removeIf(func(d *delivery) bool { return d.bundle > committed })
	r.bundle = committed
	r.mu.Unlock()
	r.giveBack(lost)
}

// settle takes receipts, and acks and returns the deliveries that they complete.
//
// Invariant 1: a message is acked only once all its parts have come to rest.
func (r *receiver) settle(receipts []change.Receipt) (complete []*delivery, unknown int) {
	var bytes int64
	r.mu.Lock()
	for _, receipt := range receipts {
		d := r.outstanding[receipt.Token]
		if d == nil || receipt.Part >= receipt.Parts {
			unknown++
			continue
		}
		if d.rest.add(receipt.Part, receipt.Parts) {
			r.remove(d)
			bytes += d.size
			complete = append(complete, d)
		}
	}
	if len(complete) > 0 {
		r.stats.Acked += uint64(len(complete))
		r.stats.LastAcked = time.Now()
	}
	r.stats.UnknownReceipts += uint64(unknown)
	r.mu.Unlock()
	for _, d := range complete {
		d.message.Ack()
	}
	r.gate.leave(len(complete), bytes)
	return complete, unknown
}

// data returns what an outstanding delivery holds.
func (r *receiver) data(token uint64) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.outstanding[token]
	if d == nil {
		return nil, false
	}
	return d.message.Data, true
}

// sweep gives up what was not acked in MaxExtension: the client has stopped to
// extend its lease, and it would be counted as outstanding for ever.
func (r *receiver) sweep(ctx context.Context) {
	tick := time.NewTicker(min(r.config.MaxExtension/4, time.Second) + time.Millisecond)
	defer tick.Stop()
	swept := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			r.gate.wake()
			if now.Sub(swept) < r.config.MaxExtension/4 {
				continue
			}
			swept = now
			r.mu.Lock()
			old := r.removeIf(func(d *delivery) bool { return now.Sub(d.taken) > r.config.MaxExtension })
			r.mu.Unlock()
			r.giveBack(old)
		}
	}
}

// remove ends a delivery. The lock is held.
func (r *receiver) remove(d *delivery) {
	delete(r.outstanding, d.token)
	deadletter.Forget(d.token)
	if r.byID[d.message.ID]--; r.byID[d.message.ID] <= 0 {
		delete(r.byID, d.message.ID)
	}
}

// removeIf ends the deliveries that are not to be acked. The lock is held.
func (r *receiver) removeIf(gone func(*delivery) bool) []*delivery {
	var removed []*delivery
	for _, d := range r.outstanding {
		if gone(d) {
			removed = append(removed, d)
		}
	}
	for _, d := range removed {
		r.remove(d)
	}
	r.stats.Returned += uint64(len(removed))
	return removed
}

// giveBack returns removed deliveries to Pub/Sub, to be delivered again.
func (r *receiver) giveBack(removed []*delivery) {
	var bytes int64
	for _, d := range removed {
		d.message.Nack()
		bytes += d.size
	}
	r.gate.leave(len(removed), bytes)
}
