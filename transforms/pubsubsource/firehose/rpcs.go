package firehose

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// subscriber serves the RPCs.
type subscriber struct {
	pubsubpb.UnimplementedSubscriberServer
	*Server
}

var errNotFound = status.Error(codes.NotFound, "this firehose has another subscription")

// GetSubscription describes the subscription.
func (s *subscriber) GetSubscription(_ context.Context, r *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	if r.GetSubscription() != s.options.Subscription {
		return nil, errNotFound
	}
	return &pubsubpb.Subscription{Name: s.options.Subscription, AckDeadlineSeconds: 10, EnableMessageOrdering: s.options.Ordered, State: pubsubpb.Subscription_ACTIVE}, nil
}

// Acknowledge acks.
func (s *subscriber) Acknowledge(_ context.Context, r *pubsubpb.AcknowledgeRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range r.GetAckIds() {
		if id, err := strconv.ParseUint(text, 10, 64); err == nil {
			s.ack(id)
		}
	}
	s.more.Broadcast()
	return &emptypb.Empty{}, nil
}

// ModifyAckDeadline extends leases or, with a deadline of 0, nacks.
func (s *subscriber) ModifyAckDeadline(_ context.Context, r *pubsubpb.ModifyAckDeadlineRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := time.Now().Add(time.Duration(r.GetAckDeadlineSeconds()) * time.Second)
	for _, text := range r.GetAckIds() {
		id, err := strconv.ParseUint(text, 10, 64)
		l := s.leases[id]
		if err != nil || l == nil {
			continue
		}
		if r.GetAckDeadlineSeconds() > 0 {
			l.until = until
			continue
		}
		s.end(id, l)
		s.count.Nacked++
		s.again = append(s.again, l.loan)
	}
	s.more.Broadcast()
	return &emptypb.Empty{}, nil
}

// StreamingPull delivers for as long as the client stays.
func (s *subscriber) StreamingPull(pull pubsubpb.Subscriber_StreamingPullServer) error {
	first, err := pull.Recv()
	if err != nil {
		return err
	}
	if first.GetSubscription() != s.options.Subscription {
		return errNotFound
	}
	st := &stream{
		maxMessages: first.GetMaxOutstandingMessages(),
		maxBytes:    first.GetMaxOutstandingBytes(),
		deadline:    max(time.Duration(first.GetStreamAckDeadlineSeconds())*time.Second, 10*time.Second),
	}
	s.mu.Lock()
	s.count.Streams++
	s.mu.Unlock()
	properties := &pubsubpb.StreamingPullResponse_SubscriptionProperties{MessageOrderingEnabled: s.options.Ordered}
	stop := context.AfterFunc(pull.Context(), func() { s.leave(st) })
	defer stop()
	defer s.leave(st)
	var sending sync.Mutex
	go func() { // pings
		for {
			if _, err := pull.Recv(); err != nil {
				s.leave(st)
				return
			}
			sending.Lock()
			err := pull.Send(&pubsubpb.StreamingPullResponse{SubscriptionProperties: properties})
			sending.Unlock()
			if err != nil {
				return
			}
		}
	}()
	for {
		messages := s.lend(st)
		if messages == nil {
			return nil
		}
		sending.Lock()
		err := pull.Send(&pubsubpb.StreamingPullResponse{ReceivedMessages: messages, SubscriptionProperties: properties})
		sending.Unlock()
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
}

// leave ends a stream; what it holds stays lent until the leases end.
func (s *Server) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !st.over {
		st.over = true
		s.count.Streams--
	}
	s.more.Broadcast()
}
