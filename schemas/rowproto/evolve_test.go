package rowproto

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

var evolving = &table.Table{
	Name: table.Name{Project: "p", Dataset: "d", Table: "t"},
	Columns: []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "n", Type: table.Int64},
		{Name: "price", Type: table.Numeric, Precision: 10, Scale: 2},
		{Name: "amount", Type: table.BigNumeric},
		{Name: "x", Type: table.Float64},
		{Name: "ok", Type: table.Bool},
		{Name: "name", Type: table.String, MaxLength: 5, Mode: table.Required},
		{Name: "day", Type: table.Date},
		{Name: "at", Type: table.Timestamp},
		{Name: "doc", Type: table.JSON},
		{Name: "tags", Type: table.Int64, Mode: table.Repeated},
		{Name: "address", Type: table.Struct, Fields: []table.Column{
			{Name: "city", Type: table.String, Mode: table.Required},
			{Name: "no", Type: table.Int64},
			{Name: "geo", Type: table.Struct, Fields: []table.Column{{Name: "lat", Type: table.Float64}}},
		}},
		{Name: "lines", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{{Name: "sku", Type: table.String}}},
	},
	PrimaryKey: []string{"id"},
}

// evolve returns what a row of these columns, an id and a name asks for, as DDL
// without what is the same in all, and the row.
func evolve(t *testing.T, g table.Growth, columns ...change.Column) ([]string, []change.Column, error) {
	t.Helper()
	plan, err := Compile(evolving)
	if err != nil {
		t.Fatal(err)
	}
	row := append([]change.Column{{Name: "id", Value: change.Int64(1)}}, columns...)
	if _, ok := change.Find(columns, "name"); !ok {
		row = append(row, change.Column{Name: "name", Value: change.String("n")})
	}
	if g.MaxColumns == 0 {
		g.MaxColumns = table.MaxColumns
	}
	if g.Untyped == "" {
		g.Untyped = table.UntypedInfer
	}
	e, err := plan.NewEncoder().Evolve(row, RowOptions{}, &g, map[string]bool{})
	var asks []string
	for _, a := range e.Alterations {
		ddl := strings.TrimPrefix(a.DDL(evolving.Name, evolving.Columns), "ALTER TABLE `p.d.t` ")
		ddl, _, _ = strings.Cut(ddl, " OPTIONS (description") // of a column beside
		asks = append(asks, strings.TrimSuffix(ddl, ";"))
	}
	if err == nil {
		altered := *evolving
		altered.Columns = table.Altered(evolving.Columns, e.Alterations)
		plan, wrong := Compile(&altered)
		if wrong != nil {
			t.Fatal(wrong)
		}
		if _, wrong := plan.AppendUpsert(nil, e.Row, change.NewSequence(1), RowOptions{NullUnknown: true}); wrong != nil {
			t.Errorf("after %q the row is refused: %v", asks, wrong)
		}
		if again, wrong := plan.NewEncoder().Evolve(e.Row, RowOptions{}, &g, nil); wrong != nil || len(again.Alterations) > 0 {
			t.Errorf("after %q it asks for more: %v, %v", asks, again.Alterations, wrong)
		}
	}
	return asks, e.Row, err
}

