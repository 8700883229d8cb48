package e2e

import (
	"fmt"
	"testing"
)

// valuesConfig has a column for each type and each meaning of an untyped value.
const valuesConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 50ms
dead_letters: {directory: %q}
tables:
  - source: public.values
    destination: shop.values
    primary_key: [id]
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: ok, type: BOOL}
      - {name: i, type: INT64}
      - {name: f, type: FLOAT64}
      - {name: n, type: NUMERIC}
      - {name: price, type: "NUMERIC(12,2)", from: decimal, scale: 2}
      - {name: u, type: NUMERIC, from: unsigned}
      - {name: big, type: BIGNUMERIC}
      - {name: s, type: STRING}
      - {name: b, type: BYTES, from: base64}
      - {name: hex, type: BYTES, from: hex}
      - {name: d, type: DATE}
      - {name: day, type: DATE, from: days}
      - {name: t, type: TIME}
      - {name: t_ms, type: TIME, from: millis}
      - {name: t_us, type: TIME, from: micros}
      - {name: dt, type: DATETIME}
      - {name: dt_us, type: DATETIME, from: micros}
      - {name: ts, type: TIMESTAMP}
      - {name: ts_s, type: TIMESTAMP, from: seconds}
      - {name: ts_ms, type: TIMESTAMP, from: millis}
      - {name: ts_us, type: TIMESTAMP, from: micros}
      - {name: ts_ns, type: TIMESTAMP, from: nanos}
      - {name: ts_null, type: TIMESTAMP, from: micros, bad_values: null}
      - {name: ts_clamp, type: TIMESTAMP, from: micros, bad_values: clamp}
      - {name: j, type: JSON}
      - {name: g, type: GEOGRAPHY}
      - {name: iv, type: INTERVAL}
      - {name: r, type: RANGE<DATE>}
      - {name: st, type: STRUCT, fields: [{name: city, type: STRING}, {name: zip, type: INT64}]}
      - {name: tags, type: STRING, mode: REPEATED}
      - {name: nums, type: INT64, mode: REPEATED}
