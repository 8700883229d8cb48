package envelope_test

import (
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// TestDecode_closest: what is no known format's message says which one it is
// closest to, and the first thing that it lacks, whichever format the message
// before had.
func TestDecode_closest(t *testing.T) {
	before := []string{
		insert(`{"id":1}`),
		`{"id":1,"__op":"u","__lsn":5}`,
		`{"source_metadata":{"table":"t","database":"b","change_type":"INSERT","log_file":"f.1","log_position":4},"payload":{"id":1}}`,
		`{"specversion":"1.0","iodebeziumop":"t","iodebeziumconnector":"postgresql","iodebeziumlsn":"5"}`,
	}
	for data, want := range map[string]string{
		`[]`:                                  "it is no JSON object with members",
		`{}`:                                  "it is no JSON object with members",
		`{"id":1}`:                            "a row by itself needs __op, __deleted or _CHANGE_TYPE beside its columns, or `source.format: debezium_flat`",
		`{"source":{},"ts_ms":1,"after":{}}`:  "closest is debezium: it has source, an object and ts_ms, but lacks op, a string",
		`{"op":"c","after":{}}`:               "closest is debezium: it has op, a string, but lacks source, an object",
		`{"payload":{"op":"c","source":{}}}`:  "its payload is debezium's, but there is no schema beside it",
		`{"schema":{},"payload":{"op":"c"}}`:  "closest is debezium: it has op, a string, but lacks source, an object",
		`{"id":1,"__table":"t","__lsn":5}`:    "closest is debezium_flat: it has names that begin with __, but lacks __op or __deleted",
		`{"specversion":"1.0","data":{}}`:     "closest is cloudevents: it has specversion, but lacks names that begin with iodebezium",
		`{"source_metadata":[],"payload":{}}`: "closest is datastream: it has payload, an object, but lacks source_metadata, an object",

		`{"database":"d","table":"t","type":"x","data":{}}`: "closest is maxwell: it has database, a string and table, a string and type, a string and data, but lacks ts, a number",
		`{"isDdl":false,"data":[]}`:                         "closest is canal: it has isDdl or mysqlType and data, an array, but lacks type, a string",
		`{"schema":"s","table":"t"}`:                        "closest is wal2json: it has schema, a string and table, a string, but lacks action, a letter, or change, an array",
		`{"data":{"id":1},"metadata":{}}`:                   "closest is dms: it has metadata, an object and data or control, but lacks metadata.record-type",
		`{"mods":[],"tableName":"t"}`:                       "closest is spanner: it has mods, an array and tableName, a string, but lacks modType, a string",
		`{"record":{},"action":"insert","metadata":{}}`:     "closest is sequin: it has record, an object and action, a word, but lacks metadata.commit_lsn",
		`{"_CHANGE_SEQUENCE_NUMBER":"1","id":7}`:            "closest is columns: it has _CHANGE_SEQUENCE_NUMBER, but lacks _CHANGE_TYPE, a string",
	} {
		for _, first := range before {
			d, err := envelope.New(envelope.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := d.Decode(change.Message{Data: []byte(first)}, nil); err != nil {
				t.Fatal(err)
			}
			_, _, err = d.Decode(change.Message{Data: []byte(data)}, nil)
			e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
			if !ok || e.Reason != envelope.UnknownFormat || !strings.Contains(err.Error(), want) {
				t.Errorf("%s after %.20s…: error %v, want %s that says %q", data, first, err, envelope.UnknownFormat, want)
			}
		}
	}
}

// TestDecode_otherFormat: a configured format refuses another one's message by
// its name; what is no other one's, without.
func TestDecode_otherFormat(t *testing.T) {
	const maxwell = `{"database":"shop","table":"items","type":"insert","ts":1741507626,"data":{"id":1}}`
	for _, test := range []struct{ format, data, want string }{
		{"debezium", maxwell, "the message has no op; it looks like maxwell: set `source.format` to that or to auto"},
		{"maxwell", insert(`{"id":1}`), "; it looks like debezium: "},
		{"debezium", `{"id":1}`, "the message has no op"},
	} {
		_, _, err := decode(t, envelope.Options{Format: test.format}, change.Message{Data: []byte(test.data)})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "looks like") != strings.Contains(test.want, "looks like") {
			t.Errorf("%s reads %s: error %v, want %q", test.format, test.data, err, test.want)
		}
	}
}

// TestDecode_foreignEvent: CloudEvents' own attributes, which whatever forwards a
// message may add, make no CloudEvent of Debezium's message.
func TestDecode_foreignEvent(t *testing.T) {
	m := change.Message{
		Data:       []byte(insert(`{"id":1}`)),
		Attributes: map[string]string{"ce-specversion": "1.0", "ce-type": "google.cloud.pubsub.topic.v1.messagePublished"},
	}
	events, _, err := decode(t, envelope.Options{}, m)
	if err != nil || len(events) != 1 || describeKey(events[0].After) != "id = number 1" {
		t.Errorf("%d events, error %v", len(events), err)
	}
}
