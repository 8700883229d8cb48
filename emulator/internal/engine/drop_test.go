package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"
)

func TestDrop_Undrop(t *testing.T) {
	c := newClock()
	db := filepath.Join(t.TempDir(), "e.db")
	e := newTestEngine(t, Options{DB: db, Now: c.time})
	table := newTestTable(t, e, "t", "id INTEGER", "id")
	upsert(t, e, table, Sequence{}, int64(1))
	c.at(10)
	if err := e.DropTable(t.Context(), testRef("t")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Table(testRef("t")); err == nil {
		t.Error("the table is still there")
	}
	wantError(t, e.Undrop(t.Context(), testRef("t"), c.minute(11), testRef("u")), 404, "Not found: Table p:d.t at")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = reopen(t, Options{DB: db, Now: c.time})
	if err := e.Undrop(t.Context(), testRef("t"), c.minute(5), testRef("u")); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "u", `{"id":"1"}`)
	table, err := e.Table(testRef("u"))
	if err != nil {
		t.Fatal(err)
	}
	upsert(t, e, table, Sequence{}, int64(2))
	wantRows(t, e, "u", `{"id":"1"}`, `{"id":"2"}`)
	if err := e.DropTable(t.Context(), testRef("u")); err != nil {
		t.Fatal(err)
	}
	c.add(timeTravel + time.Minute)
	wantError(t, e.Undrop(t.Context(), testRef("u"), c.minute(10), testRef("t")), 404, "Not found")
	// Nothing of it is left.
	if n := countTables(t, e); n != 0 {
		t.Errorf("%d DuckDB tables are left", n)
	}
}

// countTables counts the DuckDB tables that hold rows.
func countTables(t *testing.T, e *Engine) (n int) {
	t.Helper()
	if err := e.db.QueryRowContext(t.Context(), `SELECT count(*) FROM duckdb_tables() WHERE NOT starts_with(table_name, 'emulator_')`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// However many tables come and go, few of those that were dropped are kept.
func TestDrop_Bounded(t *testing.T) {
	e := newTestEngine(t, Options{})
	for i := range maxDropped + 5 {
		name := fmt.Sprintf("t%d", i)
		newTestTable(t, e, name, "id INTEGER")
		if err := e.DropTable(t.Context(), testRef(name)); err != nil {
			t.Fatal(err)
		}
	}
	if n := countTables(t, e); n != maxDropped {
		t.Errorf("%d tables are kept", n)
	}
	if err := e.DeleteDataset(t.Context(), DatasetRef{"p", "d"}, true); err != nil {
		t.Fatal(err)
	}
	if n := countTables(t, e); n != 0 {
		t.Errorf("%d tables are left", n)
	}
}

func TestAlterTable_Columns(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := newTestTable(t, e, "t", "id INTEGER, a STRING, b STRING", "id")
	upsert(t, e, table, Sequence{}, int64(1), "a1", "b1")
	fields := func(names ...string) func(*bq.Table) (*bq.Table, error) {
		return func(current *bq.Table) (*bq.Table, error) {
			changed := *current
			changed.Schema = &bq.TableSchema{}
			for _, name := range names {
				kind := "STRING"
				if name == "id" {
					kind = "INTEGER"
				}
				changed.Schema.Fields = append(changed.Schema.Fields, &bq.TableFieldSchema{Name: name, Type: kind})
			}
			return &changed, nil
		}
	}
	alter := func(a Alteration) error {
		_, err := e.AlterTable(t.Context(), testRef("t"), a)
		return err
	}
	wantError(t, alter(Alteration{Change: fields("id", "a")}), 400, "Field b is missing in new schema")
	// a and b swap their names.
	if err := alter(Alteration{Change: fields("id", "b", "a"), Renamed: map[string]string{"a": "b", "b": "a"}}); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "t", `{"id":"1","b":"a1","a":"b1"}`)
	// b becomes c, and another b comes.
	if err := alter(Alteration{Change: fields("id", "c", "a", "b"), Renamed: map[string]string{"c": "b"}}); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "t", `{"id":"1","c":"a1","a":"b1","b":null}`)
	if err := alter(Alteration{Change: fields("id", "c", "b"), DropColumns: true}); err != nil {
		t.Fatal(err)
	}
	table = mustTable(t, e, "t")
	upsert(t, e, table, Sequence{}, int64(2), "c2", "b2")
	wantRows(t, e, "t", `{"id":"1","c":"a1","b":null}`, `{"id":"2","c":"c2","b":"b2"}`)
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	// The past has the columns of today.
	c.at(1)
	mustMutate(t, e, Changed{Deleted: 1}, "t", "DELETE", "SELECT 'DELETE', _row FROM {t} WHERE id = 1")
	if err := alter(Alteration{Change: fields("id", "b"), DropColumns: true}); err != nil {
		t.Fatal(err)
	}
	wantLines(t, read(t, e, ReadOptions{AsOf: c.minute(0)}, "FROM {t} ORDER BY id", "t"), "1 <nil>", "2 b2")
	if err := e.RenameTable(t.Context(), testRef("t"), "u"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "u", `{"id":"2","b":"b2"}`)
	if _, err := e.Table(testRef("t")); err == nil {
		t.Error("the old name is still there")
	}
}

