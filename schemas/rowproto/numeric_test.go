package rowproto

import (
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestNumeric(t *testing.T) {
	numeric := table.Column{Type: table.Numeric}
	money := table.Column{Type: table.Numeric, Precision: 12, Scale: 2}
	nines := strings.Repeat("9", 29)
	runCases(t, []valueCase{
		{name: "number", column: numeric, value: change.Number("123.45"), want: "123.45"},
		{name: "integer", column: numeric, value: change.Number("1"), want: "1"},
		{name: "zeros that don't count", column: numeric, value: change.Number("12.50"), want: "12.5"},
		{name: "leading zeros", column: numeric, value: change.Text("00012.5"), want: "12.5"},
		{name: "zeros only", column: numeric, value: change.Text("000.000"), want: "0"},
		{name: "negative zero", column: numeric, value: change.Number("-0.00"), want: "0"},
		{name: "exponent", column: numeric, value: change.Number("1.5E+3"), want: "1500"},
		{name: "negative exponent", column: numeric, value: change.Number("15e-3"), want: "0.015"},
		{name: "no digit before the point", column: numeric, value: change.Text(".5"), want: "0.5"},
		{name: "no digit after the point", column: numeric, value: change.Text("5."), want: "5"},
		badCase("point alone", numeric, change.Text("."), "no decimal number"),
		badCase("sign alone", numeric, change.Text("-"), "no decimal number"),
		badCase("exponent alone", numeric, change.Text("1e"), "no decimal number"),
		badCase("two points", numeric, change.Text("1.2.3"), "no decimal number"),
		badCase("comma", numeric, change.Text("1,5"), "no decimal number"),
		{name: "29 and 9 digits", column: numeric, value: change.Number(nines + "." + nines[:9]), want: nines + "." + nines[:9]},
		{name: "negative 29 and 9 digits", column: numeric, value: change.Decimal("-" + nines + "." + nines[:9]), want: "-" + nines + "." + nines[:9]},
		badCase("30 digits", numeric, change.Number("1"+strings.Repeat("0", 29)), "29 digits before"),
		badCase("10 decimals", numeric, change.Number("0.0000000001"), "9 digits after"),
		{name: "9 decimals and a zero", column: numeric, value: change.Number("0.0000000010"), want: "0.000000001"},
		badCase("huge exponent", numeric, change.Number("1e1000000000"), "29 digits before"),
		badCase("huge negative exponent", numeric, change.Number("1e-1000000000"), "9 digits after"),
		badCase("exponent beyond int64", numeric, change.Number("1e99999999999999999999"), "29 digits before"),
		{name: "zero with a huge exponent", column: numeric, value: change.Number("0e99999999999999999999"), want: "0"},
		{name: "2^64-1", column: numeric, value: change.Uint64(1<<64 - 1), want: "18446744073709551615"},
		{name: "typed integer", column: numeric, value: change.Int64(-5), want: "-5"},
		{name: "typed float", column: numeric, value: change.Float64(123.45), want: "123.45"},
		badCase("typed float that is no one integer", numeric, change.Float64(1<<60), "2^53"),
		{name: "typed float with an exponent", column: numeric, value: change.Float64(1e20), want: "100000000000000000000"},
		badCase("typed float with many digits", numeric, change.Float64(0.30000000000000004), "9 digits after"),
		badCase("NaN", numeric, change.Text("NaN"), "NaN"),
		badCase("Infinity", numeric, change.Decimal("Infinity"), "infinity"),
		badCase("true", numeric, change.Bool(true), "takes no BOOL"),
		badCase("word", numeric, change.Text("many"), "no decimal number"),
		{name: "unscaled value and its scale", column: numeric, value: change.Raw(`{"scale":4,"value":"D09R"}`), want: "100.3345"},
		{name: "negative scale", column: numeric, value: change.Raw(`{"scale":-2,"value":"BOI="}`), want: "125000"},
		{name: "typed with its scale", column: numeric, value: change.Struct([]change.Column{
			{Name: "scale", Value: change.Int64(2)}, {Name: "value", Value: change.Bytes("\x30\x39")},
		}), want: "123.45"},
		badCase("object", numeric, change.Raw(`{"value":"D09R"}`), "scale and value"),
		badCase("far scale", numeric, change.Raw(`{"scale":-2000000000,"value":"BOI="}`), "29 digits before"),
		{name: "unsigned that wrapped", column: table.Column{Type: table.Numeric, From: table.FromUnsigned}, value: change.Number("-1"), want: "18446744073709551615"},
		{name: "typed unsigned that wrapped", column: table.Column{Type: table.Numeric, From: table.FromUnsigned}, value: change.Int64(-1 << 63), want: "9223372036854775808"},
		badCase("unsigned below 64 bits", table.Column{Type: table.Numeric, From: table.FromUnsigned}, change.Number("-9223372036854775809"), "unsigned"),
		badCase("unsigned fraction", table.Column{Type: table.Numeric, From: table.FromUnsigned}, change.Number("-0.5"), "unsigned"),

		{name: "parameters", column: money, value: change.Number("9999999999.99"), want: "9999999999.99"},
		badCase("parameters, too large", money, change.Number("10000000000"), "10 digits before"),
		badCase("parameters, too fine", money, change.Number("0.001"), "2 digits after"),
		badCase("precision alone", table.Column{Type: table.Numeric, Precision: 3}, change.Number("0.5"), "0 digits after"),

		{name: "clamped", column: table.Column{Type: table.Numeric, BadValues: table.PolicyClamp}, value: change.Number("-1e30"), want: "-" + nines + "." + nines[:9], adjusted: 1},
		{name: "clamped infinity", column: table.Column{Type: table.Numeric, BadValues: table.PolicyClamp}, value: change.Text("Infinity"), want: nines + "." + nines[:9], adjusted: 1},
		{name: "clamped half", column: table.Column{Type: table.Numeric, Precision: 5, Scale: 2, BadValues: table.PolicyClamp}, value: change.Number("-1.995"), want: "-2", adjusted: 1},
		{name: "clamped beyond by rounding", column: table.Column{Type: table.Numeric, Precision: 3, Scale: 2, BadValues: table.PolicyClamp}, value: change.Number("9.996"), want: "9.99", adjusted: 1},
		{name: "clamped to zero", column: table.Column{Type: table.Numeric, BadValues: table.PolicyClamp}, value: change.Number("-1e-400"), want: "0", adjusted: 1},
		badCase("NaN has nothing nearest", table.Column{Type: table.Numeric, BadValues: table.PolicyClamp}, change.Text("NaN"), "NaN"),
		{name: "NULL instead", column: table.Column{Type: table.Numeric, BadValues: table.PolicyNull}, value: change.Text("NaN"), adjusted: 1},
	})
}

func TestBigNumeric(t *testing.T) {
	big := table.Column{Type: table.BigNumeric}
	const greatest = "578960446186580977117854925043439539266.34992332820282019728792003956564819967"
	const least = "-578960446186580977117854925043439539266.34992332820282019728792003956564819968"
	runCases(t, []valueCase{
		{name: "greatest", column: big, value: change.Number(greatest), want: greatest},
		{name: "least", column: big, value: change.Decimal(least), want: least},
		badCase("one more", big, change.Number(strings.TrimSuffix(greatest, "7")+"8"), "5.79e38"),
		badCase("one less", big, change.Number(strings.TrimSuffix(least, "8")+"9"), "5.79e38"),
		badCase("39 digits beyond", big, change.Number("6e38"), "5.79e38"),
		{name: "39 digits within", column: big, value: change.Number("5.7e38"), want: "57" + strings.Repeat("0", 37)},
		badCase("40 digits", big, change.Number("1e39"), "5.79e38"),
		{name: "38 decimals", column: big, value: change.Number("0." + strings.Repeat("0", 37) + "1"), want: "0." + strings.Repeat("0", 37) + "1"},
		badCase("39 decimals", big, change.Number("0."+strings.Repeat("0", 38)+"1"), "38 digits after"),
		{name: "wal2json's number", column: big, value: change.Number("70000000000000000003.00000000000000000009"), want: "70000000000000000003.00000000000000000009"},
		{name: "10^38-1", column: table.Column{Type: table.BigNumeric, From: table.FromDecimal}, value: change.Text("SztMqFqGxHoJiiI//////w=="), want: strings.Repeat("9", 38)},
		{name: "2^64-1", column: table.Column{Type: table.BigNumeric, From: table.FromDecimal}, value: change.Text("AP//////////"), want: "18446744073709551615"},
		{name: "clamped", column: table.Column{Type: table.BigNumeric, BadValues: table.PolicyClamp}, value: change.Number("-1e39"), want: least, adjusted: 1},
		badCase("parameters", table.Column{Type: table.BigNumeric, Precision: 40, Scale: 2}, change.Number("1e38"), "38 digits before"),
	})
}

// TestNumeric_Decimal is `from: decimal`: what is the base64 of a minimal two's
// complement is that, at any magnitude, and what isn't is a decimal's text.
func TestNumeric_Decimal(t *testing.T) {
	two := table.Column{Type: table.Numeric, From: table.FromDecimal, FromScale: 2}
	var cases []valueCase
	for text, want := range map[string]string{
		"MDk=": "123.45", "z8c=": "-123.45", "AA==": "0", "B88=": "19.99", "/w==": "-0.01", "AIA=": "1.28", "gA==": "-1.28",
		"123.45": "123.45", "-5": "-5", "12": "12", "1.5e3": "1500", "123456789": "123456789",
		"1234":         "-26588.24",               // base64 wins: the digits alone don't say, the setting does
		"f/////////8=": "92233720368547758.07",    // eight bytes
		"gAAAAAAAAAA=": "-92233720368547758.08",   // eight bytes
		"AIAAAAAAAAAA": "92233720368547758.08",    // nine
		"/3////////8=": "-360287970189639.69",     // eight, the first of sign alone but needed
		"AMqXyz/9JHlO": "145983601928351563.02",   // nine bytes, positive
		"/wAAAAAAAAAA": "-184467440737095516.16",  // nine bytes: -2^64
		"EAAAAAAAAAAA": "2951479051793528258.56",  // nine bytes
		"7wAAAAAAAAAA": "-3135946492530623774.72", // nine bytes
		"AeAAAAAAAAAA": "345876451382054092.80",   // nine bytes
	} {
		want = trimFraction(want)
		cases = append(cases, valueCase{name: text, column: two, value: change.Text(text), want: want})
	}
	runCases(t, append(cases,
		badCase("empty", two, change.Text(""), "neither a decimal number nor the base64"),
		badCase("no padding", two, change.Text("MDk"), "neither"),
		badCase("stray bits", two, change.Text("MDl="), "neither"),
		badCase("line break", two, change.Text("MD\nk="), "neither"),
		badCase("more bytes than it takes", two, change.Text("AAA="), "neither"),
		badCase("more negative bytes than it takes", two, change.Text("//8="), "neither"),
		badCase("base64 without the setting", table.Column{Type: table.Numeric}, change.Text("MDk="), "`from: decimal`"),
		badCase("too many digits", table.Column{Type: table.Numeric, From: table.FromDecimal, FromScale: 10}, change.Text("MDk="), "9 digits after"),
		valueCase{name: "digits without the setting", column: table.Column{Type: table.Numeric}, value: change.Text("1234"), want: "1234"},
		valueCase{name: "number", column: two, value: change.Number("1234"), want: "1234"},
		valueCase{name: "typed decimal", column: two, value: change.Decimal("1234"), want: "1234"},
		valueCase{name: "typed text of digits is never base64", column: two, value: change.String("1234"), want: "1234"},
		badCase("typed text in base64", two, change.String("MDk="), "neither"),
		badCase("base64 of no known scale", table.Column{Type: table.Numeric, From: table.FromDecimal, FromUnscaled: true}, change.Text("MDk="), "`scale` beside"),
		valueCase{name: "digits of no known scale", column: table.Column{Type: table.Numeric, From: table.FromDecimal, FromUnscaled: true}, value: change.Text("1234"), want: "1234"},
	))
}

func trimFraction(text string) string {
	if strings.Contains(text, ".") {
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
