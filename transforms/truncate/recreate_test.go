package truncate

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
)

// The view shows what was changed after the truncate, whenever it is written, and
// nothing else; what was deleted after it stays deleted, though the deletes were
// written to the table that is gone.
func TestRecreate(t *testing.T) {
	const lease = 200 * time.Millisecond
	w := newWorldOf(t, catalog.Recreate, lease, 0, emulator.Options{})
	if err := w.write(t.Context(),
		w.row(t, 1, 1, "old"), w.row(t, 2, 2, "old"), w.row(t, 3, 11, "new"), w.row(t, 4, 14, ""), w.row(t, 5, 15, "new"), w.row(t, 5, 16, ""), w.row(t, 6, 3, ""),
	); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int64]string{1: "old", 2: "old", 3: "new"}, w.rows(t)); diff != "" {
		t.Errorf("before the truncate (-want +got):\n%s", diff)
	}
	began := time.Now()
	counts := w.run(t, []change.RowChange{truncateAt(10, 7)}, []any{"7/0/1"}, nil)
	if took := time.Since(began); took < lease {
		t.Errorf("the rows were copied after %v, in the lease of who writes without knowing", took)
	}
	if diff := cmp.Diff(map[string]int64{"truncates": 1, "tables_emptied": 1, "rows_upserted": 3, "rows_by_table/upsert/acknowledged/p.shop.items_g_0_a_a_1": 3}, counts); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if err := w.write(t.Context(), w.row(t, 1, 9, "late"), w.row(t, 4, 13, "late"), w.row(t, 5, 15, "again"), w.row(t, 6, 13, "newer"), w.row(t, 3, 5, "")); err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{3: "new", 6: "newer"}
	if diff := cmp.Diff(want, w.rows(t)); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}

	// Delivered again, an earlier one that comes late, and a later one.
	counts = w.run(t, []change.RowChange{truncateAt(10, 8), truncateAt(5, 9)}, []any{"8/0/1", "9/0/1"}, nil)
	if diff := cmp.Diff(map[string]int64{"truncates": 2, "truncates_repeated": 2}, counts); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, w.rows(t)); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
	w.run(t, []change.RowChange{truncateAt(12, 10)}, []any{"10/0/1"}, nil)
	if diff := cmp.Diff(map[int64]string{6: "newer"}, w.rows(t)); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}

	expires := make(map[string]bool)
	for _, m := range w.tables(t) {
		expires[m.FullID[strings.LastIndexAny(m.FullID, ".:")+1:]] = !m.ExpirationTime.IsZero()
	}
	wantTables := map[string]bool{"items": false, "items_g0": true, "items_g_0_a_a_1": true, "items_g_0_c_c_1": false}
	if diff := cmp.Diff(wantTables, expires); diff != "" {
		t.Errorf("tables, and whether they expire (-want +got):\n%s", diff)
	}
}

// tables returns the metadata of all tables.
func (w *world) tables(t *testing.T) (tables []*bigquery.TableMetadata) {
	t.Helper()
	client, err := bigquery.NewClient(t.Context(), "p", option.WithEndpoint(w.server.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	all := client.Dataset("shop").Tables(t.Context())
	for one, err := all.Next(); err == nil; one, err = all.Next() {
		m, err := one.Metadata(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, m)
	}
	return tables
}

// With max_staleness a query of the old table sees a baseline of before: the copy waits
// until no row that it has to see can be later than that.
func TestRecreate_staleness(t *testing.T) {
	const staleness = time.Second
	w := newWorldOf(t, catalog.Recreate, time.Millisecond, staleness, emulator.Options{})
	if err := w.write(t.Context(), w.row(t, 1, 1, "old"), w.row(t, 2, 20, "new")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	w.run(t, []change.RowChange{truncateAt(10, 7)}, []any{"7/0/1"}, nil)
	if took := time.Since(began); took < staleness {
		t.Errorf("the rows were copied after %v", took)
	}
	w.written(t, time.Now().Add(20*time.Second), map[int64]string{2: "new"})
}

// written waits for a table that lags to be as it is to be.
func (w *world) written(t *testing.T, end time.Time, want map[int64]string) {
	t.Helper()
	for !cmp.Equal(want, w.rows(t)) && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
	}
	if diff := cmp.Diff(want, w.rows(t)); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
}

// A truncate whose worker dies in the middle of the copy is gone on with by who gets
// its message again, or by a later truncate, whose rows are then all there.
func TestRecreate_killed(t *testing.T) {
	for name, next := range map[string]uint64{"the same": 10, "a later one": 12} {
		t.Run(name, func(t *testing.T) {
			ctx, kill := context.WithCancel(t.Context())
			var copies atomic.Int64 // left until the worker dies
			w := newWorldOf(t, catalog.Recreate, time.Millisecond, 0, emulator.Options{
				OnAppend: func(*storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
					if copies.Add(-1) == 0 {
						kill()
					}
					return nil, nil, false
				},
			})
			want := make(map[int64]string)
			rows := []change.Row{w.row(t, 1000, 1, "old")}
			for id := range int64(500) {
				rows = append(rows, w.row(t, id, 20, "new"))
				want[id] = "new"
			}
			rows = append(rows, w.row(t, 7, 21, ""))
			delete(want, 7)
			if err := w.write(t.Context(), rows...); err != nil {
				t.Fatal(err)
			}
			copies.Store(20)
			tables, err := catalog.Open(t.Context(), w.config.Catalog)
			if err != nil {
				t.Fatal(err)
			}
			process := func(ctx context.Context, at uint64) error {
				f := &truncateFn{Writer: w.config, catalog: tables}
				f.Writer.MaxRequestRows, f.Writer.MaxInflightRequests = 10, 1
				c := truncateAt(at, 0)
				rest, wait, err := f.step(ctx, &c.Event, restriction{})
				for ; err == nil && !rest.Over; rest, wait, err = f.step(ctx, &c.Event, rest) {
					time.Sleep(wait)
				}
				return err
			}
			if err := process(ctx, 10); err == nil {
				t.Fatal("a worker that was killed is done")
			}
			if n := w.count(t); n < 50 || n > 450 {
				t.Fatalf("it copied %d rows: it was not killed in the middle", n)
			}
			if err := process(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, w.rows(t)); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
		})
	}
}
