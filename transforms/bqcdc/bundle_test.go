package bqcdc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
)

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

func wantOutcome(t *testing.T, got outcomeOf, acknowledged []string, rejected map[string]string) {
	t.Helper()
	if diff := cmp.Diff(acknowledged, sorted(got.acknowledged)); diff != "" {
		t.Errorf("acknowledged (-want +got):\n%s", diff)
	}
	if rejected == nil {
		rejected = map[string]string{}
	}
	if diff := cmp.Diff(rejected, got.rejected); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
}

// The end of a bundle waits for a bounded time.
func TestBundle_finishIsBounded(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		<-a.ctx.Done()
		return nil, a.ctx.Err()
	}
	c := testConfig(s)
	c.FinishFor = 100 * time.Millisecond
	start := time.Now()
	_, err := write(t, newTestWriter(t, c), testRow("p.d.t", "1", 1))
	if err == nil || !strings.Contains(err.Error(), "writing 1 rows to table p.d.t") || time.Since(start) > 3*time.Second {
		t.Errorf("after %v: error %v", time.Since(start), err)
	}
}

// A server that takes requests and says nothing is left for a new connection.
func TestBundle_silentConnection(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.connection == 1 {
			<-a.ctx.Done()
			return nil, a.ctx.Err()
		}
		return nil, nil
	}
	c := testConfig(s)
	c.AppendTimeout = 200 * time.Millisecond
	c.MaxRequestRows = 1
	got, err := write(t, newTestWriter(t, c), testRow("p.d.t", "1", 1), testRow("p.d.t", "2", 2))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1", "2"}, nil)
}

// A queue that is slow but moves is no silence: nothing is sent twice.
func TestBundle_slowIsNotSilent(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		time.Sleep(30 * time.Millisecond)
		return nil, nil
	}
	c := testConfig(s)
	c.AppendTimeout = 700 * time.Millisecond
	c.MaxRequestRows = 1
	var rows []change.Row
	for i := range 40 { // the last one waits for more than a second
		rows = append(rows, testRow("p.d.t", fmt.Sprint(i), uint64(i+1)))
	}
	if _, err := write(t, newTestWriter(t, c), rows...); err != nil {
		t.Fatal(err)
	}
	if connections, appends, _ := s.count(); connections != 1 || appends != 40 {
		t.Errorf("%d appends on %d connections, want 40 on 1", appends, connections)
	}
}

// Rows are receipted only once they are acknowledged.
func TestBundle_nothingBeforeTheAnswer(t *testing.T) {
	s := newWriteServer(t)
	answer := make(chan struct{})
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		<-answer
		return nil, nil
	}
	c := testConfig(s)
	c.MaxRequestRows = 1
	w := newTestWriter(t, c)
	b := w.begin(t.Context())
	rested := 0
	take := func(r *result) { rested += restedRows(r) + len(r.rejected) }
	for i := range 3 {
		if err := addRow(b, testRow("p.d.t", fmt.Sprint(i), uint64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	if err := b.collect(take); err != nil || rested != 0 {
		t.Fatalf("%d rows rest before any answer, error %v", rested, err)
	}
	answer <- struct{}{}
	for deadline := time.Now().Add(5 * time.Second); rested == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if err := b.collect(take); err != nil {
			t.Fatal(err)
		}
	}
	if rested != 1 {
		t.Fatalf("%d rows rest after one answer, want 1", rested)
	}
	close(answer)
	if err := b.finish(take); err != nil || rested != 3 {
		t.Fatalf("%d rows rest at the end, want 3; error %v", rested, err)
	}
}

// Two tables, and two schemas of one table, have a stream each.
func TestBundle_streamPerTableAndSchema(t *testing.T) {
	s := newWriteServer(t)
	w := newTestWriter(t, testConfig(s))
	newer := testRow("p.d.a", "2", 2)
	newer.Schema = 2
	for range 2 { // the second bundle finds them open
		if _, err := write(t, w, testRow("p.d.a", "1", 1), newer, testRow("p.d.b", "3", 3)); err != nil {
			t.Fatal(err)
		}
	}
	if connections, appends, _ := s.count(); connections != 3 || appends != 6 {
		t.Errorf("%d appends on %d connections, want 6 on 3", appends, connections)
	}
	for _, r := range s.first {
		if r.GetTraceId() == "" || !strings.HasSuffix(r.GetTraceId(), " beamcdc:dev") {
			t.Errorf("trace ID %q", r.GetTraceId())
		}
	}
	if diff := cmp.Diff([]string{"3", "3"}, s.stored("p.d.b")); diff != "" {
		t.Errorf("stored in b (-want +got):\n%s", diff)
	}
}

func TestBundle_unsendableRows(t *testing.T) {
	s := newWriteServer(t)
	unknown, unordered := testRow("p.d.t", "1", 1), testRow("p.d.t", "2", 2)
	unknown.Schema, unordered.Sequence = 0, change.Sequence{}
	got, err := write(t, newTestWriter(t, testConfig(s)), unknown, unordered, testRow("p.d.t", "3", 3))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"3"}, map[string]string{"1": "schema_changed", "2": "missing_sequence"})
}

// Invariant 1's bound on memory: no more is in flight than configured.
func TestBundle_inflightIsBounded(t *testing.T) {
	s := newWriteServer(t)
	answer := make(chan struct{})
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		<-answer
		return nil, nil
	}
	c := testConfig(s)
	c.MaxRequestRows, c.MaxInflightRequests = 1, 3
	w := newTestWriter(t, c)
	b := w.begin(t.Context())
	added := make(chan int, 10)
	go func() {
		for i := range 5 {
			if addRow(b, testRow("p.d.t", fmt.Sprint(i), uint64(i+1))) == nil {
				added <- i
			}
		}
		close(added)
	}()
	for deadline := time.Now().Add(5 * time.Second); len(added) < 3 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if n := len(added); n != 3 {
		t.Errorf("%d rows were taken while 3 may be in flight", n)
	}
	close(answer)
	for range added {
	}
	if err := b.finish(func(*result) {}); err != nil {
		t.Fatal(err)
	}
}

func addRow(b *bundle, row change.Row) error { return b.add(&row, 0) }

func restedRows(r *result) int {
	n := 0
	for _, rows := range r.acknowledged {
		n += len(rows)
	}
	return n
}
