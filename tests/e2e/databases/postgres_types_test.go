package databases

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// pgTypes has a column of each type that Debezium captures.
func pgTypes() *sourceTable {
	return &sourceTable{
		name: "types", key: []string{"id"}, full: true, weight: 3,
		several: func(r *rand.Rand) string { n := r.IntN(2000); return fmt.Sprintf("id BETWEEN %d AND %d", n, n+20) },
		columns: []column{
			{name: "id", source: "bigint", target: "INT64, mode: REQUIRED", literal: between(1, 2000)},
			{name: "c_bool", source: "boolean", target: "BOOL", wanted: jsonValue, literal: orNull(oneOf("true", "false"))},
			{name: "c_int2", source: "smallint", target: "INT64", literal: orNull(either(between(-100, 100), "-32768", "32767"))},
			{name: "c_int4", source: "integer", target: "INT64", literal: orNull(either(between(-1000, 1000), "-2147483648", "2147483647"))},
			{name: "c_int8", source: "bigint", target: "INT64", literal: orNull(either(between(-1000, 1000), "-9223372036854775808", "9223372036854775807", "9007199254740993"))},
			{name: "c_real", source: "real", target: "FLOAT64", wanted: floatValue, literal: orNull(either(decimals(3, 3), "'NaN'", "'-Infinity'", "3.4e38", "1e-40"))},
			{name: "c_double", source: "double precision", target: "FLOAT64", wanted: floatValue, literal: orNull(either(decimals(10, 6), "'NaN'", "'Infinity'", "1.7976931348623157e308", "5e-324"))},
			{name: "c_money", source: "money", target: "NUMERIC, from: decimal, scale: 2", text: pgNumeric, literal: orNull(func(r *rand.Rand) string { return "'" + decimals(9, 2)(r) + "'::numeric::money" })},
			{name: "c_numeric", source: "numeric(38,9)", target: "NUMERIC, from: decimal, scale: 9", text: pgNumeric, literal: orNull(either(decimals(28, 9), "99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999"))},
			{name: "c_whole", source: "numeric(30,0)", target: "BIGNUMERIC, from: decimal, scale: 0", text: pgNumeric, literal: orNull(either(decimals(29, 0), "999999999999999999999999999999", "18446744073709551616"))},
			{name: "c_big", source: "numeric(60,30)", target: "BIGNUMERIC, from: decimal, scale: 30", text: pgNumeric, literal: orNull(decimals(29, 30))},
			{name: "c_any", source: "numeric", target: "BIGNUMERIC", text: pgNumeric, literal: orNull(either(decimals(30, 30), "125000", "1e20", "1e-30", "0"))},
			{name: "c_char", source: "char(6)", target: "STRING", text: pgOutput, literal: orNull(oneOf("'a'", "'ab '", "''", "'äöü日本語'", "'123456'"))},
			{name: "c_varchar", source: "varchar(40)", target: "STRING", literal: orNull(texts(40))},
			{name: "c_text", source: "text", target: "STRING", literal: orNull(either(texts(60), "''", "'null'", "'NaN'", "'__debezium'"))},
			{name: "c_citext", source: "citext", target: "STRING", literal: orNull(texts(9))},
			{name: "c_bytea", source: "bytea", target: "BYTES, from: base64", text: pgBytes, literal: orNull(func(r *rand.Rand) string { return `'\x` + randomHex(r, r.IntN(40)) + "'" })},
			{name: "c_bit1", source: "bit(1)", target: "BOOL", text: "($ = B'1')::text", wanted: jsonValue, literal: orNull(oneOf("B'0'", "B'1'"))},
			{name: "c_bits", source: "bit(10)", target: "BYTES, from: base64", wanted: bitsValue, literal: orNull(bitsOf(10, 10))},
			{name: "c_varbit", source: "bit varying(20)", target: "BYTES, from: base64", wanted: bitsValue, literal: orNull(bitsOf(1, 20))},
			{name: "c_date", source: "date", target: "DATE, from: days", literal: orNull(either(days(1, 9999), "'0001-01-01'", "'9999-12-31'", "'1969-12-31'"))},
			{name: "c_time", source: "time", target: "TIME, from: micros", text: "to_char($, 'HH24:MI:SS.US')", literal: orNull(either(clocks(6), "'00:00:00'", "'23:59:59.999999'"))},
			{name: "c_time3", source: "time(3)", target: "TIME, from: millis", text: "to_char($, 'HH24:MI:SS.US')", literal: orNull(clocks(3))},
			{name: "c_timetz", source: "timetz", target: "TIME", text: "to_char(($ AT TIME ZONE 'UTC')::time, 'HH24:MI:SS.US')", literal: orNull(func(r *rand.Rand) string {
				return strings.TrimSuffix(clocks(6)(r), "'") + oneOf("+05:30", "-08", "Z", "+00", "+13")(r) + "'"
			})},
			{name: "c_timestamp", source: "timestamp", target: "DATETIME, from: micros", text: pgDateTime, literal: orNull(either(instants(1, 9999, 6), "'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.999999'", "'2025-03-09 02:30:00'"))},
			{name: "c_timestamp3", source: "timestamp(3)", target: "DATETIME, from: millis", text: pgDateTime, literal: orNull(instants(1900, 2100, 3))},
			{name: "c_timestamp0", source: "timestamp(0)", target: "DATETIME, from: millis", text: pgDateTime, literal: orNull(instants(1900, 2100, 0))},
			{name: "c_timestamptz", source: "timestamptz", target: "TIMESTAMP", text: pgTimestamp, literal: orNull(func(r *rand.Rand) string {
				return strings.TrimSuffix(instants(1, 9998, 6)(r), "'") + oneOf("+05:30", "-08", "Z", "")(r) + "'"
			})},
			{name: "c_interval", source: "interval", target: "INTERVAL", text: pgInterval, wanted: intervalValue, literal: orNull(oneOf("'1 year 2 months 3 days 04:05:06.78'", "'-1 month'", "'1 month -1 day'",
				"'-00:00:00.000001'", "'0'", "'100 years'", "'36 hours'", "'1.5 days'", "'-2 years 3 months 5 days -01:02:03'"))},
			{name: "c_json", source: "json", target: "JSON", literal: orNull(either(jsons, "'3'", "'null'", `'"text"'`, "'[]'", `' {"a" : 1.0} '`))},
			{name: "c_jsonb", source: "jsonb", target: "JSON", literal: orNull(either(jsons, "'3'", "'null'", "'[1e2]'"))},
			{name: "c_hstore", source: "hstore", target: "JSON", text: "hstore_to_json($)::text", wanted: anyJSON, literal: orNull(oneOf(`'a=>1, b=>NULL'`, `''`, `'"x y"=>"z\"w"'`))},
			{name: "c_uuid", source: "uuid", target: "STRING", literal: orNull(func(r *rand.Rand) string { return "'" + randomHex(r, 16) + "'" })},
			{name: "c_xml", source: "xml", target: "STRING", literal: orNull(oneOf("'<a b=\"c\">d</a>'", "'<a/>'"))},
			{name: "c_inet", source: "inet", target: "STRING", text: pgOutput, literal: orNull(oneOf("'10.1.2.3'", "'10.1.2.3/24'", "'::1'", "'2001:db8::/32'"))},
			{name: "c_cidr", source: "cidr", target: "STRING", literal: orNull(oneOf("'10.1.2.0/24'", "'2001:db8::/32'"))},
			{name: "c_macaddr", source: "macaddr", target: "STRING", literal: orNull(oneOf("'08:00:2b:01:02:03'"))},
			{name: "c_ltree", source: "ltree", target: "STRING", literal: orNull(oneOf("'Top.Science'", "'a.b.c'"))},
			{name: "c_tsvector", source: "tsvector", target: "STRING", literal: orNull(oneOf("to_tsvector('a fat cat')", "''"))},
			{name: "c_int4range", source: "int4range", target: "STRING", literal: orNull(oneOf("'[1,5)'", "'(,3]'", "'empty'"))},
			{name: "c_numrange", source: "numrange", target: "STRING", literal: orNull(oneOf("'[1.5,2.50)'", "'(,)'"))},
			{name: "c_daterange", source: "daterange", target: "STRING", literal: orNull(oneOf("'[2025-01-01,2025-02-01)'", "'empty'"))},
			{name: "c_tsrange", source: "tsrange", target: "STRING", literal: orNull(oneOf("'[2025-01-01 10:00,2025-02-01 11:00)'"))},
			{name: "c_tstzrange", source: "tstzrange", target: "STRING", literal: orNull(oneOf("'[2025-01-01 10:00+00,2025-02-01 11:00+00)'"))},
			{name: "c_enum", source: "state", target: "STRING", literal: orNull(oneOf("'open'", "'paid'", "'void, or so'"))},
			{name: "c_domain", source: "positive", target: "INT64", literal: orNull(between(1, 9))},
			{name: "c_oid", source: "oid", target: "INT64", literal: orNull(oneOf("0", "4294967295", "26"))},
			{name: "c_point", source: "point", target: "GEOGRAPHY", text: "format('POINT(%s %s)', $[0], $[1])", literal: oneOf("'(1.5,-2.25)'", "'(0,0)'", "'(-180,90)'")},
			{name: "c_texts", source: "text[]", target: "STRING, mode: REPEATED", text: pgTexts, wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{a,b}'`, `'{"x y","","{","\"","NULL"}'`, `'{日本}'`))},
			{name: "c_ints", source: "bigint[]", target: "INT64, mode: REPEATED", text: pgTexts, wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{1,-9223372036854775808,9223372036854775807}'`))},
			{name: "c_bools", source: "boolean[]", target: "BOOL, mode: REPEATED", text: "coalesce(to_json($)::text, '[]')", wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{t,f}'`))},
			{name: "c_numerics", source: "numeric(10,2)[]", target: "NUMERIC, mode: REPEATED, from: decimal, scale: 2", text: pgEach("trim_scale(e)::text"), wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{1.50,-1.28,0}'`))},
			{name: "c_doubles", source: "double precision[]", target: "FLOAT64, mode: REPEATED", text: pgEach("e"), wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{1.5,-0.1}'`))},
			{name: "c_dates", source: "date[]", target: "DATE, mode: REPEATED, from: days", text: pgTexts, wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{1969-12-31,2025-03-09}'`))},
			{name: "c_stamps", source: "timestamptz[]", target: "TIMESTAMP, mode: REPEATED", text: pgEach(strings.ReplaceAll(pgTimestamp, "$", "e")), wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{"2025-03-09 08:07:06.005004+00"}'`))},
			{name: "c_uuids", source: "uuid[]", target: "STRING, mode: REPEATED", text: pgTexts, wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{5f0e7a31-2b1c-4d4e-9a77-3c2100000000}'`))},
			{name: "c_byteas", source: "bytea[]", target: "BYTES, mode: REPEATED, from: base64", text: pgEach("encode(e, 'base64')"), wanted: jsonValue, literal: orNull(oneOf(`'{}'`, `'{"\\xdeadbeef","\\x"}'`))},
		},
	}
}

// pgTypesSetup creates what the types need.
var pgTypesSetup = []string{
	"CREATE EXTENSION citext", "CREATE EXTENSION hstore", "CREATE EXTENSION ltree",
	"CREATE TYPE state AS ENUM ('open', 'paid', 'void, or so')",
	"CREATE DOMAIN positive AS integer CHECK (VALUE > 0)",
}

func bitsOf(least, most int) literal {
	return func(r *rand.Rand) string {
		bits := make([]byte, least+r.IntN(most-least+1))
		for i := range bits {
			bits[i] = '0' + byte(r.IntN(2))
		}
		return "B'" + string(bits) + "'"
	}
}

// bitsValue packs bits into bytes as Debezium documents it: the last bit is the
// lowest of the first byte.
func bitsValue(text string) any {
	packed := make([]byte, (len(text)+7)/8)
	for i := range len(text) {
		if text[len(text)-1-i] == '1' {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	return lowBytes(packed)
}

// anyJSON is for JSON columns whose text the source writes in another way than
// Debezium: what counts is what the text means.
func anyJSON(text string) any { return meaning{jsonValue(text)} }

// pgInterval writes an interval's months, days and microseconds.
const pgInterval = `format('%s %s %s', extract(year FROM $)::bigint * 12 + extract(month FROM $)::bigint, extract(day FROM $)::bigint,
	(extract(hour FROM $) * 3600000000 + extract(minute FROM $) * 60000000 + extract(microseconds FROM $))::bigint)`

// intervalValue writes them in BigQuery's canonical form, "[-]Y-M [-]D [-]H:M:S[.F]".
func intervalValue(text string) any {
	var months, days, micros int64
	if _, err := fmt.Sscan(text, &months, &days, &micros); err != nil {
		if strings.TrimSpace(text) == "" {
			return nil // format ignores that the interval is NULL
		}
		return err.Error()
	}
	sign := func(n int64) (string, int64) {
		if n < 0 {
			return "-", -n
		}
		return "", n
	}
	monthSign, months := sign(months)
	clockSign, micros := sign(micros)
	seconds := micros / 1_000_000
	canonical := fmt.Sprintf("%s%d-%d %d %s%d:%d:%d", monthSign, months/12, months%12, days, clockSign, seconds/3600, seconds/60%60, seconds%60)
	if fraction := micros % 1_000_000; fraction > 0 {
		canonical += strings.TrimSuffix(fmt.Sprintf(".%06d", fraction), "000")
	}
	return canonical
}
