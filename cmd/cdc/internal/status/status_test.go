package status

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beamcdc/emulator"
	"beamcdc/internal/cdctest"
	"beamcdc/pipeline"
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
	args := append([]string{"-config", file, "-bigquery_rest_endpoint", w.RESTAddr()}, more...)
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

// What people are shown of a table that is behind: the numbers, and what to do.
func TestStatus_text(t *testing.T) {
	w := cdctest.Start(t, start, "shop")
	w.Table("shop.orders", 10)
	w.Table("shop.customers", 0)
	for _, table := range []string{"orders", "customers"} {
		if err := w.Upsert("shop", table, 3); err != nil {
			t.Fatal(err)
		}
		if err := w.Apply(t.Context(), "shop", table); err != nil {
			t.Fatal(err)
		}
	}
	w.HoldApplies(true)
	w.Clock.Advance(time.Minute)
	if err := w.Upsert("shop", "orders", 4); err != nil {
		t.Fatal(err)
	}
	faults := []emulator.Fault{
		{Table: "shop.orders", Times: 1, Effect: emulator.Effect{Code: "UNAVAILABLE"}},
		{Method: "BackgroundApply", Table: "shop.orders", Times: 1, Effect: emulator.Effect{Code: "RESOURCE_EXHAUSTED", Message: "no\x1b[2Jslots"}},
	}
	if err := w.SetFaults(faults); err != nil {
		t.Fatal(err)
	}
	if err := w.Upsert("shop", "orders", 2); err == nil {
		t.Fatal("the fault refuses nothing")
	}
	w.Clock.Advance(31 * time.Minute)
	rules := orders + `  - {source: s.customers, destination: shop.customers}
  - {source: s.gone, destination: shop.gone}
  - {source: "t.*", destination: "shop.t_{table}"}
  - {source: s.far, destination: away.far}
`
	out := run(t, w, rules)
	for _, want := range []string{
		"TABLE             WATERMARK LAG  PENDING ROWS  APPLY P95  RECOMMENDED  MAX STALENESS  LAST ERROR",
		"p.shop.customers  32m            0 to 3        0s         7m           -              -",
		"p.shop.orders     32m            4 to 7        0s         7m           10m            2026-11-30 09:01 UNAVAILABLE: 1 of append",
		"p.shop.customers: it has no max_staleness: every query applies what is pending; set INTERVAL 7 MINUTE or more",
		"p.shop.orders: its applied changes are older than its max_staleness",
		"p.shop.orders: an apply that was asked for at 2026-11-30 09:09 has not ended",
		"p.shop.gone: it does not exist\n",
		"p.away.far: not known: how it stands: there is no dataset p.away",
		"one of the rules names its tables by what messages hold",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	w.HoldApplies(false) // and the apply fails
	if err := w.ApplyDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(time.Hour)
	out = run(t, w, rules, "-recent_minutes", "50", "p.shop.orders")
	for _, want := range []string{
		"2026-11-30 09:32 rateLimitExceeded: 1 of apply",
		"p.shop.orders: it gets 0 % of what it used to get",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "customers") || strings.ContainsRune(out, '\x1b') {
		t.Errorf("%q", out)
	}
	if e := report(t, w, rules)["p.shop.orders"].LastError; e == nil || e.Message != "no\x1b[2Jslots" || e.Of != "apply" {
		t.Errorf("the last error is %+v", e)
	}
}

// Of a view that has one table after the other behind it, it is the table that counts.
func TestStatus_view(t *testing.T) {
	w := cdctest.Start(t, start, "shop")
	w.Run("CREATE TABLE shop.orders_g0 (id INT64 NOT NULL, name STRING, beamcdc_sequence STRING, beamcdc_deleted BOOL, PRIMARY KEY (id) NOT ENFORCED)")
	w.Run("CREATE VIEW shop.orders AS SELECT * EXCEPT (beamcdc_sequence, beamcdc_deleted) FROM `p.shop.orders_g0` WHERE beamcdc_deleted IS NOT TRUE")
	if err := w.Upsert("shop", "orders_g0", 5); err != nil {
		t.Fatal(err)
	}
	const rule = "  - {source: s.orders, destination: shop.orders, truncates: recreate}\n"
	got := report(t, w, rule)["p.shop.orders"]
	if got == nil || got.Behind != "p.shop.orders_g0" || got.Pending == nil || got.Pending.AtMost != 5 || got.Unknown != nil {
		t.Errorf("%+v", got)
	}
	if out := run(t, w, rule); !strings.Contains(out, "p.shop.orders  never applied  5") {
		t.Errorf("%s", out)
	}
}

// What the account may not look at is said, with what it takes; the rest is told.
func TestStatus_forbidden(t *testing.T) {
	w := cdctest.Start(t, start, "shop")
	w.Table("shop.orders", 10)
	if err := w.SetFaults([]emulator.Fault{{Method: "jobs.*", Skip: 1, Effect: emulator.Effect{Code: "PERMISSION_DENIED"}}}); err != nil {
		t.Fatal(err)
	}
	got := report(t, w, orders)["p.shop.orders"]
	if got == nil || len(got.Unknown) != 5 || got.Pending != nil || *got.MaxStaleness != 600 {
		t.Fatalf("%+v", got)
	}
	if !strings.HasPrefix(got.Unknown[0], "how many rows wait: ") || !strings.HasSuffix(got.Unknown[0], "it takes "+timelinePermission) {
		t.Errorf("%q", got.Unknown[0])
	}
}

// Of what is not there no number is told, and who learns nothing of any table is told so
// by the exit status.
func TestStatus_nothing(t *testing.T) {
	w := cdctest.Start(t, start, "shop")
	if out := run(t, w, orders); !strings.Contains(out, "p.shop.orders  -              -  ") || !strings.Contains(out, "does not exist") {
		t.Errorf("of a missing table:\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	const text = "source: {subscription: projects/p/subscriptions/s}\ndead_letters: {topic: projects/p/topics/dead}\ntables:\n"
	if err := os.WriteFile(file, []byte(text+orders), 0o600); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	err := Run(t.Context(), []string{"-config", file, "-bigquery_rest_endpoint", w.RESTAddr(), "shop.nope"}, &told)
	if !errors.Is(err, ErrMissing) || !strings.HasSuffix(err.Error(), " p.shop.nope") || !strings.Contains(told.String(), "p.shop.nope: it does not exist") {
		t.Errorf("of a missing table that is asked for: %v\n%s", err, told.String())
	}
	if err := w.SetFaults([]emulator.Fault{{Method: "jobs.*", Effect: emulator.Effect{Code: "PERMISSION_DENIED"}}}); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"no dataset":     {"p.none.orders"},
		"all is refused": {},
	} {
		var out strings.Builder
		err := Run(t.Context(), append([]string{"-config", file, "-bigquery_rest_endpoint", w.RESTAddr()}, args...), &out)
		if !errors.Is(err, ErrNothing) || !strings.Contains(out.String(), ": not known: ") {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}

func TestRun_badUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(file, []byte("window: yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{}, {"-config", file}, {"-config", "none"}, {"-output", "xml"}, {"-days", "0"}, {"-hours", "5000"}, {"-fraction", "2"}, {"-unknown"},
	} {
		var out strings.Builder
		err := Run(t.Context(), args, &out)
		if _, ok := err.(UsageError); !ok || out.Len() > 0 { //nolint:errorlint // it is returned as it is
			t.Errorf("%v: %v, printed %q", args, err, out.String())
		}
	}
	var out strings.Builder
	if err := Run(t.Context(), []string{"-h"}, &out); err != nil || out.String() != usage {
		t.Errorf("%v: %s", err, out.String())
	}
}

// No comparison holds of NaN, and no rate would be below that fraction of a baseline.
func TestRun_fractionIsNoNumber(t *testing.T) {
	err := Run(t.Context(), []string{"-config", "none", "-fraction", "NaN"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "-fraction must be") {
		t.Errorf("%v", err)
	}
}

// What is no table's name is told before anybody is asked, credentials or not.
func TestExamine_noName(t *testing.T) {
	_, err := Examine(t.Context(), pipeline.Options{}, Request{Tables: []string{"nope"}})
	if _, ok := errors.AsType[UsageError](err); !ok {
		t.Errorf("%v, want a UsageError", err)
	}
}

// What no change is applied to is told as what it is.
func TestStatus_noTable(t *testing.T) {
	w := cdctest.Start(t, start, "shop")
	w.Table("shop.orders", 10)
	w.Run("CREATE TABLE shop.plain (id INT64)")
	w.Run("CREATE VIEW shop.shown AS SELECT * FROM `p.shop.orders` WHERE id > 0")
	w.Run("CREATE VIEW shop.one AS SELECT 1 AS id")
	rules := orders
	for _, name := range []string{"plain", "shown", "one", "gone"} {
		rules += "  - {source: s." + name + ", destination: shop." + name + "}\n"
	}
	tables := report(t, w, rules)
	for name, want := range map[string]string{
		"plain": "it has no primary key",
		"shown": "it is a view of p.shop.orders: changes are applied to tables alone; cdc status looks at p.shop.orders where",
		"one":   "it is a view: changes are applied to tables alone",
		"gone":  "it does not exist",
	} {
		got := tables["p.shop."+name]
		if got == nil || len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], want) {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
}

func TestSelected(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT * FROM `p.d.t` WHERE x IN (SELECT x FROM `p.d.u`)":                  "p.d.t p.d.u",
		"select a from\n  my-project.d.t join d.u using (a) join `p.d.t` using (b)": "my-project.d.t d.u p.d.t",
		"SELECT * EXCEPT (s) FROM `p.d.t`":                                          "p.d.t",
		"SELECT 1":                                                                  "",
		"SELECT * FROM UNNEST([1])":                                                 "",
		"WITH a AS (SELECT 1) SELECT * FROM a":                                      "",
	} {
		if got := strings.Join(selected(query), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
