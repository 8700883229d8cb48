package envelope_test

import (
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

func TestNew(t *testing.T) {
	for _, format := range append(envelope.Formats(), "") {
		if _, err := envelope.New(envelope.Options{Format: format}); err != nil {
			t.Errorf("New(%q): %v", format, err)
		}
	}
	for _, format := range []string{"Debezium", "avro", "pgoutput", "Columns"} {
		_, err := envelope.New(envelope.Options{Format: format})
		if err == nil {
			t.Errorf("New(%q) returned no error", format)
			continue
		}
		for _, want := range append(envelope.Formats(), format, "not supported yet") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("New(%q): %v, want it to say %q", format, err, want)
			}
		}
	}
	if _, err := envelope.New(envelope.Options{UnavailablePlaceholder: "hex:x"}); err == nil {
		t.Error("New took a placeholder of bad hexadecimal digits")
	}
}

// TestDecode_tombstones: an empty message, in each of its forms, whatever the
// format.
func TestDecode_tombstones(t *testing.T) {
	for _, format := range envelope.Formats() {
		for _, data := range []string{"", " ", "\n\t\r ", "null", " null\n"} {
			m := change.Message{Data: []byte(data), OrderingKey: `{"id":7}`}
			events, control, err := decode(t, envelope.Options{Format: format}, m)
			if len(events) > 0 || control != envelope.Tombstone || err != nil {
				t.Errorf("format %s, data %q: %d events, control %q, error %v, want a tombstone", format, data, len(events), control, err)
			}
		}
		if events, control, err := decode(t, envelope.Options{Format: format}, change.Message{}); len(events) > 0 || control != envelope.Tombstone || err != nil {
			t.Errorf("format %s, no data: %d events, control %q, error %v, want a tombstone", format, len(events), control, err)
		}
	}
}

// TestDecode_unknown: what has the members of no format is an error, never a row
// and never a control message.
func TestDecode_unknown(t *testing.T) {
	for _, data := range []string{
		`{}`, `[]`, `1`, `"text"`, `true`, `[{"op":"c"}]`,
		`{"id":1,"name":"x"}`,
		`{"id":1,"op":"c","source":"web"}`, // a flat row with such columns
		`{"op":1,"source":{}}`,
		`{"ts_ms":1,"id":2}`,
		`{"id":1,"aggregate_type":"order","aggregate_id":7,"type":"OrderCreated","payload":"{}"}`, // a flat row of an outbox
		`{"ddl":"drop table x"}`,
		`{"status":"open","id":1}`,
		`{"status":1,"event_count":2}`,
		`{"source_metadata":"text","payload":{}}`,
		`{"payload":{"op":"c","source":{}}}`,
		`{"schema":"public","payload":{"op":"c","source":{}}}`,
		`{"schema":{},"payload":{}}`,
		`{"schema":{},"payload":"text"}`,
		`{"schema":null,"payload":null,"id":1}`,
		`{"kind":"storage#object","name":"a.jsonl","bucket":"b"}`,
		`{"database":"shop","type":"insert","ts":1,"id":1}`, // flat rows with such columns
		`{"id":1,"type":"x","data":"y"}`,
		`{"id":1,"action":"I","table":"t"}`,
		`{"id":1,"action":"I","lsn":"0/1"}`,
		`{"id":1,"change":[]}`,
		`{"id":1,"metadata":{"table_name":"t"},"action":"insert"}`,
		`{"id":1,"record":{},"action":"insert","metadata":{}}`,
		`{"id":1,"mods":[],"tableName":"t"}`,
		`{"id":1,"status":"open","event_count":3}`, // flat rows that lack what a control message has
		`{"id":1,"ddl":"create table t","databaseName":"d"}`,
		`{"id":1,"aggregate_type":"order","type":"paid","additional_data":{},"note":"x"}`,
		`{"id":1,"aggregate_type":"order","additional_data":"{}"}`,
		`{"id":1,"action":"C","prefix":"a","content":"b"}`,
		`{"id":1,"_CHANGE_TYPE":1}`,
		`{"id":1,"_CHANGE_TYPE":"DELETE","__lsn":1}`, // flattened, perhaps
		`{"id":1,"_change_type":"UPSERT"}`,
	} {
		events, control, err := decode(t, envelope.Options{}, change.Message{Data: []byte(data)})
		e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
		if len(events) > 0 || control != "" || !ok || e.Reason != envelope.UnknownFormat {
			t.Errorf("%s: %d events, control %q, error %v, want %s", data, len(events), control, err, envelope.UnknownFormat)
		}
	}
}

