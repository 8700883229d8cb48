package follow

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"beamcdc/schemas/table"
)

func TestPosition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.json")
	orders := table.Name{Project: "p", Dataset: "d", Table: "orders"}
	since := time.Date(2026, 3, 9, 9, 28, 27, 903734000, time.UTC)
	p, err := LoadPosition(path, orders, Changes, since)
	if err != nil || !p.Time.Equal(since) {
		t.Fatalf("%v, %v: without a file it is since", p, err)
	}
	p.Time = since.Add(time.Hour)
	for range 2 { // it replaces, too
		if err := p.store(); err != nil {
			t.Fatal(err)
		}
	}
	if p, err = LoadPosition(path, orders, Changes, since); err != nil || !p.Time.Equal(since.Add(time.Hour)) {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := LoadPosition(path, orders, Appends, since); err == nil {
		t.Error("it is taken for another function's")
	}
	if _, err := LoadPosition(path, table.Name{Project: "p", Dataset: "d", Table: "items"}, Changes, since); err == nil {
		t.Error("it is taken for another table's")
	}
	if err := os.WriteFile(path, []byte(`{"table": "p.d.ord`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPosition(path, orders, Changes, since); err == nil {
		t.Error("half a file is taken for a position")
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
