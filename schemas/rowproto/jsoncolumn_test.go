package rowproto

import (
	"math"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestJSON(t *testing.T) {
	plain := table.Column{Type: table.JSON}
	text := table.Column{Type: table.JSON, BadValues: table.PolicyString}
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	runCases(t, []valueCase{
		{name: "byte for byte", column: plain, value: change.Text(`{"zz":2.0,"a":9007199254740993,"b": [1e2]}`), want: `{"zz":2.0,"a":9007199254740993,"b": [1e2]}`},
		{name: "typed document", column: plain, value: change.JSON(` {"a" : 1} `), want: ` {"a" : 1} `},
		{name: "object", column: plain, value: change.Raw(`{"b": 1.0}`), want: `{"b": 1.0}`},
		{name: "typed text", column: plain, value: change.String(`["é\n"]`), want: `["é\n"]`},
		{name: "JSON's null is not NULL", column: plain, value: change.Text("null"), want: "null"},
		{name: "NULL", column: plain, value: change.Null()},
		{name: "scalar", column: plain, value: change.Text("3"), want: "3"},
		{name: "string", column: plain, value: change.Text(`"3"`), want: `"3"`},
		{name: "number", column: plain, value: change.Number("1.50"), want: "1.50"},
		{name: "true", column: plain, value: change.Bool(true), want: "true"},
		badCase("no document", plain, change.Text("not json"), "no JSON document"),
		badCase("empty", plain, change.Text(""), "no JSON document"),
		badCase("blank", plain, change.Text(" "), "no JSON document"),
		badCase("two documents", plain, change.Text("1 2"), "no JSON document"),
		badCase("cut short", plain, change.Text(`{"a":`), "no JSON document"),
		badCase("NaN", plain, change.Text("NaN"), "no JSON document"),
		badCase("not UTF-8", plain, change.Text("\"\xFF\""), "no JSON document"),
		badCase("half of a pair", plain, change.Text(`"\ud800"`), "no JSON document"),
		badCase("a name twice", plain, change.Text(`{"a":1,"a":2}`), "drop the second"),
		{name: "2^64-1", column: plain, value: change.Text(`{"v":18446744073709551615}`), want: `{"v":18446744073709551615}`},
		badCase("2^64", plain, change.Text(`{"v":18446744073709551616}`), "64 bits"),
		badCase("2^64, raw", plain, change.Raw(`[18446744073709551616]`), "64 bits"),
		badCase("2^64, typed", plain, change.Decimal("18446744073709551616"), "64 bits"),
		{name: "-2^63", column: plain, value: change.Text("-9223372036854775808"), want: "-9223372036854775808"},
		badCase("-2^63-1", plain, change.Text("-9223372036854775809"), "64 bits"),
		badCase("an integer of 400 digits", plain, change.Number("1"+strings.Repeat("0", 400)), "64 bits"),
		{name: "digits in a string don't count", column: plain, value: change.Text(`["18446744073709551616", "\\\"18446744073709551616"]`), want: `["18446744073709551616", "\\\"18446744073709551616"]`},
		{name: "digits in a name don't count", column: plain, value: change.Text(`{"18446744073709551616":1}`), want: `{"18446744073709551616":1}`},
		{name: "a double's digits", column: plain, value: change.Text("0.30000000000000004"), want: "0.30000000000000004"},
		{name: "a double's zeros", column: plain, value: change.Text("0.10000000000000000000"), want: "0.10000000000000000000"},
		{name: "more digits than a double's", column: plain, value: change.Text("0.1234567890123456789"), want: "0.1234567890123456789"},
		badCase("beyond a double", plain, change.Text("1e400"), "double"),
		{name: "below a double", column: plain, value: change.Text("[1E-400]"), want: "[1E-400]"},
		badCase("typed, more digits than a double's", plain, change.Decimal("0.1234567890123456789"), "more digits"),
		badCase("typed integer beyond 64 bits with a point", plain, change.Decimal("18446744073709551617.5"), "more digits"),
		{name: "typed, a double's digits", column: plain, value: change.Decimal("0.30000000000000004"), want: "0.30000000000000004"},
		{name: "500 deep", column: plain, value: change.Text(nested(500)), want: nested(500)},
		badCase("501 deep", plain, change.Text(nested(501)), "500 deep"),
		badCase("20,000 deep", plain, change.Text(nested(20000)), "JSON document"),

		{name: "typed integer", column: plain, value: change.Int64(math.MinInt64), want: "-9223372036854775808"},
		{name: "typed float", column: plain, value: change.Float64(2.5), want: "2.5"},
		badCase("typed NaN", plain, change.Float64(math.NaN()), "no number"),
		badCase("decimal NaN", plain, change.Decimal("NaN"), "no number"),
		{name: "typed array", column: plain, value: change.Array([]change.Column{{Value: change.String("a")}, {Value: change.Null()}, {Value: change.JSON(`{"x": 1}`)}}), want: `["a",null,{"x": 1}]`},
		{name: "typed struct", column: plain, value: change.Struct([]change.Column{{Name: "a\"", Value: change.Timestamp(0)}, {Name: "b", Value: change.Time(1)}}), want: `{"a\"":"1970-01-01T00:00:00Z","b":"00:00:00.000001"}`},
		badCase("two fields of one name", plain, change.Struct([]change.Column{{Name: "a", Value: change.Int64(1)}, {Name: "a", Value: change.Int64(2)}}), "drop the second"),
		{name: "date", column: plain, value: change.Date(0), want: `"1970-01-01"`},
		{name: "bytes", column: plain, value: change.Bytes("\xFF"), want: `"/w=="`},
		{name: "date beyond, in a struct", column: plain, value: change.Struct([]change.Column{{Name: "d", Value: change.Date(1 << 40)}}), reason: ReasonBadValue, at: "c.d"},

		{name: "text by policy", column: text, value: change.Text("say \"hi\"\n"), want: `"say \"hi\"\n"`, adjusted: 1},
		{name: "number by policy", column: text, value: change.Number("18446744073709551616"), want: `"18446744073709551616"`, adjusted: 1},
		{name: "nothing for the policy", column: text, value: change.Text(`"x"`), want: `"x"`},
		{name: "typed NaN by policy", column: text, value: change.Float64(math.NaN()), want: `"NaN"`, adjusted: 1},
		{name: "typed numbers by policy", column: text, value: change.Array([]change.Column{{Value: change.Decimal("0.1234567890123456789")}, {Value: change.Decimal("-Infinity")}, {Value: change.Int64(1)}}), want: `["0.1234567890123456789","-Infinity",1]`, adjusted: 1},
		{name: "typed and no document even so", column: text, value: change.Struct([]change.Column{{Name: "a", Value: change.Decimal("NaN")}, {Name: "a", Value: change.Null()}}), want: `"{\"a\":\"NaN\",\"a\":null}"`, adjusted: 1},
		{name: "date beyond, whatever the policy", column: text, value: change.Struct([]change.Column{{Name: "d", Value: change.Date(1 << 40)}}), reason: ReasonBadValue, at: "c.d"},
		badCase("no text for the policy", text, change.Text("\xFF"), "no JSON document"),
		{name: "NULL instead", column: table.Column{Type: table.JSON, BadValues: table.PolicyNull}, value: change.Text(""), adjusted: 1},
	})
}
