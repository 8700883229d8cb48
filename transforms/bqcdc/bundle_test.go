package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
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

// Case 90: the index of a row error means the rows as sent.
func TestBundle_rejectedRows(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) { return blame(a, 10, "2", "4"), nil }
	w := newTestWriter(t, testConfig(s))
	var rows []change.Row
	for i, text := range []string{"1", "2", "3", "4", "5"} {
		rows = append(rows, testRow("p.d.t", text, uint64(i+1)))
	}
	got, err := write(t, w, rows...)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1", "3", "5"}, map[string]string{"2": "rejected_row", "4": "rejected_row"})
	if diff := cmp.Diff([]string{"1", "3", "5"}, s.stored("p.d.t")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if want := "Field a: STRING(1) has maximum length 1 but got a value with length 2"; got.texts["2"] != want {
		t.Errorf("text %q, want %q", got.texts["2"], want)
	}
}

// Case 91: row errors count, whatever the status says.
func TestBundle_rejectedRowsWithOKStatus(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		r := blame(a, 10, "2")
		if r != nil {
			r.Response = &storagepb.AppendRowsResponse_AppendResult_{AppendResult: &storagepb.AppendRowsResponse_AppendResult{}}
		}
		return r, nil
	}
	got, err := write(t, newTestWriter(t, testConfig(s)), testRow("p.d.t", "1", 1), testRow("p.d.t", "2", 2))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1"}, map[string]string{"2": "rejected_row"})
	if diff := cmp.Diff([]string{"1"}, s.stored("p.d.t")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// A list of row errors may be cut short: the rest of the request is sent until
// no row is bad.
func TestBundle_truncatedRowErrors(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		return blame(a, 2, "1", "2", "3", "5"), nil
	}
	var rows []change.Row
	for i := range 6 {
		rows = append(rows, testRow("p.d.t", fmt.Sprint(i), uint64(i+1)))
	}
	got, err := write(t, newTestWriter(t, testConfig(s)), rows...)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"0", "4"}, map[string]string{"1": "rejected_row", "2": "rejected_row", "3": "rejected_row", "5": "rejected_row"})
	if _, appends, _ := s.count(); appends != 3 {
		t.Errorf("%d appends, want 3", appends)
	}
}

// A server that blames rows it was not sent can't be argued with.
func TestBundle_rowErrorsOutOfRange(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		r := refuse(codes.InvalidArgument, "Errors found")
		r.RowErrors = []*storagepb.RowError{{Index: 7}}
		return r, nil
	}
	_, err := write(t, newTestWriter(t, testConfig(s)), testRow("p.d.t", "1", 1))
	if err == nil || !strings.Contains(err.Error(), "row_errors names row 7 of a request of 1 rows") {
		t.Fatalf("error %v", err)
	}
}

// Case 87: a row that no request holds is a dead letter, once, and holds up nothing.
func TestBundle_hugeRow(t *testing.T) {
	s := newWriteServer(t)
	small, huge := strings.Repeat("a", 1<<10), strings.Repeat("b", 12<<20)
	got, err := write(t, newTestWriter(t, testConfig(s)),
		testRow("p.d.t", small+"1", 1), testRow("p.d.t", huge, 2), testRow("p.d.t", small+"3", 3))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{small + "1", small + "3"}, map[string]string{huge: "row_too_large"})
	if n := len(s.stored("p.d.t")); n != 2 {
		t.Errorf("%d rows stored, want 2", n)
	}
}

// Case 86: requests are split by their encoded size, descriptor and all.
func TestBundle_splitsBySize(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.TargetRequestBytes, c.MaxRequestBytes = 9_000_000, 9_000_000
	var rows []change.Row
	for i := range 30 {
		rows = append(rows, testRow("p.d.t", fmt.Sprintf("%02d%s", i, strings.Repeat("x", 400_000)), uint64(i+1)))
	}
	got, err := write(t, newTestWriter(t, c), rows...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.acknowledged) != 30 || len(s.stored("p.d.t")) != 30 {
		t.Errorf("%d acknowledged, %d stored, want 30", len(got.acknowledged), len(s.stored("p.d.t")))
	}
	if _, appends, largest := s.count(); appends != 2 || largest > 9_000_000 {
		t.Errorf("%d appends, the largest of %d bytes, want 2 of at most 9,000,000", appends, largest)
	}
}

