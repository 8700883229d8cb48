package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Case 95: two thousand tables in turn, few connections, over a server that allows a
// hundred streams on a channel and queues the next without a word.
func TestTrunk_twoThousandTables(t *testing.T) {
	s := newWriteServer(t, grpc.MaxConcurrentStreams(100))
	c := testConfig(s)
	c.OwnConnections, c.SharedConnections = 20, 4
	c.AppendTimeout, c.FinishFor = time.Minute, 2*time.Minute // on a busy machine
	w := newTestWriter(t, c)
	wide := testDescriptor() // of fifty columns
	for n := range int32(50) {
		column := proto.CloneOf(wide.GetField()[0])
		column.Name, column.Number = new(fmt.Sprint("column_", n)), new(n+2)
		wide.Field = append(wide.GetField(), column)
	}
	w.describe = func(_ context.Context, key streamKey) (*schema, error) { return newSchema(key, wide, "x"), nil }
	const tables = 2000
	rows := rowsOf(tables)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for round := range 2 {
		got, err := write(t, w, rows...)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.acknowledged) != tables {
			t.Errorf("round %d: %d rows acknowledged, want %d", round, len(got.acknowledged), tables)
		}
	}
	if each := (int64(heap()) - int64(before)) / tables; each > 200<<10 {
		t.Errorf("a table takes %d bytes", each)
	} else {
		t.Logf("a table takes %d bytes", each)
	}
	for i := range rows {
		if got := s.stored(rows[i].Table); len(got) != 2 || got[0] != string(rows[i].Data) || got[1] != got[0] {
			t.Fatalf("table %s has %q", rows[i].Table, got)
		}
	}
	if connections, _, _ := s.count(); connections != 24 {
		t.Errorf("%d connections, want 24", connections)
	}
}

// sharingWriter returns a writer all of whose tables share one connection, but for one
// that has its own.
func sharingWriter(t *testing.T, c Config) *writer {
	t.Helper()
	c.OwnConnections, c.SharedConnections = 1, 1
	w := newTestWriter(t, c)
	if _, err := write(t, w, testRow("p.d.first", "first", 1)); err != nil {
		t.Fatal(err)
	}
	return w
}

// The rows of every table carry its own schema on a shared connection, also after a
// connection of it has ended.
func TestTrunk_schemas(t *testing.T) {
	s := newWriteServer(t)
	var ended atomic.Bool
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.descriptor == "" || a.descriptor != "for_"+strings.TrimPrefix(a.table, "p.d.") {
			return nil, status.Errorf(codes.InvalidArgument, "table %s with schema %q", a.table, a.descriptor)
		}
		if a.total == 30 && !ended.Swap(true) {
			return nil, status.Error(codes.Unavailable, "the connection is draining")
		}
		return nil, nil
	}
	w := newTestWriter(t, func() Config { c := testConfig(s); c.OwnConnections, c.SharedConnections = 1, 1; return c }())
	w.describe = func(_ context.Context, key streamKey) (*schema, error) {
		d := testDescriptor()
		d.Name = new("for_" + strings.TrimPrefix(key.table, "p.d."))
		return newSchema(key, d, "x"), nil
	}
	for range 3 {
		if got, err := write(t, w, rowsOf(20)...); err != nil || len(got.acknowledged) != 20 {
			t.Fatalf("%d acknowledged, %v", len(got.acknowledged), err)
		}
	}
	if !ended.Load() {
		t.Error("no connection has ended")
	}
}

