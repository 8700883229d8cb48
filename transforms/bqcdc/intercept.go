package bqcdc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// managedwriter and the client below it retry opening a connection for ever,
// holding locks that every other stream of the region needs (its openWithRetry,
// and gax below that), and their calls can be abandoned but not ended. These
// interceptors take that away: opening has a deadline, its error is no status and
// so is never retried below us, and a connection can be cut. All retrying is in
// deliver, with one policy and one classification.

// line is a gRPC call option by which the interceptor knows whose connection it
// opens. It holds what cuts the connections of a stream, or of the streams that share
// one: one, or two for the seconds in which managedwriter replaces one.
type line struct {
	grpc.EmptyCallOption

	heard atomic.Int64 // when BigQuery last answered on it, in nanoseconds since 1970

	mu   sync.Mutex
	cuts map[*connection]struct{}
}

// cut ends the connections: what waits on them fails at once.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.cuts {
		c.cancel()
	}
	clear(l.cuts)
}

func (l *line) add(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cuts == nil {
		l.cuts = make(map[*connection]struct{})
	}
	l.cuts[c] = struct{}{}
}

func (l *line) remove(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.cuts, c)
}

// connection is one AppendRows call.
type connection struct {
	grpc.ClientStream

	line   *line
	cancel context.CancelFunc
}

// RecvMsg frees the connection's context once it has ended.
func (c *connection) RecvMsg(m any) error {
	err := c.ClientStream.RecvMsg(m)
	if err != nil {
		c.cancel()
		c.line.remove(c)
	}
	return err
}

// interceptStream opens a connection within timeout. Opening can block without
// end: a channel carries a hundred streams and queues the next.
func interceptStream(timeout time.Duration) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		var l *line
		for _, opt := range opts {
			if found, ok := opt.(*line); ok {
				l = found
			}
		}
		if l == nil {
			return streamer(ctx, desc, cc, method, opts...)
		}
		ctx, cancel := context.WithCancel(ctx)
		late := time.AfterFunc(timeout, cancel)
		stream, err := streamer(ctx, desc, cc, method, opts...)
		if !late.Stop() && err == nil {
			err = status.Errorf(codes.DeadlineExceeded, "opening a connection took more than %v", timeout)
		}
		if err != nil {
			cancel()
			return nil, &openError{status.Convert(err)}
		}
		c := &connection{ClientStream: stream, line: l, cancel: cancel}
		l.add(c)
		return c, nil
	}
}

// interceptUnary keeps the client from retrying GetWriteStream for ten minutes
// while it holds the lock that all streams are opened under.
func interceptUnary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := invoker(ctx, method, req, reply, cc, opts...); err != nil {
		return &openError{status.Convert(err)}
	}
	return nil
}
