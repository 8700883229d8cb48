package bqcdc

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// newAsideWriter returns a writer whose rows may wait aside.
func newAsideWriter(t *testing.T, s *writeServer) *writer {
	t.Helper()
	c := testConfig(s)
	c.Aside, c.FinishFor = true, 100*time.Millisecond
	c.AppendTimeout, c.RetryFor = time.Minute, time.Minute // nothing here waits for as long
	w := newTestWriter(t, c)
	w.aside = true
	return w
}

// The rows of a table that is in trouble hold up neither the end of their bundle nor the
// rows of others; when they were tried again with success, those after them are written.
func TestBundle_aside(t *testing.T) {
	for name, answer := range map[string]func(a *appendCall) (*storagepb.AppendRowsResponse, error){
		"unavailable": func(*appendCall) (*storagepb.AppendRowsResponse, error) {
			return nil, status.Error(codes.Unavailable, "down")
		},
		"throttled": func(*appendCall) (*storagepb.AppendRowsResponse, error) {
			return refuse(codes.ResourceExhausted, "Quota exceeded"), nil
		},
		"silent": func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
			<-a.ctx.Done()
			return nil, a.ctx.Err()
		},
		"not found": func(*appendCall) (*storagepb.AppendRowsResponse, error) {
			return nil, status.Error(codes.NotFound, "Requested entity was not found")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWriteServer(t)
			var down atomic.Bool
			var asked atomic.Int64
			down.Store(true)
			s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
				if a.table != "p.d.bad" {
					return nil, nil
				}
				asked.Add(1)
				if down.Load() {
					return answer(a)
				}
				return nil, nil
			}
			w := newAsideWriter(t, s)
			bad := func(n uint64) change.Row { return testRow("p.d.bad", fmt.Sprint("bad ", n), n) }
			acknowledged, waiting, _ := begun(t, w, false, bad(1), testRow("p.d.good", "good 1", 1), bad(2))
			if !slices.Equal(acknowledged, []string{"good 1"}) || !slices.Equal(waiting, []string{"bad 1", "bad 2"}) {
				t.Fatalf("acknowledged %v, waiting %v", acknowledged, waiting)
			}
			before := asked.Load()
			if acknowledged, waiting, _ = begun(t, w, false, bad(3), testRow("p.d.good", "good 2", 2)); len(waiting) != 1 || len(acknowledged) != 1 || asked.Load() != before {
				t.Fatalf("acknowledged %v, waiting %v after asking %d times more", acknowledged, waiting, asked.Load()-before)
			}
			down.Store(false)
			if name == "silent" { // as after AppendTimeout
				w.config.AppendTimeout = 100 * time.Millisecond
				_, _, _ = begun(t, w, true, bad(1))
			}
			if acknowledged, waiting, _ = begun(t, w, true, bad(1), bad(2), bad(3)); len(acknowledged) != 3 {
				t.Fatalf("later: acknowledged %v, waiting %v", acknowledged, waiting)
			}
			if acknowledged, waiting, _ = begun(t, w, false, bad(4)); len(acknowledged) != 1 {
				t.Fatalf("afterwards: acknowledged %v, waiting %v", acknowledged, waiting)
			}
		})
	}
}

// What BigQuery is slow with waits in its bundle: nothing is sent twice.
func TestBundle_slowStays(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		time.Sleep(30 * time.Millisecond)
		return nil, nil
	}
	w := newAsideWriter(t, s)
	w.config.MaxRequestRows, w.config.FinishFor = 1, 700*time.Millisecond
	var rows []change.Row
	for i := range 40 { // the last one waits for more than a second
		rows = append(rows, testRow("p.d.t", fmt.Sprint(i), uint64(i+1)))
	}
	if acknowledged, waiting, _ := begun(t, w, false, rows...); len(acknowledged) != 40 {
		t.Errorf("acknowledged %v, waiting %v", acknowledged, waiting)
	}
	if _, appends, _ := s.count(); appends != 40 {
		t.Errorf("%d appends, want 40", appends)
	}
}

