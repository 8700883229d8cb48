package engine

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// The memory of rows that applies replaced is given back, also where DuckDB has no file.
func TestReclaim(t *testing.T) {
	e := newTestEngine(t, Options{})
	table := staleTable(t, e, "t", "")
	used := func() (n int64) {
		t.Helper()
		if err := e.db.QueryRowContext(t.Context(), "SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 10 {
		b := e.NewBatch(table, table.Schema(), true, 20_000)
		for id := range 20_000 {
			if err := b.Add([]any{int64(id), "value"}, Sequence{}, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := b.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := e.Apply(t.Context(), table); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.ended.Load(); n != 200_000 {
		t.Errorf("%d rows ended", n)
	}
	before := used()
	e.ended.Store(maxEnded)
	for deadline := time.Now().Add(20 * time.Second); e.ended.Load() > 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		e.requestReclaim()
	}
	if after := used(); e.ended.Load() > 0 || after > before/2 {
		t.Errorf("%d bytes are used, before %d", after, before)
	}
}

// Appends, streams, applies, DML, schema changes and reads of two tables at once: all
// end, and nothing is lost or shows twice.
func TestConcurrency(t *testing.T) {
	e := newTestEngine(t, Options{MergeRows: 50})
	for _, name := range []string{"a", "b"} {
		staleTable(t, e, name, "")
	}
	const rounds = 40
	refs := []TableRef{testRef("a"), testRef("b")}
	var work, readers sync.WaitGroup
	stop := make(chan struct{})
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				read(t, e, ReadOptions{}, "SELECT count(*), (SELECT count(*) FROM {b}) FROM {a}", "b", "a")
			}
		}
	})
	// store appends one row as the table is now.
	store := func(ref TableRef, s *Stream, cdc bool, id int) {
		for {
			table, err := e.Table(ref)
			if err != nil {
				t.Error(err)
				return
			}
			schema := table.Schema()
			b := e.NewBatch(table, schema, cdc, 1)
			if s != nil {
				b.To(s, -1)
			}
			values := make([]any, len(schema.Columns))
			values[0] = int64(id)
			if err := errors.Join(b.Add(values, Sequence{}, false), e.Append(t.Context(), b)); err != nil {
				t.Error(err)
				return
			}
			if err := b.Wait(t.Context()); !errors.Is(err, ErrSchemaChanged) {
				if err != nil {
					t.Error(err)
				}
				return
			}
		}
	}
	for i, ref := range refs {
		work.Go(func() { // ids 0 … 9
			for n := range rounds {
				store(ref, nil, true, n%10)
			}
		})
		work.Go(func() { // ids 1000 …
			for n := range rounds / 4 {
				s, err := e.CreateStream(t.Context(), ref, Pending)
				if err != nil {
					t.Error(err)
					return
				}
				store(ref, s, false, 1000+2*n)
				store(ref, s, false, 1001+2*n)
				_, err = e.Finalize(t.Context(), s)
				_, committed := e.CommitStreams(t.Context(), ref, []string{s.ID()})
				if err := errors.Join(err, committed); err != nil {
					t.Error(err)
				}
			}
		})
		work.Go(func() { // ids 2000 …, from the other table's snapshot
			for n := range rounds / 4 {
				_, err := e.Mutate(t.Context(), Mutation{Target: ref, Reads: []TableRef{refs[1-i]}, Build: func(s *Snapshot) (string, []any, []string, error) {
					r, err := s.Relation(refs[1-i], ReadOptions{})
					return fmt.Sprintf("SELECT 'INSERT', NULL, %d + 0 * (SELECT count(*) FROM %s)", 2000+n, r.SQL), nil, []string{"id"}, err
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
		work.Go(func() {
			for n := range rounds / 8 {
				addColumn(t, e, ref.Table, fmt.Sprint("c", n), "STRING")
				if err := e.Apply(t.Context(), mustTable(t, e, ref.Table)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	close(stop)
	readers.Wait()
	for _, ref := range refs {
		got := read(t, e, ReadOptions{}, "SELECT count(*), count(DISTINCT id), count(*) FILTER (id < 10), count(*) FILTER (id >= 2000) FROM {"+ref.Table+"}", ref.Table)
		wantLines(t, got, fmt.Sprint(10+rounds/2+rounds/4, 10+rounds/2+rounds/4, 10, rounds/4))
	}
}
