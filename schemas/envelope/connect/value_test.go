package connect_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/slab"
)

// compareValues compares values through what they offer; NaN equals itself.
var compareValues = cmp.Comparer(func(a, b change.Value) bool { return show(a) == show(b) })

func show(v change.Value) string {
	var elems strings.Builder
	for _, c := range v.Elems() {
		fmt.Fprintf(&elems, "%s=%s;", c.Name, show(c.Value))
	}
	return fmt.Sprintf("%s %d %q (%s)", v.Kind(), v.Int(), v.Text(), elems.String())
}

// named is the schema of a name and its type.
func named(name, kind string, more ...string) string {
	return `{"type":"` + kind + `","optional":true,"name":"` + name + `","version":1` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func decimal(scale string) string {
	return named("org.apache.kafka.connect.data.Decimal", "bytes", `"parameters":{"scale":"`+scale+`","connect.decimal.precision":"10"}`)
}

func debeziumTime(name, kind string) string { return named("io.debezium.time."+name, kind) }

var variableScale = named("io.debezium.data.VariableScaleDecimal", "struct", `"fields":[{"field":"scale","type":"int32"},{"field":"value","type":"bytes"}]`)

func TestSchema_Value(t *testing.T) {
	const (
		inf  = math.MaxInt64
		ninf = math.MinInt64
		day  = 86_400_000_000
		at   = 1741507626005004 // 2025-03-09 08:07:06.005004
	)
	for _, test := range []struct {
		what, schema, raw string
		want              change.Value
	}{
		{"null", `{"type":"int8"}`, `null`, change.Null()},
		{"bool", `{"type":"boolean"}`, `true`, change.Bool(true)},
		{"bool", `{"type":"boolean"}`, `false`, change.Bool(false)},
		{"int8", `{"type":"int8"}`, `-128`, change.Int64(-128)},
		{"int16", `{"type":"int16"}`, `32767`, change.Int64(32767)},
		{"int32", `{"type":"int32"}`, `-2147483648`, change.Int64(-2147483648)},
		{"int64 least", `{"type":"int64"}`, `-9223372036854775808`, change.Int64(math.MinInt64)},
		{"int64 beyond floats", `{"type":"int64"}`, `9007199254740993`, change.Int64(9007199254740993)},
		{"int zero", `{"type":"int64"}`, `-0`, change.Int64(0)},
		{"float", `{"type":"double"}`, `-1.5E-7`, change.Float64(-1.5e-7)},
		{"float", `{"type":"float"}`, `0.1`, change.Float64(0.1)},
		{"float NaN", `{"type":"double"}`, `"NaN"`, change.Float64(math.NaN())},
		{"float Infinity", `{"type":"float64"}`, `"Infinity"`, change.Float64(math.Inf(1))},
		{"float -Infinity", `{"type":"float32"}`, `"-Infinity"`, change.Float64(math.Inf(-1))},
		{"string", `{"type":"string"}`, `"a\u00e9\n"`, change.String("aé\n")},
		{"string, empty", `{"type":"string"}`, `""`, change.String("")},
		{"string that is a placeholder of SQL", `{"type":"string"}`, `"NULL"`, change.String("NULL")},
		{"decimal, string mode", `{"type":"string"}`, `"123.450"`, change.String("123.450")},
		{"decimal, double mode", `{"type":"double"}`, `123.45`, change.Float64(123.45)},
		{"bytes", `{"type":"bytes"}`, `"3q2+7w=="`, change.Bytes("\xde\xad\xbe\xef")},
		{"bytes, empty", `{"type":"bytes"}`, `""`, change.Bytes("")},
		{"bytes, hex mode", `{"type":"string"}`, `"deadbeef"`, change.String("deadbeef")},

		{"decimal", decimal("2"), `"MDk="`, change.Decimal("123.45")},
		{"decimal, negative", decimal("2"), `"z8c="`, change.Decimal("-123.45")},
		{"decimal, sign byte", decimal("2"), `"gA=="`, change.Decimal("-1.28")},
		{"decimal, leading zero byte", decimal("2"), `"AIA="`, change.Decimal("1.28")},
		{"decimal, -1", decimal("2"), `"/w=="`, change.Decimal("-0.01")},
		{"decimal, 0", decimal("2"), `"AA=="`, change.Decimal("0.00")},
		{"decimal, scale 0", decimal("0"), `"AP//////////"`, change.Decimal("18446744073709551615")},
		{"decimal, negative scale", decimal("-2"), `"BOI="`, change.Decimal("125000")},
		{"decimal, negative scale of zero", decimal("-2"), `"AA=="`, change.Decimal("0")},
		{"decimal, least int64", decimal("0"), `"gAAAAAAAAAA="`, change.Decimal("-9223372036854775808")},
		{"decimal, wide", decimal("0"), `"SztMqFqGxHoJiiI//////w=="`, change.Decimal("99999999999999999999999999999999999999")},
		{"decimal, wide and negative", decimal("38"), `"tMSzV6V5O4X2dd3AAAAAAQ=="`, change.Decimal("-0." + strings.Repeat("9", 38))},
		{"decimal as a number", decimal("2"), `123.450`, change.Decimal("123.450")},
		{"decimal as a number with an exponent", decimal("2"), `-1.25E+3`, change.Decimal("-1250")},
		{"decimal as a number with a small exponent", decimal("9"), `1E-9`, change.Decimal("0.000000001")},
		{"decimal as zero with an exponent", decimal("9"), `0E+9`, change.Decimal("0")},
		{"variable scale", variableScale, `{"scale":4,"value":"D09R"}`, change.Decimal("100.3345")},
		{"variable scale, negative", variableScale, `{"value":"BOI=", "scale" : -2}`, change.Decimal("125000")},

		{"date", debeziumTime("Date", "int32"), `20156`, change.Date(20156)},
		{"date, first", debeziumTime("Date", "int32"), `-719162`, change.Date(-719162)},
		{"date, beyond", debeziumTime("Date", "int32"), `2932897`, change.Date(2932897)},
		{"date, before 1970", debeziumTime("Date", "int32"), `-1`, change.Date(-1)},
		{"date, infinity", debeziumTime("Date", "int32"), `-2147472692`, change.Date(math.MaxInt32)},
		{"date, infinity a day earlier", debeziumTime("Date", "int32"), `-2147472693`, change.Date(math.MaxInt32)},
		{"date, -infinity", debeziumTime("Date", "int32"), `-2147472691`, change.Date(math.MinInt32)},
		{"connect date", named("org.apache.kafka.connect.data.Date", "int32"), `20156`, change.Date(20156)},
		{"time", debeziumTime("Time", "int32"), `29226005`, change.Time(29226005000)},
		{"micro time", debeziumTime("MicroTime", "int64"), `29226005004`, change.Time(29226005004)},
		{"micro time, MySQL's", debeziumTime("MicroTime", "int64"), `-3020399000000`, change.Time(-3020399000000)},
		{"nano time", debeziumTime("NanoTime", "int64"), `29226005004999`, change.Time(29226005004)},
		{"nano time, downwards", debeziumTime("NanoTime", "int64"), `-1`, change.Time(-1)},
		{"connect time", named("org.apache.kafka.connect.data.Time", "int32"), `29226005`, change.Time(29226005000)},
		{"timestamp", debeziumTime("Timestamp", "int64"), `1741507626094`, change.DateTime(1741507626094000)},
		{"timestamp, saturating", debeziumTime("Timestamp", "int64"), `9223372036854775807`, change.DateTime(inf)},
		{"timestamp, saturating downwards", debeziumTime("Timestamp", "int64"), `-9223372036854775808`, change.DateTime(ninf)},
		{"micro timestamp", debeziumTime("MicroTimestamp", "int64"), `1741507626005004`, change.DateTime(at)},
		{"micro timestamp, zero date", debeziumTime("MicroTimestamp", "int64"), `0`, change.DateTime(0)},
		{"micro timestamp, year 10000", debeziumTime("MicroTimestamp", "int64"), `253402300800000000`, change.DateTime(253402300800000000)},
		{"micro timestamp, infinity", debeziumTime("MicroTimestamp", "int64"), `9223372036825200000`, change.DateTime(9223372036825200000)},
		{"nano timestamp", debeziumTime("NanoTimestamp", "int64"), `1741507626005004999`, change.DateTime(at)},
		{"nano timestamp, downwards", debeziumTime("NanoTimestamp", "int64"), `-1`, change.DateTime(-1)},
		{"nano timestamp, infinity", debeziumTime("NanoTimestamp", "int64"), `9223372036854775807`, change.DateTime(inf)},
		{"nano timestamp, -infinity", debeziumTime("NanoTimestamp", "int64"), `-9223372036854775808`, change.DateTime(ninf)},
		{"connect timestamp", named("org.apache.kafka.connect.data.Timestamp", "int64"), `1741507626005`, change.DateTime(1741507626005000)},

		{"zoned", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06.005004Z"`, change.Timestamp(at)},
		{"zoned, no fraction", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06Z"`, change.Timestamp(1741507626000000)},
		{"zoned, one digit", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06.1Z"`, change.Timestamp(1741507626100000)},
		{"zoned, nanoseconds", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06.123456789Z"`, change.Timestamp(1741507626123456)},
		{"zoned, offset", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06+02:00"`, change.Timestamp(1741507626000000 - 7200_000_000)},
		{"zoned, half an hour", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06-05:30"`, change.Timestamp(1741507626000000 + 19800_000_000)},
		{"zoned, local mean time", debeziumTime("ZonedTimestamp", "string"), `"1849-12-31T23:59:59+00:19:32"`, change.Timestamp(-3786826773000000)},
		{"zoned, no seconds", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07Z"`, change.Timestamp(1741507620000000)},
		{"zoned, Julian days", debeziumTime("ZonedTimestamp", "string"), `"1491-07-04T02:10:00+03:00"`, change.Timestamp(-15099871800000000)},
		{"zoned, before 1970", debeziumTime("ZonedTimestamp", "string"), `"1969-12-31T23:59:59.9999999Z"`, change.Timestamp(-1)},
		{"zoned, first", debeziumTime("ZonedTimestamp", "string"), `"0001-01-01T00:00:00Z"`, change.Timestamp(-62135596800000000)},
		{"zoned, last", debeziumTime("ZonedTimestamp", "string"), `"9999-12-31T23:59:59.999999Z"`, change.Timestamp(253402300799999999)},
		{"zoned, year 10000", debeziumTime("ZonedTimestamp", "string"), `"+10000-01-01T00:00:00Z"`, change.Timestamp(253402300800000000)},
		{"zoned, BC", debeziumTime("ZonedTimestamp", "string"), `"-0043-03-15T12:00:00Z"`, change.Timestamp(-63517780800000000)},
		{"zoned, beyond int64", debeziumTime("ZonedTimestamp", "string"), `"+999999999-12-31T23:59:59Z"`, change.Timestamp(inf)},
		{"zoned, infinity", debeziumTime("ZonedTimestamp", "string"), `"infinity"`, change.Timestamp(inf)},
		{"zoned, -infinity", debeziumTime("ZonedTimestamp", "string"), `"-infinity"`, change.Timestamp(ninf)},
		{"zoned time", debeziumTime("ZonedTime", "string"), `"08:07:06.5Z"`, change.Time(29226500000)},
		{"zoned time, offset", debeziumTime("ZonedTime", "string"), `"01:00:00+02:00"`, change.Time(day - 3600_000_000)},
		{"zoned time, end of day", debeziumTime("ZonedTime", "string"), `"24:00:00Z"`, change.Time(day)},
		{"ISO date", debeziumTime("IsoDate", "string"), `"2025-03-09Z"`, change.Date(20156)},
		{"ISO date, bare", debeziumTime("IsoDate", "string"), `"2024-02-29"`, change.Date(19782)},
		{"ISO date, infinity", debeziumTime("IsoDate", "string"), `"-5877611-06-21Z"`, change.Date(math.MaxInt32)},
		{"ISO time", debeziumTime("IsoTime", "string"), `"08:07:06.005Z"`, change.Time(29226005000)},
		{"ISO timestamp", debeziumTime("IsoTimestamp", "string"), `"2025-03-09T08:07:06.005004Z"`, change.DateTime(at)},
		{"ISO timestamp in a gap of summer time", debeziumTime("IsoTimestamp", "string"), `"2025-03-09T02:30:00Z"`, change.DateTime(1741487400000000)},

		{"structured date", debeziumTime("StructuredDate", "struct"), `{"year":2025,"month":3,"day":9,"specialValue":null}`, change.Date(20156)},
		{"structured date, infinity", debeziumTime("StructuredDate", "struct"), `{"year":null,"specialValue":"NEGATIVE_INFINITY"}`, change.Date(math.MinInt32)},
		{"structured time", debeziumTime("StructuredTime", "struct"), `{"hour":8,"minute":7,"second":6,"nanos":5004999}`, change.Time(29226005004)},
		{"structured zoned time", debeziumTime("StructuredZonedTime", "struct"), `{"hour":24,"minute":0,"second":0,"nanos":0,"offsetSeconds":3600}`, change.Time(day - 3600_000_000)},
		{"structured timestamp", debeziumTime("StructuredTimestamp", "struct"), `{"year":2025,"month":3,"day":9,"hour":8,"minute":7,"second":6,"nanos":5004000,"precision":6,"specialValue":null}`, change.DateTime(at)},
		{"structured timestamp, picoseconds", debeziumTime("StructuredTimestamp", "struct"), `{"year":2025,"month":3,"day":9,"hour":8,"minute":7,"second":6,"picoseconds":5004999999}`, change.DateTime(at)},
		{"structured timestamp, before 1970", debeziumTime("StructuredTimestamp", "struct"), `{"year":1969,"month":12,"day":31,"hour":23,"minute":59,"second":59,"nanos":999999999}`, change.DateTime(-1)},
		{"structured zoned", debeziumTime("StructuredZonedTimestamp", "struct"), `{"year":2025,"month":3,"day":9,"hour":10,"minute":7,"second":6,"nanos":5004000,"offsetSeconds":7200,"zoneId":"Europe/Kyiv"}`, change.Timestamp(at)},
		{"structured zoned, infinity", debeziumTime("StructuredZonedTimestamp", "struct"), `{"specialValue":"POSITIVE_INFINITY","precision":6}`, change.Timestamp(inf)},
		{"structured duration", debeziumTime("StructuredDuration", "struct"), `{"years":1,"months":-14,"days":3,"hours":4,"minutes":5,"seconds":6,"nanos":780000000,"precision":6}`, change.Interval("-0-2 3 4:5:6.78")},

		{"year", debeziumTime("Year", "int32"), `2025`, change.Int64(2025)},
		{"micro duration", debeziumTime("MicroDuration", "int64"), `86400000000`, change.Interval("0-0 0 24:0:0")},
		{"micro duration, negative", debeziumTime("MicroDuration", "int64"), `-1`, change.Interval("0-0 0 -0:0:0.000001")},
		{"micro duration, Oracle's", debeziumTime("MicroDuration", "float64"), `8.64E10`, change.Interval("0-0 0 24:0:0")},
		{"nano duration", debeziumTime("NanoDuration", "int64"), `-1`, change.Interval("0-0 0 -0:0:0.000001")},
		{"interval", debeziumTime("Interval", "string"), `"P1Y2M3DT4H5M6.78S"`, change.Interval("1-2 3 4:5:6.78")},
		{"interval, zero", debeziumTime("Interval", "string"), `"P0Y0M0DT0H0M0S"`, change.Interval("0-0 0 0:0:0")},
		{"interval, mixed signs", debeziumTime("Interval", "string"), `"P-1Y2M-3DT4H-5M-0.5S"`, change.Interval("-0-10 -3 3:54:59.5")},
		{"interval, nanoseconds downwards", debeziumTime("Interval", "string"), `"PT-0.0000001S"`, change.Interval("0-0 0 -0:0:0.000001")},
		{"interval, PostgreSQL's longest", debeziumTime("Interval", "string"), `"P178956970Y7M2147483647DT2562047788H0M54.775807S"`, change.Interval("178956970-7 2147483647 2562047788:0:54.775807")},

		{"bits", named("io.debezium.data.Bits", "bytes", `"parameters":{"length":"10"}`), `"AwI="`, change.Bytes("\x03\x02")},
		{"bit(1)", `{"type":"boolean"}`, `true`, change.Bool(true)},
		{"json", named("io.debezium.data.Json", "string"), `"{\"zz\":2.0,\"a\":9007199254740993,\"b\": [1e2]}"`, change.JSON(`{"zz":2.0,"a":9007199254740993,"b": [1e2]}`)},
		{"json null", named("io.debezium.data.Json", "string"), `"null"`, change.JSON("null")},
		{"not json", named("io.debezium.data.Json", "string"), `"not json"`, change.JSON("not json")},
		{"uuid", named("io.debezium.data.Uuid", "string"), `"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`, change.String("b68a35a7-17ad-35b3-af2a-ae46edb4545a")},
		{"enum", named("io.debezium.data.Enum", "string", `"parameters":{"allowed":"open,paid"},"default":"open"`), `"paid"`, change.String("paid")},
		{"set", named("io.debezium.data.EnumSet", "string"), `"a,b"`, change.String("a,b")},
		{"a name with another type", debeziumTime("Date", "string"), `"2025-03-09"`, change.String("2025-03-09")},
		{"an unknown name", named("acme.Money", "int64"), `5`, change.Int64(5)},

		{"array", `{"type":"array","items":{"type":"string"}}`, `["a", null ,"[]{}\"", ""]`, change.Array([]change.Column{{Value: change.String("a")}, {Value: change.Null()}, {Value: change.String(`[]{}"`)}, {Value: change.String("")}})},
		{"array, empty", `{"type":"array","items":{"type":"string"}}`, `[ ]`, change.Array(nil)},
		{"array of decimals", `{"type":"array","items":` + decimal("2") + `}`, `["MDk=","/w=="]`, change.Array([]change.Column{{Value: change.Decimal("123.45")}, {Value: change.Decimal("-0.01")}})},
		{"array of arrays", `{"type":"array","items":{"type":"array","items":{"type":"int32"}}}`, `[[1,2],[]]`, change.Array([]change.Column{{Value: change.Array([]change.Column{{Value: change.Int64(1)}, {Value: change.Int64(2)}})}, {Value: change.Array(nil)}})},
		{"vector", named("io.debezium.data.FloatVector", "array", `"items":{"type":"float"}`), `[0.1,0.2]`, change.Array([]change.Column{{Value: change.Float64(0.1)}, {Value: change.Float64(0.2)}})},
		{
			"sparse vector", named("io.debezium.data.SparseVector", "struct", `"fields":[{"field":"dimensions","type":"int16"},{"field":"vector","type":"map","keys":{"type":"int16"},"values":{"type":"double"}}]`),
			`{"dimensions":5,"vector":[[1,0.5]]}`,
			change.Struct([]change.Column{{Name: "dimensions", Value: change.Int64(5)}, {Name: "vector", Value: change.Raw(`[[1,0.5]]`)}}),
		},
		{"circle", named("io.debezium.data.geometry.Circle", "struct", `"fields":[]`), `{"center":{"x":1,"y":2},"radius":3}`, change.Raw(`{"center":{"x":1,"y":2},"radius":3}`)},
		{"hstore as a map", `{"type":"map","keys":{"type":"string"},"values":{"type":"string","optional":true}}`, `{"a":"1","b":null}`, change.Raw(`{"a":"1","b":null}`)},
		{"text of a name", named("io.debezium.data.Ltree", "string"), `"a.b"`, change.String("a.b")},
		{
			"struct",
			`{"type":"struct","fields":[{"field":"on","type":"int32","name":"io.debezium.time.Date"},{"field":"w","type":"double"}]}`,
			`{"w" : 1.5 , "on":0,"new":{"x" : 1}}`,
			change.Struct([]change.Column{{Name: "w", Value: change.Float64(1.5)}, {Name: "on", Value: change.Date(0)}, {Name: "new", Value: change.Raw(`{"x" : 1}`)}}),
		},
		{"map", `{"type":"map","keys":{"type":"string"},"values":{"type":"int32"}}`, `{"a" : 1}`, change.Raw(`{"a" : 1}`)},
		{"map without text keys", `{"type":"map","keys":{"type":"int16"},"values":{"type":"double"}}`, `[[1,0.5]]`, change.Raw(`[[1,0.5]]`)},
		{"point", named("io.debezium.data.geometry.Point", "struct", `"fields":[]`), `{"x":1.5,"y":-2.25,"srid":null}`, change.Raw(`{"x":1.5,"y":-2.25,"srid":null}`)},
	} {
		t.Run(test.what, func(t *testing.T) {
			s, err := connect.Compile(test.schema)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Value(test.raw, new(slab.Arena))
			if err != nil {
				t.Fatalf("Value(%s): %v", test.raw, err)
			}
			if diff := cmp.Diff(test.want, got, compareValues); diff != "" {
				t.Errorf("Value(%s) (-want +got):\n%s\n%s\n%s", test.raw, diff, show(test.want), show(got))
			}
		})
	}
}

func TestSchema_Value_refuses(t *testing.T) {
	int32Array := `{"type":"array","items":{"type":"int32"}}`
	for _, test := range []struct{ what, schema, raw string }{
		{"text for a boolean", `{"type":"boolean"}`, `"true"`},
		{"number for a boolean", `{"type":"boolean"}`, `1`},
		{"int8 beyond", `{"type":"int8"}`, `128`},
		{"int16 beyond", `{"type":"int16"}`, `-32769`},
		{"int64 beyond", `{"type":"int64"}`, `9223372036854775808`},
		{"int with a fraction", `{"type":"int64"}`, `1.0`},
		{"int with an exponent", `{"type":"int64"}`, `1e3`},
		{"int as text", `{"type":"int64"}`, `"1"`},
		{"int as a boolean", `{"type":"int64"}`, `true`},
		{"float beyond", `{"type":"double"}`, `1e400`},
		{"float as text", `{"type":"double"}`, `"1.5"`},
		{"string as a number", `{"type":"string"}`, `1`},
		{"string as an object", `{"type":"string"}`, `{}`},
		{"bytes that aren't base64", `{"type":"bytes"}`, `"deadbee"`},
		{"bytes in the alphabet of URLs", `{"type":"bytes"}`, `"3q2-7w=="`},
		{"decimal without bytes", decimal("2"), `""`},
		{"decimal as text", decimal("2"), `"12.5"`},
		{"decimal as NaN", decimal("2"), `"NaN"`},
		{"decimal with a gigantic exponent", decimal("2"), `1e1000000000`},
		{"decimal with an exponent beyond int64", decimal("2"), `1e99999999999999999999`},
		{"decimal of a megabyte", decimal("2"), `"` + strings.Repeat("AAAA", 30000) + `"`},
		{"variable scale, gigantic", variableScale, `{"scale":2147483647,"value":"D09R"}`},
		{"variable scale, without scale", variableScale, `{"value":"D09R"}`},
		{"variable scale, without value", variableScale, `{"scale":1,"value":null}`},
		{"date beyond int32", debeziumTime("Date", "int32"), `2147483648`},
		{"time as text", debeziumTime("Time", "int32"), `"08:07"`},
		{"zoned without zone", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06"`},
		{"zoned, no such day", debeziumTime("ZonedTimestamp", "string"), `"2025-02-29T08:07:06Z"`},
		{"zoned, no such month", debeziumTime("ZonedTimestamp", "string"), `"2025-13-09T08:07:06Z"`},
		{"zoned, no such hour", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T24:00:01Z"`},
		{"zoned, zero date", debeziumTime("ZonedTimestamp", "string"), `"0000-00-00T00:00:00Z"`},
		{"zoned, no fraction after the point", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06.Z"`},
		{"zoned, short year", debeziumTime("ZonedTimestamp", "string"), `"25-03-09T08:07:06Z"`},
		{"zoned, long year without a sign", debeziumTime("ZonedTimestamp", "string"), `"10000-01-01T00:00:00Z"`},
		{"zoned, offset beyond 18 hours", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06+19:00"`},
		{"zoned, more after it", debeziumTime("ZonedTimestamp", "string"), `"2025-03-09T08:07:06ZZ"`},
		{"zoned, empty", debeziumTime("ZonedTimestamp", "string"), `""`},
		{"zoned time, no time", debeziumTime("ZonedTime", "string"), `"noon"`},
		{"ISO date, no date", debeziumTime("IsoDate", "string"), `"2025-3-9"`},
		{"structured, no such day", debeziumTime("StructuredDate", "struct"), `{"year":2025,"month":2,"day":30}`},
		{"structured, nothing", debeziumTime("StructuredTimestamp", "struct"), `{}`},
		{"structured, nothing but null", debeziumTime("StructuredTime", "struct"), `{"hour":null}`},
		{"structured, unknown special value", debeziumTime("StructuredDate", "struct"), `{"specialValue":"SOMETIME"}`},
		{"structured, nanoseconds beyond a second", debeziumTime("StructuredTime", "struct"), `{"hour":1,"minute":1,"second":1,"nanos":1000000000}`},
		{"structured, a gigantic year", debeziumTime("StructuredDate", "struct"), `{"year":9223372036854775807,"month":1,"day":1}`},
		{"interval, not one", debeziumTime("Interval", "string"), `"1 day"`},
		{"interval, empty", debeziumTime("Interval", "string"), `"P"`},
		{"interval, no time after T", debeziumTime("Interval", "string"), `"P1DT"`},
		{"interval, hours among days", debeziumTime("Interval", "string"), `"P1H"`},
		{"interval beyond int64", debeziumTime("Interval", "string"), `"PT9223372036854775807H"`},
		{"interval whose sum is beyond int64", debeziumTime("Interval", "string"), `"PT2562047788H99999999999M"`},
		{"array as text", int32Array, `"1"`},
		{"array with a bad element", int32Array, `[1,"2"]`},
		{"struct as an array", `{"type":"struct","fields":[]}`, `[]`},
		{"struct with a bad field", `{"type":"struct","fields":[{"field":"a","type":"int32"}]}`, `{"a":"x"}`},
	} {
		t.Run(test.what, func(t *testing.T) {
			s, err := connect.Compile(test.schema)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Value(test.raw, new(slab.Arena)); err == nil {
				t.Errorf("Value = %s, want an error", show(got))
			} else if len(err.Error()) > 300 {
				t.Errorf("the error has %d characters: %.100s…", len(err.Error()), err)
			}
		})
	}
}

func TestCompile_refuses(t *testing.T) {
	for what, schema := range map[string]string{
		"a string":                  `"int64"`,
		"a number":                  `1`,
		"an array":                  `[]`,
		"no type":                   `{}`,
		"an unknown type":           `{"type":"decimal"}`,
		"a type that is an object":  `{"type":{"type":"string"}}`,
		"an array without items":    `{"type":"array"}`,
		"a scale that is no number": decimal("two"),
		"a gigantic scale":          decimal("2147483647"),
		"no scale":                  named("org.apache.kafka.connect.data.Decimal", "bytes"),
		"a bad field":               `{"type":"struct","fields":[{"field":"a","type":"nope"}]}`,
		"fields that are no list":   `{"type":"struct","fields":{}}`,
	} {
		if s, err := connect.Compile(schema); err == nil {
			t.Errorf("%s: Compile(%s) = %v, want an error", what, schema, s)
		}
	}
	if s, err := connect.Compile("null"); s != nil || err != nil {
		t.Errorf("Compile(null) = %v, %v, want no schema and no error", s, err)
	}
}

// TestCompile_deep: arrays in arrays are typed down to a bound, and stay JSON
// text below it, so that a hostile schema costs no more than its bytes.
func TestCompile_deep(t *testing.T) {
	const depth = 2000
	schema := strings.Repeat(`{"type":"array","items":`, depth) + `{"type":"int32"}` + strings.Repeat("}", depth)
	s, err := connect.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	raw := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	v, err := s.Value(raw, new(slab.Arena))
	if err != nil {
		t.Fatal(err)
	}
	levels := 0
	for v.Kind() == change.KindArray {
		v = v.Elems()[0].Value
		levels++
	}
	if v.Kind() != change.KindRaw || len(v.Text()) != 2*(depth-levels) {
		t.Errorf("below %d levels there is %s of %d bytes, want JSON text of %d", levels, v.Kind(), len(v.Text()), 2*(depth-levels))
	}
}
