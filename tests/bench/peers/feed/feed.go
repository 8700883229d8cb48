// Package feed is a Pub/Sub subscription that hands out messages in lots, by gRPC's
// streaming pull and by REST's pull, so that programs in any language can be given the
// same messages in turns. transforms/pubsubsource/firehose is for one pipeline, and
// knows what becomes of each message; this one counts, and delivers nothing twice.
package feed

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Server is a running subscription. It speaks plain text.
type Server struct {
	GRPCAddr string // host:port of the gRPC API
	RESTAddr string // URL of the REST API

	subscription string
	message      func(i int) *pubsubpb.PubsubMessage
	grpc         *grpc.Server
	rest         *httptest.Server

	mu             sync.Mutex
	changed        *sync.Cond // released, acked or closed, or a stream is over
	closed         bool
	released, next int
	acked          int
	lent           map[uint64]loan // by ack ID
	lastID         uint64
	releasedAt     time.Time
}

// loan is a message that was delivered and is not acked.
type loan struct {
	stream *stream // nil where it was pulled by REST
	bytes  int64
}

// stream is a streaming pull.
type stream struct {
	maxMessages, messages int64 // outstanding; a bound of 0 is none
	maxBytes, bytes       int64
	over                  bool
}

func (st *stream) room() bool {
	return (st.maxMessages <= 0 || st.messages < st.maxMessages) && (st.maxBytes <= 0 || st.bytes < st.maxBytes)
}

// Start starts a subscription, "projects/P/subscriptions/S", that has no messages yet.
// message makes message i, from 0 on; it is called from several goroutines.
func Start(subscription string, message func(i int) *pubsubpb.PubsubMessage) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a feed: %w", err)
	}
	s := &Server{
		GRPCAddr: listener.Addr().String(), subscription: subscription, message: message,
		grpc: grpc.NewServer(), lent: make(map[uint64]loan),
	}
	s.changed = sync.NewCond(&s.mu)
	pubsubpb.RegisterSubscriberServer(s.grpc, &subscriber{Server: s})
	go func() { _ = s.grpc.Serve(listener) }() // it ends with Close
	s.rest = httptest.NewServer(http.HandlerFunc(s.serve))
	s.RESTAddr = s.rest.URL
	return s, nil
}

// Close ends the servers.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	s.grpc.Stop()
	s.rest.CloseClientConnections()
	s.rest.Close()
}

// Release makes so many more messages available.
func (s *Server) Release(messages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released += messages
	s.releasedAt = time.Now()
	s.changed.Broadcast()
}

// Counts tell how many messages were released, delivered and acked.
func (s *Server) Counts() (released, delivered, acked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released, s.next, s.acked
}

// take waits until there is something for a stream, and takes it; nothing once the
// stream is over.
func (s *Server) take(st *stream) []*pubsubpb.ReceivedMessage {
	s.mu.Lock()
	for !st.over && !s.closed && (s.next >= s.released || !st.room()) {
		s.changed.Wait()
	}
	var lot []*pubsubpb.ReceivedMessage
	for !st.over && !s.closed && s.next < s.released && len(lot) < mostMessages && st.room() {
		lot = append(lot, s.lend(st))
	}
	s.mu.Unlock()
	return lot
}

// mostMessages is how many messages an answer holds at most, as the service's.
const mostMessages = 1000

// lend takes the next message. The lock is held.
func (s *Server) lend(st *stream) *pubsubpb.ReceivedMessage {
	m := s.message(s.next)
	m.MessageId, m.PublishTime = strconv.Itoa(s.next), timestamppb.New(s.releasedAt)
	s.next++
	s.lastID++
	l := loan{st, int64(len(m.GetData()))}
	if st != nil {
		st.messages++
		st.bytes += l.bytes
	}
	s.lent[s.lastID] = l
	return &pubsubpb.ReceivedMessage{AckId: strconv.FormatUint(s.lastID, 10), Message: m}
}

// ack acks deliveries.
func (s *Server) ack(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range ids {
		id, err := strconv.ParseUint(text, 10, 64)
		l, ok := s.lent[id]
		if err != nil || !ok {
			continue
		}
		delete(s.lent, id)
		if l.stream != nil {
			l.stream.messages--
			l.stream.bytes -= l.bytes
		}
		s.acked++
	}
	s.changed.Broadcast()
}