func TestEvolve(t *testing.T) {
	column := func(name string, v change.Value) change.Column { return change.Column{Name: name, Value: v} }
	elements := func(values ...change.Value) change.Value {
		var elems []change.Column
		for _, v := range values {
			elems = append(elems, change.Column{Value: v})
		}
		return change.Array(elems)
	}
	for _, test := range []struct {
		name    string
		growth  table.Growth
		column  change.Column
		want    []string // nothing is asked for where it is empty
		refused string   // or the reason
	}{
		// A new column: what the message types.
		{"bool", table.Growth{}, column("c", change.Bool(true)), []string{"ADD COLUMN `c` BOOL"}, ""},
		{"int", table.Growth{}, column("c", change.Int64(1)), []string{"ADD COLUMN `c` INT64"}, ""},
		{"uint", table.Growth{}, column("c", change.Uint64(1)), []string{"ADD COLUMN `c` NUMERIC"}, ""},
		{"double", table.Growth{}, column("c", change.Float64(1)), []string{"ADD COLUMN `c` FLOAT64"}, ""},
		{"decimal", table.Growth{}, column("c", change.Decimal("12.50")), []string{"ADD COLUMN `c` NUMERIC"}, ""},
		{"longer decimal", table.Growth{}, column("c", change.Decimal("0.0000000001")), []string{"ADD COLUMN `c` BIGNUMERIC"}, ""},
		{"longest decimal", table.Growth{}, column("c", change.Decimal("1"+strings.Repeat("0", 50))), []string{"ADD COLUMN `c` STRING"}, ""},
		{"text", table.Growth{}, column("c", change.String("2026-01-01")), []string{"ADD COLUMN `c` STRING"}, ""},
		{"bytes", table.Growth{}, column("c", change.Bytes("\xff")), []string{"ADD COLUMN `c` BYTES"}, ""},
		{"date", table.Growth{}, column("c", change.Date(1)), []string{"ADD COLUMN `c` DATE"}, ""},
		{"time", table.Growth{}, column("c", change.Time(1)), []string{"ADD COLUMN `c` TIME"}, ""},
		{"datetime", table.Growth{}, column("c", change.DateTime(1)), []string{"ADD COLUMN `c` DATETIME"}, ""},
		{"timestamp", table.Growth{}, column("c", change.Timestamp(1)), []string{"ADD COLUMN `c` TIMESTAMP"}, ""},
		{"interval", table.Growth{}, column("c", change.Interval("0-0 1 0:0:0")), []string{"ADD COLUMN `c` INTERVAL"}, ""},
		{"document", table.Growth{}, column("c", change.JSON(`{"a":1}`)), []string{"ADD COLUMN `c` JSON"}, ""},
		{"array", table.Growth{}, column("c", elements(change.Int64(1), change.Int64(2))), []string{"ADD COLUMN `c` ARRAY<INT64>"}, ""},
		{"array of decimals", table.Growth{}, column("c", elements(change.Decimal("1"), change.Decimal("0.0000000001"))), []string{"ADD COLUMN `c` ARRAY<BIGNUMERIC>"}, ""},
		{"array with NULL", table.Growth{}, column("c", elements(change.Int64(1), change.Null())), []string{"ADD COLUMN `c` JSON"}, ""},
		{"array of arrays", table.Growth{}, column("c", elements(elements(change.Int64(1)))), []string{"ADD COLUMN `c` JSON"}, ""},
		{
			"struct",
			table.Growth{},
			column("c", change.Struct([]change.Column{column("a", change.Int64(1)), column("b", change.Null()), column("d", change.Struct([]change.Column{column("e", change.Date(1))}))})),
			[]string{"ADD COLUMN `c` STRUCT<`a` INT64, `d` STRUCT<`e` DATE>>"},
			"",
		},
		{"struct of illegal names", table.Growth{}, column("c", change.Struct([]change.Column{column("a.b", change.Int64(1))})), []string{"ADD COLUMN `c` JSON"}, ""},
		{"Debezium's variable decimal", table.Growth{}, column("c", change.Struct([]change.Column{column("scale", change.Int64(1)), column("value", change.Bytes("\x05"))})), []string{"ADD COLUMN `c` NUMERIC"}, ""},
		// Nothing is learned from nothing.
		{"NULL", table.Growth{}, column("c", change.Null()), nil, ""},
		{"empty array", table.Growth{}, column("c", change.Array(nil)), nil, ""},
		{"an object of NULLs", table.Growth{}, column("c", change.Struct([]change.Column{column("a", change.Null())})), nil, ""},
		{"unavailable", table.Growth{}, column("c", change.Unavailable()), nil, ReasonUnavailable},
		{"a date that is none", table.Growth{}, column("c", change.Date(1<<31)), nil, ReasonBadValue},
		// What the message doesn't type.
		{"whole number", table.Growth{}, column("c", change.Number("7")), []string{"ADD COLUMN `c` INT64"}, ""},
		{"number", table.Growth{}, column("c", change.Number("7.25")), []string{"ADD COLUMN `c` NUMERIC"}, ""},
		{"long number", table.Growth{}, column("c", change.Number("12345678901234567890")), []string{"ADD COLUMN `c` NUMERIC"}, ""},
		{"great number", table.Growth{}, column("c", change.Number("1e300")), []string{"ADD COLUMN `c` FLOAT64"}, ""},
		{"JSON string", table.Growth{}, column("c", change.Text("2026-01-01")), []string{"ADD COLUMN `c` STRING"}, ""},
		{"object", table.Growth{}, column("c", change.Raw(`{"a":[1]}`)), []string{"ADD COLUMN `c` JSON"}, ""},
		{"number as text", table.Growth{Untyped: "string"}, column("c", change.Number("7.10")), []string{"ADD COLUMN `c` STRING"}, ""},
		{"object, texts only", table.Growth{Untyped: "string"}, column("c", change.Raw(`[1]`)), []string{"ADD COLUMN `c` JSON"}, ""},
		{"typed, typed only", table.Growth{Untyped: "reject"}, column("c", change.Int64(7)), []string{"ADD COLUMN `c` INT64"}, ""},
		{"number, typed only", table.Growth{Untyped: "reject"}, column("c", change.Number("7")), nil, ReasonUnknownColumn},
		{"object, typed only", table.Growth{Untyped: "reject"}, column("c", change.Raw(`{}`)), nil, ReasonUnknownColumn},
		{
			"configured",
			table.Growth{Untyped: "reject", Configured: []table.Column{{Name: "C", Type: table.Timestamp, From: table.FromMillis, Mode: table.Required}}},
			column("c", change.Number("7")),
			[]string{"ADD COLUMN `c` TIMESTAMP"},
			"",
		},
		// REQUIRED.
		{"NULL in a REQUIRED column", table.Growth{}, column("name", change.Null()), []string{"ALTER COLUMN `name` DROP NOT NULL"}, ""},
		{"NULL in the key", table.Growth{}, column("ID", change.Null()), nil, ReasonAmbiguous},
		// Types that hold more.
		{"INT64 to NUMERIC", table.Growth{}, column("n", change.Decimal("0.5")), []string{"ALTER COLUMN `n` SET DATA TYPE NUMERIC"}, ""},
		{"INT64 to BIGNUMERIC", table.Growth{}, column("n", change.Number("1e-20")), []string{"ALTER COLUMN `n` SET DATA TYPE BIGNUMERIC"}, ""},
		{"NUMERIC(10, 2) to NUMERIC", table.Growth{}, column("price", change.Decimal("0.125")), []string{"ALTER COLUMN `price` SET DATA TYPE NUMERIC"}, ""},
		{"NUMERIC(10, 2) to BIGNUMERIC", table.Growth{}, column("price", change.Decimal("1e-20")), []string{"ALTER COLUMN `price` SET DATA TYPE BIGNUMERIC"}, ""},
		{"STRING(5) to STRING", table.Growth{}, column("name", change.Text("longer than five")), []string{"ALTER COLUMN `name` SET DATA TYPE STRING"}, ""},
		// A column beside.
		{"INT64 and a double", table.Growth{}, column("n", change.Float64(1e300)), []string{"ADD COLUMN `n_float64` FLOAT64"}, ""},
		{"INT64 and a number", table.Growth{}, column("n", change.Number("1e300")), []string{"ADD COLUMN `n_float64` FLOAT64"}, ""},
		{"INT64 and a text", table.Growth{}, column("n", change.String("seven")), []string{"ADD COLUMN `n_string` STRING"}, ""},
		{"BIGNUMERIC and more digits", table.Growth{}, column("amount", change.Decimal("1"+strings.Repeat("0", 50))), []string{"ADD COLUMN `amount_string` STRING"}, ""},
		{"FLOAT64 and an integer", table.Growth{}, column("x", change.Int64(1<<53+1)), []string{"ADD COLUMN `x_int64` INT64"}, ""},
		{"BOOL and an integer", table.Growth{}, column("ok", change.Int64(2)), []string{"ADD COLUMN `ok_int64` INT64"}, ""},
		{"DATE and an instant", table.Growth{}, column("day", change.Timestamp(1)), []string{"ADD COLUMN `day_timestamp` TIMESTAMP"}, ""},
		{"a REQUIRED column", table.Growth{}, column("name", change.Bytes("\xff")), []string{"ADD COLUMN `name_bytes` BYTES", "ALTER COLUMN `name` DROP NOT NULL"}, ""},
		// A bad value.
		{"untyped text in INT64", table.Growth{}, column("n", change.Text("seven")), nil, ReasonBadValue},
		{"a unit that is missing", table.Growth{}, column("at", change.Int64(7)), nil, ReasonBadValue},
		{"a date beyond BigQuery's", table.Growth{}, column("day", change.Date(1<<31)), nil, ReasonBadValue},
		{"an array's element", table.Growth{}, column("tags", elements(change.Decimal("0.5"))), nil, ReasonBadValue},
		{"a key's value", table.Growth{}, column("id2", change.Null()), nil, ""},
		// STRUCTs.
		{
			"new fields",
			table.Growth{},
			column("address", change.Raw(`{"city":"Ulm","zip":"89073","geo":{"lat":1,"lon":9.5},"none":null}`)),
			[]string{
				"ALTER COLUMN `address` SET DATA TYPE STRUCT<`city` STRING NOT NULL, `no` INT64, `geo` STRUCT<`lat` FLOAT64>, `zip` STRING>",
				"ALTER COLUMN `address` SET DATA TYPE STRUCT<`city` STRING NOT NULL, `no` INT64, `geo` STRUCT<`lat` FLOAT64, `lon` NUMERIC>>",
			},
			"",
		},
		{"a field's NULL", table.Growth{}, column("address", change.Struct([]change.Column{column("city", change.Null())})), []string{"ALTER COLUMN `address` SET DATA TYPE STRUCT<`city` STRING, `no` INT64, `geo` STRUCT<`lat` FLOAT64>>"}, ""},
		{"a field's absence", table.Growth{}, column("address", change.Raw(`{"no":1}`)), []string{"ALTER COLUMN `address` SET DATA TYPE STRUCT<`city` STRING, `no` INT64, `geo` STRUCT<`lat` FLOAT64>>"}, ""},
		{"a field that BigQuery can't have", table.Growth{}, column("address", change.Raw(`{"city":"Ulm","b.c":true}`)), nil, ReasonUnknownColumn},
		{"a field's type", table.Growth{}, column("address", change.Raw(`{"city":"Ulm","no":"4b"}`)), nil, ReasonBadValue},
		{"fields of an array's STRUCTs", table.Growth{}, column("lines", change.Raw(`[{"sku":"a"},{"sku":"b","n":2}]`)), []string{"ALTER COLUMN `lines` SET DATA TYPE ARRAY<STRUCT<`sku` STRING, `n` INT64>>"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			asks, _, err := evolve(t, test.growth, test.column)
			var refused string
			if v := new(ValueError); errors.As(err, &v) {
				refused = v.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if refused != test.refused {
				t.Errorf("refused for %q (%v), want %q", refused, err, test.refused)
			}
			if diff := cmp.Diff(test.want, asks); err == nil && diff != "" {
				t.Errorf("it asks for (-want +got):\n%s", diff)
			}
		})
	}
}

// The value that goes to a column beside leaves NULL behind.
func TestEvolve_beside(t *testing.T) {
	_, row, err := evolve(t, table.Growth{}, change.Column{Name: "n", Value: change.String("seven")})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := change.Find(row, "n")
	beside, _ := change.Find(row, "n_string")
	if !n.IsNull() || beside.Text() != "seven" {
		t.Errorf("row %v", row)
	}
	// The source's own column of that name is not overwritten.
	_, _, err = evolve(t, table.Growth{}, change.Column{Name: "n", Value: change.String("seven")}, change.Column{Name: "N_String", Value: change.String("own")})
	if v := new(ValueError); !errors.As(err, &v) || v.Reason != ReasonBadValue {
		t.Errorf("beside a column of the source's: %v", err)
	}
}

// What BigQuery has refused to widen gets a column beside.
func TestEvolve_impossible(t *testing.T) {
	plan, err := Compile(evolving)
	if err != nil {
		t.Fatal(err)
	}
	row := []change.Column{{Name: "id", Value: change.Int64(1)}, {Name: "name", Value: change.String("n")}, {Name: "n", Value: change.Decimal("0.5")}}
	g := &table.Growth{Untyped: table.UntypedInfer, MaxColumns: 100}
	impossible := make(map[string]bool)
	var got []string
	for range 3 {
		e, err := plan.NewEncoder().Evolve(row, RowOptions{}, g, impossible)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Alterations[0].DDL(evolving.Name, evolving.Columns))
		impossible[e.Alterations[0].Key()] = true
	}
	want := []string{
		"ALTER TABLE `p.d.t` ALTER COLUMN `n` SET DATA TYPE NUMERIC;",
		"ALTER TABLE `p.d.t` ALTER COLUMN `n` SET DATA TYPE BIGNUMERIC;",
		"ALTER TABLE `p.d.t` ADD COLUMN `n_numeric` NUMERIC OPTIONS (description = \"What column n can't hold, by beamcdc.\");",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever a row holds, it is refused for a reason, or what it asks for lets it in and
// is all that it asks for.
func TestEvolve_lets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SampledFrom([]string{"n", "price", "x", "ok", "name", "day", "doc", "tags", "address", "lines", "new", "Other", "_TABLE_x", "a;b"})
		row := []change.Column{{Name: "id", Value: change.Int64(1)}}
		seen := map[string]bool{}
		for range rapid.IntRange(0, 6).Draw(rt, "columns") {
			name := names.Draw(rt, "name")
			if !seen[name] {
				row = append(row, change.Column{Name: table.LegalName(name), Value: drawAny(rt, 0)})
			}
			seen[name] = true
		}
		plan, err := Compile(evolving)
		if err != nil {
			rt.Fatal(err)
		}
		g := &table.Growth{Untyped: rapid.SampledFrom([]string{"infer", "string", "reject"}).Draw(rt, "untyped"), MaxColumns: 100}
		e, err := plan.NewEncoder().Evolve(row, RowOptions{}, g, nil)
		if v := new(ValueError); errors.As(err, &v) {
			return
		}
		altered := *evolving
		altered.Columns = table.Altered(evolving.Columns, e.Alterations)
		if problems := table.Problems(&altered); len(problems) > 0 {
			rt.Fatalf("it asks for a table that BigQuery doesn't take: %v", problems)
		}
		if plan, err = Compile(&altered); err != nil {
			rt.Fatal(err)
		}
		if _, err := plan.AppendUpsert(nil, e.Row, change.NewSequence(1), RowOptions{NullUnknown: true}); err != nil {
			rt.Fatalf("after %v it is refused: %v", e.Alterations, err)
		}
	})
}

