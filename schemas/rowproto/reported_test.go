package rowproto

import (
	"strings"
	"testing"

	"beamcdc/schemas/change"
)

// TestReported: values that went wrong for people who do this job, by the reports'
// inputs. Where a policy decides, each setting has a line.
func TestReported(t *testing.T) {
	json := untypedValue
	for _, c := range []struct {
		what   string
		value  change.Value
		column string
		want   string // as encodings have it
	}{
		{"micros without leading zeros", json(`1741507626048491`), "TIMESTAMP, from: micros", "2025-03-09 08:07:06.048491+00"},
		{"micros without leading zeros", change.Timestamp(1741507626005004), "TIMESTAMP", "2025-03-09 08:07:06.005004+00"},
		{"the same to a DATETIME", json(`1741507626005004`), "DATETIME, from: micros", "2025-03-09T08:07:06.005004"},
		{"millis without leading zeros", json(`1741507626094`), "TIMESTAMP, from: millis", "2025-03-09 08:07:06.094+00"},
		{"the same to a DATETIME", json(`1741507626094`), "DATETIME, from: millis", "2025-03-09T08:07:06.094"},
		{"millis taken for seconds", json(`1741507626386`), "TIMESTAMP, from: millis", "2025-03-09 08:07:06.386+00"},
		{"millis that nobody declared", json(`1741507626386`), "TIMESTAMP", "✗ `from: seconds`"},
		{"an integer through a double", json(`9007199254740993`), "INT64", "9007199254740993"},
		{"an integer through a double", json(`20000000003333333`), "INT64", "20000000003333333"},
		{"an integer through a double", json(`-9223372036854775808`), "INT64", "-9223372036854775808"},
		{"the same to a NUMERIC", json(`9007199254740993`), "NUMERIC", "9007199254740993"},
		{"the same to a STRING", json(`9007199254740993`), "STRING", `"9007199254740993"`},
		{"text with millis", json(`"2025-03-09 08:07:06.84"`), "TIMESTAMP", "2025-03-09 08:07:06.84+00"},
		{"ISO text", json(`"2025-03-09T08:07:06.005004Z"`), "TIMESTAMP", "2025-03-09 08:07:06.005004+00"},
		{"an integer to a NUMERIC", json(`1`), "NUMERIC", "1"},
		{"year 10000", json(`253402300800000000`), "TIMESTAMP, from: micros", "✗ 9999-12-31"},
		{"year 10000", json(`253402300800000000`), "TIMESTAMP, from: micros, bad_values: null", "NULL"},
		{"year 10000", json(`253402300800000000`), "TIMESTAMP, from: micros, bad_values: clamp", "9999-12-31 23:59:59.999999+00"},
		{"before year 1", json(`-62135596800000001`), "DATETIME, from: micros", "✗ 0001-01-01"},
		{"before year 1", json(`-62135596800000001`), "DATETIME, from: micros, bad_values: null", "NULL"},
		{"before year 1", json(`-62135596800000001`), "DATETIME, from: micros, bad_values: clamp", "0001-01-01T00:00:00"},
		{"the day after the last", json(`2932897`), "DATE", "✗ 9999-12-31"},
		{"the day after the last", json(`2932897`), "DATE, bad_values: null", "NULL"},
		{"the day after the last", json(`2932897`), "DATE, bad_values: clamp", "9999-12-31"},
		{"before 1582", json(`"1491-07-04T02:10:00+03:00"`), "TIMESTAMP", "1491-07-03 23:10:00+00"},
		{"zero date", json(`"0000-00-00 00:00:00"`), "DATETIME", "✗ zero date"},
		{"zero date", json(`"0000-00-00 00:00:00"`), "DATETIME, bad_values: null", "NULL"},
		{"zero date", json(`"0000-00-00 00:00:00"`), "DATETIME, bad_values: clamp", "✗ zero date"},
		{"zero month", json(`"2025-00-10"`), "DATE", "✗ zero date"},
		{"zero month", json(`"2025-00-10"`), "DATE, bad_values: null", "NULL"},
		{"a real epoch", json(`0`), "DATETIME, from: millis, bad_values: null", "1970-01-01T00:00:00"},
		{"a real epoch", json(`"1970-01-01T00:00:00Z"`), "TIMESTAMP, bad_values: null", "1970-01-01 00:00:00+00"},
		{"before 1970", json(`-1`), "TIMESTAMP, from: micros", "1969-12-31 23:59:59.999999+00"},
		{"before 1970", json(`-1`), "DATE, from: days", "1969-12-31"},
		{"before 1970", json(`"1969-12-31 23:59:59.999999"`), "DATETIME", "1969-12-31T23:59:59.999999"},
		{"before 1970, in nanoseconds", json(`-1`), "DATETIME, from: nanos", "1969-12-31T23:59:59.999999"},
		{"JSON beyond 64 bits", json(`"{\"v\":18446744073709551616}"`), "JSON", "✗ 64 bits"},
		{"JSON beyond 64 bits", json(`{"v":18446744073709551616}`), "JSON, bad_values: string", `"{\"v\":18446744073709551616}"`},
		{"JSON beyond 64 bits", json(`{"v":18446744073709551616}`), "JSON, bad_values: null", "NULL"},
		{"JSON of 64 bits", json(`{"v":18446744073709551615}`), "JSON", `{"v":18446744073709551615}`},
		{"39 decimals", json(`0.` + strings.Repeat("0", 38) + `1`), "BIGNUMERIC", "✗ 38 digits after"},
		{"39 decimals", json(`0.` + strings.Repeat("0", 38) + `1`), "BIGNUMERIC, bad_values: clamp", "0"},
		{"39 decimals", json(`0.` + strings.Repeat("0", 38) + `1`), "BIGNUMERIC, bad_values: null", "NULL"},
		{"JSON byte for byte", json(`"{\"zz\":2.0,\"a\":9007199254740993,\"b\": [1e2]}"`), "JSON", `{"zz":2.0,"a":9007199254740993,"b": [1e2]}`},
		{"JSON byte for byte", json(`{"zz":2.0,"a":9007199254740993,"b": [1e2]}`), "JSON", `{"zz":2.0,"a":9007199254740993,"b": [1e2]}`},
		{"JSON's long decimals", json(`{"lat":48.137154285714285714}`), "JSON", `{"lat":48.137154285714285714}`},
		{"NULL in an array", json(`["a",null,"b"]`), "ARRAY<STRING>", "✗ NULL"},
		{"NULL in an array", json(`["a",null,"b"]`), "ARRAY<STRING>, bad_values: clamp", `["a", "b"]`},
		{"NULL in an array", json(`["a",null,"b"]`), "ARRAY<STRING>, bad_values: null", "[]"},
		{"NULL in an array", json(`["a",null,"b"]`), "JSON", `["a",null,"b"]`},
		{"NULL alone in an array", json(`[null]`), "ARRAY<STRING>", "✗ NULL"},
		{"NULL alone in an array", json(`[null]`), "ARRAY<STRING>, bad_values: clamp", "[]"},
		{"empty array", json(`[]`), "ARRAY<STRING>", "[]"},
		{"NULL array", json(`null`), "ARRAY<STRING>", "[]"},
		{"NaN", json(`"NaN"`), "NUMERIC", "✗ NaN"},
		{"NaN", json(`"NaN"`), "NUMERIC, bad_values: null", "NULL"},
		{"NaN has nothing nearest", json(`"NaN"`), "NUMERIC, bad_values: clamp", "✗ NaN"},
		{"infinity", json(`"Infinity"`), "NUMERIC, bad_values: clamp", strings.Repeat("9", 29) + ".999999999"},
		{"NaN", json(`"NaN"`), "FLOAT64", "NaN"},
		{"infinity", json(`"-Infinity"`), "FLOAT64", "-Infinity"},
		{"negative decimal", json(`"z8c="`), "NUMERIC, from: decimal, scale: 2", "-123.45"},
		{"negative decimal of one byte", json(`"gA=="`), "NUMERIC, from: decimal, scale: 2", "-1.28"},
		{"positive decimal with a sign byte", json(`"AIA="`), "NUMERIC, from: decimal, scale: 2", "1.28"},
		{"minus one", json(`"/w=="`), "NUMERIC, from: decimal, scale: 2", "-0.01"},
		{"no bytes", json(`""`), "NUMERIC, from: decimal, scale: 2", "✗ neither"},
		{"exponent", json(`1.5E+3`), "NUMERIC", "1500"},
		{"unsigned that wrapped", json(`-1`), "NUMERIC, from: unsigned", "18446744073709551615"},
		{"unsigned that wrapped", change.Int64(-1), "NUMERIC, from: unsigned", "18446744073709551615"},
		{"unsigned that wrapped, to what can't hold it", json(`-1`), "INT64, from: unsigned", "✗ INT64's range"},
		{"false is not NULL", json(`false`), "BOOL", "false"},
		{"0 is not NULL", json(`0`), "INT64", "0"},
		{"an empty text is not NULL", json(`""`), "STRING", `""`},
		{"time of 32 bits", json(`29226005`), "TIME, from: millis", "08:07:06.005"},
		{"no fraction", json(`"2025-03-09T08:07:06Z"`), "TIMESTAMP", "2025-03-09 08:07:06+00"},
		{"one digit", json(`"2025-03-09T08:07:06.1Z"`), "TIMESTAMP", "2025-03-09 08:07:06.1+00"},
		{"nine digits", json(`"2025-03-09T08:07:06.123456789Z"`), "TIMESTAMP", "2025-03-09 08:07:06.123456+00"},
		{"offset", json(`"2025-03-09T08:07:06+02:00"`), "TIMESTAMP", "2025-03-09 06:07:06+00"},
		{"no JSON", json(`"not json"`), "JSON", "✗ no JSON document"},
		{"no JSON", json(`"not json"`), "JSON, bad_values: string", `"not json"`},
		{"no JSON", json(`"not json"`), "JSON, bad_values: null", "NULL"},
		{"empty JSON", json(`""`), "JSON", "✗ no JSON document"},
		{"empty JSON", json(`""`), "JSON, bad_values: string", `""`},
		{"no JSON, with a line's end and quotes", json(`"say \"hi\"\n"`), "JSON, bad_values: string", `"say \"hi\"\n"`},
		{"JSON's null", json(`"null"`), "JSON", "null"},
		{"SQL's NULL", json(`null`), "JSON", "NULL"},
		{"JSON's 3", json(`"3"`), "JSON", "3"},
		{"civil stays civil", json(`1741507626005004`), "DATETIME, from: micros", "2025-03-09T08:07:06.005004"},
		{"zoned is an instant", json(`"2025-03-09T13:37:06.005004+05:30"`), "TIMESTAMP", "2025-03-09 08:07:06.005004+00"},
		{"civil time in a gap", json(`"2025-03-09 02:30:00"`), "DATETIME", "2025-03-09T02:30:00"},
		{"too long", json(`"abcd"`), "STRING(3)", "✗ more than 3 characters"},
		{"too long", json(`"abcd"`), "STRING(3), bad_values: null", "NULL"},
		{"too many digits", json(`1.005`), "NUMERIC(5,2)", "✗ 2 digits after"},
		{"too many digits", json(`1.005`), "NUMERIC(5,2), bad_values: clamp", "1.01"},
		{"too many digits", json(`1.005`), "NUMERIC(5,2), bad_values: null", "NULL"},
	} {
		t.Run(c.what+" to "+c.column, func(t *testing.T) {
			column := columnOf(t, c.column)
			checkOutcome(t, "the value", &column, c.value, c.want)
		})
	}
}
