package pubsubsource

import (
	"context"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// intercept puts the gate in front of the streams of a client.
func (g *gate) intercept(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if method != pubsubpb.Subscriber_StreamingPull_FullMethodName {
		return streamer(ctx, desc, conn, method, opts...)
	}
	s := &gatedStream{gate: g, done: ctx.Done(), cause: ctx.Err}
	cut, cancel := context.WithCancel(ctx)
	if !g.add(s, cancel) {
		return s, nil
	}
	stream, err := streamer(cut, desc, conn, method, opts...)
	if err != nil {
		g.remove(s)
		g.note(err)
		return nil, err
	}
	s.stream = stream
	return s, nil
}

// gatedStream is a stream that the gate can cut. To the client it then looks like
// one on which nothing comes. The client would stop to send acks if the stream
// failed; and if it stayed open, Pub/Sub would go on to send messages on it that
// nobody takes, and would deliver them to others only once their leases end.
type gatedStream struct {
	gate   *gate
	stream grpc.ClientStream // nil where the gate was shut before it began
	done   <-chan struct{}   // when the client has no more use for it
	cause  func() error
}

// RecvMsg receives a response, when there is room for one.
func (s *gatedStream) RecvMsg(m any) error {
	if s.stream == nil || s.gate.isShut() {
		return s.idle()
	}
	if err := s.gate.enter(s.stream.Context()); err != nil {
		return s.end(err)
	}
	err := s.stream.RecvMsg(m)
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
	s.gate.note(err)
	if err != nil {
		return s.end(err)
	}
	return nil
}

// end is how the stream ends for the client.
func (s *gatedStream) end(err error) error {
	if s.gate.isShut() {
		return s.idle()
	}
	s.gate.remove(s)
	return err
}

func (s *gatedStream) idle() error {
	<-s.done
	return s.cause()
}

// SendMsg sends a request: the first one or, later, a ping.
func (s *gatedStream) SendMsg(m any) error {
	if s.stream == nil || s.gate.isShut() {
		return nil
	}
	return s.stream.SendMsg(m)
}

// CloseSend tells the service that there will be no more requests.
func (s *gatedStream) CloseSend() error {
	if s.stream == nil || s.gate.isShut() {
		return nil
	}
	return s.stream.CloseSend()
}

// Header returns what the service sent ahead.
func (s *gatedStream) Header() (metadata.MD, error) {
	if s.stream == nil {
		return nil, nil
	}
	return s.stream.Header()
}

// Trailer returns what the service sent at the end.
func (s *gatedStream) Trailer() metadata.MD {
	if s.stream == nil {
		return nil
	}
	return s.stream.Trailer()
}

// Context returns the stream's context.
func (s *gatedStream) Context() context.Context {
	if s.stream == nil {
		return context.Background()
	}
	return s.stream.Context()
}
