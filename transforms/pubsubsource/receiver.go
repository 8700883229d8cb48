package pubsubsource

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"

	"beamcdc/schemas/change"
)

// receiver takes one subscription's messages, for the whole process: bundles
// come and go, the streams and the leases stay.
type receiver struct {
	config Config
	gate   *gate
	ready  chan struct{} // holds one signal: there may be something for next to do

	mu          sync.Mutex
	started     bool
	draining    bool
	stop        context.CancelFunc // ends the receiving; nil before the start
	client      *pubsub.Client     // nil before the start
	err         error              // why receiving ended, nil while it goes on or when it was told to end
	queue       queue
	outstanding map[uint64]*delivery // by token, the queued ones included
	byID        map[string]int       // outstanding deliveries by message ID
	bundle      int64                // the last bundle that emitted
	stats       Counts
	warned      time.Time // when silent last told of trouble

	running sync.WaitGroup // the receiving and the sweeping
}

// streamWindow is how many bytes the service may send ahead on a stream, a constant
// instead of gRPC's growing estimate: nobody extends the leases of messages that
// wait there. It lets a stream carry 10 MB/s over 100 ms.
const streamWindow = 1 << 20

func newReceiver(c Config) *receiver {
	c = c.withDefaults()
	return &receiver{
		config:      c,
		gate:        newGate(c),
		ready:       make(chan struct{}, 1),
		outstanding: map[uint64]*delivery{},
		byID:        map[string]int{},
	}
}

// start begins to receive, unless that has begun, or is over. It does not wait
// for the service to be reached. Its contexts are the process's, not a bundle's.
func (r *receiver) start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || r.draining {
		return nil
	}
	c := r.config
	project, _, err := ParseSubscription(c.Subscription)
	if err != nil {
		return err
	}
	options := append(c.clientOptions(),
		option.WithGRPCDialOption(grpc.WithChainStreamInterceptor(r.gate.intercept)),
		option.WithGRPCDialOption(grpc.WithInitialWindowSize(streamWindow)),
		option.WithGRPCDialOption(grpc.WithInitialConnWindowSize(streamWindow*int32(c.Streams))))
	client, err := pubsub.NewClient(context.Background(), project, options...)
	if err != nil {
		return fmt.Errorf("connecting to %s for %s: %w", c.where(), c.Subscription, err)
	}
	subscriber := client.Subscriber(c.Subscription)
	subscriber.ReceiveSettings = pubsub.ReceiveSettings{
		MaxExtension:               c.MaxExtension,
		MaxDurationPerAckExtension: c.Lease,
		MinDurationPerAckExtension: c.Lease,
		// The service counts by stream, so each gets its share.
		EnablePerStreamFlowControl: true,
		NumGoroutines:              c.Streams,
		MaxOutstandingMessages:     max(c.MaxOutstandingMessages/c.Streams, 1),
		MaxOutstandingBytes:        int(max(c.MaxOutstandingBytes/int64(c.Streams), 1)),
	}
	ctx, stop := context.WithCancel(context.Background())
	r.started, r.client, r.stop = true, client, stop
	r.running.Go(func() {
		err := subscriber.Receive(ctx, r.take)
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		stop()
		r.signal()
	})
	r.running.Go(func() { r.sweep(ctx) })
	return nil
}

func (r *receiver) signal() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

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

// settle takes receipts and acks the messages that they complete.
//
// Invariant 1: a message is acked only once all its parts have come to rest.
func (r *receiver) settle(receipts []change.Receipt) (acked, unknown int) {
	var complete []*delivery
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
	r.stats.Acked += uint64(len(complete))
	r.stats.UnknownReceipts += uint64(unknown)
	r.mu.Unlock()
	for _, d := range complete {
		d.message.Ack()
	}
	r.gate.leave(len(complete), bytes)
	return len(complete), unknown
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

// drain ends the taking. What was taken and is queued can still be emitted.
func (r *receiver) drain() {
	r.mu.Lock()
	r.draining = true
	stop := r.stop
	r.mu.Unlock()
	if stop != nil {
		stop()
		r.gate.close()
	}
	r.signal()
}

// close returns what is not acked and waits until Pub/Sub knows of all acks.
func (r *receiver) close(ctx context.Context) error {
	r.drain()
	r.mu.Lock()
	rest := r.removeIf(func(*delivery) bool { return true })
	client := r.client
	r.mu.Unlock()
	r.giveBack(rest)
	if client == nil {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		r.running.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("closing %s: acks may not have reached %s, their messages come again: %w", r.config.Subscription, r.config.where(), ctx.Err())
	}
	if closing := client.Close(); err == nil && closing != nil {
		err = fmt.Errorf("closing %s: %w", r.config.Subscription, closing)
	}
	return err
}

// wait waits for a signal, for so long at most.
func (r *receiver) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-r.ready:
	}
}

func (r *receiver) counts() (outstanding int, redelivered uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.outstanding), r.stats.Redelivered
}

// troubleTime is how long a service may be out of reach before that is told, and
// how often it is.
const troubleTime = time.Minute

// silent returns what keeps messages from coming, when it is time to tell.
func (r *receiver) silent() error {
	since, trouble := r.gate.troubleSince()
	r.mu.Lock()
	defer r.mu.Unlock()
	if trouble == nil || time.Since(since) < troubleTime || time.Since(r.warned) < troubleTime {
		return nil
	}
	r.warned = time.Now()
	return trouble
}
