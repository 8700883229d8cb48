package rowproto

import (
	"math"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestString(t *testing.T) {
	plain := table.Column{Type: table.String}
	three := table.Column{Type: table.String, MaxLength: 3}
	from := func(f table.From, scale int64) table.Column {
		return table.Column{Type: table.String, From: f, FromScale: scale}
	}
	runCases(t, []valueCase{
		{name: "text", column: plain, value: change.Text("grün\n\"x\""), want: "grün\n\"x\""},
		{name: "empty is not NULL", column: plain, value: change.Text(""), want: ""},
		{name: "NULL", column: plain, value: change.Null()},
		{name: "a NUL character", column: plain, value: change.String("a\x00b"), want: "a\x00b"},
		{name: "number is its literal", column: plain, value: change.Number("1.50e+3"), want: "1.50e+3"},
		{name: "long number", column: plain, value: change.Number("9007199254740993.000"), want: "9007199254740993.000"},
		{name: "true", column: plain, value: change.Bool(true), want: "true"},
		{name: "false", column: plain, value: change.Bool(false), want: "false"},
		{name: "array or object is its text", column: plain, value: change.Raw(`{"b": 1.0, "a":[ ]}`), want: `{"b": 1.0, "a":[ ]}`},
		{name: "document", column: plain, value: change.JSON(`"x"`), want: `"x"`},
		{name: "decimal", column: plain, value: change.Decimal("-12.50"), want: "-12.50"},
		{name: "integer", column: plain, value: change.Int64(math.MinInt64), want: "-9223372036854775808"},
		{name: "unsigned", column: plain, value: change.Uint64(math.MaxUint64), want: "18446744073709551615"},
		{name: "float", column: plain, value: change.Float64(0.1), want: "0.1"},
		{name: "large float", column: plain, value: change.Float64(1e300), want: "1e+300"},
		{name: "NaN", column: plain, value: change.Float64(math.NaN()), want: "NaN"},
		{name: "date", column: plain, value: change.Date(-1), want: "1969-12-31"},
		{name: "time", column: plain, value: change.Time(29226005004), want: "08:07:06.005004"},
		{name: "datetime", column: plain, value: change.DateTime(-1), want: "1969-12-31T23:59:59.999999"},
		{name: "timestamp", column: plain, value: change.Timestamp(1741507626000000), want: "2025-03-09T08:07:06Z"},
		badCase("date beyond", plain, change.Date(2932897), "between 0001-01-01"),
		{name: "interval", column: plain, value: change.Interval("1-2 3 4:5:6"), want: "1-2 3 4:5:6"},
		{name: "array", column: plain, value: change.Array([]change.Column{
			{Value: change.String("a\"")},
			{Value: change.Null()},
			{Value: change.Decimal("1.50")},
			{Value: change.Bytes("\xDE\xAD")},
			{Value: change.Date(0)},
			{Value: change.Float64(math.Inf(1))},
			{Value: change.Decimal("NaN")},
		}), want: `["a\"",null,1.50,"3q0=","1970-01-01","Infinity","NaN"]`},
		{name: "struct", column: plain, value: change.Struct([]change.Column{
			{Name: "a b", Value: change.Int64(1)}, {Name: "c", Value: change.Struct(nil)}, {Name: "d", Value: change.Raw("[1, 2]")},
		}), want: `{"a b":1,"c":{},"d":[1, 2]}`},
		{name: "unavailable in an array", column: plain, value: change.Array([]change.Column{{Value: change.Unavailable()}}), reason: ReasonUnavailable, at: "c[0]"},
		badCase("not UTF-8", plain, change.String("a\xFF"), "not UTF-8"),
		badCase("half of a pair", plain, change.Text("\xED\xA0\x80"), "not UTF-8"),
		badCase("bytes", plain, change.Bytes("abc"), "`from: text`"),

		{name: "three characters", column: three, value: change.Text("äöü"), want: "äöü"},
		badCase("four characters", three, change.Text("äöüß"), "more than 3 characters"),
		badCase("number of four digits", three, change.Number("1234"), "more than 3 characters"),
		badCase("no text is cut", table.Column{Type: table.String, MaxLength: 3, BadValues: table.PolicyClamp}, change.Text("äöüß"), "more than 3 characters"),
		{name: "NULL instead of four characters", column: table.Column{Type: table.String, MaxLength: 3, BadValues: table.PolicyNull}, value: change.Text("äöüß"), adjusted: 1},

		{name: "from text", column: from(table.FromText, 0), value: change.Text("MDk="), want: "MDk="},
		{name: "bytes from text", column: from(table.FromText, 0), value: change.Bytes("abc"), want: "abc"},
		badCase("bytes from no text", from(table.FromText, 0), change.Bytes("\xFF"), "not UTF-8"),
		{name: "bytes by policy", column: table.Column{Type: table.String, BadValues: table.PolicyString}, value: change.Bytes("\xFF\x00"), want: "/wA=", adjusted: 1},
		{name: "from base64", column: from(table.FromBase64, 0), value: change.Text("Z3LDvG4="), want: "grün"},
		badCase("from base64 that is none", from(table.FromBase64, 0), change.Text("grün"), "no base64"),
		badCase("from base64 of no text", from(table.FromBase64, 0), change.Text("/w=="), "not UTF-8"),
		{name: "from hex", column: from(table.FromHex, 0), value: change.Text("6162"), want: "ab"},
		badCase("from hex that is none", from(table.FromHex, 0), change.Text("616"), "hexadecimal"),
		{name: "from decimal", column: from(table.FromDecimal, 2), value: change.Text("z8c="), want: "-123.45"},
		{name: "from decimal that is a text", column: from(table.FromDecimal, 2), value: change.Text("12.50"), want: "12.50"},
		{name: "from decimal of scale and value", column: from(table.FromDecimal, 0), value: change.Raw(`{"scale":4,"value":"D09R"}`), want: "100.3345"},
		{name: "from decimal of negative scale", column: from(table.FromDecimal, -2), value: change.Text("BOI="), want: "125000"},
		{name: "from decimal, typed scale and value", column: from(table.FromDecimal, 0), value: change.Struct([]change.Column{{Name: "scale", Value: change.Int64(-2)}, {Name: "value", Value: change.Bytes("\x04\xE2")}}), want: "125000"},
		badCase("from decimal of another object", from(table.FromDecimal, 0), change.Raw(`{"scale":4}`), "scale and value"),
		badCase("from decimal with a far scale in the message", from(table.FromDecimal, 0), change.Raw(`{"scale":1000000,"value":"D09R"}`), "scale"),
		badCase("from decimal with a far scale", from(table.FromDecimal, 1<<40), change.Text("z8c="), "scale"),
		{name: "from unsigned", column: from(table.FromUnsigned, 0), value: change.Number("-1"), want: "18446744073709551615"},
		{name: "from unsigned, typed", column: from(table.FromUnsigned, 0), value: change.Int64(-2), want: "18446744073709551614"},
		{name: "from unsigned, text", column: from(table.FromUnsigned, 0), value: change.Text("-1"), want: "18446744073709551615"},
		{name: "from unsigned that didn't wrap", column: from(table.FromUnsigned, 0), value: change.Number("7"), want: "7"},
	})
}

func TestBytes(t *testing.T) {
	plain := table.Column{Type: table.Bytes}
	from := func(f table.From) table.Column { return table.Column{Type: table.Bytes, From: f} }
	two := table.Column{Type: table.Bytes, MaxLength: 2}
	runCases(t, []valueCase{
		{name: "typed", column: plain, value: change.Bytes("\xDE\xAD\xBE\xEF"), want: []byte{0xDE, 0xAD, 0xBE, 0xEF}},
		{name: "empty is not NULL", column: plain, value: change.Bytes(""), want: []byte{}},
		{name: "NULL", column: plain, value: change.Null()},
		{name: "untyped text is base64", column: plain, value: change.Text("3q2+7w=="), want: []byte{0xDE, 0xAD, 0xBE, 0xEF}},
		{name: "base64 of the URL alphabet", column: plain, value: change.Text("3q2-7w=="), want: []byte{0xDE, 0xAD, 0xBE, 0xEF}},
		{name: "empty base64", column: plain, value: change.Text(""), want: []byte{}},
		badCase("both alphabets", plain, change.Text("+_-/"), "no base64"),
		badCase("no padding", plain, change.Text("3q2+7w"), "no base64"),
		badCase("stray bits", plain, change.Text("3q2+7x=="), "no base64"),
		badCase("line break", plain, change.Text("3q2+\n7w=="), "no base64"),
		badCase("hexadecimal", plain, change.Text("0xdeadbeef"), "`from: hex`"),
		badCase("text that is typed", plain, change.String("3q2+7w=="), "`from: base64`"),
		badCase("number", plain, change.Number("1"), "takes no JSON number"),
		{name: "from base64, typed text", column: from(table.FromBase64), value: change.String("3q2+7w=="), want: []byte{0xDE, 0xAD, 0xBE, 0xEF}},
		{name: "from hex", column: from(table.FromHex), value: change.Text("deadBEEF"), want: []byte{0xDE, 0xAD, 0xBE, 0xEF}},
		{name: "from hex after 0x", column: from(table.FromHex), value: change.Text("0xdead"), want: []byte{0xDE, 0xAD}},
		{name: "from hex after a backslash", column: from(table.FromHex), value: change.Text(`\xdead`), want: []byte{0xDE, 0xAD}},
		badCase("from hex, odd", from(table.FromHex), change.Text("dea"), "hexadecimal"),
		{name: "from text", column: from(table.FromText), value: change.Text("ab="), want: []byte("ab=")},
		{name: "from text changes no bytes", column: from(table.FromHex), value: change.Bytes("ab"), want: []byte("ab")},
		{name: "two bytes", column: two, value: change.Text("AAE="), want: []byte{0, 1}},
		badCase("three bytes", two, change.Text("AAEC"), "more than 2 bytes"),
		badCase("no bytes are cut", table.Column{Type: table.Bytes, MaxLength: 2, BadValues: table.PolicyClamp}, change.Text("AAEC"), "more than 2 bytes"),
		{name: "longer than a length of one byte", column: plain, value: change.Bytes(string(make([]byte, 300))), want: make([]byte, 300)},
		{name: "longer than a length of two bytes", column: plain, value: change.Bytes(string(make([]byte, 20000))), want: make([]byte, 20000)},
	})
}
