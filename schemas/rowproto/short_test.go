package rowproto

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// What is read the short way is what the long way reads, which takes everything.

func TestProperty_shortFloat(t *testing.T) {
	plan := planOf(t, table.Column{Type: table.Float64})
	e, f := plan.NewEncoder(), &plan.root.fields[1]
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,9}\.?[0-9]{0,9}`).Draw(t, "text")
		x, ok := shortFloat(text)
		d, isDecimal := parseDecimal(text)
		if want := isDecimal && d.digits > 0 && len(text) <= 15; want && !ok {
			t.Fatalf("%q is not read", text)
		}
		if !ok {
			return
		}
		nearest, err := strconv.ParseFloat(text, 64)
		if err != nil || x != nearest {
			t.Fatalf("%q is read as %v, and is %v, %v", text, x, nearest, err)
		}
		if same, err := e.sameDigits(f, &d); err != nil || x != same {
			t.Fatalf("%q is read as %v; the double with its digits is %v, %v", text, x, same, err)
		}
	})
}

func TestProperty_shortDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := table.Column{Type: rapid.SampledFrom([]table.Type{table.Numeric, table.BigNumeric}).Draw(t, "type")}
		if rapid.Bool().Draw(t, "parameters") {
			column.Precision = rapid.Int64Range(1, 10).Draw(t, "precision")
			column.Scale = rapid.Int64Range(0, column.Precision).Draw(t, "scale")
		}
		f := &planOf(t, column).root.fields[1]
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,9}|[0-9]{28,40}|[0-9]*)(\.([0-9]{0,6}|[0-9]{8,10}|[0-9]{37,39}|0*))?`).Draw(t, "text")
		short, ok := shortDecimal(text, &f.limits)
		d, isDecimal := parseDecimal(text)
		held := isDecimal && d.fraction() <= f.limits.fraction && f.limits.holds(&d)
		plain := ""
		if held {
			plain = string(d.appendPlain(nil))
		}
		if ok && short != plain {
			t.Fatalf("%q is written as %q, and is %q (%v)", text, short, plain, held)
		}
		if !ok && held && len(plain) < 9 && strings.HasPrefix(text, plain) && plain != "0" && column.Precision == 0 {
			t.Fatalf("%q is not read", text)
		}
	})
}

func TestProperty_shortUnscaled(t *testing.T) {
	column := table.Column{Type: table.Numeric, From: table.FromDecimal}
	rapid.Check(t, func(t *rapid.T) {
		column := column
		column.FromScale = rapid.Int64Range(-2, 12).Draw(t, "scale")
		plan := planOf(t, column)
		e, f := plan.NewEncoder(), &plan.root.fields[1]
		raw := rapid.SliceOfN(rapid.Byte(), 1, 7).Draw(t, "bytes")
		text := base64.StdEncoding.EncodeToString(raw)
		if rapid.Bool().Draw(t, "whatever") {
			text = rapid.StringOfN(rapid.RuneFrom([]rune("AQg/_+-=\n8z")), 0, 9, -1).Draw(t, "text")
		}
		n, ok := shortUnscaled(text)
		d, isDecimal := e.base64Decimal(text, column.FromScale)
		if ok && !isDecimal {
			t.Fatalf("%q is read, and is no decimal", text)
		}
		if decoded, err := base64.StdEncoding.Strict().DecodeString(text); isDecimal && !ok && err == nil && len(decoded) <= 6 {
			t.Fatalf("%q is not read", text)
		}
		if !ok {
			return
		}
		short, ok := appendScaled(nil, n, column.FromScale, &f.limits)
		if !ok {
			return
		}
		if d.fraction() > f.limits.fraction || !f.limits.holds(&d) {
			t.Fatalf("%q is written as %q, which the column can't hold", text, short)
		}
		if long := closeLength(d.appendPlain(openLength(nil)), 0); string(long) != string(short) {
			t.Fatalf("%q of scale %d is written as %q, and is %q", text, column.FromScale, short, long)
		}
	})
}

// planOf is of a table with a key and the column.
func planOf(t interface{ Fatal(...any) }, c table.Column) *Plan {
	c.Name = "v"
	plan, err := Compile(&table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: "t"}, PrimaryKey: []string{"id"},
		Columns: []table.Column{{Name: "id", Type: table.Int64}, c},
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// BenchmarkValues is what one value of a kind costs.
func BenchmarkValues(b *testing.B) {
	for name, c := range map[string]struct {
		column table.Column
		value  change.Value
	}{
		"integer":         {table.Column{Type: table.Int64}, change.Number("4711")},
		"float":           {table.Column{Type: table.Float64}, change.Number("12.125")},
		"float, exponent": {table.Column{Type: table.Float64}, change.Number("1.25e-7")},
		"base64":          {table.Column{Type: table.Numeric, From: table.FromDecimal, FromScale: 2}, change.Text("MDk=")},
		"decimal":         {table.Column{Type: table.Numeric}, change.Decimal("123.45")},
		"timestamp":       {table.Column{Type: table.Timestamp, From: table.FromMicros}, change.Number("1741507626005004")},
		"timestamp, text": {table.Column{Type: table.Timestamp}, change.Text("2025-03-09T08:07:06.005004Z")},
		"datetime":        {table.Column{Type: table.DateTime, From: table.FromMicros}, change.Number("1741507626005004")},
		"date":            {table.Column{Type: table.Date}, change.Number("20000")},
		"string":          {table.Column{Type: table.String}, change.Text("leave it at the door and ring twice; ")},
		"bool":            {table.Column{Type: table.Bool}, change.Bool(true)},
	} {
		b.Run(name, func(b *testing.B) {
			plan := planOf(b, c.column)
			e, f := plan.NewEncoder(), &plan.root.fields[1]
			var row []byte
			for b.Loop() {
				var err *ValueError
				if row, err = e.appendField(row[:0], f, &c.value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
