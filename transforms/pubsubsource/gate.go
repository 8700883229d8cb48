package pubsubsource

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"beamcdc/schemas/envelope"
)

// gate bounds what is outstanding. The client library's own flow control counts
// a message until its callback returns; the real service counts until the ack,
// but emulators and fakes do not count at all. So the gate stands where responses
// come in: a stream asks for its next response only when there is room, and
// HTTP/2 pushes back on a service that would send more.
//
// It bounds what is queued for the bundles to come too: what a pipeline at its
// limit does not ask for is better kept at Pub/Sub than here. But a message that
// Pub/Sub has sent and that waits in between has a lease that nobody extends, and
// once that has ended its ack is worthless. So this second bound is lifted when no
// bundle has asked for messages for a while: a pipeline that is that slow, or
// stands, gets all that there is room for.
type gate struct {
	maxMessages int
	maxBytes    int64
	queue       int           // messages in the queue, where it stops
	queueBytes  int64         // likewise
	answerEvery time.Duration // of a stream that waits for room

	mu   sync.Mutex
	room *sync.Cond // more room than before

	// The three together are what counts: streams that wait for a response, of at
	// least one message; messages in responses whose callback has not run yet; and
	// messages that wait for their ack.
	waiting                         int
	arriving, outstanding           int
	arrivingBytes, outstandingBytes int64

	queued      int // of the outstanding ones, those that wait for a bundle
	queuedBytes int64
	asked       time.Time // when a bundle last asked for some

	restarts atomic.Uint64 // streams that failed; the client opens others

	trouble error     // why the last stream ended, until a response comes on another
	since   time.Time // when that trouble began

	shut    bool // there will be no more responses
	streams map[*gatedStream]context.CancelFunc
}

// queuedBundles is how many bundles' messages are queued before the gate closes,
// and patience is how long it then stays closed if no bundle asks for them.
const (
	queuedBundles = 4
	patience      = 5 * time.Second
)

func newGate(c Config) *gate {
	g := &gate{
		maxMessages: c.MaxOutstandingMessages, maxBytes: c.MaxOutstandingBytes,
		queue: queuedBundles * c.BundleMessages, queueBytes: queuedBundles * c.BundleBytes, answerEvery: answerEvery,
		streams: map[*gatedStream]context.CancelFunc{},
	}
	g.room = sync.NewCond(&g.mu)
	return g
}

// enter waits until there is room for one more response, or ctx is done.
func (g *gate) enter(ctx context.Context) error {
	stop := context.AfterFunc(ctx, g.wake)
	defer stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.full() && ctx.Err() == nil {
		g.room.Wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g.waiting++
	return nil
}

func (g *gate) full() bool {
	arriving := g.waiting + g.arriving
	if arriving+g.outstanding >= g.maxMessages || g.arrivingBytes+g.outstandingBytes >= g.maxBytes {
		return true
	}
	ahead := arriving+g.queued >= g.queue || g.arrivingBytes+g.queuedBytes >= g.queueBytes
	return ahead && time.Since(g.asked) < patience
}

// wake lets the waiting streams look again, since time alone may have made room.
func (g *gate) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.room.Broadcast()
}

// arrive ends what enter began: a response came, with this many messages, or
// none, or an error.
func (g *gate) arrive(messages int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	g.arriving += messages
	g.arrivingBytes += bytes
	g.room.Broadcast()
}

// take counts a message as outstanding.
func (g *gate) take(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arriving = max(g.arriving-1, 0)
	g.arrivingBytes = max(g.arrivingBytes-bytes, 0)
	g.outstanding++
	g.outstandingBytes += bytes
	g.queued++
	g.queuedBytes += bytes
}

// unqueue counts messages as queued no more: a bundle has asked for them, or they
// were given up. It is called for each time that a bundle asks.
func (g *gate) unqueue(messages int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queued -= messages
	g.queuedBytes -= bytes
	g.asked = time.Now()
	g.room.Broadcast()
}

// leave counts messages as outstanding no more.
func (g *gate) leave(messages int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outstanding -= messages
	g.outstandingBytes -= bytes
	g.room.Broadcast()
}

// note keeps what went wrong with a stream, nil if it goes well. The client tries
// again for ever, without a word.
func (g *gate) note(err error) {
	if err != nil && !g.isShut() {
		g.restarts.Add(1)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil && g.trouble == nil {
		g.since = time.Now()
	}
	g.trouble = err
}

// troubleSince returns since when what has kept responses from coming; a nil error if nothing does.
func (g *gate) troubleSince() (time.Time, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.since, g.trouble
}

// close cuts all streams, for good.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	for _, cancel := range g.streams {
		cancel()
	}
	clear(g.streams)
}

func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// add adds a stream to be cut by close, unless that has been.
func (g *gate) add(s *gatedStream, cut context.CancelFunc) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		cut()
		return false
	}
	g.streams[s] = cut
	return true
}

// remove cuts a stream that has ended.
func (g *gate) remove(s *gatedStream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cut := g.streams[s]; cut != nil {
		cut()
		delete(g.streams, s)
	}
}

// messageSize is what a message counts for: what it holds or, where its data is
// compressed, will hold. Twenty megabytes can come in twenty kilobytes, and the
// pipeline has them unpacked.
func messageSize(data []byte, attributes map[string]string, orderingKey string) int64 {
	size := envelope.UnpackedSize(data, attributes) + len(orderingKey)
	for name, value := range attributes {
		size += len(name) + len(value)
	}
	return int64(size)
}
