package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"
)

func TestPartitions_byIngestion(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	newTestTable(t, e, "other", "id INTEGER")
	for name, key := range map[string]string{"plain": "", "keyed": "id"} {
		resource := &bq.Table{
			Schema:           &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "id", Type: "INTEGER"}}},
			TimePartitioning: &bq.TimePartitioning{Type: "HOUR"},
		}
		if key != "" {
			resource.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: []string{key}}}
		}
		if _, err := e.CreateTable(t.Context(), testRef(name), resource); err != nil {
			t.Fatal(err)
		}
	}
	start := c.time()
	hour := start.Truncate(time.Hour).UTC().Format("15:04")
	want := func(name string, rows ...string) {
		t.Helper()
		s, err := e.Snapshot(t.Context(), []TableRef{testRef(name)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.Relation(testRef(name), ReadOptions{Partitions: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Query(t.Context(), `SELECT id || ' ' || coalesce(strftime(_PARTITIONTIME, '%H:%M') || if(_PARTITIONDATE = _PARTITIONTIME::DATE, '', '?'), 'NULL') FROM `+r.SQL+` ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = found.Close() }()
		var got []string
		for found.Next() {
			var row string
			if err := found.Scan(&row); err != nil {
				t.Fatal(err)
			}
			got = append(got, row)
		}
		if err := found.Err(); err != nil || !slices.Equal(got, rows) {
			t.Errorf("%s: got %q, error %v, want %q", name, got, err, rows)
		}
	}
	table := func(name string) *Table {
		found, err := e.Table(testRef(name))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	add := func(name string, id int64, cdc, loaded bool) {
		t.Helper()
		b := e.NewBatch(table(name), table(name).Schema(), cdc, 1)
		if loaded {
			b.Loaded()
		}
		if err := b.Add([]any{id}, Sequence{}, false); err != nil {
			t.Fatal(err)
		}
		if err := e.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := b.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	add("plain", 1, false, false)
	add("plain", 2, false, true)
	if _, err := e.Mutate(t.Context(), Mutation{Target: testRef("plain"), Build: func(*Snapshot) (string, []any, []string, error) {
		return "SELECT 'INSERT', NULL::BIGINT, 3", nil, []string{"id"}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	want("plain", "1 NULL", fmt.Sprint("2 ", hour), fmt.Sprint("3 ", hour))
	add("keyed", 1, true, false)
	want("keyed", "1 NULL") // of a runtime merge
	c.add(assignment - time.Microsecond)
	want("plain", "1 NULL", fmt.Sprint("2 ", hour), fmt.Sprint("3 ", hour))
	c.add(time.Microsecond)
	want("plain", fmt.Sprint("1 ", hour), fmt.Sprint("2 ", hour), fmt.Sprint("3 ", hour))
	if err := e.Apply(t.Context(), table("keyed")); err != nil {
		t.Fatal(err)
	}
	want("keyed", fmt.Sprint("1 ", c.time().Truncate(time.Hour).UTC().Format("15:04")))

	s, err := e.Snapshot(t.Context(), []TableRef{testRef("plain"), testRef("other")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if size, err := s.Size(t.Context(), testRef("plain"), ReadOptions{}, nil, "_PARTITIONTIME IS NULL"); err != nil || size != (Size{}) {
		t.Errorf("size of no partition %+v, error %v", size, err)
	}
	if r, err := s.Relation(testRef("other"), ReadOptions{Partitions: true}); err != nil {
		t.Errorf("a table without partitions: %v", err)
	} else if rows, err := s.Query(t.Context(), "SELECT * FROM "+r.SQL); err != nil {
		t.Error(err)
	} else {
		columns, err := rows.Columns()
		if err != nil || !slices.Equal(columns, []string{"id"}) {
			t.Errorf("columns %q, error %v", columns, err)
		}
		_ = rows.Close()
	}
}
