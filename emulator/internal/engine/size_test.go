package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSize(t *testing.T) {
	c := newClock()
	e := newTestEngine(t, Options{Now: c.time})
	table := newTestTable(t, e, "t", "id INTEGER, s STRING, b BYTES, f FLOAT, ok BOOLEAN, n NUMERIC, bn BIGNUMERIC, l STRING REPEATED, st STRING", "id")
	upsert(t, e, table, Sequence{}, int64(1), "four", []byte("six by"), 1.5, true, nil, make([]byte, 32), []any{"x"}, nil)
	size := func(o ReadOptions, columns []string, condition string, want Size) {
		t.Helper()
		s, err := e.Snapshot(t.Context(), []TableRef{testRef("t")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := s.Size(t.Context(), testRef("t"), o, columns, condition); err != nil || got != want {
			t.Errorf("size %+v, error %v, want %+v", got, err, want)
		}
	}
	all := int64(8 + 2 + 4 + 2 + 6 + 8 + 1 + 32 + len("[x]"))
	size(ReadOptions{Baseline: true}, nil, "", Size{})
	size(ReadOptions{}, nil, "", Size{1, all})
	if err := e.Apply(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	size(ReadOptions{}, nil, "", Size{1, all})
	size(ReadOptions{}, []string{"ID", "s"}, "", Size{1, 14})
	size(ReadOptions{}, []string{"id"}, "id > 1", Size{})
	// A runtime merge reads all of the baseline, whatever the condition.
	upsert(t, e, table, Sequence{}, int64(1), "", nil, nil, nil, nil, nil, nil, nil)
	size(ReadOptions{}, []string{"id"}, "id > 1", Size{2, 16})
	size(ReadOptions{Baseline: true}, []string{"id"}, "id > 1", Size{})
}

// A short table takes little of the database file.
func TestFileSize(t *testing.T) {
	db := filepath.Join(t.TempDir(), "e.db")
	e := newTestEngine(t, Options{DB: db})
	const tables = 50
	for i := range tables {
		table := staleTable(t, e, fmt.Sprintf("t%d", i), "")
		upsert(t, e, table, seq(1), int64(1), "one")
		if err := e.Apply(t.Context(), table); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(db)
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(tables * 150_000); file.Size() > most {
		t.Errorf("the file has %d bytes, more than %d", file.Size(), most)
	}
}
