package bqcdc

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/internal/prism"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/deadletter"
)

func TestMain(m *testing.M) {
	prism.Prepare()
	ptest.Main(m)
}

func init() {
	register.Function3x0(makeRow)
	register.Function2x1(describeReceipt)
	register.Function2x1(describeLetter)
	register.Emitter2[beam.EventTime, change.Row]()
}

// items is the table of the pipeline tests, as this package's own copy of the
// schema that the REST server below describes.
func items(name string) *table.Table {
	return &table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: name},
		Columns: []table.Column{
			{Name: "id", Type: table.Int64, Mode: table.Required},
			{Name: "text", Type: table.String, Mode: table.Nullable},
		},
		PrimaryKey: []string{"id"},
	}
}

var plans sync.Map // table -> *rowproto.Plan

func planOf(name string) *rowproto.Plan {
	if plan, ok := plans.Load(name); ok {
		return plan.(*rowproto.Plan)
	}
	plan, err := rowproto.Compile(items(name))
	if err != nil {
		panic(err)
	}
	plans.Store(name, plan)
	return plan
}

// makeRow makes row i, of one of two tables; every tenth is a DELETE, and every
// third stands for two changes.
func makeRow(_ beam.EventTime, i int, emit func(beam.EventTime, change.Row)) {
	name := [...]string{"even", "odd"}[i%2]
	plan := planOf(name)
	r := change.Row{
		Table: "p.d." + name, Schema: plan.Fingerprint(), Key: fmt.Append(nil, i), Type: change.Upsert,
		Sequence: change.NewSequence(0, 1, 1, 1), Message: change.Message{ID: fmt.Sprint(i), Token: uint64(i + 1)},
		Receipts: []change.Receipt{{Token: uint64(i + 1), Parts: 1}},
	}
	columns := []change.Column{{Name: "id", Value: change.Int64(int64(i))}, {Name: "text", Value: change.String(fmt.Sprint("row ", i))}}
	var err error
	if i%10 == 0 {
		r.Type = change.Delete
		r.Data, err = plan.AppendDelete(nil, columns[:1], r.Sequence)
	} else {
		r.Data, err = plan.AppendUpsert(nil, columns, r.Sequence, rowproto.RowOptions{})
	}
	if err != nil {
		panic(err)
	}
	if i%3 == 0 {
		r.Superseded, r.SupersededBytes = 1, 7
		r.Receipts = append(r.Receipts, change.Receipt{Token: uint64(i + 100_001), Parts: 1})
	}
	emit(mtime.FromMilliseconds(int64(1_000_000+i)), r)
}

func describeReceipt(at beam.EventTime, r change.Receipt) string {
	return fmt.Sprint(at.Milliseconds()-1_000_000, " ", r.Token)
}

func describeLetter(at beam.EventTime, l deadletter.Letter) string {
	return fmt.Sprint(at.Milliseconds()-1_000_000, " ", l.Message.ID, " ", l.Stage, " ", l.Reason, " ", l.Table, " ", l.Receipts, " ", l.Error)
}

// newRESTServer describes any table of p.d like items.
func newRESTServer(tb testing.TB) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"type": "TABLE", "tableReference": {"projectId": "p", "datasetId": "d", "tableId": %q},
			"schema": {"fields": [{"name": "id", "type": "INTEGER", "mode": "REQUIRED"}, {"name": "text", "type": "STRING", "mode": "NULLABLE"}]},
			"tableConstraints": {"primaryKey": {"columns": ["id"]}}}`, name)
	}))
	tb.Cleanup(server.Close)
	return server.URL
}

// The whole transform on Prism: several bundles, two tables, a rejected row, a
// connection that ends, and event times and windows that would break a pipeline
// whose FinishBundle emitted carelessly.
func TestWrite_onPrism(t *testing.T) {
	s := newWriteServer(t)
	s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
		if a.total == 2 {
			return nil, status.Error(codes.Unavailable, "connection is draining")
		}
		r := refuse(codes.InvalidArgument, "Errors found while processing rows.")
		for i, row := range a.rows {
			if strings.Contains(string(row), "row 41") {
				r.RowErrors = append(r.RowErrors, &storagepb.RowError{Index: int64(i), Message: "bad"})
			}
		}
		if len(r.GetRowErrors()) > 0 {
			return r, nil
		}
		return nil, nil
	}
	c := testConfig(s)
	c.Catalog.RESTEndpoint = newRESTServer(t)
	c.MaxRequestRows = 30

	const n = 400
	p, scope := beam.NewPipelineWithRoot()
	var numbers []int
	for i := range n {
		numbers = append(numbers, i)
	}
	rows := beam.ParDo(scope, makeRow, beam.Reshuffle(scope, beam.CreateList(scope, numbers)))
	rows = beam.WindowInto(scope, window.NewFixedWindows(50*time.Millisecond), rows)
	receipts, letters := Write(scope, c, rows)

	var wantReceipts []any
	for i := range n {
		if i == 41 {
			continue
		}
		wantReceipts = append(wantReceipts, fmt.Sprint(i, " ", i+1))
		if i%3 == 0 {
			wantReceipts = append(wantReceipts, fmt.Sprint(i, " ", i+100_001))
		}
	}
	passert.Equals(scope, beam.ParDo(scope, describeReceipt, receipts[0]), wantReceipts...)
	passert.Equals(scope, beam.ParDo(scope, describeLetter, letters[0]), "41 41 write rejected_row p.d.odd [{42 0 1}] bad")
	result := ptest.RunAndValidate(t, p)

	got := make(map[string]int64)
	for _, counter := range result.Metrics().AllMetrics().Counters() {
		if counter.Namespace() == "bqcdc" {
			got[counter.Name()] += counter.Result()
		}
	}
	deletes, superseded := int64(n/10), int64((n+2)/3)
	want := map[string]int64{
		"rows_upserted": n - deletes - 1, "rows_deleted": deletes, "rows_rejected": 1,
		"rows_superseded": superseded, "bytes_superseded": 7 * superseded,
		"rows_by_table/upsert/acknowledged/p.d.odd": n/2 - 1, "rows_by_table/upsert/rejected/p.d.odd": 1,
		"rows_by_table/upsert/acknowledged/p.d.even": n/2 - deletes, "rows_by_table/delete/acknowledged/p.d.even": deletes,
		"rows_by_table/upsert/superseded/p.d.odd": (n + 2) / 6,
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("counter %s is %d, want %d", name, got[name], value)
		}
	}
	if got["repeats/transient"] == 0 || got["requests"] < 10 {
		t.Errorf("counters %v: nothing repeated, or too few requests", got)
	}
	if n := len(slices.Compact(sorted(append(s.stored("p.d.even"), s.stored("p.d.odd")...)))); n != 399 {
		t.Errorf("%d different rows stored, want 399", n)
	}
}
