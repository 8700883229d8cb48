package bqcdc

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/codes"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func init() {
	register.Function2x1(tokenOf)
}

func tokenOf(_ beam.EventTime, r change.Receipt) string { return fmt.Sprint(r.Token) }

func lagging() *storagepb.AppendRowsResponse {
	return refuse(codes.InvalidArgument, "Input schema has more fields than BigQuery schema, extra fields: 'x'",
		&storagepb.StorageError{Code: storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS})
}

// newGrowingWriter returns a writer of tables that follow their sources.
func newGrowingWriter(t *testing.T, s *writeServer) *writer {
	t.Helper()
	c := testConfig(s)
	c.InitialBackoff, c.MaxBackoff = time.Minute, time.Minute // nothing here waits for as long
	w := newTestWriter(t, c)
	w.aside, w.grows = true, func(string) bool { return true }
	return w
}

// begun sends rows as one bundle, patient or not, and returns what has to wait.
func begun(t *testing.T, w *writer, patient bool, rows ...change.Row) (acknowledged, waiting, rejected []string) {
	t.Helper()
	b := w.begin(t.Context())
	b.patient = patient
	take := func(r *result) {
		for _, rows := range r.acknowledged {
			for _, p := range rows {
				acknowledged = append(acknowledged, p.id)
			}
		}
		for _, row := range r.waiting {
			waiting = append(waiting, row.Message.ID)
		}
		if len(r.waiting) > 0 && r.packed != nil {
			t.Error("the bytes of rows that wait are in memory that is used again")
		}
		for _, x := range r.rejected {
			rejected = append(rejected, x.id)
		}
	}
	for i := range rows {
		if err := b.take(&rows[i], 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.finish(take); err != nil {
		t.Fatal(err)
	}
	return sorted(acknowledged), sorted(waiting), sorted(rejected)
}

// Case 77: rows of a schema that BigQuery's writers don't know yet hold up no bundle:
// those of the schema before and of other tables are written meanwhile.
func TestBundle_waitingRows(t *testing.T) {
	s := newWriteServer(t)
	knows := false
	asked := 0
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if !strings.HasPrefix(string(a.rows[0]), "new") {
			return nil, nil
		}
		asked++
		if !knows {
			return lagging(), nil
		}
		return nil, nil
	}
	w := newGrowingWriter(t, s)
	fresh := testRow("p.d.t", "new 1", 1)
	fresh.Schema = 2
	acknowledged, waiting, _ := begun(t, w, false, testRow("p.d.t", "old 1", 2), fresh, testRow("p.d.other", "other 1", 3))
	if !slices.Equal(acknowledged, []string{"old 1", "other 1"}) || !slices.Equal(waiting, []string{"new 1"}) {
		t.Fatalf("acknowledged %v, waiting %v", acknowledged, waiting)
	}
	// What comes right after waits without asking; what has waited asks.
	again := testRow("p.d.t", "new 2", 4)
	again.Schema = 2
	if _, waiting, _ := begun(t, w, false, again); len(waiting) != 1 || asked != 1 {
		t.Errorf("waiting %v after asking %d times, want 1", waiting, asked)
	}
	if _, waiting, _ := begun(t, w, true, fresh); len(waiting) != 1 || asked != 2 {
		t.Errorf("waiting %v after asking %d times, want 2", waiting, asked)
	}
	knows = true
	if acknowledged, _, _ := begun(t, w, true, fresh, again); len(acknowledged) != 2 {
		t.Errorf("acknowledged %v once the writers know", acknowledged)
	}
	// And nothing waits any more.
	if acknowledged, _, _ := begun(t, w, false, again); len(acknowledged) != 1 {
		t.Errorf("acknowledged %v afterwards", acknowledged)
	}
}

// A row that BigQuery refuses while its writers may still take a column for REQUIRED
// waits, and is a dead letter when they can't any more.
func TestBundle_refusedByAYoungTable(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) { return blame(a, 10, "2"), nil }
	w := newGrowingWriter(t, s)
	young := true
	w.young = func(string) bool { return young }
	acknowledged, waiting, rejected := begun(t, w, false, testRow("p.d.t", "1", 1), testRow("p.d.t", "2", 2))
	if !slices.Equal(acknowledged, []string{"1"}) || !slices.Equal(waiting, []string{"2"}) || len(rejected) > 0 {
		t.Errorf("acknowledged %v, waiting %v, rejected %v", acknowledged, waiting, rejected)
	}
	young = false
	if _, waiting, rejected := begun(t, w, true, testRow("p.d.t", "2", 2)); len(waiting) > 0 || !slices.Equal(rejected, []string{"2"}) {
		t.Errorf("later: waiting %v, rejected %v", waiting, rejected)
	}
}

