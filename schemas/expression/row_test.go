package expression_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/expression"
	"beamcdc/schemas/table"
)

var scope = expression.Scope{
	Row: []expression.Field{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "total", Type: table.Numeric},
		{Name: "ratio", Type: table.Float64},
		{Name: "name", Type: table.String},
		{Name: "day", Type: table.Date},
		{Name: "at", Type: table.Timestamp},
		{Name: "local", Type: table.DateTime},
		{Name: "hour", Type: table.Time},
		{Name: "ok", Type: table.Bool},
		{Name: "raw", Type: table.Bytes},
		{Name: "doc", Type: table.JSON},
		{Name: "tags", Type: table.String, Mode: table.Repeated},
		{Name: "none", Type: table.Int64},
		{Name: "no_total", Type: table.Numeric},
		{Name: "no_tags", Type: table.String, Mode: table.Repeated},
		{Name: "gone", Type: table.String},
		{Name: "untyped"},
		{Name: "price"},
		{Name: "bad", Type: table.Int64},
		{Name: "a column", Type: table.Int64},
	},
	Before: []expression.Field{{Name: "total", Type: table.Numeric}, {Name: "name", Type: table.String}},
}

// columns are values by name, for the names that an expression uses.
type columns struct {
	names  []string
	values map[string]change.Value
}

func (c columns) Column(i int) (change.Value, error) {
	v, ok := c.values[strings.ToLower(c.names[i])]
	if !ok {
		return change.Unavailable(), nil
	}
	if c.names[i] == "bad" {
		return v, errors.New("it is no INT64")
	}
	return v, nil
}

func input(r *expression.Row) *expression.Input {
	return &expression.Input{
		Event: event(), Sequence: change.NewSequence(1, 0xAB),
		Row: columns{r.Columns(), map[string]change.Value{
			"id": change.Int64(7), "total": change.Decimal("19.9"), "ratio": change.Float64(0.5), "name": change.String("Ann"),
			"day": change.Date(20_521), "at": change.Timestamp(1_773_048_507_903_734), "local": change.DateTime(1_500_000), "hour": change.Time(3_600_000_001),
			"ok": change.Bool(true), "raw": change.Bytes("\x00\x01"), "doc": change.JSON(`{"n": 12.50, "list": [1, 2]}`),
			"tags": change.Array([]change.Column{{Value: change.String("x")}}), "none": change.Null(), "no_total": change.Null(), "no_tags": change.Null(),
			"untyped": change.Text("s3cret"), "price": change.Number("2.50"), "bad": change.Text("s3cret"), "a column": change.Int64(1),
		}},
		Before: columns{r.Before(), map[string]change.Value{"total": change.Decimal("20")}},
	}
}

func show(v change.Value) string {
	switch v.Kind() {
	case change.KindBool:
		if v.Bool() {
			return "true"
		}
		return "false"
	case change.KindInt64, change.KindTimestamp, change.KindUint64:
		return v.Kind().String() + " " + time.Duration(v.Int()).String()
	case change.KindFloat64:
		return "float " + time.Duration(v.Float()*1e9).String()
	case change.KindArray, change.KindStruct:
		var parts []string
		for _, c := range v.Elems() {
			parts = append(parts, c.Name+show(c.Value))
		}
		return v.Kind().String() + "(" + strings.Join(parts, " ") + ")"
	default:
		return v.Kind().String() + " " + v.Text()
	}
}

