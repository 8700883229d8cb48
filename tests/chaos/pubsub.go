package main

import (
	"container/heap"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// The names of what the broker serves, and the broker's bounds.
const (
	topic        = "projects/demo/topics/changes"
	subscription = "projects/demo/subscriptions/changes"

	responseMessages = 1000
	leaseAtLeast     = 10 * time.Second
)

// habits are how often a delivery goes as Pub/Sub permits and nobody likes. What
// becomes of a delivery is decided by the seed, the message's number and which of its
// deliveries it is, so that it is the same in every run.
type habits struct {
	late    float64       // the first delivery comes late: after others that were published later
	lateBy  time.Duration // at most
	twice   float64       // there is another delivery, acked or not
	expire  float64       // the lease ends before the client expects it to, whatever it asks for
	lostAck float64       // an ack has no effect, and the message comes again
}

var usualHabits = habits{late: 0.1, lateBy: 2 * time.Second, twice: 0.02, expire: 0.005, lostAck: 0.005}

// broker is the Pub/Sub of a run: one topic with one subscription. It is what
// production doesn't lose, so it is never killed; and it keeps no more of its promises
// than Pub/Sub makes: at least once, in any order.
type broker struct {
	addr string
	grpc *grpc.Server
	seed uint64
	stop chan struct{}

	mu        sync.Mutex
	more      *sync.Cond // there may be something to deliver, or room to deliver it
	habits    habits
	next      uint64 // the number of the next message
	messages  map[uint64]*held
	due       dueHeap
	leases    map[uint64]*lease // by ack ID
	delivered uint64            // deliveries; their numbers are the ack IDs
	unacked   int
	streams   map[*stream]struct{}

	ackFails  time.Time // until then Acknowledge and ModifyAckDeadline are UNAVAILABLE
	ackLosses time.Time // until then half of the acks have no effect

	trace io.Writer // what becomes of each message; nil for nowhere

	generation int                 // of the pipeline's processes
	acks       map[uint64]struct{} // that this generation has sent
	taken      map[uint64]uint64   // message numbers by ack ID, of what it was sent and has neither acked nor nacked
	count      brokerCounts
}

// brokerCounts tell what happened to the messages.
type brokerCounts struct {
	Published, Delivered, Redelivered, Acked, Nacked, Expired, LateAcks, LostAcks int
}

// held is a message that may be delivered once more.
type held struct {
	message    *pubsubpb.PubsubMessage
	deliveries int
	entries    int // in due
	leases     int
	acked      bool
}

// dueEntry is a delivery to be made.
type dueEntry struct {
	at     time.Time
	number uint64
	anyway bool // also if it is acked by then
}

type dueHeap []dueEntry

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].number < h[j].number
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(e any)   { *h = append(*h, e.(dueEntry)) }
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// lease is a delivery that is neither acked nor nacked nor expired.
type lease struct {
	number uint64
	until  time.Time
	doomed bool // it is not extended
	lost   bool // its ack has no effect
	size   int64
	stream *stream
}

// stream is a StreamingPull call, with its flow control.
type stream struct {
	maxMessages, messages int64 // outstanding; a bound of 0 is none
	maxBytes, bytes       int64
	deadline              time.Duration
	over                  bool
	cut                   bool // it ends with UNAVAILABLE
}

func (st *stream) room() bool {
	return (st.maxMessages <= 0 || st.messages < st.maxMessages) && (st.maxBytes <= 0 || st.bytes < st.maxBytes)
}

func startBroker(seed uint64, h habits) (*broker, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting Pub/Sub: %w", err)
	}
	b := &broker{
		addr: listener.Addr().String(), grpc: grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20)), seed: seed, stop: make(chan struct{}),
		habits: h, messages: map[uint64]*held{}, leases: map[uint64]*lease{}, streams: map[*stream]struct{}{}, acks: map[uint64]struct{}{}, taken: map[uint64]uint64{},
	}
	b.more = sync.NewCond(&b.mu)
	pubsubpb.RegisterSubscriberServer(b.grpc, &subscriberServer{broker: b})
	pubsubpb.RegisterPublisherServer(b.grpc, &publisherServer{broker: b})
	go func() { _ = b.grpc.Serve(listener) }() // it ends with close
	go b.tick()
	return b, nil
}

func (b *broker) close() {
	close(b.stop)
	b.grpc.Stop()
}

// tick ends leases and wakes those who wait for what becomes due.
func (b *broker) tick() {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	swept := time.Now()
	for {
		select {
		case <-b.stop:
			return
		case now := <-tick.C:
			b.mu.Lock()
			if now.Sub(swept) > 200*time.Millisecond {
				swept = now
				for id, l := range b.leases {
					if now.After(l.until) {
						b.end(id, l)
						b.count.Expired++
						b.again(l.number, now)
					}
				}
			}
			b.more.Broadcast()
			b.mu.Unlock()
		}
	}
}