// The whole transform: rows wait in state, and come to rest with their receipts.
func TestWrite_waitingOnPrism(t *testing.T) {
	s := newWriteServer(t)
	var refusals atomic.Int64
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.table == "p.d.odd" && refusals.Add(1) <= 4 {
			return lagging(), nil
		}
		return nil, nil
	}
	c := testConfig(s)
	c.Catalog.RESTEndpoint = newRESTServer(t)
	c.Catalog.Rules = []table.Rule{{Source: "even", Destination: "d.even"}, {Source: "odd", Destination: "d.odd", UnknownColumns: "add"}}
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
	passert.Equals(scope, beam.ParDo(scope, tokenOf, receipts[0]), want...)
	passert.Empty(scope, letters[0])
	ptest.RunAndValidate(t, p)
	stored := slices.Compact(sorted(append(s.stored("p.d.even"), s.stored("p.d.odd")...)))
	if len(stored) != n || refusals.Load() < 5 {
		t.Errorf("%d different rows stored, want %d; the writers were asked %d times", len(stored), n, refusals.Load())
	}
}

// There is an end to waiting: the world is wrong then, not the rows (invariant 7).
func TestWaitFn_bounded(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) { return lagging(), nil }
	c := testConfig(s)
	c.WaitFor = 50 * time.Millisecond
	c.Catalog.RESTEndpoint = newRESTServer(t)
	c.Catalog.Rules = []table.Rule{{Source: "odd", Destination: "d.odd", UnknownColumns: "add"}, {Source: "even", Destination: "d.even", UnknownColumns: "add"}}
	p, scope := beam.NewPipelineWithRoot()
	rows := beam.ParDo(scope, makeRow, beam.CreateList(scope, []int{1, 3}))
	Write(scope, c, rows)
	if err := ptest.Run(p); err == nil || !strings.Contains(err.Error(), "have waited for more than 50ms: the Storage Write API does not know the table") {
		t.Errorf("error %v", err)
	}
}

// What is kept of a row is all that writing it takes.
func TestPending(t *testing.T) {
	plain := testRow("p.d.t", "1", 7)
	full := testRow("p.d.t", "another", 7)
	full.Superseded, full.SupersededBytes, full.CommitTime = 3, 9, time.UnixMilli(1_700_000_000_123)
	full.Message = change.Message{
		ID: "m", Data: []byte("data"), Attributes: map[string]string{"a": "b"}, OrderingKey: "k",
		PublishTime: time.Unix(1_700_000_000, 123_456_789).UTC(), Token: 5, Replays: 2, DataLeftOut: true,
	}
	full.Receipts = []change.Receipt{{Token: 5, Part: 1, Parts: 3}}
	several, others, none := full, full, full
	several.Receipts = []change.Receipt{{Token: 5, Part: 1, Parts: 3}, {Token: 6, Parts: 1}}
	others.Receipts = []change.Receipt{{Token: 6, Part: 1, Parts: 2}}
	none.Receipts = nil
	rows := []change.Row{plain, full, several, others, none}
	r := &request{key: streamKey{table: "p.d.t", schema: plain.Schema}, schema: &schema{}}
	for i := range rows {
		r.push(&rows[i], 0, framedSize(len(rows[i].Data)), nil)
	}
	for i := range rows {
		want := rows[i]
		want.Key, want.Sequence = nil, change.Sequence{} // its bytes tell
		kept := r.rowOf(&r.rows[i])
		if diff := cmp.Diff(want, kept, cmpopts.EquateEmpty(), cmp.AllowUnexported(change.Sequence{})); diff != "" {
			t.Errorf("row %d (-was +is):\n%s", i, diff)
		}
		read, err := change.ReadRow(change.AppendRow(nil, &kept))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(newPending(&want, 0), newPending(&read, 0), cmp.AllowUnexported(pending{}, rare{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("row %d (-was +is):\n%s", i, diff)
		}
	}
	if size := unsafe.Sizeof(pending{}); size > 128 {
		t.Errorf("a pending row has %d bytes, which each row costs", size)
	}
}
