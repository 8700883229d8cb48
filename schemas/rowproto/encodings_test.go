package rowproto

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/table"
)

// encoding is how Debezium writes one kind of source column, and what a column of
// BigQuery's has of it. docs/types.md shows them.
type encoding struct {
	source string // "" where it is the one before
	schema string // members of the field's schema, where the message has one
	value  string // JSON
	column string // as GoogleSQL writes the type, and the column's settings: "NUMERIC(12,2), from: decimal, scale: 2"
	want   string // as BigQuery shows it; "✗" and part of the error for a dead letter
	typed  string // the same where the message has a schema; "" where it is the same
}

const (
	decimal2     = `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}`
	decimal0     = `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"0"}`
	variable     = `"type":"struct","name":"io.debezium.data.VariableScaleDecimal","fields":[{"field":"scale","type":"int32"},{"field":"value","type":"bytes"}]`
	plainString  = `"type":"string"`
	plainDouble  = `"type":"double"`
	plainInt64   = `"type":"int64"`
	point        = `"type":"struct","name":"io.debezium.data.geometry.Point","fields":[{"field":"x","type":"double"},{"field":"y","type":"double"},{"field":"wkb","type":"bytes","optional":true},{"field":"srid","type":"int32","optional":true}]`
	geometry     = `"type":"struct","name":"io.debezium.data.geometry.Geometry","fields":[{"field":"wkb","type":"bytes"},{"field":"srid","type":"int32","optional":true}]`
	pointValue   = `{"x":1.5,"y":-2.25,"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":null}`
	structuredAt = `{"year":2025,"month":3,"day":9,"hour":8,"minute":7,"second":6,"nanos":5004000,"precision":6,"specialValue":null}`
)

func semantic(of, name string) string { return fmt.Sprintf(`"type":%q,"name":%q`, of, name) }

