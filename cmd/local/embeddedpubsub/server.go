// Package embeddedpubsub is a Pub/Sub for one machine: Google's fake, pstest,
// with what it lacks for more than a unit test. It streams messages as fast as
// they are taken, where pstest hands one message to a stream every ten
// milliseconds, and takes requests of the size that Pub/Sub takes, where pstest
// takes 4 MiB.
//
// What it leaves out, as pstest does: every message stays in memory, acked or
// not; a message that nobody took for ten minutes is lost; flow control is the
// client's; pull subscriptions alone are served. A few hundred messages reach a
// subscriber in the order of their publishing, more reach it in none.
//
// Publish times differ by a microsecond at least, and grow from message to
// message, so that an order by publish time is the order of publishing.
package embeddedpubsub

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// maxRequestBytes bounds a request. Pub/Sub takes 10 MB; more lets a message be
// tried that is too large for BigQuery.
const maxRequestBytes = 64 << 20

// A publish request of Publish holds at most this many messages and bytes.
const (
	maxPublishMessages = 1000
	maxPublishBytes    = 4 << 20
)

// AckDeadlineSeconds is the ack deadline of the subscriptions that
// CreateSubscription makes; the client's own, where it sends one, replaces it.
const AckDeadlineSeconds = 10

// Server is an embedded Pub/Sub. Its clients connect in plain text.
type Server struct {
	Addr string // host:port, what PUBSUB_EMULATOR_HOST is to be

	fake *pstest.Server
	grpc *grpc.Server
}

// Start starts a Pub/Sub on an address such as "127.0.0.1:0". Close ends it.
func Start(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("starting the embedded Pub/Sub: %w", err)
	}
	s := &Server{
		Addr: listener.Addr().String(),
		fake: pstest.NewServer(),
		grpc: grpc.NewServer(grpc.MaxRecvMsgSize(maxRequestBytes)),
	}
	s.fake.SetTimeNowFunc(new(clock).now)
	pubsubpb.RegisterPublisherServer(s.grpc, &s.fake.GServer)
	pubsubpb.RegisterSubscriberServer(s.grpc, &subscriber{&s.fake.GServer})
	pubsubpb.RegisterSchemaServiceServer(s.grpc, &s.fake.GServer)
	iampb.RegisterIAMPolicyServer(s.grpc, permissions{})
	go func() { _ = s.grpc.Serve(listener) }() // it ends with Close
	return s, nil
}

// permissions grants whoever asks what they ask for: this Pub/Sub knows no accounts.
type permissions struct {
	iampb.UnimplementedIAMPolicyServer
}

// TestIamPermissions returns the permissions that are asked for.
func (permissions) TestIamPermissions(_ context.Context, r *iampb.TestIamPermissionsRequest) (*iampb.TestIamPermissionsResponse, error) {
	return &iampb.TestIamPermissionsResponse{Permissions: r.GetPermissions()}, nil
}

// clock tells times of which each is a microsecond later than the one before, or more.
type clock struct {
	mu   sync.Mutex
	last time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = c.last.Add(time.Microsecond)
	if now := time.Now().Truncate(time.Microsecond); now.After(c.last) {
		c.last = now
	}
	return c.last
}

// Close ends the server and all streams.
func (s *Server) Close() {
	s.grpc.Stop()
	_ = s.fake.Close() // it can't fail
}

// CreateTopic creates a topic by its full name. One that is there already is fine.
func (s *Server) CreateTopic(ctx context.Context, name string) error {
	if _, err := s.fake.GServer.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: name}); err == nil {
		return nil
	}
	if _, err := s.fake.GServer.CreateTopic(ctx, &pubsubpb.Topic{Name: name}); err != nil {
		return fmt.Errorf("creating topic %s: %w", name, err)
	}
	return nil
}

// CreateSubscription creates a subscription to a topic that is there.
func (s *Server) CreateSubscription(ctx context.Context, name, topic string) error {
	_, err := s.fake.GServer.CreateSubscription(ctx, &pubsubpb.Subscription{Name: name, Topic: topic, AckDeadlineSeconds: AckDeadlineSeconds})
	if err != nil {
		return fmt.Errorf("creating subscription %s: %w", name, err)
	}
	return nil
}

// Publish publishes messages to a topic in their order, and sets their IDs and
// publish times.
func (s *Server) Publish(ctx context.Context, topic string, messages ...*pubsubpb.PubsubMessage) error {
	for len(messages) > 0 {
		count, size := 0, 0
		for count < min(len(messages), maxPublishMessages) && (count == 0 || size+proto.Size(messages[count]) <= maxPublishBytes) {
			size += proto.Size(messages[count])
			count++
		}
		if _, err := s.fake.GServer.Publish(ctx, &pubsubpb.PublishRequest{Topic: topic, Messages: messages[:count]}); err != nil {
			return fmt.Errorf("publishing to %s: %w", topic, err)
		}
		messages = messages[count:]
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("publishing to %s: %w", topic, err)
		}
	}
	return nil
}

// Message is a message that was published, and what became of it.
type Message = pstest.Message

// Messages returns the messages published to a topic, in that order.
func (s *Server) Messages(topic string) []*Message {
	messages := slices.DeleteFunc(s.fake.Messages(), func(m *Message) bool { return m.Topic != topic })
	slices.SortFunc(messages, func(a, b *Message) int { return compareIDs(a.ID, b.ID) })
	return messages
}

// Forget drops the messages of all topics, acked or not: a long test's memory.
func (s *Server) Forget() { s.fake.ClearMessages() }

// Unacked counts the topic's messages that were never acked.
func (s *Server) Unacked(topic string) int {
	count := 0
	for _, m := range s.fake.Messages() {
		if m.Topic == topic && m.Acks == 0 {
			count++
		}
	}
	return count
}

// compareIDs orders the fake's message IDs ("m0", "m1", … "m10") by their
// numbers, others by their text.
func compareIDs(a, b string) int {
	m, errA := strconv.Atoi(strings.TrimPrefix(a, "m"))
	n, errB := strconv.Atoi(strings.TrimPrefix(b, "m"))
	if errA != nil || errB != nil {
		return strings.Compare(a, b)
	}
	return cmp.Compare(m, n)
}
