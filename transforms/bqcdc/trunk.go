package bqcdc

import (
	"context"
	"errors"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
)

// trunk is a client with the streams that go through it: that of all streams which have
// a connection each, or one whose streams share a connection ("multiplexing").
//
// Of managedwriter's multiplexing that takes one connection a client. Which streams share
// one is told here, and so is what managedwriter can't: that a connection is dead for good
// (it keeps the error of a failed opening), that it is silent, or that it waits for what it
// has lost count of. Then the trunk is retired with all its streams, and the next requests
// open new ones. Its options are the client's: managedwriter ignores a stream's. To each
// change of table it sends the rows' schema again.
type trunk struct {
	client  *managedwriter.Client // nil until the first stream is opened, guarded by opening
	opening chan struct{}         // holds a token while a stream is being opened: managedwriter opens one at a time, and waits without a deadline
	line    *line                 // of the shared connection; nil where each stream has its own
	plain   bool
	born    time.Time

	// Guarded by streams.mu, of a shared connection only.
	streams int // that are not closed
	left    int // that were closed: managedwriter never forgets one
	retired bool
}

// mostLeft is how many closed streams a shared connection drags along before it is replaced.
const mostLeft = 1000

func newTrunk() *trunk { return &trunk{opening: make(chan struct{}, 1), born: time.Now()} }

// place finds the connection for st. It has its own while there is room, or if it must;
// else it shares the one that has the fewest streams.
func (s *streams) place(ctx context.Context, st *stream) (*trunk, error) {
	s.mu.Lock()
	_, must := s.apart[st.key]
	delete(s.apart, st.key)
	s.mu.Unlock()
	must = must || st.key.private != 0 || s.endpoint.sharedConnections == 0
	own := s.room.TryAcquire(1)
	if !own && must {
		if err := s.makeRoom(ctx); err != nil {
			return nil, err
		}
		own = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.trunk = s.own; !own {
		st.trunk = s.join(st.key.plain)
	}
	return st.trunk, nil
}

// join counts one more stream of the shared connection that has the fewest. The caller
// holds mu.
func (s *streams) join(plain bool) *trunk {
	var least *trunk
	if len(s.shared[plain]) < s.endpoint.sharedConnections {
		least = newTrunk()
		least.line, least.plain = new(line), plain
		s.shared[plain] = append(s.shared[plain], least)
	}
	for _, t := range s.shared[plain] {
		if least == nil || t.streams < least.streams {
			least = t
		}
	}
	least.streams++
	return least
}

// connect makes the trunk's client. The caller holds its token.
func (s *streams) connect(ctx context.Context, t *trunk) error {
	if t.client != nil {
		return nil
	}
	client, err := newClient(ctx, s.endpoint, 1,
		managedwriter.WithMultiplexing(), managedwriter.WithMultiplexPoolLimit(1),
		managedwriter.WithDefaultInflightRequests(s.endpoint.inflightRequests),
		managedwriter.WithDefaultAppendRowsCallOption(callOption(t.line)))
	t.client = client
	return err
}

// leave counts one stream less, and reports whether it was the last. The caller holds mu.
func (s *streams) leave(t *trunk) bool {
	t.streams--
	t.left++
	if t.streams == 0 {
		s.detach(t)
		return true
	}
	if t.left >= mostLeft && !t.retired {
		s.abandon(t)
	}
	return false
}

// renew retires a shared connection that st failed on, with all its streams, unless it
// is too young: when BigQuery is away, each new one fails as soon.
func (s *streams) renew(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := st.trunk; !t.retired && time.Since(t.born) >= s.endpoint.renewAfter {
		s.abandon(t)
	}
}

// abandon retires all streams of a shared connection. Requests that wait on it may still
// succeed. The caller holds mu.
func (s *streams) abandon(t *trunk) {
	s.detach(t)
	var unused []*stream
	for _, st := range s.open {
		if st.trunk != t {
			continue
		}
		st.retired = true
		delete(s.open, st.key)
		if st.users == 0 {
			unused = append(unused, st)
		}
	}
	for _, st := range unused {
		s.close(st)
	}
}

// detach makes the trunk one that no stream joins. The caller holds mu.
func (s *streams) detach(t *trunk) {
	t.retired = true
	others := s.shared[t.plain][:0:0]
	for _, other := range s.shared[t.plain] {
		if other != t {
			others = append(others, other)
		}
	}
	s.shared[t.plain] = others
}

// leaveFor makes the next request of st's key have another stream than st, which gave err.
func (s *streams) leaveFor(st *stream, o outcome, err error) {
	silent := errors.Is(err, errSilent)
	switch {
	case !st.shares():
		s.retire(st)
	case silent:
		s.mu.Lock()
		if !st.trunk.retired {
			s.abandon(st.trunk)
		}
		s.mu.Unlock()
	case o == transient: // the connection's, as far as can be told
		s.renew(st)
	default:
		s.part(st)
	}
	if silent {
		st.line.cut()
	}
}

// part retires st, whose key's next stream has a connection of its own: what a shared
// one's failure was about is not known, or the next one is to see a new schema.
func (s *streams) part(st *stream) {
	s.mu.Lock()
	if !st.retired {
		s.apart[st.key] = struct{}{}
	}
	s.mu.Unlock()
	s.retire(st)
}

// close ends the trunk. It has no streams, so that nothing opens one.
func (t *trunk) close() {
	if t.client != nil {
		_ = t.client.Close()
	}
}
