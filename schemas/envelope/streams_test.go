package envelope_test

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// streamRow is the row of plainPayload.
var streamRow = plainPayload[len(`{"before":null,"after":`):strings.Index(plainPayload, `,"source"`)]

// member matches a member of streamRow: a name and a value.
var member = regexp.MustCompile(`"(\w+)":("(?:[^"\\]|\\.)*"|\[[^]]*\]|[^,{}]+)`)

// listed writes streamRow's members another way, joined by commas.
func listed(write func(name, value string) string) string {
	var parts []string
	for _, m := range member.FindAllStringSubmatch(streamRow, -1) {
		parts = append(parts, write(m[1], m[2]))
	}
	return strings.Join(parts, ",")
}

// asText writes a value as a text, null as null.
func asText(value string) string {
	if value == "null" || value[0] == '"' {
		return value
	}
	return fmt.Sprintf("%q", value)
}

// streamMessages are messages of about 1 KB of the formats whose rows are no
// Debezium images, all with plainPayload's row.
var streamMessages = map[string]string{
	"maxwell": `{"database":"shop","table":"orders","type":"insert","ts":1741507626,"xid":88104,"commit":true,"position":"mysql-bin.000042:7310","server_id":184054,` +
		`"primary_key_columns":["order_id"],"data":` + streamRow + `}`,
	"canal": `{"id":12,"database":"shop","table":"orders","pkNames":["order_id"],"isDdl":false,"type":"INSERT","es":1741507626000,"ts":1741507626420,"sql":"",` +
		`"sqlType":{` + listed(func(name, _ string) string { return fmt.Sprintf(`%q:12`, name) }) + `},` +
		`"mysqlType":{` + listed(func(name, _ string) string { return fmt.Sprintf(`%q:"varchar(20)"`, name) }) + `},` +
		`"data":[{` + listed(func(name, value string) string { return fmt.Sprintf(`%q:%s`, name, asText(value)) }) + `}],"old":null,"gtid":""}`,
	"wal2json": `{"action":"I","xid":901,"timestamp":"2025-03-09 08:07:06.005004+00","lsn":"7/A1B2C300","schema":"public","table":"orders","columns":[` +
		listed(func(name, value string) string {
			return fmt.Sprintf(`{"name":%q,"type":"text","value":%s}`, name, value)
		}) +
		`],"pk":[{"name":"order_id","type":"bigint"}]}`,
	"wal2json/1": `{"xid":901,"nextlsn":"7/A1B2C3D8","timestamp":"2025-03-09 08:07:06.005004+00","change":[{"kind":"insert","schema":"public","table":"orders",` +
		`"columnnames":[` + listed(func(name, _ string) string { return fmt.Sprintf(`%q`, name) }) + `],` +
		`"columntypes":[` + listed(func(string, string) string { return `"text"` }) + `],` +
		`"columnvalues":[` + listed(func(_, value string) string { return value }) + `]}]}`,
	"dms": `{"data":` + streamRow + `,"metadata":{"timestamp":"2025-03-09T08:07:06.405004Z","record-type":"data","operation":"insert","partition-key-type":"schema-table",` +
		`"schema-name":"public","table-name":"orders","transaction-id":9051,"transaction-record-id":3,"commit-timestamp":"2025-03-09T08:07:06.005004Z",` +
		`"stream-position":"00000009/1A2B0048.4.00000009/1A2B0048"}}`,
	"spanner": `{"partitionToken":"__8BAYE","commitTimestamp":{"seconds":1741507626,"nanos":5004001},"serverTransactionId":"NjM1Nz","recordSequence":"00000001","tableName":"orders","rowType":[` +
		listed(func(name, _ string) string {
			return fmt.Sprintf(`{"name":%q,"type":{"code":"{\"code\":\"STRING\"}"},"isPrimaryKey":false}`, name)
		}) + `],"mods":[{"keysJson":"{\"id\":\"7001\"}","newValuesJson":` +
		fmt.Sprintf("%q", `{`+listed(func(name, value string) string { return fmt.Sprintf(`%q:%s`, name, asText(value)) })+`}`) +
		`,"oldValuesJson":"{}"}],"modType":"INSERT","valueCaptureType":"NEW_ROW"}`,
	"sequin": `{"record":` + streamRow + `,"changes":null,"action":"insert","metadata":{"table_schema":"public","table_name":"orders","idempotency_key":"b3BhcXVl",` +
		`"commit_timestamp":"2025-03-09T08:07:06.005004Z","commit_lsn":32777618640,"commit_idx":1,"consumer":{"id":"c"},"database":{"id":"d"}}}`,
	"columns": `{"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"7/A1B2C3D8",` + streamRow[1:],
}

