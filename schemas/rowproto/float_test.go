package rowproto

import (
	"math"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestFloat64(t *testing.T) {
	plain := table.Column{Type: table.Float64}
	clamp := table.Column{Type: table.Float64, BadValues: table.PolicyClamp}
	runCases(t, []valueCase{
		{name: "number", column: plain, value: change.Number("0.1"), want: 0.1},
		{name: "zero is not NULL", column: plain, value: change.Number("0"), want: 0.0},
		{name: "many digits are the nearest", column: plain, value: change.Number("0.1000000000000000055511151231257827"), want: 0.1},
		{name: "least of all", column: plain, value: change.Number("5e-324"), want: 5e-324},
		{name: "greatest", column: plain, value: change.Number("1.7976931348623157e308"), want: math.MaxFloat64},
		badCase("beyond", plain, change.Number("1e309"), "range"),
		badCase("integer beyond", plain, change.Number("1"+strings.Repeat("0", 309)), "range"),
		badCase("long integer beyond", plain, change.Number("1"+strings.Repeat("0", 500)), "range"),
		{name: "integer", column: plain, value: change.Number("9007199254740992"), want: 9007199254740992.0},
		badCase("integer that no double is", plain, change.Number("9007199254740993"), "more digits"),
		{name: "integer as a double's shortest", column: plain, value: change.Number("123456789012345680000"), want: 123456789012345680000.0},
		{name: "typed integer", column: plain, value: change.Int64(-5), want: -5.0},
		badCase("typed integer that no double is", plain, change.Int64(math.MaxInt64), "more digits"),
		badCase("typed unsigned that no double is", plain, change.Uint64(math.MaxUint64), "more digits"),
		{name: "typed decimal", column: plain, value: change.Decimal("12.50"), want: 12.5},
		{name: "typed decimal that a double rounds", column: plain, value: change.Decimal("0.1"), want: 0.1},
		badCase("typed decimal with more digits", plain, change.Decimal("0.12345678901234567890"), "more digits"),
		badCase("typed decimal too small", plain, change.Decimal("1e-400"), "more digits"),
		badCase("typed decimal far too small", plain, change.Decimal("1e-1000000000"), "more digits"),
		{name: "typed", column: plain, value: change.Float64(-0.5), want: -0.5},
		{name: "typed NaN", column: plain, value: change.Float64(math.NaN()), want: math.NaN()},
		{name: "NaN", column: plain, value: change.Text("NaN"), want: math.NaN()},
		{name: "Infinity", column: plain, value: change.Text("Infinity"), want: math.Inf(1)},
		{name: "-Infinity", column: plain, value: change.Text("-Infinity"), want: math.Inf(-1)},
		{name: "-inf", column: plain, value: change.String("-inf"), want: math.Inf(-1)},
		{name: "decimal infinity", column: plain, value: change.Decimal("-Infinity"), want: math.Inf(-1)},
		{name: "number in a text", column: plain, value: change.Text("-1.5e3"), want: -1500.0},
		badCase("hexadecimal", plain, change.Text("0x1p-2"), "no decimal number"),
		badCase("underscore", plain, change.Text("1_0.5"), "no decimal number"),
		badCase("empty", plain, change.Text(""), "no decimal number"),
		badCase("word", plain, change.Text("infinite"), "no decimal number"),
		badCase("true", plain, change.Bool(true), "takes no BOOL"),
		{name: "unsigned that wrapped", column: table.Column{Type: table.Float64, From: table.FromUnsigned}, value: change.Number("-9223372036854775808"), want: 9223372036854775808.0},
		{name: "base64", column: table.Column{Type: table.Float64, From: table.FromDecimal, FromScale: 2}, value: change.Text("MDk="), want: 123.45},
		{name: "clamped", column: clamp, value: change.Number("-1e309"), want: -math.MaxFloat64, adjusted: 1},
		{name: "clamped long integer", column: clamp, value: change.Number("1" + strings.Repeat("0", 500)), want: math.MaxFloat64, adjusted: 1},
		{name: "clamped to the nearest", column: clamp, value: change.Int64(9007199254740993), want: 9007199254740992.0, adjusted: 1},
		{name: "clamped to zero", column: clamp, value: change.Decimal("-1e-500"), want: 0.0, adjusted: 1},
		{name: "clamped digits", column: clamp, value: change.Decimal("0.1" + strings.Repeat("0", 500) + "1"), want: 0.1, adjusted: 1},
		{name: "unscaled value and its scale", column: plain, value: change.Raw(`{"scale":4,"value":"D09R"}`), want: 100.3345},
		{name: "typed with its scale", column: plain, value: change.Struct([]change.Column{{Name: "scale", Value: change.Int64(2)}, {Name: "value", Value: change.Bytes("\x30\x39")}}), want: 123.45},
		badCase("object", plain, change.Raw(`{"value":"D09R"}`), "scale and value"),
		{name: "an infinity needs no clamp", column: clamp, value: change.Text("inf"), want: math.Inf(1)},
		{name: "NULL instead", column: table.Column{Type: table.Float64, BadValues: table.PolicyNull}, value: change.Number("1e309"), adjusted: 1},
	})
}
