package pubsubsource

import (
	"context"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
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

	properties *pubsubpb.StreamingPullResponse_SubscriptionProperties // as the last response had them
}

// answerEvery is how often a stream that waits for room looks alive to the client. It
// pings the service every 30 s, and takes a stream for dead on which nothing has come
// 15 s later: it would close it and open another, to which Pub/Sub would send as many
// messages again, and nobody would extend the leases of these.
const answerEvery = 5 * time.Second

// RecvMsg receives a response, when there is room for one. While there is none it
// returns empty ones, as the service's to a ping are.
func (s *gatedStream) RecvMsg(m any) error {
	if s.stream == nil || s.gate.isShut() {
		return s.idle()
	}
	waiting, cancel := context.WithTimeout(s.stream.Context(), s.gate.answerEvery)
	err := s.gate.enter(waiting)
	cancel()
	response, ok := m.(*pubsubpb.StreamingPullResponse)
	switch {
	case err == nil:
	case ok && s.stream.Context().Err() == nil:
		proto.Reset(response)
		response.SubscriptionProperties = s.properties // the client goes by what the last one says
		return nil
	default:
		return s.end(err)
	}
	err = s.stream.RecvMsg(m)
	if err == nil && ok {
		s.properties = response.GetSubscriptionProperties()
	}
	var messages int
	var bytes int64
	// With exactly-once delivery the client drops messages whose receipt it could
	// not confirm, without a callback: they would stay counted for ever. Not
	// counting them costs at most one response a stream beyond the bound.
	if err == nil && ok && !s.properties.GetExactlyOnceDeliveryEnabled() {
		messages = len(response.GetReceivedMessages())
		for _, received := range response.GetReceivedMessages() {
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