func TestRow(t *testing.T) {
	for text, want := range map[string]string{
		// Decimals are exact, whatever is on the right.
		`row.total * decimal("1.19")`:             "decimal 23.681",
		`row.total * 3 + 1u`:                      "decimal 60.7",
		`row.total - before.total`:                "decimal -0.1",
		`-row.total`:                              "decimal -19.9",
		`row.total > 19 && row.total >= 19u`:      "true",
		`row.total == decimal("19.90")`:           "true",
		`decimal("1e3") == decimal(1000)`:         "true",
		`decimal(0.1)`:                            "✗ no matching overload",
		`row.total * 1.19`:                        "✗ applied to '(decimal, double)'; beside a decimal, 1.19 is written decimal(\"1.19\")",
		`total > 1`:                               "✗ undeclared reference to 'total'; the row's column is row.total",
		`row.total + row.ratio`:                   "✗ no matching overload",
		`row.id * 1.5`:                            "✗ no matching overload",
		`round(row.total * decimal("0.333"), 2)`:  "decimal 6.63",
		`round(decimal("-2.5"), 0)`:               "decimal -3",
		`divide(row.total, 3, 2)`:                 "decimal 6.63",
		`divide(-1, 2, 0)`:                        "decimal -1",
		`divide(1, 0, 2)`:                         "✗ division by zero",
		`string(row.total) + "€"`:                 "string 19.9€",
		`int(row.total * 10)`:                     "int64 199ns",
		`int(row.total)`:                          "✗ the decimal is no whole number",
		`double(row.total) > 19.8`:                "true",
		`decimal(row.untyped)`:                    "✗ the text is no decimal number",
		`row.price * 2`:                           "decimal 5",
		`row.doc.n + 1`:                           "decimal 13.5",
		`row.doc.list[1] + 1`:                     "int64 3ns",
		`decimal("1e999") * decimal("1e999")`:     "✗ more digits than can be calculated with",
		`row.id + 9223372036854775807`:            "✗ integer overflow",
		`row.none == null ? 1 : row.none`:         "int64 1ns",
		`row.none + 1`:                            "✗ no such overload",
		`row.no_total == null ? dyn(0) : row.id`:  "int64 0s",
		`null`:                                    "null ",
		`size(row.no_tags)`:                       "int64 0s",
		`row.tags + ["y"]`:                        "array(string x string y)",
		`{"b": row.id, "a": row.total}`:           "struct(adecimal 19.9 bint64 7ns)",
		`row.day + "!"`:                           "string 2026-03-09!",
		`row.day < "2026-12-01"`:                  "true",
		`row.local`:                               "string 1970-01-01T00:00:01.500000",
		`row.hour`:                                "string 01:00:00.000001",
		`row.at + duration("1s")`:                 "timestamp " + time.Duration(1_773_048_508_903_734).String(),
		`row.at.getFullYear()`:                    "int64 2.026µs",
		`row.name.lowerAscii()`:                   "string ann",
		`row.NAME`:                                "string Ann",
		"row.`a column`":                          "int64 1ns",
		`row.raw`:                                 "bytes \x00\x01",
		`row.ok ? "y" : "n"`:                      "string y",
		`has(row.gone) || !has(row.name)`:         "false",
		`row.gone`:                                "✗ column gone: the source left it out",
		`before.name`:                             "✗ column name: the source left it out",
		`row.bad`:                                 "✗ column bad: it is no INT64",
		`row.unknown`:                             "✗ undefined field 'unknown'",
		`sequence + " " + op + " " + table`:       "string 1/AB update public.orders",
		`commit_time > publish_time`:              "false",
		`data.v + part`:                           "int64 43ns",
		`row`:                                     "✗ ",
		`duration("1s")`:                          "✗ which no column holds",
		`{1: 2}`:                                  "✗ a map whose keys are not strings",
		`row.untyped == "x" ? 1 : size(row.name)`: "int64 3ns",
	} {
		r, err := expression.CompileRow(text, &scope)
		var v change.Value
		if err == nil {
			v, err = r.Eval(input(r), expression.Field{Name: "c"})
		}
		got := show(v)
		if err != nil {
			got = "✗ " + err.Error()
		}
		if got != want && (!strings.HasPrefix(want, "✗") || !strings.Contains(got, strings.TrimPrefix(want, "✗ ")) || err == nil) {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
		if strings.Contains(got, "s3cret") {
			t.Errorf("%s shows a value: %s", text, got)
		}
	}
}

// TestRow_Check: what an expression gives must be what the column holds, at the start.
func TestRow_Check(t *testing.T) {
	for _, c := range []struct{ text, column, want string }{
		{`row.id`, "INT64", ""},
		{`row.id`, "NUMERIC", ""},
		{`row.id`, "FLOAT64", "the expression gives a int, and column c is FLOAT64; double(…) makes the nearest one"},
		{`row.id`, "STRING", "string(…) makes a text"},
		{`row.total`, "INT64", "int(…) takes a whole one"},
		{`row.total`, "BIGNUMERIC", ""},
		{`row.ratio`, "NUMERIC", "gives a double, and column c is NUMERIC"},
		{`row.ratio`, "FLOAT64", ""},
		{`row.name`, "DATE", ""},
		{`row.name`, "INT64", "gives a string"},
		{`row.ok`, "BOOL", ""},
		{`row.ok`, "STRING", "gives a bool"},
		{`row.at`, "TIMESTAMP", ""},
		{`row.tags`, "STRING", "gives a list"},
		{`null`, "INT64", ""},
		{`row.doc`, "INT64", ""},
		{`duration("1s")`, "INTERVAL", "gives a duration"},
		{`duration("1s")`, "", "gives a duration"},
	} {
		r, err := expression.CompileRow(c.text, &scope)
		if err != nil {
			t.Fatal(err)
		}
		err = r.Check(expression.Field{Name: "c", Type: table.Type(c.column)})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.text, c.column, err, c.want)
		}
	}
	r, err := expression.CompileRow("row.doc", &scope)
	if err != nil {
		t.Fatal(err)
	}
	in := input(r)
	in.Row = columns{r.Columns(), map[string]change.Value{"doc": change.Float64(1)}}
	if _, err := r.Eval(in, expression.Field{Name: "c", Type: table.Int64}); err == nil || !strings.Contains(err.Error(), "gives a double") {
		t.Errorf("a double for an INT64 that only shows in the run: %v", err)
	}
}