// The size that a bundle reckons with is never below what is sent, to the byte
// where the limit bites.
func TestBundle_reckonsWholeRequest(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.TargetRequestBytes, c.MaxRequestBytes = 50_000, 50_000
	var rows []change.Row
	for i := range 3000 {
		rows = append(rows, testRow("p.d.t", strings.Repeat("x", i%300), uint64(i+1)))
	}
	if _, err := write(t, newTestWriter(t, c), rows...); err != nil {
		t.Fatal(err)
	}
	if _, _, largest := s.count(); largest > 50_000 || largest < 49_000 {
		t.Errorf("the largest request has %d bytes, want just under 50,000", largest)
	}
}

func TestBundle_splitsByRows(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.MaxRequestRows = 10
	var rows []change.Row
	for i := range 25 {
		rows = append(rows, testRow("p.d.t", fmt.Sprint(i), uint64(i+1)))
	}
	if _, err := write(t, newTestWriter(t, c), rows...); err != nil {
		t.Fatal(err)
	}
	if _, appends, _ := s.count(); appends != 3 {
		t.Errorf("%d appends, want 3", appends)
	}
}

// A server with a lower limit than documented gets halves.
func TestBundle_halves(t *testing.T) {
	for _, test := range []struct {
		name string
		s    *writeServer
	}{
		{"by response", func() *writeServer {
			s := newWriteServer(t)
			s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
				n := 0
				for _, row := range a.rows {
					n += len(row)
				}
				if n > 100_000 {
					return refuse(codes.InvalidArgument, fmt.Sprintf("AppendRows request too large: %d limit 100000 Entity: x", n)), nil
				}
				return nil, nil
			}
			return s
		}()},
		{"by connection", newWriteServer(t, grpc.MaxRecvMsgSize(100_200))},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rows []change.Row
			var want []string
			for i := range 8 {
				text := fmt.Sprintf("%02d%s", i, strings.Repeat("x", 30_000))
				rows, want = append(rows, testRow("p.d.t", text, uint64(i+1))), append(want, text)
			}
			huge := strings.Repeat("y", 120_000)
			rows = slices.Insert(rows, 4, testRow("p.d.t", huge, 100))
			got, err := write(t, newTestWriter(t, testConfig(test.s)), rows...)
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, got, want, map[string]string{huge: "row_too_large"})
			if got.repeats[tooLarge] == 0 {
				t.Error("nothing was repeated as too large")
			}
		})
	}
}

// A request that breaks its connection by its size takes no other's rows with it.
func TestBundle_tooLargeBlamesTheRightRow(t *testing.T) {
	s := newWriteServer(t, grpc.MaxRecvMsgSize(100_000))
	c := testConfig(s)
	c.TargetRequestBytes = 10 // a request a row
	var rows []change.Row
	var want []string
	for i := range 40 {
		text := fmt.Sprintf("row %02d", i)
		rows, want = append(rows, testRow("p.d.t", text, uint64(i+1))), append(want, text)
	}
	huge := strings.Repeat("y", 120_000)
	rows = slices.Insert(rows, 20, testRow("p.d.t", huge, 100))
	got, err := write(t, newTestWriter(t, c), rows...)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, want, map[string]string{huge: "row_too_large"})
}

// Case 94: the connection ends after three appends, the third of them stored.
func TestBundle_connectionEnds(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.connection <= 2 && a.nth == 3 {
			a.store()
			return nil, status.Error(codes.Unavailable, "connection is draining")
		}
		return nil, nil
	}
	c := testConfig(s)
	c.MaxRequestRows = 1
	var rows []change.Row
	for i := range 10 {
		rows = append(rows, testRow("p.d.t", fmt.Sprint(i), uint64(i+1)))
	}
	got, err := write(t, newTestWriter(t, c), rows...)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, nil)
	stored := sorted(s.stored("p.d.t"))
	if len(slices.Compact(stored)) != 10 {
		t.Errorf("stored %v, want every row at least once", stored)
	}
	if got.repeats[transient] == 0 {
		t.Error("nothing was repeated")
	}
}

