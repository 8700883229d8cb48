package emulator

import (
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/emulator/internal/engine"
)

// The example of "Query tables with the max_staleness option set", over the wire:
// ten minutes, an apply at T20, queries at T25 and T35.
func TestStaleness(t *testing.T) {
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	var minute atomic.Int64
	e := newEnv(t, Options{Now: func() time.Time { return start.Add(time.Duration(minute.Load()) * time.Minute) }})
	err := e.bq.Dataset("d").Table("employees").Create(t.Context(), &bigquery.TableMetadata{
		Schema: parseTestSchema("id INTEGER, name STRING"), MaxStaleness: &bigquery.IntervalValue{Minutes: 10},
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := e.writer("employees", true)
	ref := engine.TableRef{Project: "p", Dataset: "d", Table: "employees"}
	read := func(want string) {
		t.Helper()
		s, err := e.engine.Snapshot(t.Context(), []engine.TableRef{ref})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.Relation(ref, engine.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Query(t.Context(), "SELECT coalesce(string_agg(id || ' ' || name, ', ' ORDER BY id), '') FROM "+r.SQL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		var got string
		if !rows.Next() || rows.Scan(&got) != nil || got != want {
			t.Errorf("at T%d: %q, want %q", minute.Load(), got, want)
		}
	}
	apply := func() {
		t.Helper()
		if err := e.ApplyDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	minute.Store(15)
	w.append(`{"id":1,"name":"Charlie","_CHANGE_TYPE":"UPSERT"}`)
	minute.Store(20)
	e.merge("employees")
	minute.Store(22)
	w.append(`{"id":1,"name":"Charlotte","_CHANGE_TYPE":"UPSERT"}`)
	minute.Store(25)
	apply()
	read("1 Charlie")
	e.want("employees", `{"id":"1","name":"Charlotte"}`) // Rows shows everything
	e.HoldApplies(true)
	minute.Store(35)
	apply()
	read("1 Charlotte")
	e.HoldApplies(false)
	apply()
	if got := e.Stats(); got.Pending != 0 {
		t.Errorf("stats %+v", got)
	}
	minute.Store(36)
	w.append(`{"id":1,"_CHANGE_TYPE":"DELETE"}`)
	read("1 Charlotte")
}