func TestRow_Holds(t *testing.T) {
	for text, want := range map[string]string{
		`row.total > 10`:       "true",
		`row.name == "Bob"`:    "false",
		`row.no_total == null`: "true",
		`row.untyped`:          "a condition is true or false",
		`row.none > 1`:         "no such overload",
	} {
		r, err := expression.CompileRow(text, &scope)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.CheckCondition(); err != nil {
			t.Error(err)
		}
		holds, err := r.Holds(input(r))
		if got := map[bool]string{true: "true", false: "false"}[holds]; err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", text, holds, err)
		}
	}
	r, err := expression.CompileRow("row.name", &scope)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.CheckCondition(); err == nil {
		t.Error("a text is taken for a condition")
	}
}

// TestCompileRow_open: where columns are not all known, any may be named.
func TestCompileRow_open(t *testing.T) {
	r, err := expression.CompileRow("row.anything > 1 && row.id == 7", &expression.Scope{Row: scope.Row, Open: true})
	if err != nil {
		t.Fatal(err)
	}
	in := input(r)
	in.Row = columns{r.Columns(), map[string]change.Value{"anything": change.Number("2"), "id": change.Int64(7)}}
	if holds, err := r.Holds(in); err != nil || !holds {
		t.Errorf("%v, %v", holds, err)
	}
}

// FuzzCompileRow: no text makes the compiler or an evaluation panic, and no error
// of an evaluation shows what the row holds.
func FuzzCompileRow(f *testing.F) {
	for _, text := range []string{`row.total * decimal("1.19")`, `row.untyped + before.name`, `row.tags.map(x, x + "1")`, `decimal("1e9")`, `{"a": row.doc}`, "`"} {
		f.Add(text, "12.50")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if len(text) > 500 {
			return
		}
		r, err := expression.CompileRow(text, &scope)
		if err != nil {
			return
		}
		in := input(r)
		in.Row.(columns).values["price"] = change.Number(value)
		if _, err := r.Eval(in, expression.Field{Name: "c"}); err != nil && strings.Contains(err.Error(), "s3cret") && !strings.Contains(text, "s3cret") {
			t.Errorf("the error shows a value: %v", err)
		}
	})
}

func BenchmarkRow(b *testing.B) {
	for name, text := range map[string]string{"set": `row.total * decimal("1.19")`, "where": `row.name != "draft"`} {
		b.Run(name, func(b *testing.B) {
			r, err := expression.CompileRow(text, &scope)
			if err != nil {
				b.Fatal(err)
			}
			in := input(r)
			for b.Loop() {
				if _, err := r.Eval(in, expression.Field{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