func mustTable(t *testing.T, e *Engine, name string) *Table {
	t.Helper()
	table, err := e.Table(testRef(name))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestView(t *testing.T) {
	e := newTestEngine(t, Options{})
	resource := &bq.Table{View: &bq.ViewDefinition{Query: "SELECT 1 AS x"}, Schema: &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "x", Type: "INTEGER"}}}}
	got, err := e.CreateTable(t.Context(), testRef("v"), resource)
	if err != nil || got.Type != "VIEW" {
		t.Fatalf("%+v, error %v", got, err)
	}
	v := mustTable(t, e, "v")
	if !v.IsView() || v.Schema().Columns[0].Name != "x" {
		t.Errorf("view %+v", v.Resource())
	}
	_, err = e.Rows(t.Context(), testRef("v"))
	wantError(t, err, 400, "Cannot list a table of type VIEW")
	_, err = e.CreateStream(t.Context(), testRef("v"), Committed)
	wantError(t, err, 400, "is a view")
	_, err = mutate(t, e, "v", "", "SELECT 'INSERT', NULL, 1", "x")
	wantError(t, err, 400, "is a view")
	wantError(t, v.CheckCDC(), 400, "is a view")
	_, err = e.ChangeTable(t.Context(), testRef("v"), func(current *bq.Table) (*bq.Table, error) {
		changed := *current
		changed.View = &bq.ViewDefinition{Query: "SELECT 'a' AS y"}
		changed.Schema = &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "y", Type: "STRING"}}}
		return &changed, nil
	})
	if err != nil || mustTable(t, e, "v").Schema().Columns[0].Name != "y" {
		t.Errorf("changing the view: %v", err)
	}
	if err := e.DropTable(t.Context(), testRef("v")); err != nil {
		t.Fatal(err)
	}
	if err := e.DeleteDataset(t.Context(), DatasetRef{"p", "d"}, false); err != nil {
		t.Fatal(err)
	}
}

func TestSearchIndex(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := newTestTable(t, e, "t", "id INTEGER, s STRING", "id")
	upsert(t, e, table, Sequence{}, int64(1), "x")
	index := SearchIndex{Name: "i", Columns: []string{"s"}}
	wantError(t, e.CreateSearchIndex(t.Context(), testRef("t"), index), 400, "Search indexes are not supported on tables with active CDC: table p:d.t")
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	if err := e.CreateSearchIndex(t.Context(), testRef("t"), index); err != nil {
		t.Fatal(err)
	}
	if got := table.SearchIndexes(); len(got) != 1 || got[0].Name != "i" || !slices.Equal(got[0].Columns, index.Columns) {
		t.Errorf("indexes %+v", got)
	}
	wantError(t, table.CheckCDC(), 400, "has a search index")
	wantError(t, e.DropSearchIndex(t.Context(), testRef("t"), "j"), 404, "Not found")
	if err := e.DropSearchIndex(t.Context(), testRef("t"), "i"); err != nil || table.CheckCDC() != nil {
		t.Errorf("error %v, then %v", err, table.CheckCDC())
	}
}