// BenchmarkDecode_streams is to be held against BenchmarkDecode's schemaless and
// schema: a message's bytes should cost no more than twice as much.
func BenchmarkDecode_streams(b *testing.B) {
	for name, data := range streamMessages {
		b.Run(name, func(b *testing.B) {
			format, _, _ := strings.Cut(name, "/")
			d, err := envelope.New(envelope.Options{Format: format})
			if err != nil {
				b.Fatal(err)
			}
			m := change.Message{Data: []byte(data)}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var events []change.Event
			for b.Loop() {
				if events, _, err = d.Decode(m, events[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDecode_allocatesOfStreams: decoding costs about one allocation a message, since
// memory is taken in chunks; of Spanner's the texts of JSON are unescaped.
func TestDecode_allocatesOfStreams(t *testing.T) {
	for name, data := range streamMessages {
		format, _, _ := strings.Cut(name, "/")
		limit := 1.0
		if format == "spanner" {
			limit = 2
		}
		d, err := envelope.New(envelope.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		m := change.Message{Data: []byte(data)}
		var events []change.Event
		if got := testing.AllocsPerRun(1000, func() {
			if events, _, err = d.Decode(m, events[:0]); err != nil {
				t.Fatal(err)
			}
		}); got > limit {
			t.Errorf("%s: %g allocations a message, want at most %g", name, got, limit)
		}
		if len(events) != 1 || len(events[0].After) < 17 {
			t.Errorf("%s: %d events, of which the first has %d columns", name, len(events), len(events[0].After))
		}
	}
}

// TestDecode_anyAfterAny: one decoder with the format auto takes a message of any
// format after one of any other, and says of it what its own format's says.
func TestDecode_anyAfterAny(t *testing.T) {
	messages := map[string]string{
		"debezium":        plainPayload,
		"debezium/schema": `{"schema":` + envelopeSchema + `,"payload":` + plainPayload + `}`,
		"datastream":      `{"source_metadata":{"table":"t","database":"b","change_type":"INSERT","log_file":"f.1","log_position":4},"payload":{"id":1}}`,
		"debezium_flat":   `{"id":1,"__op":"c","__table":"t","__deleted":"false"}`,
		"none":            `{"id":1,"metadata":{"x":1},"payload":{"y":2}}`,
	}
	maps.Copy(messages, streamMessages)
	for first, before := range messages {
		for second, data := range messages {
			d, err := envelope.New(envelope.Options{Epoch: 7})
			if err != nil {
				t.Fatal(err)
			}
			_, _, _ = d.Decode(change.Message{Data: []byte(before)}, nil)
			m := change.Message{Data: []byte(data)}
			got := describe(d.Decode(m, nil))
			format, _, _ := strings.Cut(second, "/")
			if format == "none" {
				format = envelope.Auto
			}
			if want := describe(decode(t, envelope.Options{Format: format, Epoch: 7}, m)); got != want {
				t.Errorf("%s after %s:\n%s\nwant\n%s", second, first, got, want)
			}
		}
	}
}

// TestDecode_streamsConfigured: what is wrong with a message of a configured format
// is an error, whatever its members look like.
func TestDecode_streamsConfigured(t *testing.T) {
	for _, format := range []string{"maxwell", "canal", "wal2json", "dms", "spanner", "sequin", "columns"} {
		for _, data := range []string{
			`{}`, `[]`, `1`, `"text"`, `true`, `{"id":1}`,
			`{"op":"c","source":{},"after":{"id":1}}`,
			`{"source_metadata":{"table":"t","change_type":"INSERT"},"payload":{"id":1}}`,
		} {
			events, control, err := decode(t, envelope.Options{Format: format}, change.Message{Data: []byte(data)})
			e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
			if len(events) > 0 || control != "" || !ok || e.Reason != envelope.BadEnvelope {
				t.Errorf("%s: %s: %d events, control %q, error %v, want %s", format, data, len(events), control, err, envelope.BadEnvelope)
			}
		}
	}
	// A row of another shape that is a configured format's nonetheless.
	for format, data := range map[string]string{
		"maxwell":  `{"type":"insert","table":"t","data":{"id":1}}`,
		"canal":    `{"type":"INSERT","table":"t","data":[{"id":"1"}]}`,
		"wal2json": `{"action":"I","table":"t","columns":[{"name":"id","value":1}],"more":1}`,
		"dms":      `{"data":{"id":1},"metadata":{"record-type":"data","operation":"insert"}}`,
		"spanner":  `{"mods":[{"keys":{"id":"1"}}],"modType":"INSERT"}`,
		"sequin":   `{"record":{"id":1},"action":"insert"}`,
		"columns":  `{"_CHANGE_TYPE":"UPSERT","id":1,"__op":"c","__deleted":"false"}`,
	} {
		events, _, err := decode(t, envelope.Options{Format: format}, change.Message{Data: []byte(data)})
		if err != nil || len(events) != 1 || !events[0].Sequence.IsZero() || events[0].Position == "" {
			t.Errorf("%s: %s: %d events, error %v", format, data, len(events), err)
		}
	}
}

// TestDecode_streamsHide: an error of any of the formats names columns, and holds
// no value of the row.
func TestDecode_streamsHide(t *testing.T) {
	const secret = "secret-4711"
	for format, data := range map[string]string{
		"canal":      `{"table":"t","type":"INSERT","isDdl":false,"mysqlType":{"x":"int"},"data":[{"x":"` + secret + `"}]}`,
		"wal2json":   `{"action":"I","table":"t","columns":[{"name":"x","type":"numeric(10,2)","value":"` + secret + `"}]}`,
		"wal2json/1": `{"change":[{"kind":"insert","table":"t","columnnames":["x"],"columntypes":["bytea"],"columnvalues":["` + secret + `"]}]}`,
		"spanner":    `{"mods":[{"keys":{"x":"` + secret + `"}}],"modType":"INSERT","tableName":"t","rowType":[{"name":"x","type":{"code":"DATE"}}]}`,
		"spanner/2":  `{"mods":[{"keysJson":"{\"x\":\"` + secret + `"}],"modType":"INSERT","tableName":"t"}`,
	} {
		format, _, _ := strings.Cut(format, "/")
		_, _, err := decode(t, envelope.Options{Format: format}, change.Message{Data: []byte(data)})
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "table t: ") {
			t.Errorf("%s: %s: error %v, want one that names the table and no value", format, data, err)
		}
	}
}

// TestDecode_streamsShareNothing: events stay as they are while their decoder goes
// on, those of many rows too, whose columns outgrow a chunk.
func TestDecode_streamsShareNothing(t *testing.T) {
	messages := make(map[string]string)
	for _, n := range []int{20, 25, 30, 40, 50} { // a chunk is full at one time or another
		messages[fmt.Sprintf("canal/%d rows", n)] = `{"type":"UPDATE","table":"t","isDdl":false,"pkNames":["id","a"],"mysqlType":{"id":"int"},` +
			`"data":[` + many(n, func(i int) string { return fmt.Sprintf(`{"id":"%d","a":"\u0041%d","b":null}`, i, i) }) + `],` +
			`"old":[` + many(n, func(i int) string { return fmt.Sprintf(`{"id":"%d"}`, i+1) }) + `]}`
		messages[fmt.Sprintf("wal2json/%d rows", n)] = `{"nextlsn":"0/9","change":[` + many(n, func(i int) string {
			return fmt.Sprintf(`{"kind":"update","table":"t","columnnames":["id","a","b"],"columntypes":["integer","text","text"],"columnvalues":[%d,"\u0041",null],`+
				`"oldkeys":{"keynames":["id","doc"],"keytypes":["integer","text"],"keyvalues":[%d,"x"]}}`, i, i+1)
		}) + `]}`
		messages[fmt.Sprintf("spanner/%d rows", n)] = `{"modType":"UPDATE","tableName":"t","mods":[` + many(n, func(i int) string {
			return fmt.Sprintf(`{"keysJson":"{\"id\":\"%d\"}","newValuesJson":"{\"a\":\"\\u0041%d\"}","oldValuesJson":"{\"a\":1}"}`, i, i)
		}) + `]}`
	}
	maps.Copy(messages, streamMessages)
	for name, data := range messages {
		format, _, _ := strings.Cut(name, "/")
		d, err := envelope.New(envelope.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		_, _, _ = d.Decode(change.Message{Data: []byte(data)}, nil) // after which there is a chunk
		events, control, err := d.Decode(change.Message{Data: []byte(data)}, nil)
		want := describe(events, control, err)
		other := strings.NewReplacer(`"id`, `"ID`, `\"id`, `\"ID`, "7", "8").Replace(data)
		for range 100 {
			if _, _, err := d.Decode(change.Message{Data: []byte(other)}, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := describe(events, control, err); got != want || len(events) == 0 {
			t.Errorf("%s: after 100 more messages the events are\n%.3000s\nwere\n%.3000s", name, got, want)
		}
	}
}
