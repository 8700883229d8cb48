package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// policyCases are those of section D whose right result a policy decides: in
// each a column's type, with what its values mean, a value, and what becomes of it
// by each policy; "" is a dead letter. Every column has "reject" too, unless
// TestValues has that.
var policyCases = []struct {
	name, column, policy, in, want string
}{
	{"56 year 10000", "TIMESTAMP, from: micros", "clamp", `253402300800000000`, `"9999-12-31T23:59:59.999999Z"`},
	{"56 before year 1", "TIMESTAMP, from: micros", "null", `-62135596800000001`, `null`},
	{"56 a day too many", "DATE, from: days", "null", `2932897`, `null`},
	{"56 a day too many", "DATE, from: days", "clamp", `2932897`, `"9999-12-31"`},
	{"56 as DATETIME", "DATETIME, from: micros", "clamp", `253402300800000000`, `"9999-12-31T23:59:59.999999"`},
	{"59 a zero date", "TIMESTAMP", "null", `"0000-00-00 00:00:00"`, `null`},
	{"59 a zero date has nothing nearest", "TIMESTAMP", "clamp", `"0000-00-00 00:00:00"`, ``},
	{"59 a day zero", "DATE", "null", `"2025-00-10"`, `null`},
	{"59 the real epoch", "DATETIME, from: micros", "null", `0`, `"1970-01-01T00:00:00.000000"`},
	{"62 an integer beyond 64 bits in JSON", "JSON", "string", `"{\"v\":18446744073709551616}"`, `"\"{\\\"v\\\":18446744073709551616}\""`},
	{"62 an integer beyond 64 bits in JSON", "JSON", "null", `"{\"v\":18446744073709551616}"`, `null`},
	{"62 39 decimals", "BIGNUMERIC", "null", `"0.000000000000000000000000000000000000001"`, `null`},
	{"62 39 decimals", "BIGNUMERIC", "clamp", `"0.000000000000000000000000000000000000009"`, `"0.00000000000000000000000000000000000001"`},
	{"62 as a text", "STRING", "reject", `0.000000000000000000000000000000000000001`, `"0.000000000000000000000000000000000000001"`},
	{"64 NULL in an array", "STRING, mode: REPEATED", "null", `["a",null,"b"]`, `[]`},
	{"64 NULL in an array", "STRING, mode: REPEATED", "clamp", `["a",null,"b"]`, `["a","b"]`},
	{"64 NULL alone in an array", "STRING, mode: REPEATED", "clamp", `[null]`, `[]`},
	{"64 NULL in an array, as JSON", "JSON", "reject", `["a",null,"b"]`, `"[\"a\",null,\"b\"]"`},
	{"64 a NULL array, as JSON", "JSON", "reject", `null`, `null`},
	{"65 NaN as NUMERIC", "NUMERIC", "null", `"NaN"`, `null`},
	{"65 NaN has nothing nearest", "NUMERIC", "clamp", `"NaN"`, ``},
	{"65 Infinity as NUMERIC", "NUMERIC", "null", `"Infinity"`, `null`},
	{"65 NaN is a FLOAT64", "FLOAT64", "null", `"NaN"`, `"NaN"`},
	{"67 no bytes", `"NUMERIC(12,2)", from: decimal, scale: 2`, "null", `""`, `null`},
	{"69 without the hint", "NUMERIC", "reject", `-1`, `"-1"`},
	{"69 unsigned, as INT64", "INT64, from: unsigned", "reject", `-1`, ``},
	{"69 unsigned, as INT64", "INT64, from: unsigned", "clamp", `-1`, `"9223372036854775807"`},
	{"73 no JSON", "JSON", "string", `"not json"`, `"\"not json\""`},
	{"73 the empty text", "JSON", "string", `""`, `"\"\""`},
	{"73 newlines and quotes", "JSON", "string", `"two\nlines and \"quotes\""`, `"\"two\\nlines and \\\"quotes\\\"\""`},
	{"73 no JSON", "JSON", "null", `"not json"`, `null`},
	{"73 JSON null", "JSON", "null", `"null"`, `"null"`},
	{"73 JSON null", "JSON", "string", `"null"`, `"null"`},
	{"73 NULL", "JSON", "string", `null`, `null`},
	{"75 a local time as TIMESTAMP", "TIMESTAMP", "null", `"not a time"`, `null`},
	{"X9 a date of infinity", "DATE, from: days", "null", `-2147472693`, `null`},
	{"X9 a date of infinity", "DATE, from: days", "reject", `-2147472693`, ``},
}

// A value that its column can't hold becomes what the column's policy says, alone.
func TestPolicies(t *testing.T) {
	var config strings.Builder
	config.WriteString("source: {subscription: projects/demo/subscriptions/changes}\ncreate_tables: true\nwindow: 50ms\n" +
		"dead_letters: {topic: projects/demo/topics/dead}\ntables:\n" +
		"  - source: public.policies\n    destination: shop.policies\n    primary_key: [id]\n    columns:\n" +
		"      - {name: id, type: INT64, mode: REQUIRED}\n")
	var cases []eventCase
	for i, v := range policyCases {
		fmt.Fprintf(&config, "      - {name: c%d, type: %s, bad_values: %q}\n", i, v.column, v.policy)
		c := eventCase{
			name: fmt.Sprintf("%s (%s, %s)", v.name, v.column, v.policy), table: "shop.policies",
			messages: []message{pgChange{table: "public.policies", op: "c", after: fmt.Sprintf(`{"id":$1,"c%d":%s}`, i, v.in), lastCommit: 10, lsn: 11}.message()},
			want:     map[int]string{1: fmt.Sprintf(`{"c%d":%s}`, i, v.want)},
		}
		if v.want == "" {
			c.want, c.letters = map[int]string{1: ""}, []string{"encode/bad_value"}
		}
		cases = append(cases, c)
	}
	runCases(t, config.String(), "id", cases)
}

// What a policy did is counted, each value once, and what it left alone is not.
func TestPolicies_counted(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.policies
    destination: shop.policies
    primary_key: [id]
    bad_values: null
    columns: [{name: id, type: INT64, mode: REQUIRED}, {name: n, type: NUMERIC}, {name: day, type: DATE, from: days, bad_values: clamp}]
`
	row := func(rest string, lsn uint64) message {
		return pgChange{table: "public.policies", op: "c", after: fmt.Sprintf(`{"id":%d,%s}`, lsn, rest), lastCommit: 1, lsn: lsn}.message()
	}
	out := runLocal(t, config, []message{row(`"n":"NaN","day":9999999`, 2), row(`"n":"Infinity","day":1`, 3), row(`"n":null,"day":null`, 4), row(`"n":"1.5","day":0`, 5)})
	if n := out.Counts["values_adjusted"]; n != 3 || len(out.DeadLetters) > 0 || len(out.Tables["shop.policies"]) != 4 {
		t.Errorf("%d values adjusted, want 3; dead letters %v, rows %v", n, out.DeadLetters, out.Tables["shop.policies"])
	}
}