var encodings = []encoding{
	{"decimal(p,s), money; `decimal.handling.mode: precise`", decimal2, `"MDk="`, "NUMERIC(12,2), from: decimal, scale: 2", "123.45", ""},
	{"", decimal2, `"z8c="`, "NUMERIC(12,2), from: decimal, scale: 2", "-123.45", ""},
	{"", decimal2, `"AA=="`, "NUMERIC(12,2), from: decimal, scale: 2", "0", ""},
	{"", decimal2, `"MDk="`, "NUMERIC", "✗ `from: decimal`", "123.45"},
	{"", decimal2, `"MDk="`, "NUMERIC, from: decimal", "✗ `scale` beside", "123.45"},
	{"", decimal0, `"SztMqFqGxHoJiiI//////w=="`, "BIGNUMERIC, from: decimal, scale: 0", strings.Repeat("9", 38), ""},
	{"", decimal2, `"z8c="`, "STRING, from: decimal, scale: 2", `"-123.45"`, ""},
	{"`decimal.handling.mode: string`", plainString, `"123.45"`, "NUMERIC", "123.45", ""},
	{"`decimal.handling.mode: double`", plainDouble, `123.45`, "NUMERIC", "123.45", ""},
	{"numeric without a scale, NUMBER", variable, `{"scale":4,"value":"D09R"}`, "NUMERIC", "100.3345", ""},
	{"", variable, `{"scale":-2,"value":"BOI="}`, "INT64", "125000", ""},
	{"", variable, `{"scale":4,"value":"D09R"}`, "FLOAT64", "100.3345", ""},
	{"", variable, `{"scale":4,"value":"D09R"}`, "STRING, from: decimal, scale: 0", `"100.3345"`, ""},
	{"numeric that is NaN or an infinity", plainString, `"NaN"`, "NUMERIC", "✗ NaN", ""},
	{"", plainString, `"NaN"`, "NUMERIC, bad_values: null", "NULL", ""},
	{"", plainString, `"-Infinity"`, "NUMERIC(4,2), bad_values: clamp", "-99.99", ""},
	{"", plainString, `"NaN"`, "FLOAT64", "NaN", ""},
	{"", plainString, `"Infinity"`, "STRING", `"Infinity"`, ""},
	{"bigint unsigned", plainInt64, `-1`, "NUMERIC, from: unsigned", "18446744073709551615", ""},
	{"", plainInt64, `-1`, "STRING, from: unsigned", `"18446744073709551615"`, ""},
	{"", plainInt64, `-1`, "INT64, from: unsigned", "✗ range", ""},
	{"", plainInt64, `-1`, "NUMERIC", "-1", ""},
	{"… with `bigint.unsigned.handling.mode: precise`", decimal0, `"AP//////////"`, "NUMERIC, from: decimal, scale: 0", "18446744073709551615", ""},
	{"int unsigned, tinyint unsigned", plainInt64, `4294967295`, "INT64", "4294967295", ""},
	{"", `"type":"int16"`, `255`, "INT64", "255", ""},
	{"float, double", plainDouble, `0.1`, "FLOAT64", "0.1", ""},
	{"", plainDouble, `"NaN"`, "FLOAT64", "NaN", ""},
	{"", plainDouble, `"-Infinity"`, "FLOAT64", "-Infinity", ""},
	{"date", semantic("int32", "io.debezium.time.Date"), `20156`, "DATE", "2025-03-09", ""},
	{"", semantic("int32", "org.apache.kafka.connect.data.Date"), `20156`, "DATE, from: days", "2025-03-09", ""},
	{"", semantic("int32", "io.debezium.time.Date"), `-719162`, "DATE", "0001-01-01", ""},
	{"", semantic("int32", "io.debezium.time.Date"), `-1`, "DATE", "1969-12-31", ""},
	{"date that is `infinity` or `-infinity`", semantic("int32", "io.debezium.time.Date"), `-2147472693`, "DATE", "✗ 0001-01-01 to 9999-12-31", ""},
	{"", semantic("int32", "io.debezium.time.Date"), `-2147472692`, "DATE, bad_values: null", "NULL", ""},
	{"time(0–3)", semantic("int32", "io.debezium.time.Time"), `29226005`, "TIME, from: millis", "08:07:06.005", ""},
	{"", semantic("int32", "org.apache.kafka.connect.data.Time"), `29226005`, "TIME, from: millis", "08:07:06.005", ""},
	{"time(4–6), MySQL TIME", semantic("int64", "io.debezium.time.MicroTime"), `29226005004`, "TIME, from: micros", "08:07:06.005004", ""},
	{"", semantic("int64", "io.debezium.time.MicroTime"), `29226005004`, "TIME", "✗ `from: seconds`, `millis`, `micros` or `nanos`", "08:07:06.005004"},
	{"time(7)", semantic("int64", "io.debezium.time.NanoTime"), `29226005004999`, "TIME, from: nanos", "08:07:06.005004", ""},
	{"MySQL TIME beyond a day, or negative", semantic("int64", "io.debezium.time.MicroTime"), `3020399000000`, "TIME, from: micros", "✗ 23:59:59.999999", ""},
	{"", semantic("int64", "io.debezium.time.MicroTime"), `3020399000000`, "TIME, from: micros, bad_values: clamp", "23:59:59.999999", ""},
	{"", semantic("int64", "io.debezium.time.MicroTime"), `-3600000000`, "TIME, from: micros, bad_values: null", "NULL", ""},
	{"", semantic("int64", "io.debezium.time.MicroTime"), `3020399000000`, "INTERVAL, from: micros", "0-0 0 838:59:59", ""},
	{"", semantic("int64", "io.debezium.time.MicroTime"), `-3600000000`, "INTERVAL, from: micros", "0-0 0 -1:0:0", ""},
	{"timestamp(0–3), datetime(0–3), Oracle DATE", semantic("int64", "io.debezium.time.Timestamp"), `1741507626094`, "DATETIME, from: millis", "2025-03-09T08:07:06.094", ""},
	{"", semantic("int64", "org.apache.kafka.connect.data.Timestamp"), `1741507626094`, "TIMESTAMP, from: millis", "2025-03-09 08:07:06.094+00", ""},
	{"timestamp(4–6), datetime(4–6)", semantic("int64", "io.debezium.time.MicroTimestamp"), `1741507626005004`, "DATETIME, from: micros", "2025-03-09T08:07:06.005004", ""},
	{"", semantic("int64", "io.debezium.time.MicroTimestamp"), `-1`, "DATETIME, from: micros", "1969-12-31T23:59:59.999999", ""},
	{"", semantic("int64", "io.debezium.time.MicroTimestamp"), `0`, "DATETIME, from: micros", "1970-01-01T00:00:00", ""},
	{"timestamp(7–9)", semantic("int64", "io.debezium.time.NanoTimestamp"), `1741507626005004999`, "DATETIME, from: nanos", "2025-03-09T08:07:06.005004", ""},
	{"", semantic("int64", "io.debezium.time.NanoTimestamp"), `-1`, "TIMESTAMP, from: nanos", "1969-12-31 23:59:59.999999+00", ""},
	{"timestamp that is `infinity`", semantic("int64", "io.debezium.time.MicroTimestamp"), `9223372036825200000`, "TIMESTAMP, from: micros", "✗ 0001-01-01 to 9999-12-31", ""},
	{"", semantic("int64", "io.debezium.time.MicroTimestamp"), `9223372036825200000`, "TIMESTAMP, from: micros, bad_values: clamp", "9999-12-31 23:59:59.999999+00", ""},
	{"", semantic("int64", "io.debezium.time.MicroTimestamp"), `-9223372036832400000`, "DATETIME, from: micros, bad_values: clamp", "0001-01-01T00:00:00", ""},
	{"timestamptz, MySQL TIMESTAMP, datetimeoffset", semantic("string", "io.debezium.time.ZonedTimestamp"), `"2025-03-09T08:07:06.005004Z"`, "TIMESTAMP", "2025-03-09 08:07:06.005004+00", ""},
	{"", semantic("string", "io.debezium.time.ZonedTimestamp"), `"2025-03-09T08:07:06Z"`, "TIMESTAMP", "2025-03-09 08:07:06+00", ""},
	{"", semantic("string", "io.debezium.time.ZonedTimestamp"), `"2025-03-09T08:07:06+02:00"`, "TIMESTAMP", "2025-03-09 06:07:06+00", ""},
	{"", semantic("string", "io.debezium.time.ZonedTimestamp"), `"infinity"`, "TIMESTAMP, bad_values: clamp", "9999-12-31 23:59:59.999999+00", ""},
	{"timetz", semantic("string", "io.debezium.time.ZonedTime"), `"08:07:06.5Z"`, "TIME", "08:07:06.500", ""},
	{"`time.precision.mode: isostring`", semantic("string", "io.debezium.time.IsoDate"), `"2025-03-09Z"`, "DATE", "2025-03-09", ""},
	{"", semantic("string", "io.debezium.time.IsoTime"), `"08:07:06.005Z"`, "TIME", "08:07:06.005", ""},
	{"", semantic("string", "io.debezium.time.IsoTimestamp"), `"2025-03-09T08:07:06.005004Z"`, "DATETIME", "2025-03-09T08:07:06.005004", ""},
	{"structured dates and times", semantic("struct", "io.debezium.time.StructuredTimestamp"), structuredAt, "DATETIME", "2025-03-09T08:07:06.005004", ""},
	{"", semantic("struct", "io.debezium.time.StructuredTimestamp"), structuredAt, "TIMESTAMP", "2025-03-09 08:07:06.005004+00", ""},
	{"", semantic("struct", "io.debezium.time.StructuredZonedTimestamp"), `{"year":2025,"month":3,"day":9,"hour":10,"minute":7,"second":6,"nanos":0,"offsetSeconds":7200,"zoneId":"Europe/Kyiv"}`, "TIMESTAMP", "2025-03-09 08:07:06+00", ""},
	{"", semantic("struct", "io.debezium.time.StructuredTimestamp"), `{"year":null,"month":null,"day":null,"specialValue":"POSITIVE_INFINITY"}`, "DATETIME, bad_values: clamp", "9999-12-31T23:59:59.999999", ""},
	{"", semantic("struct", "io.debezium.time.StructuredDuration"), `{"years":1,"months":2,"days":3,"hours":4,"minutes":5,"seconds":6,"nanos":780000000}`, "INTERVAL", "1-2 3 4:5:6.780", ""},
	{"MySQL's zero date, as a text", plainString, `"0000-00-00"`, "DATE", "✗ zero date", ""},
	{"", plainString, `"0000-00-00"`, "DATE, bad_values: null", "NULL", ""},
	{"year", semantic("int32", "io.debezium.time.Year"), `2025`, "INT64", "2025", ""},
	{"interval", semantic("int64", "io.debezium.time.MicroDuration"), `86400000000`, "INTERVAL, from: micros", "0-0 0 24:0:0", ""},
	{"`interval.handling.mode: string`", semantic("string", "io.debezium.time.Interval"), `"P1Y2M3DT4H5M6.78S"`, "INTERVAL", "1-2 3 4:5:6.780", ""},
	{"bytea, blob, binary", `"type":"bytes"`, `"3q2+7w=="`, "BYTES", "0xDEADBEEF", ""},
	{"`binary.handling.mode: hex`", plainString, `"deadbeef"`, "BYTES, from: hex", "0xDEADBEEF", ""},
	{"`binary.handling.mode: base64-url-safe`", plainString, `"3q2-7w=="`, "BYTES, from: base64", "0xDEADBEEF", ""},
	{"bit(1)", `"type":"boolean"`, `true`, "BOOL", "true", ""},
	{"bit(10), little-endian", `"type":"bytes","name":"io.debezium.data.Bits","parameters":{"length":"10"}`, `"AwI="`, "BYTES", "0x0302", ""},
	{"json, jsonb, hstore", semantic("string", "io.debezium.data.Json"), `"{\"a\":1.0}"`, "JSON", `{"a":1.0}`, ""},
	{"", semantic("string", "io.debezium.data.Json"), `"3"`, "JSON", `3`, ""},
	{"", semantic("string", "io.debezium.data.Json"), `"null"`, "JSON", `null`, ""},
	{"", semantic("string", "io.debezium.data.Json"), `"{\"v\":18446744073709551616}"`, "JSON", "✗ 64 bits", ""},
	{"uuid, xml, ltree, enum", semantic("string", "io.debezium.data.Uuid"), `"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`, "STRING", `"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`, ""},
	{"set", semantic("string", "io.debezium.data.EnumSet"), `"a,b"`, "STRING", `"a,b"`, ""},
	{"arrays", `"type":"array","items":{"type":"string","optional":true}`, `["a","b"]`, "ARRAY<STRING>", `["a", "b"]`, ""},
	{"", `"type":"array","items":{"type":"string","optional":true}`, `["a",null]`, "ARRAY<STRING>", "✗ an array can't hold NULL", ""},
	{"", `"type":"array","items":{"type":"string","optional":true}`, `["a",null]`, "ARRAY<STRING>, bad_values: clamp", `["a"]`, ""},
	{"", `"type":"array","items":{"type":"string","optional":true}`, `["a",null]`, "JSON", `["a",null]`, ""},
	{"", `"type":"array","items":{` + decimal2 + `}`, `["MDk=","z8c="]`, "ARRAY<NUMERIC>, from: decimal, scale: 2", `[123.45, -123.45]`, ""},
	{"", `"type":"array","items":{"type":"string","optional":true}`, `[]`, "ARRAY<STRING>", `[]`, ""},
	{"ranges, inet, tsvector", plainString, `"[2025-01-01,2025-02-01)"`, "RANGE<DATE>", "[2025-01-01, 2025-02-01)", ""},
	{"", plainString, `"[\"2025-03-09 08:07:06+00\",\"2025-03-09 10:07:07+01\")"`, "RANGE<TIMESTAMP>", "[2025-03-09 08:07:06+00, 2025-03-09 09:07:07+00)", ""},
	{"", plainString, `"10.0.0.0/8"`, "STRING", `"10.0.0.0/8"`, ""},
	{"point", point, pointValue, "GEOGRAPHY", "POINT(1.5 -2.25)", ""},
	{"", point, pointValue, "STRUCT<x FLOAT64, y FLOAT64, wkb BYTES, srid INT64>", "{x: 1.5, y: -2.25, wkb: 0x0101000000000000000000F83F00000000000002C0}", ""},
	{"geometry, geography", geometry, `{"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":4326}`, "GEOGRAPHY", "POINT(1.5 -2.25)", ""},
	{"vector", `"type":"array","name":"io.debezium.data.DoubleVector","items":{"type":"double"}`, `[0.1,0.2]`, "ARRAY<FLOAT64>", "[0.1, 0.2]", ""},
}

