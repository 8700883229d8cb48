package emulator

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"
)

// A thousand connections, each to a table of its own, are served, and what the server
// holds doesn't grow with their requests: rows are in DuckDB, and nothing of a request
// outlives its response. The clients' half of the connections counts too, as it is in
// this process.
func TestThousandConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: makes a thousand tables")
	}
	const connections, warm, rounds = 1000, 2, 4
	e := newEnv(t, Options{})
	e.HoldApplies(true) // they would come at any time between the measurements
	writers := make([]*writer, connections)
	for c := range writers {
		name := fmt.Sprintf("t%d", c)
		e.table(name, "id INTEGER, v STRING", "id")
		if c == 0 {
			writers[c] = e.writer(name, true)
		} else {
			writers[c] = e.writerWith(name, writers[0].message)
		}
	}
	const row = `{"id":1,"v":"twenty characters of","_CHANGE_TYPE":"UPSERT"}`
	later := (&writer{env: e, message: writers[0].message}).request(row)
	round := func() { // one request of each connection, all under way at once
		t.Helper()
		for _, w := range writers {
			r := later
			if w.first {
				r = w.request(row)
			}
			if err := w.stream.Send(proto.CloneOf(r)); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		for _, w := range writers {
			if r, err := w.stream.Recv(); err != nil || r.GetError() != nil {
				t.Fatalf("appending to %s: %v %v", w.table, r.GetError(), err)
			}
		}
	}
	held := func() (heap int64, goroutines int) {
		runtime.GC()
		runtime.GC() // what finalizers let go
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc), runtime.NumGoroutine()
	}
	for range warm {
		round()
	}
	heap, goroutines := held()
	for range rounds {
		round()
	}
	heapAfter, goroutinesAfter := held()
	if grown := (heapAfter - heap) / (connections * rounds); grown > 200 {
		t.Errorf("the heap grew by %d bytes for a request", grown)
	}
	if goroutinesAfter > goroutines+connections/10 {
		t.Errorf("%d goroutines, before %d", goroutinesAfter, goroutines)
	}
	t.Logf("heap %d bytes, then %d; %d goroutines, then %d", heap, heapAfter, goroutines, goroutinesAfter)
	if s := e.Stats(); s.Tables != connections || s.Requests != connections*(warm+rounds) || s.Pending != s.Requests {
		t.Errorf("stats %+v", s)
	}
	for _, w := range []*writer{writers[0], writers[connections-1]} {
		e.want(w.table, `{"id":"1","v":"twenty characters of"}`)
	}
}
