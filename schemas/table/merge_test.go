package table_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

func TestWithHints(t *testing.T) {
	t.Parallel()
	described := orders()
	before := orders()
	got, err := table.WithHints(described, &table.Rule{
		Columns: []table.Column{
			{Name: "ORDER_ID", From: table.FromUnsigned}, // neither type nor mode
			{Name: "total", Type: table.Numeric, From: table.FromDecimal, FromScale: 2},
			{Name: "status", Type: table.String, MaxLength: 20, Mode: table.Required, BadValues: table.PolicyReject},
			{Name: "tags", Type: table.String, Mode: table.Repeated, From: table.FromHex},
			{Name: "address", Type: table.Struct, Fields: []table.Column{{Name: "City", Type: table.String, From: table.FromBase64}}},
			{Name: "valid", Type: table.Range},
		},
		BadValues: "null",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := orders()
	for i := range want.Columns[1:] { // the first is REQUIRED, as is the STRUCT's field
		want.Columns[1+i].BadValues = table.PolicyNull
	}
	want.Columns[0].From = table.FromUnsigned
	want.Columns[1].BadValues = table.PolicyReject
	want.Columns[2].From, want.Columns[2].FromScale = table.FromDecimal, 2
	want.Columns[3].From = table.FromHex
	want.Columns[4].Fields[0].From = table.FromBase64
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got.Columns[4].Fields[0].Name, got.PrimaryKey[0], got.PartitionBy.Type = "x", "x", "x"
	if diff := cmp.Diff(before, described); diff != "" {
		t.Errorf("the table was changed:\n%s", diff)
	}
}

func TestWithHintsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		hint table.Column
		want string
	}{
		{table.Column{Name: "color"}, `table demo.shop.orders: configured column "color": BigQuery's table has no such column`},
		{table.Column{Name: "total", Type: table.BigNumeric}, `"total": it is of type BIGNUMERIC, and in BigQuery of type NUMERIC(12, 2)`},
		{table.Column{Name: "tags", Type: table.String, Mode: table.Nullable}, "it is of type STRING, and in BigQuery of type ARRAY<STRING>"},
		{table.Column{Name: "status", Mode: table.Repeated}, "it is of type ARRAY<STRING>, and in BigQuery of type STRING"},
		{table.Column{Name: "valid", Type: table.Range, Element: table.Timestamp}, "it is of type RANGE<TIMESTAMP>, and in BigQuery of type RANGE<DATE>"},
		{table.Column{Name: "address", Fields: []table.Column{{Name: "zip"}}}, `"address.zip": BigQuery's table has no such column`},
		{table.Column{Name: "ORDER_ID"}, `"ORDER_ID": it is configured twice`},
		{table.Column{Name: "status", BadValues: table.PolicyNull}, `"status": ` + "`bad_values: null` can't apply to a column of the primary key"},
		{table.Column{Name: "address", Fields: []table.Column{{Name: "city", BadValues: table.PolicyNull}}}, `"address.city": ` + "`bad_values: null` can't apply to a REQUIRED column"},
		{table.Column{Name: "0", BadValues: table.PolicyClamp}, `"0": ` + "`bad_values: clamp` means nothing for a column of type GEOGRAPHY; it takes reject, null"},
	}
	for _, test := range tests {
		_, err := table.WithHints(orders(), &table.Rule{Columns: []table.Column{{Name: "order_id"}, test.hint}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want it to say %q", test.hint, err, test.want)
		}
	}
	_, err := table.WithHints(orders(), &table.Rule{Columns: []table.Column{{Name: "color"}, {Name: "total", Type: table.Date}}})
	if n := strings.Count(err.Error(), "configured column"); n != 2 {
		t.Errorf("%d errors, want 2: %v", n, err)
	}
}

func TestFromRule(t *testing.T) {
	t.Parallel()
	rule := &table.Rule{
		Columns: []table.Column{
			{Name: "a", Type: table.Int64},
			{Name: "b", Type: table.Int64},
			{Name: "c", Type: table.Int64},
			{Name: "d", Type: table.Int64},
			{Name: "e", Type: table.Int64, BadValues: table.PolicyClamp},
			{Name: "t", Type: table.Timestamp, From: table.FromMicros},
		},
		PrimaryKey: []string{"e", "d", "c", "b", "a"}, PartitionBy: &table.Partition{Column: "t", Type: "DAY"},
		MaxStaleness: time.Minute, BadValues: "null",
	}
	got, err := table.FromRule(shop("orders"), rule)
	if err != nil {
		t.Fatal(err)
	}
	want := &table.Table{
		Name: shop("orders"), PrimaryKey: rule.PrimaryKey, ClusterBy: []string{"e", "d", "c", "b"},
		PartitionBy: rule.PartitionBy, MaxStaleness: time.Minute,
	}
	for _, c := range rule.Columns {
		if c.BadValues == "" {
			c.BadValues = table.PolicyNull
		}
		want.Columns = append(want.Columns, c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if rule.Columns[0].BadValues != "" {
		t.Error("the rule was changed")
	}
	rule.ClusterBy = []string{"t"}
	if got, err = table.FromRule(shop("orders"), rule); err != nil || got.ClusterBy[0] != "t" {
		t.Errorf("got %v, %v", got.ClusterBy, err)
	}
}

func TestFromRuleRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule table.Rule
		want string
	}{
		{table.Rule{}, "table demo.shop.orders: it is to be created, and its rule has no primary_key"},
		{table.Rule{PrimaryKey: []string{"id"}}, "it has no columns"},
		{table.Rule{PrimaryKey: []string{"id"}, Columns: []table.Column{{Name: "x", Type: table.Int64}}}, `primary key column "id": the table has no such column`},
		{table.Rule{PrimaryKey: []string{"x"}, Columns: []table.Column{{Name: "x", Type: table.Float64}}}, "it is of type FLOAT64"},
	}
	for _, test := range tests {
		if got, err := table.FromRule(shop("orders"), &test.rule); err == nil || got != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, %v, want it to say %q", got, err, test.want)
		}
	}
}

// TestJSON: tables and rules travel to the workers as JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	tbl := ddlTables["orders"]
	checkJSON(t, tbl)
	checkJSON(t, table.Table{})
	checkJSON(t, table.Rule{})
	checkJSON(t, table.Rule{
		Source: "public.ord*", Destination: "shop.{table}", PrimaryKey: []string{"order_id"}, Columns: tbl.Columns,
		ClusterBy: []string{"order_id"}, PartitionBy: tbl.PartitionBy, MaxStaleness: 15 * time.Minute, Sequence: "1",
		MissingPositions: "arrival", UnavailableValues: "fill", UnknownColumns: "add", BadValues: "null", Deletes: "soft",
		Tombstones: "delete", Truncates: "recreate", History: "shop.{table}_history",
	})
	checkJSON(t, table.Column{
		Name: "c", Type: table.Struct, Mode: table.Repeated, Fields: tbl.Columns, Element: table.Date, MaxLength: 1<<63 - 1, Precision: 38,
		Scale: 9, Description: "\"é\x00\"", From: table.FromDecimal, FromScale: -2, BadValues: table.PolicyString,
	})
}

func checkJSON[T any](t *testing.T, x T) {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if diff := cmp.Diff(x, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", text, diff)
	}
}