// An error that ends a shared connection is no other table's: they are written, and the
// one that it is about fails its bundle alone.
func TestTrunk_blame(t *testing.T) {
	s := newWriteServer(t)
	var own sync.Map // connections that the denied table was seen on alone
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.table == "p.d.denied" {
			own.Store(a.connection, a.nth)
			return nil, status.Error(codes.PermissionDenied, "Permission 'TABLES_UPDATE_DATA' denied (or it may not exist)")
		}
		return nil, nil
	}
	w := sharingWriter(t, testConfig(s))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := range 5 {
				if got, err := write(t, w, testRow(fmt.Sprint("p.d.t", i), fmt.Sprint(n), uint64(n+1))); err != nil || len(got.acknowledged) != 1 {
					t.Errorf("table %d: %d acknowledged, %v", i, len(got.acknowledged), err)
				}
			}
		})
	}
	wait.Go(func() {
		for range 3 {
			if _, err := write(t, w, testRow("p.d.denied", "x", 1)); err == nil || !strings.Contains(err.Error(), "writing 1 rows to table p.d.denied: permanent") {
				t.Errorf("error %v", err)
			}
		}
	})
	wait.Wait()
	alone := false
	own.Range(func(_, nth any) bool { alone = alone || nth == 1; return true })
	if !alone {
		t.Error("the denied table had no connection of its own")
	}
}

// A shared connection that says nothing any more is left for another, by all its tables.
func TestTrunk_silentConnection(t *testing.T) {
	s := newWriteServer(t)
	var hung atomic.Int64
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.table == "p.d.first" || a.nth < 3 || hung.Load() != 0 && hung.Load() != int64(a.connection) {
			return nil, nil
		}
		hung.Store(int64(a.connection))
		<-a.ctx.Done()
		return nil, a.ctx.Err()
	}
	c := testConfig(s)
	c.AppendTimeout = 300 * time.Millisecond
	w := sharingWriter(t, c)
	for range 2 {
		got, err := write(t, w, rowsOf(10)...)
		if err != nil || len(got.acknowledged) != 10 {
			t.Fatalf("%d acknowledged, %v", len(got.acknowledged), err)
		}
	}
	if hung.Load() == 0 {
		t.Error("nothing hung")
	}
}

// managedwriter keeps the error of a connection that could not be opened, and the room for
// what was to be sent on it (P4, P5): both are noticed, on own connections and on shared ones.
func TestStreams_leakedFlowControl(t *testing.T) {
	for _, name := range []string{"p.d.first", "p.d.other"} {
		t.Run(name, func(t *testing.T) {
			s, serve := newRestartedServer(t)
			server := serve()
			c := testConfig(s)
			c.MaxInflightRequests = 4
			c.AppendTimeout, c.RetryFor = 300*time.Millisecond, time.Minute
			w := sharingWriter(t, c)
			if _, err := write(t, w, testRow("p.d.other", "0", 1)); err != nil {
				t.Fatal(err)
			}
			st, err := w.streams.acquire(t.Context(), streamKey{table: name, schema: 1}, testDescriptor(), time.Minute, errSilent)
			if err != nil {
				t.Fatal(err)
			}
			if st.shares() != (name == "p.d.other") {
				t.Fatalf("shares: %v", st.shares())
			}
			server.Stop()
			hangs := func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				result, err := st.writer.AppendRows(ctx, [][]byte{[]byte("x")})
				if err == nil {
					_, _ = result.FullResponse(ctx)
				}
				return err != nil && ctx.Err() != nil
			}
			for n := 0; !hangs(); n++ {
				if n == 100 {
					t.Fatal("the stream never hangs")
				}
			}
			server = serve()
			defer func() { server.Stop() }()
			time.Sleep(time.Second) // the client waits as long before it dials again
			if !hangs() {
				t.Fatal("the stream recovers by itself")
			}
			w.streams.release(st)
			got, err := write(t, w, testRow(name, "1", 2), testRow("p.d.third", "2", 3))
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, got, []string{"1", "2"}, nil)
			if got.repeats[transient] == 0 {
				t.Error("nothing was repeated")
			}
		})
	}
}

