package bqcdc

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"github.com/googleapis/gax-go/v2"
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// streamKey names a stream: a default stream of one table, with one schema. A
// stream never changes its schema: managedwriter's UpdateSchemaDescriptor can
// send bytes of the old schema after the new one's descriptor.
//
// Invariant 6: a stream is for CDC rows or for plain ones, whatever their table, and
// shares its connection with none.
type streamKey struct {
	table  string // "project.dataset.table"
	schema uint64 // fingerprint
	plain  bool

	// private is 0 for the stream that all requests share, else unique to one append.
	private uint64
}

// stream is one managedwriter stream, on a connection of its own or on a shared one.
type stream struct {
	key    streamKey
	opened chan struct{}                // closed when writer or err is set
	err    error                        // why it could not be opened
	writer *managedwriter.ManagedStream // nil unless opened
	line   *line                        // of its connection

	// Guarded by streams.mu.
	trunk    *trunk // nil until it is known which
	users    int
	lastUsed time.Time
	retired  bool // no longer in streams.open; closed when users is 0
}

// shares reports whether the stream's connection is that of other streams too.
func (st *stream) shares() bool { return st.trunk.line != nil }

// streams is the process's clients of one endpoint, with its open streams and
// what bounds the requests in flight. Beam never tears a DoFn down, so that it
// lives as long as the process.
type streams struct {
	endpoint endpoint
	own      *trunk // of the streams that have a connection each
	requests *semaphore.Weighted
	bytes    *semaphore.Weighted
	room     *semaphore.Weighted // one for each connection that a stream may have of its own

	faults   faults
	lags     lags
	privates atomic.Uint64 // numbers the streams of one append

	mu      sync.Mutex
	open    map[streamKey]*stream
	shared  map[bool][]*trunk      // by whether for plain rows (invariant 6)
	apart   map[streamKey]struct{} // what is to be opened on a connection of its own next
	waiting int                    // streams that wait for room
	swept   time.Time
}

// acquire returns the key's stream, opened if need be, for the use of one
// request; release gives it back. It waits no longer than ctx, nor than atMost, which
// gives late.
func (s *streams) acquire(ctx context.Context, key streamKey, descriptor *descriptorpb.DescriptorProto, atMost time.Duration, late error) (*stream, error) {
	s.mu.Lock()
	st := s.open[key]
	if st == nil {
		st = &stream{key: key, opened: make(chan struct{})}
		st.users++ // the opener's
		s.open[key] = st
		go s.dial(context.WithoutCancel(ctx), st, descriptor)
	}
	st.users++
	s.mu.Unlock()

	select {
	case <-st.opened: // as nearly always
	default:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, atMost, late)
		defer cancel()
	}
	select {
	case <-st.opened:
		if st.err == nil {
			return st, nil
		}
		s.release(st)
		return nil, st.err
	case <-ctx.Done():
		s.release(st)
		return nil, context.Cause(ctx)
	}
}

// dial opens st, once there is a connection for it. The context that managedwriter
// keeps for the stream's life ends early if that takes too long.
func (s *streams) dial(ctx context.Context, st *stream, descriptor *descriptorpb.DescriptorProto) {
	defer s.release(st)
	defer close(st.opened)
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(s.endpoint.openTimeout, func() { cancel(errSilent) })
	defer late.Stop()
	writer, err := s.newStream(ctx, st, descriptor)
	if err != nil {
		cancel(err)
		st.err = fmt.Errorf("opening the default stream: %w", err)
		s.retire(st)
		return
	}
	st.writer = writer
}

func (s *streams) newStream(ctx context.Context, st *stream, descriptor *descriptorpb.DescriptorProto) (*managedwriter.ManagedStream, error) {
	t, err := s.place(ctx, st)
	if err != nil {
		return nil, err
	}
	select {
	case t.opening <- struct{}{}:
		defer func() { <-t.opening }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := s.connect(ctx, t); err != nil {
		return nil, err
	}
	options := []managedwriter.WriterOption{
		managedwriter.WithType(managedwriter.DefaultStream),
		managedwriter.WithDestinationTable(resourceName(st.key.table)),
		managedwriter.WithSchemaDescriptor(descriptor),
		managedwriter.WithTraceID("beamcdc:" + s.endpoint.traceID),
		managedwriter.EnableWriteRetries(false), // deliver retries; the library's retries never end once a stream is closed
	}
	st.line = t.line
	if st.line == nil { // the options of a shared connection are the client's
		st.line = new(line)
		options = append(options, managedwriter.WithMaxInflightRequests(s.endpoint.inflightRequests),
			managedwriter.WithAppendRowsCallOption(callOption(st.line)))
	}
	writer, err := t.client.NewManagedStream(ctx, options...)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return writer, nil
}

// callOption is that of the AppendRows calls of the connections of l.
func callOption(l *line) gax.CallOption {
	return gax.WithGRPCOptions(l, grpc.MaxCallRecvMsgSize(10<<20), grpc.ForceCodecV2(packedCodec{encoding.GetCodecV2(proto.Name)}))
}

// makeRoom waits until one more stream may have a connection of its own, for which the
// one unused longest is closed, or the next that is no longer in use.
func (s *streams) makeRoom(ctx context.Context) error {
	s.mu.Lock()
	s.waiting++
	var oldest *stream
	for _, st := range s.open {
		if st.users == 0 && st.trunk == s.own && (oldest == nil || st.lastUsed.Before(oldest.lastUsed)) {
			oldest = st
		}
	}
	if oldest != nil {
		s.drop(oldest)
	}
	s.mu.Unlock()
	err := s.room.Acquire(ctx, 1)
	s.mu.Lock()
	s.waiting--
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: all %d connections are in use", context.Cause(ctx), s.endpoint.ownConnections)
	}
	return nil
}

// release ends one request's use of st.
func (s *streams) release(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.users--
	st.lastUsed = time.Now()
	switch {
	case st.users > 0:
	case st.retired:
		s.close(st)
	case s.waiting > 0 && st.trunk == s.own:
		s.drop(st)
	}
	if st.lastUsed.Sub(s.swept) > s.endpoint.sweepPeriod {
		s.sweep(st.lastUsed)
	}
}

// retire makes the next request of st's key open a new stream. Requests that
// wait on st may still succeed.
func (s *streams) retire(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.retired {
		return
	}
	st.retired = true
	delete(s.open, st.key)
	if st.users == 0 {
		s.close(st)
	}
}

// sweep closes the streams that are idle. The caller holds mu.
func (s *streams) sweep(now time.Time) {
	s.swept = now
	for _, st := range s.open {
		if st.users == 0 && now.Sub(st.lastUsed) > s.endpoint.idleTimeout {
			s.drop(st)
		}
	}
}

// drop closes a stream that is not in use. The caller holds mu.
func (s *streams) drop(st *stream) {
	st.retired = true
	delete(s.open, st.key)
	s.close(st)
}

// close ends an unused stream on another goroutine. Close reports io.EOF for
// success, and there is nothing to do about anything else. Cutting first lets go
// of the locks that Close waits for. The caller holds mu.
func (s *streams) close(st *stream) {
	t, end := st.trunk, func() {
		if st.writer != nil {
			_ = st.writer.Close()
		}
	}
	switch {
	case t == nil: // there was no connection for it
	case t == s.own:
		go func() {
			if st.writer != nil {
				st.line.cut()
			}
			end()
			s.room.Release(1)
		}()
	case s.leave(t):
		go func() {
			t.line.cut()
			end()
			t.close()
		}()
	default:
		go end()
	}
}