// Where no rows may wait aside, a bundle that comes upon a table in trouble waits while it
// takes rows, not at its end.
func TestBundle_settle(t *testing.T) {
	s := newWriteServer(t)
	var down atomic.Bool
	down.Store(true)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		if down.Load() {
			return nil, status.Error(codes.Unavailable, "down")
		}
		return nil, nil
	}
	c := testConfig(s)
	c.RetryFor = 100 * time.Millisecond
	c.MaxBackoff = 10 * time.Second // for which trouble is remembered; the pauses begin low
	w := newTestWriter(t, c)
	if _, err := write(t, w, testRow("p.d.t", "1", 1)); err == nil {
		t.Fatal("no error")
	}
	w.config.RetryFor = time.Minute
	b := w.begin(t.Context())
	rested := 0
	take := func(r *result) { rested += restedRows(r) }
	if err := addRow(b, testRow("p.d.t", "2", 2)); err != nil {
		t.Fatal(err)
	}
	settled := make(chan error, 1)
	go func() { settled <- b.settle(take) }()
	select {
	case err := <-settled:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	down.Store(false)
	if err := <-settled; err != nil || rested != 1 {
		t.Fatalf("%d rows rest, %v", rested, err)
	}
	// And the trouble is over.
	if err := addRow(b, testRow("p.d.t", "3", 3)); err != nil {
		t.Fatal(err)
	}
	if err := b.settle(take); err != nil || rested != 1 || len(b.latest.request.rows) != 1 {
		t.Errorf("a row is not gathered after the trouble: %d rest, %v", rested, err)
	}
	if err := b.finish(take); err != nil || rested != 2 {
		t.Errorf("%d rows rest, %v", rested, err)
	}
}

// The whole transform on Prism, which fails the job with a bundle: through an outage of one
// table all rows of the other come to rest, and its own afterwards.
func TestWrite_asideOnPrism(t *testing.T) {
	s := newWriteServer(t)
	var refusals, others atomic.Int64
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		switch {
		case a.table == "p.d.even":
			others.Add(int64(len(a.rows)))
		case others.Load() < 20 || refusals.Add(1) <= 4:
			return nil, status.Error(codes.Unavailable, "down")
		}
		return nil, nil
	}
	c := testConfig(s)
	c.Aside, c.FinishFor = true, 20*time.Millisecond
	c.RetryFor = time.Minute
	c.Catalog.RESTEndpoint = newRESTServer(t)
	c.Catalog.Rules = []table.Rule{{Source: "even", Destination: "d.even"}, {Source: "odd", Destination: "d.odd"}}
	const n = 40
	p, scope := beam.NewPipelineWithRoot()
	var numbers []int
	var want []any
	for i := range n {
		numbers = append(numbers, i)
		want = append(want, fmt.Sprint(i+1))
		if i%3 == 0 {
			want = append(want, fmt.Sprint(i+100_001))
		}
	}
	rows := beam.ParDo(scope, makeRow, beam.Reshuffle(scope, beam.CreateList(scope, numbers)))
	receipts, letters := Write(scope, c, rows)
	passert.Equals(scope, beam.ParDo(scope, tokenOf, beam.Flatten(scope, receipts...)), want...)
	for i := range letters {
		passert.Empty(scope, letters[i])
	}
	ptest.RunAndValidate(t, p)
	if stored := slices.Compact(sorted(append(s.stored("p.d.even"), s.stored("p.d.odd")...))); len(stored) != n {
		t.Errorf("%d different rows stored, want %d", len(stored), n)
	}
}

// There is an end to it, with BigQuery's own words.
func TestWaitFn_givesUp(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		return nil, status.Error(codes.Unavailable, "down for good")
	}
	c := testConfig(s)
	c.Aside, c.FinishFor, c.RetryFor = true, 10*time.Millisecond, 100*time.Millisecond
	c.Catalog.RESTEndpoint = newRESTServer(t)
	p, scope := beam.NewPipelineWithRoot()
	Write(scope, c, beam.ParDo(scope, makeRow, beam.CreateList(scope, []int{1, 3})))
	if err := ptest.Run(p); err == nil || !strings.Contains(err.Error(), "writing to table p.d.odd: giving up after") || !strings.Contains(err.Error(), "down for good") {
		t.Errorf("error %v", err)
	}
}

// While BigQuery takes none of the first chunk, the others are left alone.
func TestWaitFn_try(t *testing.T) {
	s := newWriteServer(t)
	var down atomic.Bool
	down.Store(true)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if down.Load() {
			return nil, status.Error(codes.Unavailable, "down")
		}
		return blame(a, 10, "3"), nil
	}
	f := &waitFn{writer: newAsideWriter(t, s)}
	f.writer.config.Aside = true
	var all [][]byte
	for i := range 5 {
		chunks([]change.Row{testRow("p.d.t", fmt.Sprint(2*i), 1), testRow("p.d.t", fmt.Sprint(2*i+1), 1)}, func(_ string, chunk []byte) { all = append(all, chunk) })
	}
	all = append(all, change.AppendRow(nil, new(testRow("p.d.t", "10", 1)))) // as an earlier version kept it
	got, err := f.try(t.Context(), all, func(*result) {})
	if err != nil || !got.same || got.progress || len(got.still) != len(all) || got.cause == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, appends, _ := s.count(); appends != 1 {
		t.Errorf("%d appends, want 1", appends)
	}
	down.Store(false)
	rested, letters := 0, 0
	got, err = f.try(t.Context(), all, func(r *result) { rested += restedRows(r); letters += len(r.rejected) })
	if err != nil || got.same || !got.progress || len(got.still) != 0 || rested != 10 || letters != 1 {
		t.Fatalf("%d rest, %d letters, %+v, %v", rested, letters, got, err)
	}
}