// TestDecode_flatNotControl: a flattened row stays a row under auto, whatever its
// columns are called: taken for a control message it would vanish.
func TestDecode_flatNotControl(t *testing.T) {
	for _, columns := range []string{
		`"status":"open","event_count":3,"data_collections":null`,
		`"status":"open","event_count":3`,
		`"aggregate_type":"order","type":"paid","additional_data":null`,
		`"ddl":"create table t","databaseName":"d"`,
		`"ddl":"create table t","source":{"a":1}`,
	} {
		for _, m := range []change.Message{
			{Data: []byte(`{"id":1,` + columns + `,"__op":"u","__table":"t","__lsn":5}`)},
			{Data: []byte(`{"id":1,` + columns + `,"__deleted":"false","__table":"t","__lsn":5}`)},
			{Data: []byte(`{"schema":` + keySchema + `,"payload":{"id":1,` + columns + `,"__op":"u","__table":"t","__lsn":5}}`)},
		} {
			events, control, err := decode(t, envelope.Options{}, m)
			if len(events) != 1 || control != "" || err != nil {
				t.Errorf("%s: %d events, control %q, error %v, want a change", m.Data, len(events), control, err)
			}
		}
	}
}

// TestDecode_configured: a configured format is not told by the members, and so
// no format's message is taken for another's.
func TestDecode_configured(t *testing.T) {
	for _, test := range []struct {
		format, data, reason string
	}{
		{"debezium", `{"source_metadata":{"table":"t","change_type":"INSERT"},"payload":{"id":1}}`, envelope.BadEnvelope},
		{"debezium", `{"id":1}`, envelope.BadEnvelope},
		{"debezium", `{}`, envelope.BadEnvelope},
		{"debezium", `[]`, envelope.BadEnvelope},
		{"debezium", `{"op":"c","source":"web","after":{}}`, envelope.BadEnvelope},
		{"debezium", `{"op":"c","source":{},"after":"text"}`, envelope.BadEnvelope},
		{"debezium", `{"op":"c","source":{},"after":[]}`, envelope.BadEnvelope},
		{"debezium", `{"op":"u","source":{},"before":1,"after":{}}`, envelope.BadEnvelope},
		{"debezium", `{"op":null,"source":{},"after":{}}`, envelope.BadEnvelope},
		{"debezium", `{"op":"","source":{},"after":{}}`, envelope.BadEnvelope},
		{"debezium", `{"op":"C","source":{},"after":{}}`, envelope.UnknownOp},
		{"debezium", `{"op":1,"source":{},"after":{}}`, envelope.UnknownOp},
		{"debezium", `{"op":"c","source":{}}`, envelope.MissingImage},
		{"debezium", `{"op":"r","source":{},"after":null}`, envelope.MissingImage},
		{"debezium", `{"schema":{},"payload":{"op":"c","source":{},"after":{}}}`, envelope.BadSchema},
		{"debezium", `{"schema":"x","payload":{"op":"c","source":{},"after":{}}}`, envelope.BadEnvelope},
		{"debezium", `{"schema":null,"payload":{"op":"c","source":{},"after":{}},"op":"d"}`, envelope.BadEnvelope},
		{"datastream", `{"op":"c","source":{},"after":{}}`, envelope.BadEnvelope},
		{"datastream", `{}`, envelope.BadEnvelope},
		{"datastream", `1`, envelope.BadEnvelope},
		{"datastream", `{"source_metadata":1}`, envelope.BadEnvelope},
		{"datastream", `{"source_metadata":{}, "payload":[]}`, envelope.BadEnvelope},
		{"datastream", `{"source_metadata":{}, "payload":{}}`, envelope.UnknownOp},
	} {
		events, control, err := decode(t, envelope.Options{Format: test.format}, change.Message{Data: []byte(test.data)})
		e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
		if len(events) > 0 || control != "" || !ok || e.Reason != test.reason {
			t.Errorf("%s: %s: %d events, control %q, error %v, want %s", test.format, test.data, len(events), control, err, test.reason)
		}
	}
	// An envelope without its schema is no envelope that can be told by its members.
	m := change.Message{Data: []byte(`{"payload":{"op":"c","source":{"connector":"postgresql","lsn":1},"after":{"id":1}}}`)}
	if events, _, err := decode(t, envelope.Options{Format: "debezium"}, m); err != nil || len(events) != 1 {
		t.Errorf("a payload without a schema: %d events, error %v", len(events), err)
	}
}