// publish takes a message and returns its ID.
func (b *broker) publish(m *pubsubpb.PubsubMessage) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	number, now := b.next, time.Now()
	m.MessageId, m.PublishTime = strconv.FormatUint(number, 10), timestamppb.New(now)
	b.messages[number] = &held{message: m}
	b.unacked++
	b.count.Published++
	b.note("published %d %s", number, m.GetData())
	if random := b.fate(number, 0); random.Float64() < b.habits.late {
		now = now.Add(time.Duration(random.Float64() * float64(b.habits.lateBy)))
	}
	b.push(dueEntry{at: now, number: number})
	return m.GetMessageId()
}

// note writes a line of the trace. The lock is held.
func (b *broker) note(format string, args ...any) {
	if b.trace != nil {
		_, _ = fmt.Fprintf(b.trace, "%s %d "+format+"\n", append([]any{time.Now().Format("15:04:05.000"), b.generation}, args...)...)
	}
}

// fate is what the seed has in store for a delivery of a message.
func (b *broker) fate(number uint64, delivery int) *rand.Rand {
	return rand.New(rand.NewPCG(b.seed^number*0x9E3779B97F4A7C15, uint64(delivery)))
}

// push has a message delivered at a time. The lock is held.
func (b *broker) push(e dueEntry) {
	b.messages[e.number].entries++
	heap.Push(&b.due, e)
}

// again has a message delivered once more, unless it is acked. The lock is held.
func (b *broker) again(number uint64, at time.Time) {
	if m := b.messages[number]; m != nil && !m.acked {
		b.push(dueEntry{at: at, number: number})
	}
}

// end removes a lease. The lock is held.
func (b *broker) end(id uint64, l *lease) {
	delete(b.leases, id)
	l.stream.messages--
	l.stream.bytes -= l.size
	if m := b.messages[l.number]; m != nil {
		m.leases--
		b.drop(l.number, m)
	}
}

// drop forgets a message that is never delivered again. The lock is held.
func (b *broker) drop(number uint64, m *held) {
	if m.acked && m.entries == 0 && m.leases == 0 {
		delete(b.messages, number)
	}
}

// ack acks a delivery. The lock is held.
func (b *broker) ack(id uint64) {
	b.acks[id] = struct{}{}
	delete(b.taken, id)
	l := b.leases[id]
	if l == nil {
		b.count.LateAcks++
		b.note("late ack of delivery %d", id)
		return
	}
	b.note("ack of %d, delivery %d, lost: %t", l.number, id, l.lost)
	m := b.messages[l.number]
	if !m.acked && (l.lost || time.Now().Before(b.ackLosses) && id%2 == 0) {
		b.count.LostAcks++
		b.end(id, l)
		b.again(l.number, time.Now().Add(time.Second))
		return
	}
	if !m.acked {
		m.acked = true
		b.unacked--
		b.count.Acked++
	}
	b.end(id, l)
}

// lend waits until there is something to deliver on a stream and returns it, nil once
// the stream is over.
func (b *broker) lend(st *stream) []*pubsubpb.ReceivedMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		var lent []*pubsubpb.ReceivedMessage
		now := time.Now()
		for !st.over && len(lent) < responseMessages && st.room() && len(b.due) > 0 && !b.due[0].at.After(now) {
			e := heap.Pop(&b.due).(dueEntry)
			m := b.messages[e.number]
			m.entries--
			if m.acked && !e.anyway {
				b.drop(e.number, m)
				continue
			}
			lent = append(lent, b.deliver(st, e.number, m, now))
		}
		if len(lent) > 0 {
			return lent
		}
		if st.over {
			return nil
		}
		b.more.Wait()
	}
}

// deliver leases a message to a stream. The lock is held.
func (b *broker) deliver(st *stream, number uint64, m *held, now time.Time) *pubsubpb.ReceivedMessage {
	m.deliveries++
	b.delivered++
	b.count.Delivered++
	if m.deliveries > 1 {
		b.count.Redelivered++
	}
	random := b.fate(number, m.deliveries)
	l := &lease{number: number, until: now.Add(st.deadline), size: int64(len(m.message.GetData())), stream: st}
	if m.deliveries < 10 { // so that each comes to an end
		if random.Float64() < b.habits.expire {
			l.doomed, l.until = true, now.Add(time.Duration(random.Float64()*float64(3*time.Second)))
		}
		l.lost = random.Float64() < b.habits.lostAck
		if random.Float64() < b.habits.twice {
			b.push(dueEntry{at: now.Add(time.Duration(random.Float64() * float64(3*time.Second))), number: number, anyway: true})
		}
	}
	b.note("delivered %d as delivery %d, its %dth, doomed: %t", number, b.delivered, m.deliveries, l.doomed)
	m.leases++
	st.messages++
	st.bytes += l.size
	b.leases[b.delivered] = l
	b.taken[b.delivered] = number
	return &pubsubpb.ReceivedMessage{AckId: strconv.FormatUint(b.delivered, 10), Message: m.message}
}
