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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
)

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
