package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"
	"pgregory.net/rapid"
)

// changesOf reads APPENDS or CHANGES of table t, in the order of time and values.
func changesOf(t *testing.T, e *Engine, function string, start, end time.Time) []string {
	t.Helper()
	s, err := e.Snapshot(t.Context(), []TableRef{testRef("t")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return query(t, s, func(string) (Relation, error) {
		if function == "APPENDS" {
			return s.Appends(testRef("t"), start, end)
		}
		return s.Changes(testRef("t"), start, end)
	}, "SELECT strftime(_CHANGE_TIMESTAMP, '%H:%M'), _CHANGE_TYPE, * EXCLUDE (_CHANGE_TIMESTAMP, _CHANGE_TYPE) FROM {t} ORDER BY ALL")
}

// historyTable creates a table with a key and enable_change_history.
func historyTable(t *testing.T, e *Engine, history bool) *Table {
	t.Helper()
	_, _, err := e.CreateTableAs(t.Context(), TableAs{Ref: testRef("t"), ChangeHistory: history, Resource: &bq.Table{
		TableConstraints: &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: []string{"id"}}},
		Schema:           &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "id", Type: "INTEGER"}, {Name: "v", Type: "STRING"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return mustTable(t, e, "t")
}

func TestChanges(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := historyTable(t, e, true)
	if !table.ChangeHistory() {
		t.Error("enable_change_history isn't set")
	}
	c.at(1)
	mustMutate(t, e, Changed{Inserted: 2}, "t", "", "SELECT 'INSERT', NULL, i, 'dml' FROM range(1, 3) r(i)", "id", "v")
	c.at(2)
	mustMutate(t, e, Changed{Updated: 1}, "t", "UPDATE", "SELECT 'UPDATE', _row, id, 'updated' FROM {t} WHERE id = 1", "id", "v")
	c.at(3)
	mustMutate(t, e, Changed{Deleted: 1}, "t", "DELETE", "SELECT 'DELETE', _row FROM {t} WHERE id = 2")
	// Changes by key show when they are applied: a new key, one that is replaced, one
	// that goes, and one of a key that isn't there.
	c.at(4)
	upsert(t, e, table, Sequence{}, int64(1), "skipped")
	upsert(t, e, table, Sequence{}, int64(1), "upserted")
	upsert(t, e, table, Sequence{}, int64(3), "new")
	change(t, e, table, Sequence{}, true, int64(4), nil)
	c.at(5)
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	c.at(6)
	change(t, e, table, Sequence{}, true, int64(3), nil)
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	c.at(7)
	if _, err := e.Truncate(t.Context(), testRef("t")); err != nil {
		t.Fatal(err)
	}
	c.at(8)
	all := []string{
		"00:01 INSERT 1 dml", "00:01 INSERT 2 dml", "00:02 UPDATE 1 updated", "00:03 DELETE 2 dml",
		"00:05 INSERT 3 new", "00:05 UPDATE 1 upserted", "00:06 DELETE 3 new", "00:07 DELETE 1 upserted",
	}
	wantLines(t, changesOf(t, e, "CHANGES", time.Time{}, time.Time{}), all...)
	// The start counts, the end doesn't.
	wantLines(t, changesOf(t, e, "CHANGES", c.minute(2), c.minute(5)), all[2:4]...)
	wantLines(t, changesOf(t, e, "APPENDS", time.Time{}, time.Time{}), all[:2]...)
	wantLines(t, changesOf(t, e, "APPENDS", c.minute(2), time.Time{}))
	for minute, rows := range map[int][]string{1: {"1 dml", "2 dml"}, 2: {"1 updated", "2 dml"}, 3: {"1 updated"}, 5: {"1 upserted", "3 new"}, 6: {"1 upserted"}, 7: nil} {
		wantLines(t, read(t, e, ReadOptions{AsOf: c.minute(minute)}, "FROM {t} ORDER BY id", "t"), rows...)
	}

	// Overwriting is deleting and inserting.
	mustMutate(t, e, Changed{Inserted: 1}, "t", "", "SELECT 'INSERT', NULL, 9, 'x'", "id", "v")
	c.at(9)
	_, err := e.Mutate(t.Context(), Mutation{Target: testRef("t"), Overwrite: true, Build: func(*Snapshot) (string, []any, []string, error) {
		return "SELECT 'INSERT', NULL, 9, 'y'", nil, []string{"id", "v"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, changesOf(t, e, "CHANGES", c.minute(8), time.Time{}), "00:08 INSERT 9 x", "00:09 DELETE 9 x", "00:09 INSERT 9 y")

	// The past goes after seven days.
	c.add(timeTravel + time.Minute)
	applyDue(t, e)
	var kept int
	if err := e.db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+historyName(table.id)).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d rows of the past are kept, error %v", kept, err)
	}
	wantLines(t, changesOf(t, e, "CHANGES", time.Time{}, time.Time{}))
}

// CHANGES knows what happened while enable_change_history was set, and nothing else.
func TestChanges_Option(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := historyTable(t, e, false)
	set := func(on bool) {
		t.Helper()
		if _, err := e.AlterTable(t.Context(), testRef("t"), Alteration{ChangeHistory: &on}); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func() *Snapshot {
		t.Helper()
		s, err := e.Snapshot(t.Context(), []TableRef{testRef("t")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	upsert(t, e, table, Sequence{}, int64(1), "before")
	c.at(1)
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	_, err := snapshot().Changes(testRef("t"), time.Time{}, time.Time{})
	wantError(t, err, 400, "enable_change_history")
	// What an apply replaced isn't known without it.
	_, err = snapshot().Relation(testRef("t"), ReadOptions{AsOf: c.minute(0)})
	wantError(t, err, 501, "enable_change_history")
	c.at(2)
	set(true)
	c.at(3)
	upsert(t, e, table, Sequence{}, int64(1), "after")
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	wantLines(t, changesOf(t, e, "CHANGES", c.minute(0), time.Time{}), "00:03 UPDATE 1 after")
	wantLines(t, read(t, e, ReadOptions{AsOf: c.minute(2)}, "FROM {t}", "t"), "1 before")
	set(false)
	_, err = snapshot().Changes(testRef("t"), time.Time{}, time.Time{})
	wantError(t, err, 400, "enable_change_history")
	for _, test := range []struct {
		at   time.Time
		code int
		text string
	}{
		{c.minute(4), 400, "in the future"},
		{c.minute(-1), 404, "Not found: Table p:d.t at"},
		{c.minute(0).Add(-timeTravel), 400, "time travel window"},
	} {
		_, err = snapshot().Relation(testRef("t"), ReadOptions{AsOf: test.at})
		wantError(t, err, test.code, test.text)
	}
	_, err = snapshot().Appends(testRef("t"), c.minute(2), c.minute(1))
	wantError(t, err, 400, "the start is after the end")
	_, err = snapshot().Appends(testRef("t"), time.Time{}, c.minute(9))
	wantError(t, err, 400, "in the future")
}

// Any history of inserts, DML, changes and applies: at each of its times the table is
// as it was then, and CHANGES played back from nothing gives the same rows.
func TestHistory_Replay(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time, Logger: quiet()})
	rapid.Check(t, func(r *rapid.T) {
		c.at(0)
		if err := e.DropTable(t.Context(), testRef("t")); err == nil {
			e.catalog.ddl.Lock()
			for i := range e.catalog.dropped { // one, unless a background apply was quicker
				e.catalog.dropped[i].at = 0 // goes with the next one
			}
			e.catalog.ddl.Unlock()
		}
		table := historyTable(t, e, true)
		var states [][]string
		var minutes []int
		for minute := range rapid.IntRange(1, 8).Draw(r, "steps") {
			c.at(minute + 1)
			id, v := rapid.IntRange(1, 3).Draw(r, "id"), fmt.Sprint("v", minute)
			switch rapid.SampledFrom([]string{"insert", "update", "delete", "upsert", "remove", "apply"}).Draw(r, "step") {
			case "insert": // keys aren't enforced, but played back by
				if table.PendingChanges() > 0 {
					continue
				}
				_, _ = mutate(t, e, "t", "", fmt.Sprintf("SELECT 'INSERT', NULL, %d, '%s' WHERE NOT EXISTS (FROM {t} WHERE id = %d)", id, v, id), "id", "v")
			case "update": // refused while changes are pending
				_, _ = mutate(t, e, "t", "UPDATE", fmt.Sprintf("SELECT 'UPDATE', _row, id, '%s' FROM {t} WHERE id = %d", v, id), "id", "v")
			case "delete":
				_, _ = mutate(t, e, "t", "DELETE", fmt.Sprintf("SELECT 'DELETE', _row FROM {t} WHERE id = %d", id))
			case "upsert":
				upsert(t, e, table, Sequence{}, int64(id), v)
			case "remove":
				change(t, e, table, Sequence{}, true, int64(id), nil)
			case "apply":
				if err := e.Apply(t.Context(), table); err != nil {
					r.Fatal(err)
				}
			}
			minutes = append(minutes, minute+1)
			states = append(states, read(t, e, ReadOptions{Baseline: true}, "SELECT id, v FROM {t} ORDER BY id", "t"))
		}
		played := map[string]string{}
		next := 0
		changes := changesOf(t, e, "CHANGES", time.Time{}, time.Time{})
		for i, want := range states {
			at := c.minute(minutes[i])
			if got := read(t, e, ReadOptions{AsOf: at}, "SELECT id, v FROM {t} ORDER BY id", "t"); !slices.Equal(got, want) {
				r.Fatalf("at %d: %v, want %v", i, got, want)
			}
			for ; next < len(changes); next++ {
				var clock, kind, id, v string
				if _, err := fmt.Sscan(changes[next], &clock, &kind, &id, &v); err != nil {
					r.Fatal(err)
				}
				if clock > at.Format("15:04") {
					break
				}
				_, there := played[id]
				if there != (kind != "INSERT") {
					r.Fatalf("%s, of %v", changes[next], played)
				}
				played[id] = v
				if kind == "DELETE" {
					delete(played, id)
				}
			}
			var got []string
			for id, v := range played {
				got = append(got, id+" "+v)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				r.Fatalf("changes up to %d give %v, want %v", i, got, want)
			}
		}
	})
}

// Without enable_change_history a table's past is bounded: all of it goes, and nothing
// is pretended of it.
func TestHistory_Bounded(t *testing.T) {
	c := newClock()
	db := filepath.Join(t.TempDir(), "e.db")
	e := newTestEngine(t, Options{DB: db, Now: c.time})
	e.maxPast = 3
	historyTable(t, e, false)
	mustMutate(t, e, Changed{Inserted: 2}, "t", "", "SELECT 'INSERT', NULL, i, 'x' FROM range(2) r(i)", "id", "v")
	c.at(1)
	mustMutate(t, e, Changed{Deleted: 2}, "t", "DELETE", "SELECT 'DELETE', _row FROM {t}")
	c.at(2)
	mustMutate(t, e, Changed{Inserted: 2}, "t", "", "SELECT 'INSERT', NULL, i, 'y' FROM range(2) r(i)", "id", "v")
	c.at(3)
	wantLines(t, read(t, e, ReadOptions{AsOf: c.minute(0)}, "FROM {t} ORDER BY id", "t"), "0 x", "1 x")
	if n, err := e.Truncate(t.Context(), testRef("t")); err != nil || n != 2 {
		t.Fatalf("%d rows, error %v", n, err)
	}
	for range 2 {
		s, err := e.Snapshot(t.Context(), []TableRef{testRef("t")})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Relation(testRef("t"), ReadOptions{AsOf: c.minute(2)})
		wantError(t, err, 501, "is not known")
		s.Close()
		wantLines(t, read(t, e, ReadOptions{AsOf: c.minute(3)}, "FROM {t}", "t"))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = reopen(t, Options{DB: db, Now: c.time})
	}
}

// What reads CHANGES again and again, each time from where the last one ended, gets
// every change once, while rows are appended and changes are applied.
func TestChanges_Polled(t *testing.T) {
	e := newTestEngine(t, Options{})
	table := historyTable(t, e, true)
	const rounds = 25
	var work sync.WaitGroup
	work.Go(func() {
		for n := range rounds {
			upsert(t, e, table, Sequence{}, int64(n), "upserted")
			if err := e.Apply(t.Context(), table); err != nil {
				t.Error(err)
			}
		}
	})
	work.Go(func() {
		for n := range rounds {
			b := e.NewBatch(table, table.Schema(), false, 1)
			if err := errors.Join(b.Add([]any{int64(1000 + n), "streamed"}, Sequence{}, false), e.Append(t.Context(), b), b.Wait(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	seen := map[string]int{}
	var last time.Time
	for more := true; more; {
		select {
		case <-done:
			more = false
			time.Sleep(time.Millisecond) // the end doesn't count
		default:
		}
		s, err := e.SettledSnapshot(t.Context(), []TableRef{testRef("t")})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range query(t, s, func(string) (Relation, error) { return s.Changes(testRef("t"), last, s.Time()) }, "SELECT id, v FROM {t}") {
			seen[row]++
		}
		last = s.Time().Truncate(time.Microsecond)
		s.Close()
	}
	for n := range rounds {
		for _, row := range []string{fmt.Sprintf("%d upserted", n), fmt.Sprintf("%d streamed", 1000+n)} {
			if seen[row] != 1 {
				t.Errorf("%s was seen %d times", row, seen[row])
			}
		}
	}
}