func TestBundle_repeatsUntilItSucceeds(t *testing.T) {
	lag := &storagepb.StorageError{Code: storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS}
	for _, test := range []struct {
		name        string
		answer      func() (*storagepb.AppendRowsResponse, error)
		outcome     outcome
		connections int // 0: any
	}{
		{"unavailable", func() (*storagepb.AppendRowsResponse, error) { return nil, status.Error(codes.Unavailable, "down") }, transient, 0},
		{"internal in a response", func() (*storagepb.AppendRowsResponse, error) { return refuse(codes.Internal, "oops"), nil }, transient, 0},
		{"idle", func() (*storagepb.AppendRowsResponse, error) {
			return nil, status.Error(codes.Aborted, "Closing the stream because it has been inactive for 600 seconds")
		}, transient, 0},
		{"throttled keeps the connection", func() (*storagepb.AppendRowsResponse, error) {
			return refuse(codes.ResourceExhausted, "Exceeds 'AppendRows throughput' quota"), nil
		}, throttled, 1},
		// Case 77.
		{"schema lag opens a new one each time", func() (*storagepb.AppendRowsResponse, error) {
			return refuse(codes.InvalidArgument, "Input schema has more fields than BigQuery schema, extra fields: 'x'", lag), nil
		}, schemaMismatch, 4},
		{"table just created", func() (*storagepb.AppendRowsResponse, error) {
			return nil, status.Error(codes.NotFound, "Requested entity was not found")
		}, schemaMismatch, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newWriteServer(t)
			s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
				if a.total <= 3 {
					return test.answer()
				}
				return nil, nil
			}
			got, err := write(t, newTestWriter(t, testConfig(s)), testRow("p.d.t", "1", 1))
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, got, []string{"1"}, nil)
			if got.repeats[test.outcome] != 3 {
				t.Errorf("repeats %v, want 3 of %v", got.repeats, test.outcome)
			}
			if connections, _, _ := s.count(); test.connections != 0 && connections != test.connections {
				t.Errorf("%d connections, want %d", connections, test.connections)
			}
		})
	}
}

// A permanent error fails the bundle at once, with the table and the cause, and
// only once; the next bundle gets a new stream.
func TestBundle_permanentError(t *testing.T) {
	s := newWriteServer(t)
	var mu sync.Mutex
	denied := true
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		if denied {
			return nil, status.Error(codes.PermissionDenied, "Permission 'TABLES_UPDATE_DATA' denied (or it may not exist)")
		}
		return nil, nil
	}
	c := testConfig(s)
	c.MaxRequestRows = 1
	w := newTestWriter(t, c)
	_, err := write(t, w, testRow("p.d.t", "1", 1), testRow("p.d.t", "2", 2), testRow("p.d.t", "3", 3))
	if err == nil {
		t.Fatal("no error")
	}
	want := "writing 1 rows to table p.d.t: permanent: rpc error: code = PermissionDenied desc = Permission 'TABLES_UPDATE_DATA' denied (or it may not exist)"
	if err.Error() != want {
		t.Errorf("error\n%s\nwant\n%s", err, want)
	}
	mu.Lock()
	denied = false
	mu.Unlock()
	got, err := write(t, w, testRow("p.d.t", "1", 1))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1"}, nil)
}

// A patience that runs out names the last cause.
func TestBundle_givesUp(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		return refuse(codes.ResourceExhausted, "Quota exceeded"), nil
	}
	c := testConfig(s)
	c.RetryFor = 50 * time.Millisecond
	_, err := write(t, newTestWriter(t, c), testRow("p.d.t", "1", 1))
	if err == nil || !strings.HasPrefix(err.Error(), "writing 1 rows to table p.d.t: throttled: giving up after") || !strings.HasSuffix(err.Error(), "Quota exceeded") {
		t.Errorf("error %v", err)
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

// A mismatch that the table explains ends at once: rows with a column that it no
// longer has are dead letters, and a table that is gone fails the bundle.
func TestBundle_mismatchThatIsExplained(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) {
		return refuse(codes.InvalidArgument, "Input schema has more fields than BigQuery schema, extra fields: 'x'"), nil
	}
	w := newTestWriter(t, testConfig(s))
	w.fits = func(context.Context, streamKey) (bool, error) { return false, nil }
	got, err := write(t, w, testRow("p.d.t", "1", 1))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, nil, map[string]string{"1": "schema_changed"})

	w.fits = func(context.Context, streamKey) (bool, error) {
		return false, &catalog.Error{Permanent: true, Err: errors.New("table p.d.t: it does not exist")}
	}
	if _, err = write(t, w, testRow("p.d.t", "1", 1)); err == nil || !strings.Contains(err.Error(), "permanent") || !strings.Contains(err.Error(), "it does not exist") {
		t.Errorf("error %v", err)
	}
}