func drawAny(t *rapid.T, depth int) change.Value {
	last := 20
	if depth > 2 {
		last = 17
	}
	switch rapid.IntRange(0, last).Draw(t, "kind") {
	case 0:
		return change.Null()
	case 1:
		return change.Bool(true)
	case 2:
		return change.Int64(rapid.Int64().Draw(t, "int"))
	case 3:
		return change.Uint64(rapid.Uint64().Draw(t, "uint"))
	case 4:
		return change.Float64(rapid.Float64().Draw(t, "float"))
	case 5, 6:
		return change.Decimal(fmt.Sprintf("%de%d", rapid.Int64().Draw(t, "digits"), rapid.IntRange(-40, 40).Draw(t, "exponent")))
	case 7:
		return change.String(rapid.String().Draw(t, "text"))
	case 8:
		return change.Bytes("\xff\x00")
	case 9:
		return change.Date(rapid.Int64Range(-1e6, 4e6).Draw(t, "days"))
	case 10:
		return change.Time(rapid.Int64Range(-1, 86_400_000_000).Draw(t, "time"))
	case 11:
		return change.DateTime(1)
	case 12:
		return change.Timestamp(1)
	case 13:
		return change.JSON(`{"a":1}`)
	case 14:
		return change.Number(rapid.SampledFrom([]string{"1", "-2.5", "1e300", "0.0000000000001"}).Draw(t, "number"))
	case 15:
		return change.Text(rapid.String().Draw(t, "text"))
	case 16:
		return change.Raw(rapid.SampledFrom([]string{`{}`, `[]`, `{"city":"x","sku":1,"zip":null}`, `[{"sku":"a","q":[1,null]}]`, `{"city":null,"geo":{"alt":2}}`}).Draw(t, "document"))
	case 17:
		return change.Interval("0-0 1 0:0:0")
	default:
		var elems []change.Column
		isArray := rapid.Bool().Draw(t, "array")
		for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
			name := ""
			if !isArray {
				name = rapid.SampledFrom([]string{"city", "no", "geo", "sku", "a", "b.c"}).Draw(t, "field") + strings.Repeat("x", i)
			}
			elems = append(elems, change.Column{Name: name, Value: drawAny(t, depth+1)})
		}
		if isArray {
			return change.Array(elems)
		}
		return change.Struct(elems)
	}
}
