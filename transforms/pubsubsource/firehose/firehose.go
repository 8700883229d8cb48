// Package firehose is a Pub/Sub subscription that makes its messages as they are
// taken: for tests and benches of millions of messages. Google's fake, pstest,
// keeps every message for ever, looks at all unacked ones for each that it
// delivers, and hands a stream one message every ten milliseconds.
//
// It serves one subscription: StreamingPull with the service's flow control by
// stream, Acknowledge, ModifyAckDeadline and GetSubscription. A message that is
// nacked, whose lease ends or whose stream breaks before the lease ends is
// delivered again; which are acked is known for each. It holds some 100 bytes for
// an outstanding message, a bit for an acked one, and no content.
//
// What it leaves out: topics, unary Pull, ordering across streams, exactly-once delivery,
// dead-letter policies, seeking. Requests that it does not serve are Unimplemented.
package firehose

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Options say what a firehose delivers.
type Options struct {
	Subscription string // "projects/P/subscriptions/S"
	Messages     int    // how many there are

	// Message makes message i of 0 … Messages-1, the same at each call. It is called
	// from several goroutines. The firehose sets the ID, i as a decimal number, and
	// the publish time.
	Message func(i int) *pubsubpb.PubsubMessage

	// Rate is how many messages a second become available, from the start until
	// [Server.SetRate]; 0 means all at once. A message's publish time is when it
	// became available or, if all did at once, when it was first delivered.
	Rate int
	// Acked is called when message i is first acked, with its publish time. The
	// firehose is locked meanwhile, so it must be quick and not call it.
	Acked func(i int, published time.Time)
	// Ordered announces ordered delivery, so that the client calls back key by key.
	// Messages are delivered by their number; on one stream, as Pub/Sub would
	// deliver one key's, if none is delivered again.
	Ordered bool
	// ResponseMessages is how many messages a response holds at most: 1,000 by default.
	ResponseMessages int
}

// Server is a running firehose. Its clients connect in plain text.
type Server struct {
	Addr string // host:port

	options Options
	grpc    *grpc.Server
	done    chan struct{} // closed when all messages are acked
	closed  chan struct{}
	closing sync.Once

	mu        sync.Mutex
	more      *sync.Cond // something to deliver, or room to deliver it
	rate      int        // messages a second, 0 for all at once
	available float64    // messages that are published, unless all are at once
	until     time.Time  // when available was so
	marks     []mark
	next      int    // the first message that was never delivered
	again     []loan // messages to deliver again
	leases    map[uint64]*lease
	delivered uint64   // deliveries; their numbers are the ack IDs
	acked     []uint64 // a bit for each message, up to the last that is acked
	over      bool     // done is closed
	count     Counts
}

// Counts tell what happened to a firehose's messages.
type Counts struct {
	Published      int // messages that are available, or were
	Delivered      int // deliveries
	Redelivered    int // deliveries of a message that was delivered before
	Acked          int // messages acked, each counted once
	Nacked         int // deliveries nacked
	Expired        int // deliveries whose lease ended
	LateAcks       int // acks of a delivery that was acked, nacked or expired before
	Outstanding    int // deliveries that are none of these
	MaxOutstanding int // the most there ever were
	Streams        int // open streams
}

// lease is a delivery that is neither acked nor nacked nor expired.
type lease struct {
	loan
	until  time.Time
	size   int64
	stream *stream
}

// loan is a message to deliver.
type loan struct {
	index     int
	published time.Time
	id        uint64 // of the delivery
}

// mark says when the messages below a number became available, those of the mark
// before excepted.
type mark struct {
	below int
	at    time.Time
}

// stream is a StreamingPull call.
type stream struct {
	maxMessages, messages int64 // outstanding; a bound of 0 is none
	maxBytes, bytes       int64
	deadline              time.Duration
	over                  bool
}

// room reports whether the client's flow control lets another message be sent.
func (st *stream) room() bool {
	return (st.maxMessages <= 0 || st.messages < st.maxMessages) && (st.maxBytes <= 0 || st.bytes < st.maxBytes)
}

// Start starts a firehose on an address such as "127.0.0.1:0". Close ends it.
func Start(address string, o Options) (*Server, error) {
	if o.ResponseMessages == 0 {
		o.ResponseMessages = 1000
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("starting a firehose: %w", err)
	}
	s := &Server{
		Addr: listener.Addr().String(), options: o, grpc: grpc.NewServer(), rate: o.Rate, until: time.Now(),
		done: make(chan struct{}), closed: make(chan struct{}),
		leases: map[uint64]*lease{},
	}
	s.more = sync.NewCond(&s.mu)
	pubsubpb.RegisterSubscriberServer(s.grpc, &subscriber{Server: s})
	go func() { _ = s.grpc.Serve(listener) }() // it ends with Close
	go s.tick()
	return s, nil
}

// Close ends the server and all streams. It can be called again.
func (s *Server) Close() {
	s.closing.Do(func() { close(s.closed) })
	s.grpc.Stop()
}

// Done is closed when all messages are acked.
func (s *Server) Done() <-chan struct{} { return s.done }

// Counts returns the counts.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := s.count
	count.Published, count.Outstanding = s.published(), len(s.leases)
	return count
}