// TestDecode_autoFollows: one decoder with the format auto takes any format
// after any other, and is as strict after it.
func TestDecode_autoFollows(t *testing.T) {
	messages := []string{
		`{"op":"c","source":{"connector":"postgresql","lsn":1,"schema":"a","table":"t"},"after":{"id":1}}`,
		`{"source_metadata":{"table":"t","database":"b","change_type":"INSERT","log_file":"f.1","log_position":4},"payload":{"id":1}}`,
		`{"id":1}`,
		`{"id":1,"__op":"u","__table":"t","__lsn":5,"schema":{"a":1},"payload":{"op":"c"}}`,
		`{"specversion":"1.0","type":"x","iodebeziumop":"u","iodebeziumconnector":"postgresql","iodebeziumlsn":"5","data":{"after":{"id":1}}}`,
		`{"op":"u","source":{"connector":"mongodb","ts_ms":1000,"ord":1,"collection":"c"},"after":"{\"_id\": 1}"}`,
		`{"schema":` + keySchema + `,"payload":{"op":"c","source":{"connector":"postgresql","lsn":1,"schema":"c","table":"t"},"after":{"id":1}}}`,
		`{"ts_ms":1}`,
		`{"op":"c","source":{}`,
		`null`,
	}
	d, err := envelope.New(envelope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range messages {
		for j := range messages {
			for _, k := range []int{i, j} {
				m := change.Message{Data: []byte(messages[k])}
				got := describe(d.Decode(m, nil))
				if want := describe(decode(t, envelope.Options{}, m)); got != want {
					t.Errorf("message %d, around %d and %d:\n%s\nwant as from a new decoder:\n%s", k, i, j, got, want)
				}
			}
		}
	}
}

// TestDecode_appends: events go behind those that dst holds, and an error leaves
// those.
func TestDecode_appends(t *testing.T) {
	d, err := envelope.New(envelope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []change.Event
	for i := range 3 {
		m := change.Message{Data: fmt.Appendf(nil, `{"op":"c","source":{"connector":"postgresql","lsn":%d},"after":{"id":1}}`, i+1)}
		if events, _, err = d.Decode(m, events); err != nil || len(events) != i+1 {
			t.Fatalf("%d events, error %v, want %d", len(events), err, i+1)
		}
		if events, _, err = d.Decode(change.Message{Data: []byte(`{"op":"c"}`)}, events); err == nil || len(events) != i+1 {
			t.Fatalf("%d events, error %v, want %d and an error", len(events), err, i+1)
		}
	}
	for i, want := range []string{"0/1", "0/2", "0/3"} {
		if events[i].Position != want {
			t.Errorf("event %d is at %s, want %s", i, events[i].Position, want)
		}
	}
}
