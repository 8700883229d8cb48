package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"
)

// clock is a time that tests step, from midnight on.
type clock struct{ passed atomic.Int64 } // nanoseconds

var midnight = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

func newClock() *clock { return &clock{} }

func (c *clock) time() time.Time { return midnight.Add(time.Duration(c.passed.Load())) }

// at steps to a minute.
func (c *clock) at(minute int) { c.passed.Store(int64(time.Duration(minute) * time.Minute)) }

func (c *clock) add(d time.Duration) { c.passed.Add(int64(d)) }

// minute is when a minute is.
func (c *clock) minute(n int) time.Time { return midnight.Add(time.Duration(n) * time.Minute) }

func testRef(name string) TableRef { return TableRef{"p", "d", name} }

// query runs a query in which {t} stands for table t's relation, and returns its rows,
// each as its values with blanks between them.
func query(t *testing.T, s *Snapshot, relation func(name string) (Relation, error), text string, args ...any) []string {
	t.Helper()
	text = expand(t, relation, text)
	rows, err := s.Query(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var result []string
	for rows.Next() {
		values, pointers := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		result = append(result, strings.Trim(fmt.Sprint(values), "[]"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return result
}

func expand(t *testing.T, relation func(name string) (Relation, error), text string) string {
	t.Helper()
	for {
		start := strings.Index(text, "{")
		if start < 0 {
			return text
		}
		end := start + strings.Index(text[start:], "}")
		r, err := relation(text[start+1 : end])
		if err != nil {
			t.Fatal(err)
		}
		text = text[:start] + r.SQL + text[end+1:]
	}
}

// read runs a query on tables as BigQuery shows them.
func read(t *testing.T, e *Engine, o ReadOptions, text string, tables ...string) []string {
	t.Helper()
	var refs []TableRef
	for _, name := range tables {
		refs = append(refs, testRef(name))
	}
	s, err := e.Snapshot(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return query(t, s, func(name string) (Relation, error) { return s.Relation(testRef(name), o) }, text)
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got:\n%s\nwant:\n%s", g, w)
	}
}

// mutate runs a mutation whose query has {t} for table t, the target's with _row.
func mutate(t *testing.T, e *Engine, target, statement, text string, columns ...string) (Changed, error) {
	t.Helper()
	return e.Mutate(t.Context(), Mutation{Target: testRef(target), Statement: statement, Build: func(s *Snapshot) (string, []any, []string, error) {
		return expand(t, func(name string) (Relation, error) {
			return s.Relation(testRef(name), ReadOptions{Everything: true, Rows: true})
		}, text), nil, columns, nil
	}})
}

func mustMutate(t *testing.T, e *Engine, want Changed, target, statement, text string, columns ...string) {
	t.Helper()
	if got, err := mutate(t, e, target, statement, text, columns...); err != nil || got != want {
		t.Fatalf("changed %+v, error %v, want %+v", got, err, want)
	}
}

func wantError(t *testing.T, err error, code int, text string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("error %v, want %d %q", err, code, text)
	}
}

func TestMutate(t *testing.T) {
	e := newTestEngine(t, Options{})
	newTestTable(t, e, "t", "id INTEGER REQUIRED, name STRING, tags STRING REPEATED")
	mustMutate(t, e, Changed{Inserted: 3}, "t", "", "SELECT 'INSERT', NULL, i, 'n' || i FROM range(1, 4) r(i)", "ID", "name")
	mustMutate(t, e, Changed{Updated: 1}, "t", "UPDATE", "SELECT 'UPDATE', _row, id, upper(name), ['x'] FROM {t} WHERE id = 2", "id", "name", "tags")
	mustMutate(t, e, Changed{Deleted: 1}, "t", "DELETE", "SELECT 'DELETE', _row FROM {t} WHERE id = 1")
	wantRows(t, e, "t", `{"id":"2","name":"N2","tags":["x"]}`, `{"id":"3","name":"n3","tags":[]}`)
	mustMutate(t, e, Changed{Inserted: 1, Updated: 1, Deleted: 1}, "t", "MERGE",
		`SELECT CASE WHEN t._row IS NULL THEN 'INSERT' WHEN s.drop THEN 'DELETE' ELSE 'UPDATE' END, t._row, s.id, s.name, NULL
		FROM (VALUES (2, 'two', false), (3, NULL, true), (4, 'four', false)) s(id, name, drop) LEFT JOIN {t} t ON s.id = t.id`, "id", "name", "tags")
	wantRows(t, e, "t", `{"id":"2","name":"two","tags":[]}`, `{"id":"4","name":"four","tags":[]}`)

	_, err := mutate(t, e, "t", "UPDATE", "SELECT 'UPDATE', t._row, t.id, 'x', [] FROM {t} t, range(2)", "id", "name", "tags")
	wantError(t, err, 400, "UPDATE/MERGE must match at most one source row")
	_, err = mutate(t, e, "t", "", "SELECT 'INSERT', NULL, 'x'", "name")
	wantError(t, err, 400, "Required field id cannot be null")
	_, err = mutate(t, e, "t", "", "SELECT 'INSERT', NULL, NULL", "id")
	wantError(t, err, 400, "Required field id cannot be null")
	_, err = mutate(t, e, "t", "", "SELECT 'INSERT', NULL, 'no number'", "id")
	wantError(t, err, 400, "Could not convert")
	_, err = mutate(t, e, "t", "", "SELECT 'INSERT', NULL, 1", "other")
	wantError(t, err, 400, "Column other is not present in table p:d.t")
	wantRows(t, e, "t", `{"id":"2","name":"two","tags":[]}`, `{"id":"4","name":"four","tags":[]}`)

	if n, err := e.Truncate(t.Context(), testRef("t")); err != nil || n != 2 {
		t.Errorf("truncated %d rows, error %v", n, err)
	}
	wantRows(t, e, "t")
}

// Columns that an INSERT lacks get their default values, those that have parameters are checked.
func TestMutate_Columns(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	_, err := e.CreateTable(t.Context(), testRef("t"), &bq.Table{Schema: &bq.TableSchema{Fields: []*bq.TableFieldSchema{
		{Name: "id", Type: "INTEGER"},
		{Name: "s", Type: "STRING", MaxLength: 3, DefaultValueExpression: "'abc'"},
		{Name: "n", Type: "NUMERIC", Precision: 4, Scale: 2, DefaultValueExpression: "1.5"},
		{Name: "bn", Type: "BIGNUMERIC", DefaultValueExpression: "-2"},
		{Name: "ts", Type: "TIMESTAMP", DefaultValueExpression: "CURRENT_TIMESTAMP()"},
		{Name: "d", Type: "DATE", DefaultValueExpression: "CURRENT_DATE()"},
		{Name: "t", Type: "TIME", DefaultValueExpression: "TIME '01:02:03'"},
		{Name: "b", Type: "BOOLEAN", DefaultValueExpression: "true"},
		{Name: "l", Type: "INTEGER", Mode: "REPEATED", DefaultValueExpression: "[]"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	mustMutate(t, e, Changed{Inserted: 1}, "t", "", "SELECT 'INSERT', NULL, 1", "id")
	mustMutate(t, e, Changed{Inserted: 1}, "t", "", "SELECT 'INSERT', NULL, 2, 'äöü', 12.345", "id", "s", "n")
	rest := `"bn":"-2","ts":"2026-11-30T00:00:00.000000Z","d":"2026-11-30","t":"01:02:03.000000","b":true,"l":[]}`
	wantRows(t, e, "t", `{"id":"1","s":"abc","n":"1.5",`+rest, `{"id":"2","s":"äöü","n":"12.35",`+rest)
	_, err = mutate(t, e, "t", "", "SELECT 'INSERT', NULL, 'abcd'", "s")
	wantError(t, err, 400, "Field s: STRING(3) has maximum length 3 but got a value with length 4")
	_, err = mutate(t, e, "t", "", "SELECT 'INSERT', NULL, 99.995", "n")
	wantError(t, err, 400, "Field n: NUMERIC(4, 2) has a value that is out of range")
}

func TestCreateTableAs(t *testing.T) {
	e := newTestEngine(t, Options{})
	newTestTable(t, e, "s", "id INTEGER")
	mustMutate(t, e, Changed{Inserted: 2}, "s", "", "SELECT 'INSERT', NULL, i FROM range(2) r(i)", "id")
	as := TableAs{
		Ref: testRef("t"), Resource: &bq.Table{Schema: &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "k", Type: "INTEGER"}, {Name: "v", Type: "STRING"}}}},
		Reads: []TableRef{testRef("s")},
		Build: func(s *Snapshot) (string, []any, error) {
			r, err := s.Relation(testRef("s"), ReadOptions{})
			return "SELECT id, 'v' || id FROM " + r.SQL, nil, err
		},
	}
	if _, rows, err := e.CreateTableAs(t.Context(), as); err != nil || rows != 2 {
		t.Fatalf("%d rows, error %v", rows, err)
	}
	wantRows(t, e, "t", `{"k":"0","v":"v0"}`, `{"k":"1","v":"v1"}`)
	_, _, err := e.CreateTableAs(t.Context(), as)
	wantError(t, err, 409, "Already Exists: Table p:d.t")
	as.Replace, as.Reads = true, []TableRef{testRef("t")}
	as.Build = func(s *Snapshot) (string, []any, error) { // of the table that it replaces
		r, err := s.Relation(testRef("t"), ReadOptions{})
		return "SELECT k + 10, v FROM " + r.SQL, nil, err
	}
	if _, _, err := e.CreateTableAs(t.Context(), as); err != nil {
		t.Fatal(err)
	}
	wantRows(t, e, "t", `{"k":"10","v":"v0"}`, `{"k":"11","v":"v1"}`)
	as.Build = func(*Snapshot) (string, []any, error) { return "SELECT 'x', 'y'", nil, nil }
	_, _, err = e.CreateTableAs(t.Context(), as)
	wantError(t, err, 400, "Could not convert")
	wantRows(t, e, "t", `{"k":"10","v":"v0"}`, `{"k":"11","v":"v1"}`)
}

// A table that took the name of one which a statement was about to change isn't
// changed in its place: nothing keeps applies and others from it.
func TestSnapshot_own(t *testing.T) {
	e := newTestEngine(t, Options{})
	old := staleTable(t, e, "t", "")
	if err := e.DropTable(t.Context(), testRef("t")); err != nil {
		t.Fatal(err)
	}
	next := staleTable(t, e, "t", "")
	s, err := e.Snapshot(t.Context(), []TableRef{testRef("t")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.own(old); err == nil || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("error %v", err)
	}
	if _, err := s.own(next); err != nil {
		t.Error(err)
	}
}
