package pubsubsource

import (
	"context"
	"sync"
	"time"
)

// gate bounds what is outstanding. The client library's own flow control counts
// a message until its callback returns; the real service counts until the ack,
// but emulators and fakes do not count at all. So the gate stands where responses
// come in: a stream asks for its next response only when there is room, and
// HTTP/2 pushes back on a service that would send more.
type gate struct {
	maxMessages int
	maxBytes    int64
	maxQueued   int // of the outstanding messages, those that no bundle has asked for

	mu   sync.Mutex
	room *sync.Cond // more room than before

	// The three together are what counts: streams that wait for a response, of at
	// least one message; messages in responses whose callback has not run yet; and
	// messages that wait for their ack.
	waiting                         int
	arriving, outstanding           int
	arrivingBytes, outstandingBytes int64
	queued                          int

	trouble error     // why the last stream ended, until a response comes on another
	since   time.Time // when that trouble began

	shut    bool // there will be no more responses
	streams map[*gatedStream]context.CancelFunc
}

func newGate(maxMessages int, maxBytes int64, maxQueued int) *gate {
	g := &gate{maxMessages: maxMessages, maxBytes: maxBytes, maxQueued: maxQueued, streams: map[*gatedStream]context.CancelFunc{}}
	g.room = sync.NewCond(&g.mu)
	return g
}

// enter waits until there is room for one more response, or ctx is done.
func (g *gate) enter(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.room.Broadcast()
	})
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
	return g.waiting+g.arriving+g.outstanding >= g.maxMessages ||
		g.arrivingBytes+g.outstandingBytes >= g.maxBytes ||
		g.waiting+g.arriving+g.queued >= g.maxQueued
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
}

// unqueue counts messages as queued no more.
func (g *gate) unqueue(messages int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queued -= messages
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

// messageSize is what a message counts for.
func messageSize(data []byte, attributes map[string]string, orderingKey string) int64 {
	size := len(data) + len(orderingKey)
	for name, value := range attributes {
		size += len(name) + len(value)
	}
	return int64(size)
}