`

// valueCases are columns with the JSON that a message without a schema has for
// them, and what a reader must see; "" is a dead letter.
var valueCases = []struct{ name, column, in, want string }{
	{"50 micros", "ts_us", `1741507626005004`, `"2025-03-09T08:07:06.005004Z"`},
	{"50 micros, leading zero", "ts_us", `1741507626048491`, `"2025-03-09T08:07:06.048491Z"`},
	{"51 millis", "ts_ms", `1741507626094`, `"2025-03-09T08:07:06.094000Z"`},
	{"52 millis exactly", "ts_ms", `1741507626386`, `"2025-03-09T08:07:06.386000Z"`},
	{"seconds", "ts_s", `1741507626`, `"2025-03-09T08:07:06.000000Z"`},
	{"nanos are cut downwards", "ts_ns", `1741507626005004999`, `"2025-03-09T08:07:06.005004Z"`},
	{"nanos are cut downwards before 1970", "ts_ns", `-1`, `"1969-12-31T23:59:59.999999Z"`},
	{"53 beyond a double", "i", `9007199254740993`, `"9007199254740993"`},
	{"53 many digits", "i", `20000000003333333`, `"20000000003333333"`},
	{"53 smallest", "i", `-9223372036854775808`, `"-9223372036854775808"`},
	{"largest", "i", `9223372036854775807`, `"9223372036854775807"`},
	{"too large", "i", `9223372036854775808`, ``},
	{"no integer", "i", `1.5`, ``},
	{"an integer with a point", "i", `3.0`, `"3"`},
	{"54 text without a T", "ts", `"2025-03-09 08:07:06.84"`, `"2025-03-09T08:07:06.840000Z"`},
	{"55 ISO text", "ts", `"2025-03-09T08:07:06.005004Z"`, `"2025-03-09T08:07:06.005004Z"`},
	{"55 an integer for NUMERIC", "n", `1`, `"1"`},
	{"56 year 10000", "ts_us", `253402300800000000`, ``},
	{"56 before year 1", "ts_us", `-62135596800000001`, ``},
	{"56 a day too many", "day", `2932897`, ``},
	{"56 NULL instead", "ts_null", `253402300800000000`, `null`},
	{"56 the nearest instead", "ts_clamp", `253402300800000000`, `"9999-12-31T23:59:59.999999Z"`},
	{"56 the nearest instead, below", "ts_clamp", `-62135596800000001`, `"0001-01-01T00:00:00.000000Z"`},
	{"last microsecond", "ts_us", `253402300799999999`, `"9999-12-31T23:59:59.999999Z"`},
	{"first microsecond", "ts_us", `-62135596800000000`, `"0001-01-01T00:00:00.000000Z"`},
	{"last day", "day", `2932896`, `"9999-12-31"`},
	{"first day", "day", `-719162`, `"0001-01-01"`},
	{"58 before 1582", "ts", `"1491-07-04T02:10:00+03:00"`, `"1491-07-03T23:10:00.000000Z"`},
	{"59 the real epoch", "ts_us", `0`, `"1970-01-01T00:00:00.000000Z"`},
	{"59 a zero date", "ts", `"0000-00-00 00:00:00"`, ``},
	{"59 a day zero", "d", `"2025-00-10"`, ``},
	{"60 a microsecond before the epoch", "ts_us", `-1`, `"1969-12-31T23:59:59.999999Z"`},
	{"60 a day before the epoch", "day", `-1`, `"1969-12-31"`},
	{"60 text before the epoch", "dt", `"1969-12-31 23:59:59.999999"`, `"1969-12-31T23:59:59.999999"`},
	{"62 an integer beyond 64 bits in JSON", "j", `"{\"v\":18446744073709551616}"`, ``},
	{"62 the largest unsigned in JSON", "j", `"{\"v\":18446744073709551615}"`, `"{\"v\":18446744073709551615}"`},
	{"62 39 decimals", "big", `"0.000000000000000000000000000000000000001"`, ``},
	{"38 decimals", "big", `"0.00000000000000000000000000000000000001"`, `"0.00000000000000000000000000000000000001"`},
	{"trailing zeros", "big", `"12.500"`, `"12.5"`},
	{"10 decimals", "n", `"0.0000000001"`, ``},
	{"largest NUMERIC", "n", `99999999999999999999999999999.999999999`, `"99999999999999999999999999999.999999999"`},
	{"exponent", "n", `1.5e3`, `"1500"`},
	{"negative zero", "n", `-0.0`, `"0"`},
	{"63 JSON byte for byte", "j", `"{\"zz\":2.0,\"a\":9007199254740993,\"b\": [1e2]}"`, `"{\"zz\":2.0,\"a\":9007199254740993,\"b\": [1e2]}"`},
	{"64 NULL in an array", "tags", `["a",null,"b"]`, ``},
	{"64 NULL alone in an array", "tags", `[null]`, ``},
	{"64 an empty array", "tags", `[]`, `[]`},
	{"64 a NULL array", "tags", `null`, `[]`},
	{"an array", "tags", `["a","","é"]`, `["a","","é"]`},
	{"an array of integers", "nums", `[1,-2]`, `["1","-2"]`},
	{"65 NaN as NUMERIC", "n", `"NaN"`, ``},
	{"65 NaN", "f", `"NaN"`, `"NaN"`},
	{"65 Infinity", "f", `"Infinity"`, `"Infinity"`},
	{"65 -Infinity", "f", `"-Infinity"`, `"-Infinity"`},
	{"a float", "f", `1.5`, `1.5`},
	{"67 negative", "price", `"z8c="`, `"-123.45"`},
	{"67 sign byte", "price", `"gA=="`, `"-1.28"`},
	{"67 leading zero byte", "price", `"AIA="`, `"1.28"`},
	{"67 minus one", "price", `"/w=="`, `"-0.01"`},
	{"67 no bytes", "price", `""`, ``},
	{"no trailing zeros", "price", `"MDk="`, `"123.45"`},
	{"69 unsigned", "u", `-1`, `"18446744073709551615"`},
	{"70 false", "ok", `false`, `false`},
	{"70 zero", "i", `0`, `"0"`},
	{"70 the empty text", "s", `""`, `""`},
	{"70 NULL", "s", `null`, `null`},
	{"71 time in millis", "t_ms", `29226005`, `"08:07:06.005000"`},
	{"time in micros", "t_us", `29226005004`, `"08:07:06.005004"`},
	{"a day and more", "t_us", `86400000000`, ``},
	{"a negative time", "t_us", `-1`, ``},
	{"72 no fraction", "ts", `"2025-03-09T08:07:06Z"`, `"2025-03-09T08:07:06.000000Z"`},
	{"72 one digit", "ts", `"2025-03-09T08:07:06.1Z"`, `"2025-03-09T08:07:06.100000Z"`},
	{"72 nine digits", "ts", `"2025-03-09T08:07:06.123456789Z"`, `"2025-03-09T08:07:06.123456Z"`},
	{"72 a zone", "ts", `"2025-03-09T08:07:06+02:00"`, `"2025-03-09T06:07:06.000000Z"`},
	{"73 no JSON", "j", `"not json"`, ``},
	{"73 the empty text is no JSON", "j", `""`, ``},
	{"73 a text in JSON", "j", `"\"two\\nlines and \\\"quotes\\\"\""`, `"\"two\\nlines and \\\"quotes\\\"\""`},
	{"73 JSON null", "j", `"null"`, `"null"`},
	{"73 a number", "j", `"3"`, `"3"`},
	{"73 NULL", "j", `null`, `null`},
	{"75 naive", "dt_us", `1741507626005004`, `"2025-03-09T08:07:06.005004"`},
	{"75 zoned", "ts", `"2025-03-09T08:07:06+05:30"`, `"2025-03-09T02:37:06.000000Z"`},
	{"75 a gap in summer time", "dt", `"2025-03-09 02:30:00"`, `"2025-03-09T02:30:00.000000"`},
	{"X9 a date of infinity", "day", `-2147472693`, ``},
	{"bytes", "b", `"3q2+7w=="`, `"3q2+7w=="`},
	{"bytes in hex", "hex", `"deadbeef"`, `"3q2+7w=="`},
	{"no bytes at all", "b", `""`, `""`},
	{"a geography", "g", `"POINT(1 2)"`, `"POINT(1 2)"`},
	{"an interval", "iv", `"1-2 3 4:5:6.78"`, `"1-2 3 4:5:6.780"`},
	{"a struct", "st", `{"city":"Oslo","zip":9007199254740993}`, `{"city":"Oslo","zip":"9007199254740993"}`},
	{"a number for a text", "s", `1.50`, `"1.50"`},
	{"a character outside the plane", "s", `"\ud83d\ude00 \u0000"`, `"😀 \u0000"`},
}

// Each value alone in a row: what one does can't hide what another does.
func TestValues(t *testing.T) {
	cases := make([]eventCase, 0, len(valueCases))
	for _, v := range valueCases {
		c := eventCase{
			name: v.name + " (" + v.column + ")", table: "shop.values",
			messages: []message{pgChange{table: "public.values", op: "c", after: fmt.Sprintf(`{"id":$1,%q:%s}`, v.column, v.in), lastCommit: 10, lsn: 11}.message()},
			want:     map[int]string{1: ""},
			letters:  []string{"encode/bad_value"},
		}
		if v.want != "" {
			c.want, c.letters = map[int]string{1: fmt.Sprintf(`{%q:%s}`, v.column, v.want)}, nil
		}
		cases = append(cases, c)
	}
	cases = append(cases, eventCase{
		name: "51 milliseconds beside microseconds in one row", table: "shop.values",
		messages: []message{pgChange{table: "public.values", op: "c", after: `{"id":$1,"ts_us":1741507626005004,"ts_ms":1741507626094,"dt_us":-1,"t_ms":29226005}`, lastCommit: 10, lsn: 11}.message()},
		want:     map[int]string{1: `{"ts_us":"2025-03-09T08:07:06.005004Z","ts_ms":"2025-03-09T08:07:06.094000Z","dt_us":"1969-12-31T23:59:59.999999","t_ms":"08:07:06.005000"}`},
	}, eventCase{
		name: "70 false, 0 and the empty text are not NULL", table: "shop.values",
		messages: []message{
			pgChange{table: "public.values", op: "c", after: `{"id":$1,"ok":false,"i":0,"s":"","f":0,"n":0}`, lastCommit: 10, lsn: 11}.message(),
			pgChange{table: "public.values", op: "c", after: `{"id":$2,"ok":null,"i":null,"s":null,"f":null,"n":null}`, lastCommit: 10, lsn: 11}.message(),
		},
		want: map[int]string{1: `{"ok":false,"i":"0","s":"","f":0,"n":"0"}`, 2: `{"ok":null,"i":null,"s":null,"f":null,"n":null}`},
	}, eventCase{
		name: "59 zero dates of Maxwell's", table: "shop.values",
		messages: []message{
			{data: `{"database":"public","table":"values","type":"insert","ts":1741507626,"xid":1,"commit":true,"position":"mysql-bin.000042:7310","data":{"id":$1,"ts":"0000-00-00 00:00:00"}}`},
			{data: `{"database":"public","table":"values","type":"insert","ts":1741507626,"xid":2,"commit":true,"position":"mysql-bin.000042:7311","data":{"id":$2,"dt":"1970-01-01 00:00:00"}}`},
		},
		want: map[int]string{1: "", 2: `{"dt":"1970-01-01T00:00:00.000000"}`}, letters: []string{"encode/bad_value"},
	})
	runCases(t, fmt.Sprintf(valuesConfig, t.TempDir()), "id", cases)
}
