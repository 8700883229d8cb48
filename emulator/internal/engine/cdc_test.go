package engine

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"
	"pgregory.net/rapid"
)

// change appends one change, of these values.
func change(t *testing.T, e *Engine, table *Table, sequence Sequence, deleted bool, values ...any) {
	t.Helper()
	b := e.NewBatch(table, table.Schema(), true, 1)
	if err := b.Add(values, sequence, deleted); err != nil {
		t.Fatal(err)
	}
	if err := e.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func upsert(t *testing.T, e *Engine, table *Table, sequence Sequence, values ...any) {
	t.Helper()
	change(t, e, table, sequence, false, values...)
}

func seq(n uint64) Sequence { return Sequence{sections: [maxSections]uint64{n}, count: 1} }

// staleTable creates a table with columns id and v and a max_staleness, "" for none.
func staleTable(t *testing.T, e *Engine, name, maxStaleness string) *Table {
	t.Helper()
	_, err := e.CreateTable(t.Context(), testRef(name), &bq.Table{
		MaxStaleness: maxStaleness, TableConstraints: &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: []string{"id"}}},
		Schema: &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "id", Type: "INTEGER"}, {Name: "v", Type: "STRING"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mustTable(t, e, name)
}

func applyDue(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.ApplyDue(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A clock that is set back, as a moved one is when the process starts again, hides
// nothing: an apply of the future gives no window in which queries see the baseline,
// and the next one is due.
func TestCDC_ClockSetBack(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := staleTable(t, e, "t", "0-0 0 0:10:0")
	c.at(600)
	upsert(t, e, table, seq(1), int64(1), "before")
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	c.at(5)
	upsert(t, e, table, seq(2), int64(1), "after")
	wantLines(t, read(t, e, ReadOptions{}, "SELECT id, v FROM {t}", "t"), "1 after")
	applyDue(t, e)
	if s := e.CDCState(table); s.Pending > 0 || !s.Watermark.Equal(c.minute(5)) {
		t.Errorf("state %+v", s)
	}
	wantLines(t, read(t, e, ReadOptions{}, "SELECT id, v FROM {t}", "t"), "1 after")
}

// The example of "Query tables with the max_staleness option set": ten minutes, an
// apply at T20, queries at T25 and T35.
func TestCDC_Staleness(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := staleTable(t, e, "t", "0-0 0 0:10:0")
	rows := func() []string {
		t.Helper()
		return read(t, e, ReadOptions{}, "SELECT id, v FROM {t} ORDER BY id", "t")
	}
	state := func(want CDCState) {
		t.Helper()
		want.MaxStaleness = 10 * time.Minute
		if got := e.CDCState(table); got.Pending != want.Pending || got.RuntimeMerge != want.RuntimeMerge || !got.Watermark.Equal(want.Watermark) || got.MaxStaleness != want.MaxStaleness {
			t.Errorf("state %+v, want %+v", got, want)
		}
	}
	state(CDCState{})
	c.at(10)
	upsert(t, e, table, Sequence{}, int64(1), "before T20")
	// No apply has run: there is no baseline that a query may see instead.
	state(CDCState{Pending: 1, RuntimeMerge: true})
	wantLines(t, rows(), "1 before T20")
	c.at(18)
	applyDue(t, e)
	state(CDCState{Pending: 1, RuntimeMerge: true})
	c.at(20)
	applyDue(t, e)
	state(CDCState{Watermark: c.minute(20)})

	c.at(22)
	upsert(t, e, table, Sequence{}, int64(1), "after T20")
	c.at(25)
	applyDue(t, e) // isn't due
	state(CDCState{Pending: 1, Watermark: c.minute(20)})
	wantLines(t, rows(), "1 before T20")
	wantLines(t, read(t, e, ReadOptions{Everything: true}, "FROM {t}", "t"), "1 after T20")

	// "the process of applying pending row modifications has not completed"
	e.HoldApplies(true)
	c.at(30) // the interval's end still counts
	wantLines(t, rows(), "1 before T20")
	c.at(33)
	upsert(t, e, table, Sequence{}, int64(2), "new")
	c.at(35)
	applyDue(t, e)
	state(CDCState{Pending: 2, Watermark: c.minute(20), RuntimeMerge: true})
	wantLines(t, rows(), "1 after T20", "2 new")
	wantLines(t, read(t, e, ReadOptions{Baseline: true}, "FROM {t}", "t"), "1 before T20")
	// A runtime merge doesn't advance the watermark.
	state(CDCState{Pending: 2, Watermark: c.minute(20), RuntimeMerge: true})

	e.HoldApplies(false)
	applyDue(t, e)
	state(CDCState{Watermark: c.minute(35)})
	wantLines(t, rows(), "1 after T20", "2 new")
}

// Within each interval of max_staleness pending changes are applied, whatever the interval.
func TestCDC_ApplyDue(t *testing.T) {
	for _, test := range []struct {
		maxStaleness string
		due          time.Duration
	}{{"", applyInterval}, {"0-0 0 0:0:0", applyInterval}, {"0-0 0 0:15:0", 13*time.Minute + 30*time.Second}, {"0-0 0 4:0:0", 216 * time.Minute}} {
		c := newClock()
		e := newTestEngine(t, Options{Now: c.time})
		table := staleTable(t, e, "t", test.maxStaleness)
		for range 2 {
			upsert(t, e, table, Sequence{}, int64(1), "v")
			c.add(test.due - time.Millisecond)
			applyDue(t, e)
			if n := table.PendingChanges(); n != 1 {
				t.Errorf("max_staleness %q: %d pending before it is due", test.maxStaleness, n)
			}
			c.add(time.Millisecond)
			applyDue(t, e)
			if n := table.PendingChanges(); n != 0 {
				t.Errorf("max_staleness %q: %d pending after it was due", test.maxStaleness, n)
			}
		}
		if n := len(e.ApplyJobs()); n != 2 {
			t.Errorf("max_staleness %q: %d jobs", test.maxStaleness, n)
		}
	}
}

// Jobs, watermark, pending changes and remembered deletes are there after a restart.
func TestCDC_Restart(t *testing.T) {
	c := newClock()
	db := filepath.Join(t.TempDir(), "e.db")
	e := newTestEngine(t, Options{DB: db, Now: c.time})
	table := staleTable(t, e, "t", "0-0 0 0:10:0")
	change(t, e, table, seq(5), true, int64(1), nil)
	upsert(t, e, table, seq(5), int64(2), "two")
	c.at(15)
	applyDue(t, e)
	c.at(16)
	upsert(t, e, table, seq(6), int64(2), "pending")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = reopen(t, Options{DB: db, Now: c.time})
	table = mustTable(t, e, "t")
	if got := e.CDCState(table); !got.Watermark.Equal(c.minute(15)) || got.Pending != 1 || got.RuntimeMerge {
		t.Errorf("state %+v", got)
	}
	wantLines(t, read(t, e, ReadOptions{}, "FROM {t}", "t"), "2 two")
	jobs := e.ApplyJobs()
	if len(jobs) != 1 {
		t.Fatalf("jobs %+v", jobs)
	}
	j := jobs[0]
	if !strings.Contains(j.ID, "cdc_background") || j.Table != testRef("t") || j.Rows != 2 || j.Bytes != 8+8+5 || j.SlotMillis < 1 || j.Location != "US" ||
		!j.Created.Equal(c.minute(15)) || !j.Started.Equal(c.minute(15)) || !j.Ended.Equal(c.minute(15)) {
		t.Errorf("job %+v", j)
	}
	upsert(t, e, table, seq(4), int64(1), "older than its delete")
	wantRows(t, e, "t", `{"id":"2","v":"pending"}`)
	// "BigQuery maintains a delete retention window of two days"
	c.at(0)
	c.add(deleteRetention + time.Minute)
	upsert(t, e, table, seq(4), int64(1), "late")
	wantRows(t, e, "t", `{"id":"1","v":"late"}`, `{"id":"2","v":"pending"}`)
	applyDue(t, e)
	wantRows(t, e, "t", `{"id":"1","v":"late"}`, `{"id":"2","v":"pending"}`)
}

// "Mutating DML statements are blocked while a table is actively receiving CDC streams
// or while unmerged changes remain on the table."
func TestCDC_MutatingDML(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := staleTable(t, e, "t", "")
	upsert(t, e, table, Sequence{}, int64(1), "v")
	release := e.HoldUpserts(table)
	update := func() error {
		_, err := mutate(t, e, "t", "UPDATE", "SELECT 'UPDATE', _row, id, 'changed' FROM {t} WHERE id = 1", "id", "v")
		return err
	}
	wantError(t, update(), 400, "UPDATE is not supported on table p:d.t with active CDC: 1 streamed changes have not been applied yet.")
	_, err := e.Truncate(t.Context(), testRef("t"))
	wantError(t, err, 400, "TRUNCATE TABLE is not supported on table p:d.t with active CDC")
	mustMutate(t, e, Changed{Inserted: 1}, "t", "", "SELECT 'INSERT', NULL, 2, 'inserted'", "id", "v")
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	wantError(t, update(), 400, "an upsert stream is active")
	c.add(upsertIdle) // it is idle
	if err := update(); err != nil {
		t.Error(err)
	}
	upsert(t, e, table, seq(1), int64(3), "v")
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	wantError(t, update(), 400, "an upsert stream is active")
	release()
	release()
	if err := update(); err != nil {
		t.Error(err)
	}
	wantRows(t, e, "t", `{"id":"1","v":"changed"}`, `{"id":"2","v":"inserted"}`, `{"id":"3","v":"v"}`)
	// An updated row keeps its sequence: an older change doesn't win over it.
	mustMutate(t, e, Changed{Updated: 1}, "t", "UPDATE", "SELECT 'UPDATE', _row, id, 'updated' FROM {t} WHERE id = 3", "id", "v")
	upsert(t, e, table, seq(0), int64(3), "older")
	wantRows(t, e, "t", `{"id":"1","v":"changed"}`, `{"id":"2","v":"inserted"}`, `{"id":"3","v":"updated"}`)
}

// Any run of changes, applies, delays and time against a model: what queries see, the
// watermark, and that nothing stays unapplied for longer than max_staleness.
func TestCDC_StalenessModel(t *testing.T) {
	const limit = 10 * time.Minute
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time, Logger: quiet()})
	tables := 0
	rapid.Check(t, func(r *rapid.T) {
		e.HoldApplies(false)
		tables++
		name := fmt.Sprint("t", tables)
		table := staleTable(t, e, name, "0-0 0 0:10:0")
		baseline, current := map[int]string{}, map[int]string{}
		var watermark, pendingSince time.Time // zero for none
		held := false
		for step := range rapid.IntRange(1, 10).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"upsert", "delete", "wait", "hold"}).Draw(r, "step") {
			case "upsert":
				id := rapid.IntRange(1, 2).Draw(r, "id")
				upsert(t, e, table, Sequence{}, int64(id), fmt.Sprint(step))
				current[id] = fmt.Sprint(step)
				if pendingSince.IsZero() {
					pendingSince = c.time()
				}
			case "delete":
				id := rapid.IntRange(1, 2).Draw(r, "id")
				change(t, e, table, Sequence{}, true, int64(id), nil)
				delete(current, id)
				if pendingSince.IsZero() {
					pendingSince = c.time()
				}
			case "wait":
				c.add(time.Duration(rapid.IntRange(1, 14).Draw(r, "minutes")) * time.Minute)
			case "hold":
				held = !held
				e.HoldApplies(held)
			}
			applyDue(t, e)
			since := watermark
			if since.IsZero() {
				since = pendingSince
			}
			if !held && !pendingSince.IsZero() && c.time().Sub(since) >= limit*9/10 {
				watermark, pendingSince, baseline = c.time(), time.Time{}, maps.Clone(current)
			}
			state := e.CDCState(table)
			fresh := !watermark.IsZero() && c.time().Sub(watermark) <= limit
			if !state.Watermark.Equal(watermark) || state.RuntimeMerge != (!pendingSince.IsZero() && !fresh) || (state.Pending == 0) != pendingSince.IsZero() {
				r.Fatalf("state %+v, watermark %v, pending since %v", state, watermark, pendingSince)
			}
			want := current
			if fresh {
				want = baseline
			}
			for _, test := range []struct {
				o    ReadOptions
				want map[int]string
			}{{ReadOptions{}, want}, {ReadOptions{Everything: true}, current}, {ReadOptions{Baseline: true}, baseline}} {
				got := read(t, e, test.o, "SELECT id, v FROM {"+name+"} ORDER BY id", name)
				var lines []string
				for _, id := range slices.Sorted(maps.Keys(test.want)) {
					lines = append(lines, fmt.Sprint(id, " ", test.want[id]))
				}
				if !slices.Equal(got, lines) {
					r.Fatalf("%+v: %v, want %v", test.o, got, lines)
				}
			}
		}
	})
}
