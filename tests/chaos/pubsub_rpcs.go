package main

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

var errOutage = status.Error(codes.Unavailable, "Pub/Sub is out of reach for a while")

// publisherServer takes what is published from outside: by a replay of dead letters.
type publisherServer struct {
	pubsubpb.UnimplementedPublisherServer
	broker *broker
}

// GetTopic tells the topic.
func (s *publisherServer) GetTopic(context.Context, *pubsubpb.GetTopicRequest) (*pubsubpb.Topic, error) {
	return &pubsubpb.Topic{Name: topic}, nil
}

// Publish takes messages.
func (s *publisherServer) Publish(_ context.Context, r *pubsubpb.PublishRequest) (*pubsubpb.PublishResponse, error) {
	if r.GetTopic() != topic {
		return nil, status.Errorf(codes.NotFound, "there is no topic %s", r.GetTopic())
	}
	response := new(pubsubpb.PublishResponse)
	for _, m := range r.GetMessages() {
		response.MessageIds = append(response.MessageIds, s.broker.publish(m))
	}
	return response, nil
}

// subscriberServer serves the pipeline.
type subscriberServer struct {
	pubsubpb.UnimplementedSubscriberServer
	broker *broker
}

// GetSubscription describes the subscription.
func (s *subscriberServer) GetSubscription(_ context.Context, r *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	if r.GetSubscription() != subscription {
		return nil, status.Errorf(codes.NotFound, "there is no subscription %s", r.GetSubscription())
	}
	return &pubsubpb.Subscription{Name: subscription, Topic: topic, AckDeadlineSeconds: 10, State: pubsubpb.Subscription_ACTIVE}, nil
}

// Acknowledge acks.
func (s *subscriberServer) Acknowledge(_ context.Context, r *pubsubpb.AcknowledgeRequest) (*emptypb.Empty, error) {
	b := s.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.ackFails) {
		return nil, errOutage
	}
	for _, text := range r.GetAckIds() {
		if id, err := strconv.ParseUint(text, 10, 64); err == nil {
			b.ack(id)
		}
	}
	b.more.Broadcast()
	return &emptypb.Empty{}, nil
}

// ModifyAckDeadline extends leases or, with a deadline of 0, nacks.
func (s *subscriberServer) ModifyAckDeadline(_ context.Context, r *pubsubpb.ModifyAckDeadlineRequest) (*emptypb.Empty, error) {
	b := s.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.ackFails) {
		return nil, errOutage
	}
	now := time.Now()
	for _, text := range r.GetAckIds() {
		id, err := strconv.ParseUint(text, 10, 64)
		l := b.leases[id]
		if r.GetAckDeadlineSeconds() == 0 {
			delete(b.taken, id)
		}
		switch {
		case err != nil || l == nil:
		case r.GetAckDeadlineSeconds() == 0:
			b.end(id, l)
			b.count.Nacked++
			b.again(l.number, now)
		case !l.doomed:
			l.until = now.Add(time.Duration(r.GetAckDeadlineSeconds()) * time.Second)
		}
	}
	b.more.Broadcast()
	return &emptypb.Empty{}, nil
}

// StreamingPull delivers for as long as the client stays.
func (s *subscriberServer) StreamingPull(pull pubsubpb.Subscriber_StreamingPullServer) error {
	b := s.broker
	first, err := pull.Recv()
	if err != nil {
		return err
	}
	if first.GetSubscription() != subscription {
		return status.Errorf(codes.NotFound, "there is no subscription %s", first.GetSubscription())
	}
	st := &stream{
		maxMessages: first.GetMaxOutstandingMessages(), maxBytes: first.GetMaxOutstandingBytes(),
		deadline: max(time.Duration(first.GetStreamAckDeadlineSeconds())*time.Second, leaseAtLeast),
	}
	b.mu.Lock()
	b.streams[st] = struct{}{}
	b.mu.Unlock()
	stop := context.AfterFunc(pull.Context(), func() { b.leave(st) })
	defer stop()
	defer b.leave(st)
	go func() { // pings, which need no answer
		for {
			if _, err := pull.Recv(); err != nil {
				b.leave(st)
				return
			}
		}
	}()
	for {
		messages := b.lend(st)
		if messages == nil {
			if b.wasCut(st) {
				return errOutage
			}
			return nil
		}
		if err := pull.Send(&pubsubpb.StreamingPullResponse{ReceivedMessages: messages}); err != nil {
			return err
		}
	}
}

// leave ends a stream. Nobody may be there to extend the leases of what was delivered
// on it: they end within seconds, unless they are extended.
func (b *broker) leave(st *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if st.over {
		return
	}
	st.over = true
	delete(b.streams, st)
	now := time.Now()
	for _, l := range b.leases {
		if l.stream == st {
			if until := now.Add(rand.N(4 * time.Second)); until.Before(l.until) {
				l.until = until
			}
		}
	}
	b.more.Broadcast()
}

func (b *broker) wasCut(st *stream) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return st.cut
}

// cutStreams ends all streams with UNAVAILABLE.
func (b *broker) cutStreams() {
	b.mu.Lock()
	all := make([]*stream, 0, len(b.streams))
	for st := range b.streams {
		st.cut = true
		all = append(all, st)
	}
	b.mu.Unlock()
	for _, st := range all {
		b.leave(st)
	}
}

// endLeases ends all leases: what was delivered and not acked comes again at once.
func (b *broker) endLeases() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, l := range b.leases {
		b.end(id, l)
		b.count.Expired++
		b.again(l.number, now)
	}
	b.more.Broadcast()
}

// failAcks lets the calls about leases fail for a while; loseAcks lets half of the acks
// have no effect.
func (b *broker) failAcks(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ackFails = time.Now().Add(d)
}

func (b *broker) loseAcks(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ackLosses = time.Now().Add(d)
}

// behave changes the broker's habits.
func (b *broker) behave(h habits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.habits = h
}

// left returns how many messages are not acked, and how many deliveries are still to be
// made or under way, those of acked messages included.
func (b *broker) left() (unacked, deliveries int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unacked, len(b.due) + len(b.leases)
}

func (b *broker) counts() brokerCounts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// begin tells that another process of the pipeline starts.
func (b *broker) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.generation++
	clear(b.acks)
	clear(b.taken)
}

// kept returns the messages of deliveries that the current process has neither acked
// nor given back.
func (b *broker) kept() []uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Values(b.taken))
}

// acked returns how many deliveries the current process has acked, each counted once.
func (b *broker) acked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.acks)
}
