package pubsubsource

import (
	"context"
	"sync"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
)

// gate bounds what is outstanding. The client library's own flow control counts
// a message until its callback returns; the real service counts until the ack,
// but emulators and fakes do not count at all. So the gate stands where responses
// come in: a stream asks for its next response only when there is room, and
// HTTP/2 pushes back on a service that would send more.
type gate struct {
	maxMessages int
	maxBytes    int64

	mu   sync.Mutex
	room *sync.Cond // more room than before

	// The three together are what counts: streams that wait for a response, of at
	// least one message; messages in responses whose callback has not run yet; and
	// messages that wait for their ack.
	waiting                         int
	arriving, outstanding           int
	arrivingBytes, outstandingBytes int64
}

func newGate(maxMessages int, maxBytes int64) *gate {
	g := &gate{maxMessages: maxMessages, maxBytes: maxBytes}
	g.room = sync.NewCond(&g.mu)
	return g
}

// enter waits until there is room for one more response, or ctx is done.
func (g *gate) enter(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.room.Broadcast()
	})
	defer stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.waiting+g.arriving+g.outstanding >= g.maxMessages || g.arrivingBytes+g.outstandingBytes >= g.maxBytes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		g.room.Wait()
	}
	g.waiting++
	return nil
}

// arrive ends what enter began: a response came, with this many messages, or
// none, or an error.
func (g *gate) arrive(messages int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	g.arriving += messages
	g.arrivingBytes += bytes
	g.room.Broadcast()
}

// take counts a message as outstanding.
func (g *gate) take(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arriving = max(g.arriving-1, 0)
	g.arrivingBytes = max(g.arrivingBytes-bytes, 0)
	g.outstanding++
	g.outstandingBytes += bytes
}

// leave counts messages as outstanding no more.
func (g *gate) leave(messages int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outstanding -= messages
	g.outstandingBytes -= bytes
	g.room.Broadcast()
}

// intercept puts the gate in front of the streams of a client.
func (g *gate) intercept(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := streamer(ctx, desc, conn, method, opts...)
	if err != nil || method != pubsubpb.Subscriber_StreamingPull_FullMethodName {
		return stream, err
	}
	return &gatedStream{stream, g}, nil
}

type gatedStream struct {
	grpc.ClientStream
	gate *gate
}

// RecvMsg receives a response, when there is room for one.
func (s *gatedStream) RecvMsg(m any) error {
	if err := s.gate.enter(s.Context()); err != nil {
		return err
	}
	err := s.ClientStream.RecvMsg(m)
	var messages int
	var bytes int64
	// With exactly-once delivery the client drops messages whose receipt it could
	// not confirm, without a callback: they would stay counted for ever. Not
	// counting them costs at most one response a stream beyond the bound.
	if r, ok := m.(*pubsubpb.StreamingPullResponse); err == nil && ok && !r.GetSubscriptionProperties().GetExactlyOnceDeliveryEnabled() {
		messages = len(r.GetReceivedMessages())
		for _, received := range r.GetReceivedMessages() {
			message := received.GetMessage()
			bytes += messageSize(message.GetData(), message.GetAttributes(), message.GetOrderingKey())
		}
	}
	s.gate.arrive(messages, bytes)
	return err
}

// messageSize is what a message counts for.
func messageSize(data []byte, attributes map[string]string, orderingKey string) int64 {
	size := len(data) + len(orderingKey)
	for name, value := range attributes {
		size += len(name) + len(value)
	}
	return int64(size)
}
