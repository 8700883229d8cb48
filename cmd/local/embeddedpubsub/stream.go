package embeddedpubsub

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
)

// A stream takes this many messages from the fake at a time, and sends them in
// responses of about this many bytes.
const (
	pullMessages  = 1000
	responseBytes = 1 << 20
)

// A stream that found nothing looks again after a pause that grows from the
// first of these to the second: looking costs time in proportion to what is not
// yet acked.
const (
	minIdle = 5 * time.Millisecond
	maxIdle = 50 * time.Millisecond
)

// subscriber is the fake's, with a stream of its own.
type subscriber struct{ *pstest.GServer }

// StreamingPull sends what Pull finds for as long as the client stays. Acks and
// deadlines that come on the stream are handed to the fake, as are the ones that
// come as calls. A response is sent when the client takes it: HTTP/2's windows
// are the only flow control.
func (s *subscriber) StreamingPull(stream pubsubpb.Subscriber_StreamingPullServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	pings := make(chan struct{}, 1)
	received := make(chan error, 1)
	go func() { received <- s.receive(ctx, stream, first, pings) }()
	pull := &pubsubpb.PullRequest{
		Subscription: first.GetSubscription(), MaxMessages: pullMessages,
		ReturnImmediately: true, //nolint:staticcheck // deprecated for clients of the service; the fake sleeps half a second without it
	}
	idle := minIdle
	for {
		found, err := s.Pull(ctx, pull)
		if err != nil {
			return err
		}
		messages := found.GetReceivedMessages()
		slices.SortFunc(messages, func(a, b *pubsubpb.ReceivedMessage) int {
			return compareIDs(a.GetMessage().GetMessageId(), b.GetMessage().GetMessageId())
		})
		if err := send(stream, messages); err != nil {
			return err
		}
		if len(messages) > 0 {
			idle = minIdle
			continue
		}
		select {
		case err := <-received:
			if errors.Is(err, io.EOF) {
				return nil // the client has closed its side
			}
			return err
		case <-pings:
			if err := stream.Send(&pubsubpb.StreamingPullResponse{}); err != nil {
				return err
			}
		case <-time.After(idle):
			idle = min(2*idle, maxIdle)
		}
	}
}

// send sends the messages in responses of bounded size, each with at least one.
func send(stream pubsubpb.Subscriber_StreamingPullServer, messages []*pubsubpb.ReceivedMessage) error {
	for len(messages) > 0 {
		count, size := 0, 0
		for count < len(messages) && (count == 0 || size < responseBytes) {
			size += len(messages[count].GetMessage().GetData())
			count++
		}
		if err := stream.Send(&pubsubpb.StreamingPullResponse{ReceivedMessages: messages[:count]}); err != nil {
			return err
		}
		messages = messages[count:]
	}
	return nil
}

// receive handles what the client sends, until it ends. An empty request is a
// ping, which newer clients want answered.
func (s *subscriber) receive(
	ctx context.Context, stream pubsubpb.Subscriber_StreamingPullServer, first *pubsubpb.StreamingPullRequest, pings chan<- struct{},
) error {
	subscription := first.GetSubscription()
	for request := first; ; {
		if ids := request.GetAckIds(); len(ids) > 0 {
			if _, err := s.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: subscription, AckIds: ids}); err != nil {
				return err
			}
		}
		for i, id := range request.GetModifyDeadlineAckIds() {
			_, err := s.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{
				Subscription: subscription, AckIds: []string{id}, AckDeadlineSeconds: request.GetModifyDeadlineSeconds()[i],
			})
			if err != nil {
				return err
			}
		}
		if request != first && len(request.GetAckIds()) == 0 && len(request.GetModifyDeadlineAckIds()) == 0 && first.GetProtocolVersion() >= 1 {
			select {
			case pings <- struct{}{}:
			default: // one answer is enough
			}
		}
		var err error
		if request, err = stream.Recv(); err != nil {
			return err
		}
	}
}
