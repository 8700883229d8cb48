package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// typedCases are columns as Debezium sends them with its schema: the field's
// schema without its name, the value, the column's type at BigQuery, and what a
// reader must see; "" is a dead letter. No column says what its values mean.
var typedCases = []struct{ name, field, in, column, want string }{
	{"decimal", `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"}`, `"MDk="`, "NUMERIC", `"123.45"`},
	{"negative decimal", `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"}`, `"z8c="`, "NUMERIC", `"-123.45"`},
	{"2^64-1", `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"0"}`, `"AP//////////"`, "NUMERIC", `"18446744073709551615"`},
	{"38 digits", `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"0"}`, `"SztMqFqGxHoJiiI//////w=="`, "BIGNUMERIC", `"99999999999999999999999999999999999999"`},
	{"too many digits", `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"0"}`, `"SztMqFqGxHoJiiI//////w=="`, "NUMERIC", ``},
	{"variable scale", `"type":"struct","name":"io.debezium.data.VariableScaleDecimal","version":1,"fields":[{"type":"int32","field":"scale"},{"type":"bytes","field":"value"}]`, `{"scale":4,"value":"D09R"}`, "NUMERIC", `"100.3345"`},
	{"negative scale", `"type":"struct","name":"io.debezium.data.VariableScaleDecimal","version":1,"fields":[{"type":"int32","field":"scale"},{"type":"bytes","field":"value"}]`, `{"scale":-2,"value":"BOI="}`, "NUMERIC", `"125000"`},
	{"date", `"type":"int32","name":"io.debezium.time.Date","version":1`, `20156`, "DATE", `"2025-03-09"`},
	{"X9 a date of infinity", `"type":"int32","name":"io.debezium.time.Date","version":1`, `-2147472693`, "DATE", ``},
	{"69 unsigned beyond 63 bits, without the hint", `"type":"int64"`, `-1`, "INT64", `"-1"`},
	{"Connect's date", `"type":"int32","name":"org.apache.kafka.connect.data.Date","version":1`, `-1`, "DATE", `"1969-12-31"`},
	{"time in millis", `"type":"int32","name":"io.debezium.time.Time","version":1`, `29226005`, "TIME", `"08:07:06.005000"`},
	{"time in micros", `"type":"int64","name":"io.debezium.time.MicroTime","version":1`, `29226005004`, "TIME", `"08:07:06.005004"`},
	{"time in nanos", `"type":"int64","name":"io.debezium.time.NanoTime","version":1`, `29226005004999`, "TIME", `"08:07:06.005004"`},
	{"timestamp in millis", `"type":"int64","name":"io.debezium.time.Timestamp","version":1`, `1741507626094`, "DATETIME", `"2025-03-09T08:07:06.094000"`},
	{"timestamp in micros", `"type":"int64","name":"io.debezium.time.MicroTimestamp","version":1`, `1741507626005004`, "DATETIME", `"2025-03-09T08:07:06.005004"`},
	{"timestamp in nanos", `"type":"int64","name":"io.debezium.time.NanoTimestamp","version":1`, `-1`, "DATETIME", `"1969-12-31T23:59:59.999999"`},
	{"naive timestamp as an instant", `"type":"int64","name":"io.debezium.time.MicroTimestamp","version":1`, `1741507626005004`, "TIMESTAMP", `"2025-03-09T08:07:06.005004Z"`},
	{"zoned timestamp", `"type":"string","name":"io.debezium.time.ZonedTimestamp","version":1`, `"2025-03-09T08:07:06.005004Z"`, "TIMESTAMP", `"2025-03-09T08:07:06.005004Z"`},
	{"zoned timestamp of Oracle", `"type":"string","name":"io.debezium.time.ZonedTimestamp","version":1`, `"2025-03-09T08:07:06+02:00"`, "TIMESTAMP", `"2025-03-09T06:07:06.000000Z"`},
	{"infinity", `"type":"string","name":"io.debezium.time.ZonedTimestamp","version":1`, `"infinity"`, "TIMESTAMP", ``},
	{"infinity in micros", `"type":"int64","name":"io.debezium.time.MicroTimestamp","version":1`, `9223372036825200000`, "DATETIME", ``},
	{"year", `"type":"int32","name":"io.debezium.time.Year","version":1`, `2025`, "INT64", `"2025"`},
	{"interval", `"type":"string","name":"io.debezium.time.Interval","version":1`, `"P1Y2M3DT4H5M6.78S"`, "INTERVAL", `"1-2 3 4:5:6.780"`},
	{"bytes", `"type":"bytes"`, `"3q2+7w=="`, "BYTES", `"3q2+7w=="`},
	{"json", `"type":"string","name":"io.debezium.data.Json","version":1`, `"{\"zz\":2.0,\"a\":9007199254740993}"`, "JSON", `"{\"zz\":2.0,\"a\":9007199254740993}"`},
	{"json as a text", `"type":"string","name":"io.debezium.data.Json","version":1`, `"{\"a\":1.0}"`, "STRING", `"{\"a\":1.0}"`},
	{"uuid", `"type":"string","name":"io.debezium.data.Uuid","version":1`, `"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`, "STRING", `"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`},
	{"enum", `"type":"string","name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":"open,paid"},"default":"open"`, `null`, "STRING", `null`},
	{"bool", `"type":"boolean"`, `false`, "BOOL", `false`},
	{"int16", `"type":"int16"`, `-7`, "INT64", `"-7"`},
	{"int64", `"type":"int64"`, `9223372036854775807`, "INT64", `"9223372036854775807"`},
	{"double", `"type":"double"`, `0.1`, "FLOAT64", `0.1`},
	{"NaN", `"type":"double"`, `"NaN"`, "FLOAT64", `"NaN"`},
	{"array", `"type":"array","items":{"type":"string","optional":true}`, `["a","é"]`, "ARRAY", `["a","é"]`},
	{"NULL in an array", `"type":"array","items":{"type":"string","optional":true}`, `["a",null]`, "ARRAY", ``},
	{"a text that looks like base64", `"type":"string"`, `"MDk="`, "STRING", `"MDk="`},
	{"a text for a number", `"type":"string"`, `"12.50"`, "NUMERIC", `"12.5"`},
}