// TestEncodings: a message means the same with its schema and without, where the
// column says what can't be told.
func TestEncodings(t *testing.T) {
	for _, e := range encodings {
		t.Run(e.value+" to "+e.column, func(t *testing.T) {
			c := columnOf(t, e.column)
			checkOutcome(t, "without a schema", &c, untypedValue(e.value), e.want)
			if e.schema == "" {
				return
			}
			want := e.typed
			if want == "" {
				want = e.want
			}
			v := typedValue(t, e.schema, e.value)
			checkOutcome(t, "with a schema", &c, v, want)
			// The schema alone says what the value is, but for what Debezium does not say.
			if c.From != table.FromUnsigned && v.Kind() != change.KindString && v.Kind() != change.KindStruct {
				c.From = ""
				checkOutcome(t, "with a schema and no `from`", &c, v, want)
			}
		})
	}
}

func checkOutcome(t *testing.T, what string, c *table.Column, v change.Value, want string) {
	t.Helper()
	got := outcome(t, c, v)
	if problem, refused := strings.CutPrefix(want, "✗ "); refused {
		if !strings.HasPrefix(got, "✗ ") || !strings.Contains(got, problem) {
			t.Errorf("%s: %s, want a dead letter that says %q", what, got, problem)
		}
	} else if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// untypedValue is a value as a message without a schema gives it.
func untypedValue(text string) change.Value { return untyped(text, jsontext.Value(text).Kind()) }

// typedValue is the value of a field with this schema as Debezium's decoder gives it.
func typedValue(t testing.TB, schema, value string) change.Value {
	t.Helper()
	d, err := envelope.New(envelope.Options{Format: "debezium"})
	if err != nil {
		t.Fatal(err)
	}
	message := `{"schema":{"type":"struct","name":"acme.public.t.Envelope","fields":[` +
		`{"field":"after","type":"struct","optional":true,"name":"acme.public.t.Value","fields":[{"field":"c","optional":true,` + schema + `}]}]},` +
		`"payload":{"before":null,"after":{"c":` + value + `},"op":"c","source":{"version":"3.4.0.Final","connector":"postgresql","name":"acme",` +
		`"snapshot":"false","db":"shop","sequence":"[\"1\",\"2\"]","schema":"public","table":"t","lsn":2}}}`
	events, _, err := d.Decode(change.Message{Data: []byte(message)}, nil)
	if err != nil || len(events) != 1 {
		t.Fatalf("decoding %s: %v", message, err)
	}
	v, ok := change.Find(events[0].After, "c")
	if !ok {
		t.Fatal("the event lacks the column")
	}
	return v
}

// columnOf reads a column as the encodings and docs/types.md write it.
func columnOf(t testing.TB, text string) table.Column {
	t.Helper()
	typ, settings, _ := strings.Cut(text, ", from:")
	if settings != "" {
		settings = "from:" + settings
	} else {
		typ, settings, _ = strings.Cut(text, ", bad_values:")
		if settings != "" {
			settings = "bad_values:" + settings
		}
	}
	c, err := table.ParseType(typ)
	if err != nil {
		t.Fatal(err)
	}
	scaled := false
	for setting := range strings.SplitSeq(settings, ", ") {
		key, value, _ := strings.Cut(setting, ": ")
		switch key {
		case "":
		case "from":
			c.From = table.From(value)
		case "scale":
			scaled = true
			if _, err := fmt.Sscan(value, &c.FromScale); err != nil {
				t.Fatal(err)
			}
		case "bad_values":
			c.BadValues = table.Policy(value)
		default:
			t.Fatalf("column %q: setting %q", text, setting)
		}
	}
	c.FromUnscaled = c.From == table.FromDecimal && !scaled && c.Type != table.Int64
	return c
}

// outcome returns the value as BigQuery shows it, or "✗ " and why it is refused.
func outcome(t testing.TB, c *table.Column, v change.Value) string {
	t.Helper()
	named := *c
	named.Name = "c"
	p := compile(t, named)
	data, err := p.AppendUpsert(nil, row(column("c", v)), someSequence, RowOptions{})
	if refused := new(ValueError); errors.As(err, &refused) {
		return "✗ " + refused.Err.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	got, ok := read(t, messageType(t, p), data)["c"]
	switch {
	case ok:
		return show(&named, got)
	case named.Mode == table.Repeated:
		return "[]"
	default:
		return "NULL"
	}
}