// What a shared connection drags along is bounded: it is replaced after a thousand closed
// streams, while rows are written.
func TestTrunk_isReplaced(t *testing.T) {
	s := newWriteServer(t)
	w := sharingWriter(t, testConfig(s))
	if _, err := write(t, w, testRow("p.d.second", "x", 1)); err != nil {
		t.Fatal(err)
	}
	w.streams.mu.Lock()
	before := w.streams.shared[false][0]
	before.left = mostLeft - 1
	w.streams.mu.Unlock()
	key := streamKey{table: "p.d.third", schema: 1}
	st, err := w.streams.acquire(t.Context(), key, testDescriptor(), time.Minute, errSilent)
	if err != nil {
		t.Fatal(err)
	}
	if st.trunk != before {
		t.Fatal("two shared connections, want one")
	}
	w.streams.retire(st)
	w.streams.release(st)
	for _, name := range []string{"p.d.second", "p.d.third"} {
		if got, err := write(t, w, testRow(name, "y", 2)); err != nil || len(got.acknowledged) != 1 {
			t.Fatalf("%d acknowledged, %v", len(got.acknowledged), err)
		}
	}
	w.streams.mu.Lock()
	defer w.streams.mu.Unlock()
	if after := w.streams.shared[false]; len(after) != 1 || after[0] == before || !before.retired || before.streams != 0 {
		t.Errorf("%d shared connections, the one before has %d streams", len(after), before.streams)
	}
}

// A shared connection ends when the last of its streams has been idle for long enough.
func TestTrunk_idle(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.IdleTimeout = 50 * time.Millisecond
	w := sharingWriter(t, c)
	if _, err := write(t, w, rowsOf(10)...); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := write(t, w, testRow("p.d.first", "again", 2)); err != nil {
		t.Fatal(err)
	}
	w.streams.mu.Lock()
	open, shared := len(w.streams.open), len(w.streams.shared[false])
	w.streams.mu.Unlock()
	if open > 1 || shared > 0 {
		t.Errorf("%d streams and %d shared connections are open", open, shared)
	}
	s.waitLive(t, 1)
}

// A call ends in time however patient it is with its connection.
func TestLine_watch(t *testing.T) {
	l := new(line)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	l.heard.Store(time.Now().Add(time.Hour).UnixNano()) // as if others were answered all the time
	defer l.watch(time.Now(), time.Minute, 50*time.Millisecond, errSilent, cancel).Stop()
	select {
	case <-ctx.Done():
		if cause := context.Cause(ctx); !errors.Is(cause, errSilent) {
			t.Errorf("cause %v", cause)
		}
	case <-time.After(30 * time.Second):
		t.Error("the call waits on")
	}
}

// Invariant 6, where connections are shared.
func TestTrunk_plain(t *testing.T) {
	s := newWriteServer(t)
	w := sharingWriter(t, testConfig(s))
	rows := rowsOf(5)
	if _, err := write(t, w, rows...); err != nil {
		t.Fatal(err)
	}
	w.plain = true
	if _, err := write(t, w, rows...); err != nil {
		t.Fatal(err)
	}
	w.streams.mu.Lock()
	defer w.streams.mu.Unlock()
	for _, st := range w.streams.open {
		for _, other := range w.streams.open {
			if st.key.plain != other.key.plain && st.line == other.line {
				t.Errorf("%+v and %+v share a connection", st.key, other.key)
			}
		}
	}
	if cdc, plain := w.streams.shared[false], w.streams.shared[true]; len(cdc) != 1 || len(plain) != 1 || cdc[0].streams != 5 || plain[0].streams != 5 {
		t.Errorf("shared connections %v and %v, want one of 5 streams each", cdc, plain)
	}
}

// A connection that is to see a new schema is a new one, also of a table that shared one.
func TestTrunk_schemaLag(t *testing.T) {
	s := newWriteServer(t)
	var refused atomic.Int64
	var connections sync.Map
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.table != "p.d.lags" {
			return nil, nil
		}
		if _, seen := connections.LoadOrStore(a.connection, true); !seen && refused.Add(1) <= 3 {
			return lagging(), nil
		} else if refused.Load() <= 3 {
			t.Errorf("connection %d was asked twice", a.connection)
			return lagging(), nil
		}
		return nil, nil
	}
	w := sharingWriter(t, testConfig(s))
	if got, err := write(t, w, testRow("p.d.lags", "1", 1), testRow("p.d.other", "2", 2)); err != nil || len(got.acknowledged) != 2 {
		t.Fatalf("%d acknowledged, %v", len(got.acknowledged), err)
	}
	if refused.Load() < 4 {
		t.Errorf("asked %d times", refused.Load())
	}
}