// What Debezium's schema says of a value decides what it is, whatever it looks like.
func TestTypedValues(t *testing.T) {
	var config strings.Builder
	fmt.Fprintf(&config, "source: {subscription: projects/demo/subscriptions/changes, format: debezium}\n"+
		"create_tables: true\nwindow: 50ms\ndead_letters: {directory: %q}\ntables:\n"+
		"  - source: public.typed\n    destination: shop.typed\n    primary_key: [id]\n    columns:\n"+
		"      - {name: id, type: INT64, mode: REQUIRED}\n", t.TempDir())
	seen := map[string]bool{}
	cases := make([]eventCase, 0, len(typedCases))
	for _, v := range typedCases {
		column := "c_" + strings.ToLower(v.column)
		if !seen[v.column] {
			seen[v.column] = true
			if v.column == "ARRAY" {
				fmt.Fprintf(&config, "      - {name: %s, type: STRING, mode: REPEATED}\n", column)
			} else {
				fmt.Fprintf(&config, "      - {name: %s, type: %s}\n", column, v.column)
			}
		}
		change := pgChange{table: "public.typed", op: "c", after: fmt.Sprintf(`{"id":$1,%q:%s}`, column, v.in), lastCommit: 10, lsn: 11}.message()
		fields := fmt.Sprintf(`[{"field":"id","type":"int64","optional":false},{"field":%q,%s,"optional":true}]`, column, v.field)
		change.data = fmt.Sprintf(`{"schema":{"type":"struct","optional":false,"name":"shop.public.typed.Envelope","version":2,"fields":[`+
			`{"field":"before","type":"struct","optional":true,"name":"shop.public.typed.Value","fields":%s},`+
			`{"field":"after","type":"struct","optional":true,"name":"shop.public.typed.Value","fields":%s},`+
			`{"field":"op","type":"string","optional":false}]},"payload":%s}`, fields, fields, change.data)
		c := eventCase{
			name: v.name, table: "shop.typed", messages: []message{change}, want: map[int]string{1: ""},
		}
		if v.want != "" {
			c.want = map[int]string{1: fmt.Sprintf(`{%q:%s}`, column, v.want)}
		} else {
			c.letters = []string{"encode/bad_value"}
		}
		cases = append(cases, c)
	}
	runCases(t, config.String(), "id", cases)
}