// EndLeases ends the leases of all outstanding deliveries: their messages are
// delivered again.
func (s *Server) EndLeases() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now().Add(24 * time.Hour))
	s.more.Broadcast()
}

// expire ends the leases that have run out. The lock is held.
func (s *Server) expire(now time.Time) {
	for id, l := range s.leases {
		if now.After(l.until) {
			s.end(id, l)
			s.count.Expired++
			s.again = append(s.again, l.loan)
		}
	}
}

// SetRate changes how many messages a second become available from now on. It is
// for a firehose whose messages did not all become available at the start.
func (s *Server) SetRate(rate int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish(time.Now())
	s.rate = max(rate, 1)
}

// Cut makes the messages that are available now all there are, and returns how many.
// Where all were available at the start, those that were delivered are.
func (s *Server) Cut() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish(time.Now())
	if s.rate == 0 {
		s.options.Messages = s.next
	} else {
		s.options.Messages = s.published()
	}
	s.finish()
	return s.options.Messages
}

// publish makes available what has become so. The lock is held.
func (s *Server) publish(now time.Time) {
	if s.rate == 0 || now.Before(s.until) {
		return
	}
	before := s.published()
	s.available += now.Sub(s.until).Seconds() * float64(s.rate)
	s.until = now
	if n := s.published(); n > before {
		s.marks = append(s.marks, mark{n, now})
	}
}

// published returns how many messages are available. The lock is held.
func (s *Server) published() int {
	if s.rate == 0 {
		return s.options.Messages
	}
	return min(s.options.Messages, int(s.available))
}

// publishTime returns when the message that is next became available. The lock is held.
func (s *Server) publishTime(now time.Time) time.Time {
	if s.rate == 0 {
		return now
	}
	for s.marks[0].below <= s.next {
		s.marks = s.marks[1:]
	}
	return s.marks[0].at
}

// IsAcked reports whether message i is acked.
func (s *Server) IsAcked(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return i/64 < len(s.acked) && s.acked[i/64]&(1<<(i%64)) != 0
}

// tick ends leases, and wakes those who wait for the rate.
func (s *Server) tick() {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	swept := time.Now()
	for {
		select {
		case <-s.closed:
			return
		case now := <-tick.C:
			s.mu.Lock()
			s.publish(now)
			if now.Sub(swept) > time.Second {
				swept = now
				s.expire(now)
			}
			s.more.Broadcast()
			s.mu.Unlock()
		}
	}
}

// end removes a lease. The lock is held.
func (s *Server) end(id uint64, l *lease) {
	delete(s.leases, id)
	l.stream.messages--
	l.stream.bytes -= l.size
}

// ack acks a delivery. The lock is held.
func (s *Server) ack(id uint64) {
	l := s.leases[id]
	if l == nil {
		s.count.LateAcks++
		return
	}
	s.end(id, l)
	for len(s.acked) <= l.index/64 {
		s.acked = append(s.acked, 0)
	}
	word, bit := &s.acked[l.index/64], uint64(1)<<(l.index%64)
	if *word&bit != 0 {
		return
	}
	*word |= bit
	s.count.Acked++
	if s.options.Acked != nil {
		s.options.Acked(l.index, l.published)
	}
	s.finish()
}

// finish reports that all messages are acked, once they are. The lock is held.
func (s *Server) finish() {
	if s.count.Acked == s.options.Messages && !s.over {
		s.over = true
		close(s.done)
	}
}

// lend waits until there is something to deliver on a stream and returns it, nil
// once the stream is over.
func (s *Server) lend(st *stream) []*pubsubpb.ReceivedMessage {
	var loans []loan
	s.mu.Lock()
	for {
		now := time.Now()
		s.publish(now)
	filling:
		for !st.over && len(loans) < s.options.ResponseMessages && st.room() {
			var l loan
			switch {
			case len(s.again) > 0:
				l, s.again = s.again[0], s.again[1:]
				s.count.Redelivered++
			case s.next < s.published():
				l = loan{index: s.next, published: s.publishTime(now)}
				s.next++
			default:
				break filling
			}
			s.delivered++
			s.count.Delivered++
			st.messages++
			l.id = s.delivered
			s.leases[l.id] = &lease{loan: l, until: now.Add(st.deadline), stream: st}
			loans = append(loans, l)
		}
		s.count.MaxOutstanding = max(s.count.MaxOutstanding, len(s.leases))
		if len(loans) > 0 || st.over {
			break
		}
		s.more.Wait()
	}
	s.mu.Unlock()
	if len(loans) == 0 {
		return nil
	}

	received := make([]*pubsubpb.ReceivedMessage, len(loans))
	for i, loan := range loans {
		m := s.options.Message(loan.index)
		m.MessageId, m.PublishTime = strconv.Itoa(loan.index), timestamppb.New(loan.published)
		received[i] = &pubsubpb.ReceivedMessage{AckId: strconv.FormatUint(loan.id, 10), Message: m}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, loan := range loans {
		if l := s.leases[loan.id]; l != nil {
			l.size = int64(len(received[i].GetMessage().GetData()))
			st.bytes += l.size
		}
	}
	return received
}
