package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	bq "google.golang.org/api/bigquery/v2"
)

// newTestEngine opens an engine with a dataset "d" of project "p", closed at the test's end.
func newTestEngine(tb testing.TB, o Options) *Engine {
	tb.Helper()
	e := reopen(tb, o)
	if _, err := e.CreateDataset(tb.Context(), DatasetRef{"p", "d"}, &bq.Dataset{}); err != nil {
		tb.Fatal(err)
	}
	return e
}

// reopen opens an engine, closed at the test's end if it isn't before.
func reopen(tb testing.TB, o Options) *Engine {
	tb.Helper()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	e, err := Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// quiet is a logger for engines that outlive a test's parts.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// addColumn adds a column at the end.
func addColumn(tb testing.TB, e *Engine, table, name, kind string) {
	tb.Helper()
	_, err := e.ChangeTable(tb.Context(), TableRef{"p", "d", table}, func(current *bq.Table) (*bq.Table, error) {
		changed := *current
		changed.Schema = &bq.TableSchema{Fields: append(slices.Clone(current.Schema.Fields), &bq.TableFieldSchema{Name: name, Type: kind})}
		return &changed, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// newTestTable creates a table from "name TYPE [REQUIRED|REPEATED], …" and its key columns.
func newTestTable(tb testing.TB, e *Engine, name, columns string, key ...string) *Table {
	tb.Helper()
	resource := &bq.Table{Schema: &bq.TableSchema{}}
	for text := range strings.SplitSeq(columns, ",") {
		words := strings.Fields(text)
		f := &bq.TableFieldSchema{Name: words[0], Type: words[1]}
		if len(words) > 2 {
			f.Mode = words[2]
		}
		resource.Schema.Fields = append(resource.Schema.Fields, f)
	}
	if len(key) > 0 {
		resource.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: key}}
	}
	ref := TableRef{"p", "d", name}
	if _, err := e.CreateTable(tb.Context(), ref, resource); err != nil {
		tb.Fatalf("creating table %s: %v", name, err)
	}
	t, err := e.Table(ref)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// rowsOf returns a table's rows as JSON.
func rowsOf(tb testing.TB, e *Engine, name string) []string {
	tb.Helper()
	got, err := e.Rows(tb.Context(), TableRef{"p", "d", name})
	if err != nil {
		tb.Fatal(err)
	}
	var texts []string
	for _, row := range got {
		texts = append(texts, string(row))
	}
	return texts
}

// wantRows compares a table's rows with JSON objects, without blanks.
func wantRows(tb testing.TB, e *Engine, name string, rows ...string) {
	tb.Helper()
	if g, w := strings.Join(rowsOf(tb, e, name), "\n"), strings.Join(rows, "\n"); g != w {
		tb.Errorf("rows of %s:\n%s\nwant:\n%s", name, g, w)
	}
}

// A batch that the database refuses fails alone, whatever it was committed with.
func TestCommit_BadBatchFailsAlone(t *testing.T) {
	e := newTestEngine(t, Options{})
	table := newTestTable(t, e, "t", "id INTEGER, v STRING", "id")
	// Nothing is committed while the table is locked, so all are committed together.
	table.mu.Lock()
	var batches []*Batch
	for _, id := range []any{int64(1), int64(2), "no number", int64(3)} {
		b := e.NewBatch(table, table.schema, true, 1)
		if err := b.Add([]any{id, "x"}, Sequence{}, false); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
		if err := e.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	table.mu.Unlock()
	for i, b := range batches {
		if err := b.Wait(t.Context()); (err != nil) != (i == 2) {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	wantRows(t, e, "t", `{"id":"1","v":"x"}`, `{"id":"2","v":"x"}`, `{"id":"3","v":"x"}`)
	if got := e.Stats(); got.Rows != 3 || got.Pending != 3 {
		t.Errorf("stats %+v", got)
	}
}

// What Options.Prepare makes known is there for every connection.
func TestPrepare(t *testing.T) {
	e := newTestEngine(t, Options{Prepare: func(_ context.Context, conn *sql.Conn) error {
		return duckdb.RegisterScalarUDF(conn, "twice", twice{})
	}})
	newTestTable(t, e, "t", "id INTEGER")
	mustMutate(t, e, Changed{Inserted: 1}, "t", "", "SELECT 'INSERT', NULL, twice(21)", "id")
	wantRows(t, e, "t", `{"id":"42"}`)
}

// twice is a function for DuckDB.
type twice struct{}

func (twice) Config() duckdb.ScalarFuncConfig {
	bigint, err := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	if err != nil {
		panic(err)
	}
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{bigint}, ResultTypeInfo: bigint}
}

func (twice) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: func(values []driver.Value) (any, error) { return 2 * values[0].(int64), nil }}
}
