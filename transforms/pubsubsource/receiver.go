package pubsubsource

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
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
	truncated   bool               // draining, and the queue is given back
	stop        context.CancelFunc // ends the receiving; nil before the start
	closeClient func() error       // nil before the start
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
	options, err := c.ClientOptions()
	if err != nil {
		return err
	}
	options = append(options,
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
	r.started, r.stop, r.closeClient = true, stop, sync.OnceValue(client.Close)
	r.running.Go(func() {
		err := subscriber.Receive(ctx, r.take)
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		stop()
		if err != nil {
			_ = r.closeClient() // it has failed already
		}
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

// truncate ends the taking for a runner that will not ask for more: what is queued
// is given back, and what was emitted is acked as ever.
func (r *receiver) truncate() {
	r.drain()
	r.mu.Lock()
	r.truncated = true
	queued := r.removeIf(func(d *delivery) bool { return d.bundle == 0 })
	r.mu.Unlock()
	r.giveBack(queued)
}

func (r *receiver) isTruncated() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.truncated
}

// close returns what is not acked and waits until Pub/Sub knows of all acks.
func (r *receiver) close(ctx context.Context) error {
	r.drain()
	r.mu.Lock()
	rest := r.removeIf(func(*delivery) bool { return true })
	closeClient := r.closeClient
	r.mu.Unlock()
	r.giveBack(rest)
	if closeClient == nil {
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
	if closing := closeClient(); err == nil && closing != nil {
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
