package rowproto

import (
	"math"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// TestEncoder_Typed: a value has the one form of its column, however it came.
func TestEncoder_Typed(t *testing.T) {
	columns := []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "total", Type: table.Numeric, From: table.FromDecimal, FromScale: 2},
		{Name: "price", Type: table.BigNumeric},
		{Name: "ratio", Type: table.Float64},
		{Name: "name", Type: table.String},
		{Name: "code", Type: table.String, From: table.FromHex},
		{Name: "raw", Type: table.Bytes},
		{Name: "ok", Type: table.Bool},
		{Name: "day", Type: table.Date},
		{Name: "at", Type: table.Timestamp, From: table.FromMillis},
		{Name: "local", Type: table.DateTime},
		{Name: "hour", Type: table.Time},
		{Name: "doc", Type: table.JSON},
		{Name: "span", Type: table.Interval},
		{Name: "tags", Type: table.String, Mode: table.Repeated},
		{Name: "small", Type: table.Numeric, Precision: 3, Scale: 1, BadValues: table.PolicyNull},
		{Name: "near", Type: table.Numeric, Precision: 3, Scale: 1, BadValues: table.PolicyClamp},
	}
	plan, err := Compile(&table.Table{Name: table.Name{Project: "p", Dataset: "d", Table: "t"}, Columns: columns, PrimaryKey: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	e := plan.NewEncoder()
	for _, c := range []struct {
		column string
		value  change.Value
		want   change.Value
	}{
		{"id", change.Number("9007199254740993"), change.Int64(9007199254740993)},
		{"ID", change.Text("-7"), change.Int64(-7)},
		{"total", change.Text("MDk="), change.Decimal("123.45")},
		{"price", change.Number("1.50"), change.Decimal("1.5")},
		{"ratio", change.Number("0.1"), change.Float64(0.1)},
		{"ratio", change.Text("NaN"), change.Float64(math.NaN())},
		{"name", change.Text("x"), change.String("x")},
		{"name", change.Number("1"), change.String("1")},
		{"code", change.Text("6869"), change.String("hi")},
		{"raw", change.Bytes("\x00\xff"), change.Bytes("\x00\xff")},
		{"ok", change.Number("1"), change.Bool(true)},
		{"day", change.Text("1970-01-02"), change.Date(1)},
		{"at", change.Number("1500"), change.Timestamp(1_500_000)},
		{"local", change.Text("1970-01-01 00:00:01"), change.DateTime(1_000_000)},
		{"hour", change.Text("00:00:01.5"), change.Time(1_500_000)},
		{"doc", change.Raw(`{"a": 1}`), change.JSON(`{"a": 1}`)},
		{"span", change.Interval("0-0 1 0:0:0"), change.Interval("0-0 1 0:0:0")},
		{"tags", change.Raw(`["a"]`), change.Raw(`["a"]`)},
		{"small", change.Number("100"), change.Null()},
		{"near", change.Number("100"), change.Decimal("99.9")},
		{"total", change.Null(), change.Null()},
		{"total", change.Unavailable(), change.Unavailable()},
	} {
		got, err := e.Typed(plan.Column(c.column), c.value)
		if err != nil || got.Kind() != c.want.Kind() || got.Text() != c.want.Text() || got.Uint() != c.want.Uint() {
			t.Errorf("%s: %v %q %d, %v", c.column, got.Kind(), got.Text(), got.Int(), err)
		}
	}
	if _, err := e.Typed(plan.Column("day"), change.Text("s3cret")); err == nil {
		t.Error("a text that is no date is taken")
	} else if want := "encoding a row of p.d.t, column day: bad_value: "; err.Error()[:len(want)] != want {
		t.Errorf("error %q", err)
	}
	if plan.Column("nothing") != -1 {
		t.Error("a column that isn't there is found")
	}
}

func TestEncoder_CanonicalText(t *testing.T) {
	plan, err := Compile(&table.Table{Columns: []table.Column{{Name: "id", Type: table.Int64}}, PrimaryKey: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	e := plan.NewEncoder()
	for want, values := range map[string][]change.Value{
		"42":                   {change.Int64(42), change.Uint64(42), change.Number("42"), change.Number("42.0"), change.Number("4.2e1"), change.Decimal("42.00"), change.Float64(42), change.Text("42")},
		"-0.5":                 {change.Decimal("-0.50"), change.Number("-5e-1"), change.Float64(-0.5)},
		"true":                 {change.Bool(true), change.Text("true")},
		"1970-01-02":           {change.Date(1)},
		"1970-01-01T00:00:01Z": {change.Timestamp(1_000_000)},
		"\xff":                 {change.Bytes("\xff")},
		`["a",1]`:              {change.Array([]change.Column{{Value: change.String("a")}, {Value: change.Int64(1)}})},
		`{"a":1}`:              {change.Raw(`{"a":1}`), change.JSON(`{"a":1}`)},
		"1e999999":             {change.Number("1e999999")},
	} {
		for _, v := range values {
			if got, err := e.CanonicalText([]byte("x"), v); err != nil || string(got) != "x"+want {
				t.Errorf("%v %q: %q, %v, want %q", v.Kind(), v.Text(), got, err, want)
			}
		}
	}
	for _, v := range []change.Value{change.Null(), change.Unavailable(), {}} {
		if _, err := e.CanonicalText(nil, v); err == nil {
			t.Errorf("%v has a text", v.Kind())
		}
	}
}
