package bqcdc

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/change"
)

// rowsOf returns n rows, one for each of n tables.
func rowsOf(n int) []change.Row {
	rows := make([]change.Row, n)
	for i := range rows {
		rows[i] = testRow(fmt.Sprintf("p.d.t%03d", i), fmt.Sprint(i), uint64(i+1))
	}
	return rows
}

func TestStreams_idleOnesAreClosed(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.IdleTimeout = 50 * time.Millisecond
	w := newTestWriter(t, c)
	if _, err := write(t, w, rowsOf(5)...); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := write(t, w, testRow("p.d.other", "x", 1)); err != nil {
		t.Fatal(err)
	}
	w.streams.mu.Lock()
	defer w.streams.mu.Unlock()
	if n := len(w.streams.open); n != 1 {
		t.Errorf("%d streams are open, want 1", n)
	}
}

// Two writers of one process share the client; other limits or another endpoint
// make another.
func TestStreamsFor(t *testing.T) {
	a := endpointOf(testConfig(&writeServer{addr: "127.0.0.1:1"}).withDefaults())
	b := a
	b.inflightBytes++
	first, err := streamsFor(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer shutdown(first)
	again, err := streamsFor(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := streamsFor(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	defer shutdown(other)
	if first != again || first == other {
		t.Errorf("the same client for the same endpoint: %v, for another: %v; want true, false", first == again, first == other)
	}
}

// A table whose stream can't be opened holds up no other for longer than the
// deadline, and is retried.
func TestStreams_openingHangs(t *testing.T) {
	s := newWriteServer(t)
	var asked atomic.Int64
	s.get = func(ctx context.Context, name string) error {
		if strings.Contains(name, "/stuck/") && asked.Add(1) == 1 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	c := testConfig(s)
	c.AppendTimeout = 200 * time.Millisecond
	got, err := write(t, newTestWriter(t, c), testRow("p.d.stuck", "1", 1), testRow("p.d.t", "2", 2))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1", "2"}, nil)
}

// newRestartedServer returns a server that is away until serve is called, whenever the
// one that serve returned is stopped.
func newRestartedServer(t *testing.T) (s *writeServer, serve func() *grpc.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	s = &writeServer{addr: addr, rows: make(map[string][][]byte)}
	return s, func() *grpc.Server {
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		storagepb.RegisterBigQueryWriteServer(server, s)
		go func() { _ = server.Serve(listener) }()
		return server
	}
}

// A server that is away when a stream is to be opened, or opened again, is waited
// for; nothing is left behind that waits on.
func TestStreams_serverAway(t *testing.T) {
	away, serve := newRestartedServer(t)
	c := testConfig(away)
	c.RetryFor = time.Minute
	w := newTestWriter(t, c)
	for round := range 3 {
		// The client waits a second before it dials again.
		var server *grpc.Server
		var wait sync.WaitGroup
		wait.Go(func() {
			time.Sleep(200 * time.Millisecond)
			server = serve()
		})
		got, err := write(t, w, testRow("p.d.t", fmt.Sprint(round), 1))
		wait.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if got.repeats[transient] == 0 || len(got.acknowledged) != 1 {
			t.Errorf("round %d: %d acknowledged, repeats %v", round, len(got.acknowledged), got.repeats)
		}
		server.Stop()
	}
}

// A server that is away for good fails the bundle once patience is over, with
// one error, and its streams can be closed at once: managedwriter is not left
// opening a connection under a lock.
func TestStreams_serverAwayForGood(t *testing.T) {
	s := newWriteServer(t)
	var away atomic.Bool
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		if away.Load() {
			return nil, status.Error(codes.Unavailable, "going away")
		}
		return nil, nil
	}
	s.get = func(context.Context, string) error {
		if away.Load() {
			return status.Error(codes.Unavailable, "away")
		}
		return nil
	}
	var ended time.Time
	t.Run("", func(t *testing.T) {
		c := testConfig(s)
		c.RetryFor = 200 * time.Millisecond
		w := newTestWriter(t, c)
		if _, err := write(t, w, testRow("p.d.t", "1", 1)); err != nil {
			t.Fatal(err)
		}
		away.Store(true)
		start := time.Now()
		_, err := write(t, w, testRow("p.d.t", "2", 2))
		ended = time.Now()
		if err == nil || !strings.Contains(err.Error(), "writing 1 rows to table p.d.t: transient: giving up after") || ended.Sub(start) > 3*time.Second {
			t.Errorf("after %v: error %v", ended.Sub(start), err)
		}
	})
	if took := time.Since(ended); took > 2*time.Second {
		t.Errorf("closing the streams took %v", took)
	}
}

// A bundle that is given up while BigQuery is silent leaves nothing running, and
// gives back what it had in flight.
func TestBundle_abandoned(t *testing.T) {
	ignore := []goleak.Option{
		goleak.IgnoreCurrent(),
		// managedwriter cancels a connection that it replaced 20 s later.
		goleak.IgnoreAnyFunction("cloud.google.com/go/bigquery/storage/managedwriter.(*connection).getStream.func1"),
		goleak.IgnoreAnyFunction("go.opencensus.io/stats/view.(*worker).start"),
	}
	t.Run("", func(t *testing.T) {
		s := newWriteServer(t)
		s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
			if a.total < 3 {
				return nil, status.Error(codes.Unavailable, "down")
			}
			<-a.ctx.Done()
			return nil, a.ctx.Err()
		}
		c := testConfig(s)
		c.MaxRequestRows = 1
		w := newTestWriter(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		b := w.begin(ctx)
		for i := range 20 {
			if err := addRow(b, testRow("p.d.t", fmt.Sprint(i), uint64(i+1))); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
		cancel() // as Beam does with a bundle that another DoFn failed
		deadline, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		requests := int64(w.config.withDefaults().MaxInflightRequests)
		if err := w.streams.requests.Acquire(deadline, requests); err != nil {
			t.Fatalf("requests of an abandoned bundle are in flight: %v", err)
		}
		w.streams.requests.Release(requests)
		if err := w.streams.bytes.Acquire(deadline, int64(w.config.withDefaults().MaxInflightBytes)); err != nil {
			t.Errorf("bytes of an abandoned bundle are in flight: %v", err)
		}
	})
	goleak.VerifyNone(t, ignore...)
}