func TestChunks(t *testing.T) {
	var rows []change.Row
	for i := range 10 {
		rows = append(rows, testRow([]string{"p.d.a", "p.d.b"}[i/6], strings.Repeat(fmt.Sprint(i), 300_000), uint64(i+1)))
	}
	var got []change.Row
	n := 0
	chunks(rows, func(name string, chunk []byte) {
		n++
		if len(chunk) > 2*chunkBytes { // the rows have 900,000 bytes
			t.Errorf("a chunk has %d bytes", len(chunk))
		}
		if err := rowsOfChunk(chunk, func(row *change.Row) error {
			if row.Table != name {
				t.Errorf("a row of %s is among those of %s", row.Table, name)
			}
			got = append(got, *row)
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	if diff := cmp.Diff(len(rows), len(got)); diff != "" || n != 5 {
		t.Fatalf("%d chunks, rows (-want +got):\n%s", n, diff)
	}
	for i := range rows {
		if got[i].Table != rows[i].Table || string(got[i].Data) != string(rows[i].Data) || got[i].Receipts[0] != rows[i].Receipts[0] {
			t.Errorf("row %d is another", i)
		}
	}
	if err := rowsOfChunk([]byte{chunkMark, 9, 1}, func(*change.Row) error { return nil }); err == nil {
		t.Error("a chunk that is cut short is none")
	}
}

// ours is how many goroutines there are but those by which managedwriter cancels a
// connection 20 s after it was replaced.
func ours() int {
	stacks := make([]byte, 1<<20)
	for n := runtime.Stack(stacks, true); ; n = runtime.Stack(stacks, true) {
		if n < len(stacks) {
			stacks = stacks[:n]
			break
		}
		stacks = make([]byte, 2*len(stacks))
	}
	n := 0
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if !strings.Contains(stack, "managedwriter.(*connection).getStream.func1") {
			n++
		}
	}
	return n
}

// An outage, of the service or of its quota, holds memory flat: once what may be in flight
// is, a bundle takes no more rows, and so the source no more messages.
func TestBundle_outage(t *testing.T) {
	for name, answer := range map[string]func() (*storagepb.AppendRowsResponse, error){
		"unavailable": func() (*storagepb.AppendRowsResponse, error) { return nil, status.Error(codes.Unavailable, "down") },
		"throttled": func() (*storagepb.AppendRowsResponse, error) {
			return refuse(codes.ResourceExhausted, "Quota exceeded"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWriteServer(t)
			var down atomic.Bool
			down.Store(true)
			s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
				if down.Load() {
					return answer()
				}
				return nil, nil
			}
			c := testConfig(s)
			c.MaxInflightRequests, c.MaxRequestRows, c.RetryFor = 8, 10, time.Minute
			w := newTestWriter(t, c)
			var taken atomic.Int64
			ended := make(chan error, 4)
			for bundle := range 4 {
				go func() {
					b := w.begin(context.WithoutCancel(t.Context()))
					take := func(*result) {}
					for i := range 1000 {
						err := b.collect(take)
						if err == nil {
							err = addRow(b, testRow(fmt.Sprint("p.d.t", i%3), fmt.Sprint(bundle, " ", i, strings.Repeat("x", 1000)), uint64(i+1)))
						}
						if err != nil {
							ended <- err
							return
						}
						taken.Add(1)
					}
					ended <- b.finish(take)
				}()
			}
			still := func() (rows int64) { // once no more are taken
				for rows = -1; rows != taken.Load(); time.Sleep(200 * time.Millisecond) {
					rows = taken.Load()
				}
				return rows
			}
			first := still()
			if most := int64(8*10 + 4*3*10 + 4); first > most {
				t.Errorf("%d rows were taken, want %d at most", first, most)
			}
			measure := func() (heap uint64, goroutines int) {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc, ours()
			}
			heap, goroutines := measure()
			_, before, _ := s.count()
			for tries := before; tries < before+200; _, tries, _ = s.count() {
				time.Sleep(10 * time.Millisecond)
			}
			later, more := measure()
			if taken.Load() != first || more > goroutines+40 || int64(later)-int64(heap) > 4<<20 {
				t.Errorf("after 200 tries more: %d rows taken, were %d; %d goroutines, were %d; %d bytes, were %d", taken.Load(), first, more, goroutines, later, heap)
			}
			down.Store(false)
			for range 4 {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			if n := taken.Load(); n != 4000 {
				t.Errorf("%d rows were taken afterwards", n)
			}
		})
	}
}
