package rowproto

import (
	"math"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestInt64(t *testing.T) {
	plain := table.Column{Type: table.Int64}
	unsigned := table.Column{Type: table.Int64, From: table.FromUnsigned}
	clamp := table.Column{Type: table.Int64, BadValues: table.PolicyClamp}
	runCases(t, []valueCase{
		{name: "beyond 2^53", column: plain, value: change.Number("9007199254740993"), want: int64(9007199254740993)},
		{name: "17 digits", column: plain, value: change.Number("20000000003333333"), want: int64(20000000003333333)},
		{name: "least", column: plain, value: change.Number("-9223372036854775808"), want: int64(math.MinInt64)},
		{name: "greatest", column: plain, value: change.Number("9223372036854775807"), want: int64(math.MaxInt64)},
		badCase("one more", plain, change.Number("9223372036854775808"), "range"),
		badCase("one less", plain, change.Number("-9223372036854775809"), "range"),
		badCase("2^64", plain, change.Number("18446744073709551616"), "range"),
		{name: "zero", column: plain, value: change.Number("0"), want: int64(0)},
		{name: "negative zero", column: plain, value: change.Number("-0"), want: int64(0)},
		{name: "whole with a fraction", column: plain, value: change.Number("1.0"), want: int64(1)},
		{name: "whole with an exponent", column: plain, value: change.Number("1e3"), want: int64(1000)},
		{name: "whole by its exponent", column: plain, value: change.Number("12.50e1"), want: int64(125)},
		{name: "greatest with an exponent", column: plain, value: change.Number("9.223372036854775807E+18"), want: int64(math.MaxInt64)},
		badCase("fraction", plain, change.Number("1.5"), "not whole"),
		badCase("small fraction", plain, change.Number("1e-1"), "not whole"),
		badCase("huge exponent", plain, change.Number("1e1000000000"), "range"),
		badCase("huge negative exponent", plain, change.Number("1e-1000000000"), "not whole"),
		{name: "zero with a huge exponent", column: plain, value: change.Number("0e1000000000"), want: int64(0)},
		{name: "digits in a text", column: plain, value: change.Text("7001"), want: int64(7001)},
		{name: "plus and zeros in a text", column: plain, value: change.Text("+0007"), want: int64(7)},
		badCase("no digits", plain, change.Text(""), "no decimal number"),
		badCase("blank", plain, change.Text(" 1"), "no decimal number"),
		badCase("hexadecimal", plain, change.Text("0x1F"), "no decimal number"),
		badCase("underscore", plain, change.Text("1_000"), "no decimal number"),
		badCase("word", plain, change.Text("NaN"), "NaN"),
		badCase("infinity", plain, change.Text("-Infinity"), "range"),
		{name: "typed", column: plain, value: change.Int64(math.MinInt64), want: int64(math.MinInt64)},
		{name: "typed unsigned", column: plain, value: change.Uint64(math.MaxInt64), want: int64(math.MaxInt64)},
		badCase("typed unsigned beyond", plain, change.Uint64(math.MaxInt64+1), "range"),
		{name: "typed decimal", column: plain, value: change.Decimal("12.00"), want: int64(12)},
		{name: "typed float that is whole", column: plain, value: change.Float64(1 << 53), want: int64(1 << 53)},
		{name: "typed float whose digits are its value", column: plain, value: change.Float64(1e18), want: int64(1e18)},
		badCase("typed float that is no one integer", plain, change.Float64(1<<60), "2^53"),
		badCase("typed float", plain, change.Float64(0.5), "not whole"),
		badCase("typed NaN", plain, change.Float64(math.NaN()), "NaN"),
		{name: "true", column: plain, value: change.Bool(true), want: int64(1)},
		{name: "false is not NULL", column: plain, value: change.Bool(false), want: int64(0)},
		badCase("date", plain, change.Date(1), "takes no date"),
		badCase("bytes", plain, change.Bytes("1"), "takes no bytes"),
		badCase("array", plain, change.Raw("[1]"), "scale and value"),
		{name: "NULL", column: plain, value: change.Null()},

		badCase("unsigned that wrapped", unsigned, change.Number("-1"), "range"),
		badCase("typed unsigned that wrapped", unsigned, change.Int64(-1), "range"),
		{name: "unsigned that didn't", column: unsigned, value: change.Number("5"), want: int64(5)},

		{name: "clamped up", column: clamp, value: change.Number("-9223372036854775809"), want: int64(math.MinInt64), adjusted: 1},
		{name: "clamped down", column: clamp, value: change.Uint64(math.MaxUint64), want: int64(math.MaxInt64), adjusted: 1},
		{name: "clamped infinity", column: clamp, value: change.Decimal("Infinity"), want: int64(math.MaxInt64), adjusted: 1},
		{name: "clamped half", column: clamp, value: change.Number("-2.5"), want: int64(-3), adjusted: 1},
		{name: "clamped less than half", column: clamp, value: change.Number("0.49"), want: int64(0), adjusted: 1},
		{name: "nothing to clamp", column: clamp, value: change.Number("2.0"), want: int64(2)},
		badCase("nothing nearest", clamp, change.Text("seven"), "no decimal number"),

		{name: "base64", column: table.Column{Type: table.Int64, From: table.FromDecimal}, value: change.Text("MDk="), want: int64(12345)},
	})
}

func TestBool(t *testing.T) {
	plain := table.Column{Type: table.Bool}
	runCases(t, []valueCase{
		{name: "true", column: plain, value: change.Bool(true), want: true},
		{name: "false is not NULL", column: plain, value: change.Bool(false), want: false},
		{name: "NULL", column: plain, value: change.Null()},
		{name: "1", column: plain, value: change.Number("1"), want: true},
		{name: "0", column: plain, value: change.Number("0"), want: false},
		{name: "1.0", column: plain, value: change.Number("1.0"), want: true},
		badCase("2", plain, change.Number("2"), "0 and 1"),
		badCase("10", plain, change.Number("10"), "0 and 1"),
		badCase("0.1", plain, change.Number("0.1"), "0 and 1"),
		badCase("-1", plain, change.Number("-1"), "0 and 1"),
		{name: "typed 1", column: plain, value: change.Int64(1), want: true},
		badCase("typed 2", plain, change.Int64(2), "0 and 1"),
		badCase("typed 2^64-1", plain, change.Uint64(math.MaxUint64), "0 and 1"),
		{name: "text", column: plain, value: change.Text("TRUE"), want: true},
		{name: "digit in a text", column: plain, value: change.Text("0"), want: false},
		{name: "PostgreSQL's text", column: plain, value: change.String("t"), want: true},
		badCase("empty text", plain, change.Text(""), "none of"),
		badCase("yes", plain, change.Text("yes"), "none of"),
		badCase("bits", plain, change.Bytes("\x01"), "takes no bytes"),
	})
}
