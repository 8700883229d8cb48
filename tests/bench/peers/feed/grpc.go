package feed

import (
	"context"
	"sync"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// subscriber serves the gRPC API.
type subscriber struct {
	pubsubpb.UnimplementedSubscriberServer
	*Server
}

// GetSubscription describes the subscription.
func (s *subscriber) GetSubscription(_ context.Context, r *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	if r.GetSubscription() != s.subscription {
		return nil, status.Error(codes.NotFound, "this feed has another subscription")
	}
	return &pubsubpb.Subscription{Name: s.subscription, AckDeadlineSeconds: 600, State: pubsubpb.Subscription_ACTIVE}, nil
}

// Acknowledge acks.
func (s *subscriber) Acknowledge(_ context.Context, r *pubsubpb.AcknowledgeRequest) (*emptypb.Empty, error) {
	s.ack(r.GetAckIds())
	return &emptypb.Empty{}, nil
}

// ModifyAckDeadline does nothing: leases don't end.
func (s *subscriber) ModifyAckDeadline(context.Context, *pubsubpb.ModifyAckDeadlineRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// StreamingPull delivers for as long as the client stays, within its flow control.
func (s *subscriber) StreamingPull(pull pubsubpb.Subscriber_StreamingPullServer) error {
	first, err := pull.Recv()
	if err != nil {
		return err
	}
	st := &stream{maxMessages: first.GetMaxOutstandingMessages(), maxBytes: first.GetMaxOutstandingBytes()}
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		st.over = true
		s.changed.Broadcast()
	}
	defer context.AfterFunc(pull.Context(), leave)()
	defer leave()
	properties := &pubsubpb.StreamingPullResponse_SubscriptionProperties{}
	var sending sync.Mutex
	send := func(messages []*pubsubpb.ReceivedMessage) error {
		sending.Lock()
		defer sending.Unlock()
		return pull.Send(&pubsubpb.StreamingPullResponse{ReceivedMessages: messages, SubscriptionProperties: properties})
	}
	go func() { // pings, and acks of older clients
		defer leave()
		for {
			r, err := pull.Recv()
			if err != nil {
				return
			}
			s.ack(r.GetAckIds())
			if err := send(nil); err != nil {
				return
			}
		}
	}()
	for {
		messages := s.take(st)
		if messages == nil {
			return nil
		}
		if err := send(messages); err != nil {
			return err
		}
	}
}
