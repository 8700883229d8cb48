package operations_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"

	"beamcdc/emulator"
	"beamcdc/internal/cdctest"
	"beamcdc/templates/operations"
)

// ask runs a query about the dataset shop, and returns its rows, each column by name.
func ask(t *testing.T, w *cdctest.World, name string, parameters map[string]any) []map[string]bigquery.Value {
	t.Helper()
	text, err := operations.Query(name, operations.Place{Project: cdctest.Project, Region: "US", Dataset: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	q := w.SQL.Query(text)
	for name, value := range parameters {
		q.Parameters = append(q.Parameters, bigquery.QueryParameter{Name: name, Value: value})
	}
	rows, err := q.Read(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var all []map[string]bigquery.Value
	for {
		row := map[string]bigquery.Value{}
		switch err := rows.Next(&row); {
		case errors.Is(err, iterator.Done):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, row)
	}
}

// shown is some columns of the rows, as text.
func shown(rows []map[string]bigquery.Value, columns ...string) []string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, c := range columns {
			value, ok := row[c]
			if at, isTime := value.(time.Time); isTime {
				value = at.UTC().Format(time.TimeOnly)
			}
			if !ok {
				value = "no column " + c
			}
			cells = append(cells, fmt.Sprint(value))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}

func want(t *testing.T, what string, got []string, wanted ...string) {
	t.Helper()
	if !slices.Equal(got, wanted) {
		t.Errorf("%s: %q, want %q", what, got, wanted)
	}
}

// Every query on a day in a shop's life: rows are written and applied, an apply waits
// for half an hour, another fails, appends are refused, and one table hears nothing any more.
func TestQueries(t *testing.T) {
	w := cdctest.Start(t, time.Date(2026, 11, 30, 9, 50, 0, 0, time.UTC), "shop", "other")
	w.Table("shop.orders", 10)
	w.Table("shop.customers", 0)
	w.Table("shop.lines", 0)
	w.Table("other.orders", 10)
	w.Run("CREATE TABLE shop.keyless (id INT64)")
	write := func(dataset, table string, rows int) {
		t.Helper()
		if err := w.Upsert(dataset, table, rows); err != nil {
			t.Fatal(err)
		}
	}
	faults := func(list ...emulator.Fault) {
		t.Helper()
		if err := w.SetFaults(list); err != nil {
			t.Fatal(err)
		}
	}
	applyDue := func() {
		t.Helper()
		if err := w.ApplyDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	days := map[string]any{"dataset": "shop", "days": 7}
	hours := map[string]any{"dataset": "shop", "hours": 24}

	// From 09:50 both tables get rows each minute, and are applied at 10:00.
	for range 6 {
		write("shop", "orders", 3)
		write("shop", "customers", 2)
		write("other", "orders", 1)
		w.Clock.Advance(time.Minute)
	}
	w.Clock.Advance(4 * time.Minute)
	applyDue()
	want(t, "watermarks", shown(ask(t, w, operations.Watermark, nil), "table_name", "watermark", "watermark_lag_in_seconds", "max_staleness"),
		"customers 10:00:00 0 <nil>", "lines <nil> <nil> <nil>", "orders 10:00:00 0 0-0 0 0:10:0")
	want(t, "durations", shown(ask(t, w, operations.ApplyDuration, days), "table_name", "applies", "p95_background_apply_duration_in_seconds",
		"recommended_max_staleness_with_buffer_in_minutes", "unfinished"), "customers 1 0 7 0", "orders 1 0 7 0")
	want(t, "pending", shown(ask(t, w, operations.PendingRows, days), "table_name", "at_least", "at_most"))

	// Until 10:30 applies are held back, and customers gets no rows.
	w.HoldApplies(true)
	w.Clock.Advance(30 * time.Second)
	write("shop", "orders", 4) // in the watermark's minute
	w.Clock.Advance(time.Minute)
	write("shop", "orders", 5)
	write("shop", "lines", 1)
	w.Clock.Advance(28*time.Minute + 30*time.Second)
	want(t, "watermarks while applies wait", shown(ask(t, w, operations.Watermark, nil), "table_name", "watermark_lag_in_seconds"), "customers 1800", "lines <nil>", "orders 1800")
	want(t, "pending while applies wait", shown(ask(t, w, operations.PendingRows, days), "table_name", "at_least", "at_most", "since"), "lines 1 1 10:01:00", "orders 5 9 10:00:00")
	want(t, "an apply that waits", shown(ask(t, w, operations.ApplyDuration, days), "table_name", "applies", "unfinished", "unfinished_since"),
		"customers 1 0 <nil>", "lines 0 1 10:11:30", "orders 1 1 10:09:00")
	w.HoldApplies(false)
	applyDue()
	// That of lines waited for 18 minutes and a half: twice that, and seven.
	want(t, "durations after it", shown(ask(t, w, operations.ApplyDuration, days), "table_name", "applies", "unfinished"),
		"customers 1 0", "lines 1 0", "orders 2 0")
	want(t, "the duration of lines", shown(ask(t, w, operations.ApplyDuration, days)[1:2], "p95_background_apply_duration_in_seconds",
		"recommended_max_staleness_with_buffer_in_minutes"), "1110 44")

	// At 10:30 appends are refused, and an apply fails.
	faults(
		emulator.Fault{Table: "shop.orders", Times: 2, Effect: emulator.Effect{Code: "RESOURCE_EXHAUSTED"}},
		emulator.Fault{Table: "shop.customers", Times: 1, Effect: emulator.Effect{Code: "UNAVAILABLE"}},
		emulator.Fault{Method: "BackgroundApply", Table: "shop.orders", Times: 1, Effect: emulator.Effect{Code: "RESOURCE_EXHAUSTED", Message: "no slots are left"}},
	)
	for range 2 {
		if err := w.Upsert("shop", "orders", 7); err == nil {
			t.Error("the fault doesn't refuse an append")
		}
	}
	w.Clock.Advance(time.Minute)
	if err := w.Upsert("shop", "customers", 1); err == nil {
		t.Error("the fault doesn't refuse an append")
	}
	write("shop", "orders", 3)
	w.Clock.Advance(9 * time.Minute)
	applyDue()
	want(t, "refused appends", shown(ask(t, w, operations.WriteErrors, hours), "table_name", "error_code", "requests", "rows_refused", "latest"),
		"customers UNAVAILABLE 1 1 10:31:00", "orders RESOURCE_EXHAUSTED 2 14 10:30:00")
	want(t, "failed applies", shown(ask(t, w, operations.ApplyErrors, days), "table_name", "reason", "applies", "latest", "message"),
		"orders rateLimitExceeded 1 10:40:00 no slots are left")
	want(t, "the timeline", shown(ask(t, w, operations.WriteTimeline, map[string]any{"dataset": "shop", "hours": 1}), "start_timestamp", "table_name", "error_code", "requests", "row_count")[:3],
		"10:31:00 customers UNAVAILABLE 1 1", "10:31:00 orders OK 1 3", "10:30:00 orders RESOURCE_EXHAUSTED 2 14")

	// Customers had 12 rows until 10:00 and none since, lines one at 10:01; orders went on.
	baseline := map[string]any{"dataset": "shop", "recent_minutes": 30, "baseline_hours": 2, "fraction": 0.1}
	want(t, "bytes", shown(ask(t, w, operations.WriteBaseline, baseline), "table_name", "below_baseline"), "customers true", "lines true", "orders false")
	for _, row := range ask(t, w, operations.WriteBaseline, baseline) {
		if expected, ok := row["baseline_bytes"].(float64); !ok || expected <= 0 {
			t.Errorf("baseline of %v: %v", row["table_name"], row["baseline_bytes"])
		}
	}

	failed := time.Date(2026, 11, 30, 10, 40, 0, 0, time.UTC) // that apply used none
	slots := ask(t, w, operations.ApplySlots, map[string]any{"days": 7})
	minutes := shown(slots, "minute")
	if !slices.Contains(minutes, "10:00:00") || !slices.Contains(minutes, "10:30:00") || !slices.IsSortedFunc(minutes, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("minutes with slots: %q", minutes)
	}
	for _, row := range slots {
		if used, ok := row["slots_used"].(float64); !ok || used <= 0 && row["minute"] != failed {
			t.Errorf("slots of %v: %v", row["minute"], row["slots_used"])
		}
	}
}

// Every query has a name, parameters alone for values, and its text is about one place.
func TestQuery(t *testing.T) {
	names := []string{
		operations.ApplyDuration, operations.ApplyErrors, operations.ApplySlots, operations.PendingRows, operations.Watermark,
		operations.WriteBaseline, operations.WriteErrors, operations.WriteTimeline,
	}
	if got := operations.Names(); !slices.Equal(got, names) {
		t.Fatalf("files %q, names %q", got, names)
	}
	for _, name := range names {
		text, err := operations.Query(name, operations.Place{Project: "example.com:my-project", Dataset: "shop_1"})
		if err != nil || strings.ContainsAny(text, "${}") {
			t.Errorf("%s: %v: %s", name, err, text)
		}
		if !strings.Contains(text, "`example.com:my-project`.`shop_1`.") && !strings.Contains(text, "`example.com:my-project`.`region-us`.") {
			t.Errorf("%s isn't about its place: %s", name, text)
		}
	}
	for _, bad := range []operations.Place{
		{Dataset: "d"},
		{Project: "p"},
		{Project: "p`; DROP TABLE x; --", Dataset: "d"},
		{Project: "p", Dataset: "d`.x"},
		{Project: "p", Dataset: "d", Region: "eu`"},
	} {
		if text, err := operations.Query(operations.Watermark, bad); err == nil {
			t.Errorf("%+v: %s", bad, text)
		}
	}
	if _, err := operations.Query("other", operations.Place{Project: "p", Dataset: "d"}); err == nil {
		t.Error("a query that there isn't")
	}
}
