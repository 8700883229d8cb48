package status

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beamcdc/internal/cdctest"
)

var start = time.Date(2026, 11, 30, 9, 0, 30, 0, time.UTC)

// run runs the command on a configuration of these rules, and returns what it printed.
func run(t *testing.T, w *cdctest.World, rules string, more ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	text := "source: {subscription: projects/p/subscriptions/s}\ndead_letters: {topic: projects/p/topics/dead}\ntables:\n" + rules
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-config", file, "-bigquery_rest_endpoint", w.RESTAddr(), "-bigquery_grpc_endpoint", w.GRPCAddr()}, more...)
	var out strings.Builder
	if err := Run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// report runs the command with -output json, and returns its tables by name.
func report(t *testing.T, w *cdctest.World, rules string, more ...string) map[string]*Table {
	t.Helper()
	var r Report
	if err := json.Unmarshal([]byte(run(t, w, rules, append([]string{"-output", "json"}, more...)...)), &r); err != nil {
		t.Fatal(err)
	}
	tables := map[string]*Table{}
	for _, one := range r.Tables {
		tables[one.Name] = one
	}
	return tables
}

const orders = "  - {source: s.orders, destination: shop.orders}\n"

// Rows are written, applied, and written again, and then applies fall behind.
func TestStatus(t *testing.T) {
	w := cdctest.Start(t, start, "shop")
	w.Table("shop.orders", 10)
	upsert := func(n int) {
		t.Helper()
		if err := w.Upsert("shop", "orders", n); err != nil {
			t.Fatal(err)
		}
	}
	got := report(t, w, orders)["p.shop.orders"]
	if got == nil || got.Watermark != nil || got.Pending == nil || got.Pending.AtMost != 0 || got.Unknown != nil {
		t.Fatalf("of an empty table: %+v", got)
	}
	upsert(3)
	w.Clock.Advance(time.Minute)
	if err := w.Apply(t.Context(), "shop", "orders"); err != nil {
		t.Fatal(err)
	}
	applied := w.Clock.Now()
	upsert(4) // in the minute of the apply
	w.Clock.Advance(time.Minute)
	upsert(5)
	w.HoldApplies(true)
	w.Clock.Advance(20 * time.Minute)
	got = report(t, w, orders)["p.shop.orders"]
	switch {
	case got.Watermark == nil || !got.Watermark.Equal(applied):
		t.Errorf("the watermark is %v, want %v", got.Watermark, applied)
	case got.LagSeconds == nil || *got.LagSeconds != 21*60:
		t.Errorf("the lag is %v s", *got.LagSeconds)
	case got.Pending.AtLeast != 5 || got.Pending.AtMost != 9:
		t.Errorf("pending are %+v, want 5 to 9", got.Pending)
	case got.Applies != 1 || got.ApplySeconds == nil || got.RecommendedMinutes == nil || *got.RecommendedMinutes < 7:
		t.Errorf("of applies: %+v", got)
	case got.MaxStaleness == nil || *got.MaxStaleness != 600:
		t.Errorf("max_staleness is %v", got.MaxStaleness)
	case got.LastError != nil:
		t.Errorf("an error: %+v", got.LastError)
	}
}
