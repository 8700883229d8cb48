package truncate

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	register.Function1x1(showReceipt)
	register.Function1x1(showLetter)
}

func showReceipt(r change.Receipt) string { return fmt.Sprintf("%d/%d/%d", r.Token, r.Part, r.Parts) }

func showLetter(l deadletter.Letter) string {
	return fmt.Sprintf("%s %s %s %s %v", l.Message.ID, l.Stage, l.Reason, l.Table, l.Receipts)
}

// world is a BigQuery with one table, whose truncates are followed.
type world struct {
	server *emulator.Server
	config bqcdc.Config
	plan   *rowproto.Plan
	hides  bool // the table is a view
}

func newWorld(t testing.TB, lease, staleness time.Duration, o emulator.Options) *world {
	t.Helper()
	return newWorldOf(t, catalog.DeleteKeys, lease, staleness, o)
}

func newWorldOf(t testing.TB, truncates string, lease, staleness time.Duration, o emulator.Options) *world {
	t.Helper()
	o.Project = "p"
	server, err := emulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{server: server, config: bqcdc.Config{
		Catalog: catalog.Config{
			Project: "p", RESTEndpoint: server.RESTAddr(), GRPCEndpoint: server.GRPCAddr(), Plaintext: true, CreateTables: true,
			Rules: []table.Rule{{
				Source: "public.items", Destination: "shop.items", PrimaryKey: []string{"id", "code"}, MaxStaleness: staleness, Truncates: truncates,
				Columns: []table.Column{{Name: "text", Type: table.String}, {Name: "code", Type: table.String, Mode: table.Required}, {Name: "id", Type: table.Int64, Mode: table.Required}},
			}},
			FenceLease: lease,
		},
		InitialBackoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond, RetryFor: 5 * time.Second,
	}}
	tables, err := catalog.Open(t.Context(), w.config.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	match, _ := tables.Route("public.items")
	d, err := tables.Destination(t.Context(), match)
	if err != nil {
		t.Fatal(err)
	}
	w.plan, w.hides = d.Plan, d.Hides
	return w
}

func sequence(n uint64) change.Sequence { return change.NewSequence(0, n, n, 1) }

// row is a change of a row; "" deletes.
func (w *world) row(t testing.TB, id int64, n uint64, text string) change.Row {
	t.Helper()
	row, err := rowOf(w.plan, w.hides, id, sequence(n), text)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func rowOf(plan *rowproto.Plan, hides bool, id int64, s change.Sequence, text string) (row change.Row, err error) {
	key := []change.Column{{Name: "id", Value: change.Int64(id)}, {Name: "code", Value: change.String("c")}}
	row = change.Row{Table: "p.shop.items", Schema: plan.Fingerprint(), Type: change.Upsert, Sequence: s, Message: change.Message{ID: fmt.Sprint(id, "@", s)}}
	columns := key
	if text == "" {
		row.Type = change.Delete
	} else {
		columns = append(slices.Clip(key), change.Column{Name: "text", Value: change.String(text)})
	}
	switch {
	case hides: // as package keyed has it
		columns = append(slices.Clip(columns), change.Column{Name: table.SequenceColumn, Value: change.String(s.Padded())},
			change.Column{Name: table.DeletedColumn, Value: change.Bool(text == "")})
		row.Data, err = plan.AppendUpsert(nil, columns, s, rowproto.RowOptions{})
	case text == "":
		row.Data, err = plan.AppendDelete(nil, key, s)
	default:
		row.Data, err = plan.AppendUpsert(nil, columns, s, rowproto.RowOptions{})
	}
	if err == nil {
		row.Key, err = plan.NewEncoder().AppendKey(nil, key)
	}
	return row, err
}

// write writes rows as a worker does, of which each name is another.
func (w *world) write(ctx context.Context, rows ...change.Row) error {
	_, err := bqcdc.WriteAll(ctx, w.config, all(rows), func(l deadletter.Letter) { panic(l.Error) })
	return err
}

func all(rows []change.Row) iter.Seq2[change.Row, error] {
	return func(yield func(change.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func truncateAt(n, token uint64) change.RowChange {
	e := change.Event{
		Message: change.Message{ID: fmt.Sprint("t", n), Token: token, Data: []byte("{}")}, Parts: 1,
		Table: "public.items", Op: change.OpTruncate, Sequence: sequence(n), Position: fmt.Sprintf("0/%X", n),
	}
	return change.RowChange{Event: e, Table: "p.shop.items", Receipts: deadletter.Receipts(&e.Message, 0, 1)}
}

// rows returns the table's rows, as texts by id.
func (w *world) rows(t testing.TB) map[int64]string { return w.rowsOf(t, "items") }

func (w *world) count(t testing.TB) int { return len(w.rowsOf(t, "items")) }

func (w *world) rowsOf(t testing.TB, name string) map[int64]string {
	t.Helper()
	rows, err := w.server.Rows(t.Context(), "shop", name)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[int64]string)
	for _, text := range rows {
		var row struct {
			ID   int64 `json:",string"`
			Text string
		}
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got[row.ID] = row.Text
	}
	return got
}

// run runs the truncates through the transform, on Prism.
func (w *world) run(t *testing.T, truncates []change.RowChange, receipts, letters []any) map[string]int64 {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	rested, refused := DeleteKeys(s, w.config, beam.CreateList(s, truncates))
	equal := func(got beam.PCollection, want []any) {
		if len(want) == 0 {
			passert.Empty(s, got)
		} else {
			passert.Equals(s, got, want...)
		}
	}
	equal(beam.ParDo(s, showReceipt, rested), receipts)
	equal(beam.ParDo(s, showLetter, refused), letters)
	counts := make(map[string]int64)
	for _, c := range ptest.RunAndValidate(t, p).Metrics().AllMetrics().Counters() {
		if c.Namespace() == Namespace && !slices.Contains([]string{"requests", "bytes_appended"}, c.Name()) && !strings.Contains(c.Name(), "_upto/") {
			counts[c.Name()] += c.Result()
		}
	}
	return counts
}

// Rows from before the truncate go, at whatever time they are written; those from
// after it stay, though they were there first.
func TestDeleteKeys(t *testing.T) {
	w := newWorld(t, 200*time.Millisecond, 0, emulator.Options{})
	if err := w.write(t.Context(), w.row(t, 1, 1, "old"), w.row(t, 2, 2, "old"), w.row(t, 3, 11, "new"), w.row(t, 2, 12, "new again"), w.row(t, 4, 3, "old")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	counts := w.run(t, []change.RowChange{truncateAt(10, 7)}, []any{"7/0/1"}, nil)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("the keys were read after %v, in the lease of who writes without knowing", took)
	}
	if diff := cmp.Diff(map[int64]string{3: "new", 2: "new again"}, w.rows(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"truncates": 1, "tables_emptied": 1, "rows_deleted": 4, "rows_by_table/delete/acknowledged/p.shop.items": 4}, counts); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if err := w.write(t.Context(), w.row(t, 1, 9, "late"), w.row(t, 5, 9, "late"), w.row(t, 6, 13, "newer")); err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{3: "new", 2: "new again", 6: "newer"}
	if diff := cmp.Diff(want, w.rows(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}

	// Delivered again, and an earlier one that comes late.
	counts = w.run(t, []change.RowChange{truncateAt(10, 8), truncateAt(5, 9)}, []any{"8/0/1", "9/0/1"}, nil)
	if diff := cmp.Diff(map[string]int64{"truncates": 2, "truncates_repeated": 2}, counts); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, w.rows(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
