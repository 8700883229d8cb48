package envelope_test

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// TestDecode_flatFields: which members are metadata is the transformation's
// configuration to say; without it, the prefix.
func TestDecode_flatFields(t *testing.T) {
	for _, test := range []struct {
		what, prefix, fields, data    string
		table, sequence, after, error string
	}{
		{
			what: "nothing configured", data: `{"id":1,"__op":"u","__table":"t","__lsn":5,"__whatever":2,"lsn":6}`,
			table: "t", sequence: "7/5/5/1", after: "id = number 1, lsn = number 6",
		},
		{
			what: "another prefix", prefix: "cdc.", data: `{"id":1,"cdc.op":"u","cdc.table":"t","cdc.source_lsn":5,"__op":"mine"}`,
			table: "t", sequence: "7/5/5/1", after: `id = number 1, __op = text "mine"`,
		},
		{
			what: "another prefix, and the rewrite mode's own name", prefix: "cdc.", data: `{"id":1,"cdc.op":"u","cdc.lsn":5,"__deleted":"false"}`,
			sequence: "7/5/5/1", after: "id = number 1",
		},
		{
			what: "renamed fields", fields: "op, table, lsn:SEQ, source.sequence", data: `{"id":1,"__op":"u","__table":"t","__SEQ":5,"__source_sequence":"[\"9\",\"5\"]"}`,
			table: "t", sequence: "7/9/5/1", after: "id = number 1",
		},
		{
			what: "renamed, with their struct", fields: "op:KIND,source.table:T,source.file:F,source.pos:P,source.row:R,source.db:D", data: `{"id":1,"__KIND":"u","__T":"t","__D":"shop","__F":"f.9","__P":4,"__R":1}`,
			table: "shop.t", sequence: "7/9/4/5", after: "id = number 1",
		},
		{
			what: "a column with the prefix", fields: "op,lsn", data: `{"id":1,"__op":"u","__lsn":5,"__typename":"Order"}`,
			sequence: "7/5/5/1", after: `id = number 1, __typename = text "Order"`,
		},
		{
			what: "renamed, but not configured", data: `{"id":1,"__op":"u","__SEQ":5}`,
			after: "id = number 1",
		},
		{
			what: "the row alone", data: `{"id":1}`,
			after: "id = number 1",
		},
		{what: "columns of a transaction marker's names", data: `{"id":1,"status":"open","event_count":2}`, after: `id = number 1, status = text "open", event_count = number 2`},
		{what: "no object", data: `[1]`, error: envelope.BadEnvelope},
	} {
		t.Run(test.what, func(t *testing.T) {
			o := envelope.Options{Format: "debezium_flat", Epoch: 7, FlatPrefix: test.prefix, FlatFields: test.fields}
			events, control, err := decode(t, o, change.Message{Data: []byte(test.data)})
			if test.error != "" {
				if e, ok := err.(*envelope.Error); !ok || e.Reason != test.error { //nolint:errorlint // Decode promises this very type
					t.Fatalf("error %v, want %s", err, test.error)
				}
				return
			}
			if err != nil || len(events) != 1 {
				t.Fatalf("%d events, control %q, error %v", len(events), control, err)
			}
			e := &events[0]
			if got := describeKey(e.After); e.Table != test.table || e.Sequence.String() != test.sequence || got != test.after {
				t.Errorf("table %q, sequence %q at %q, after %s; want %q, %q, %s", e.Table, e.Sequence, e.Position, got, test.table, test.sequence, test.after)
			}
		})
	}
	for _, fields := range []string{"op,", "op,,lsn", "lsn,lsn", "lsn:SEQ,sequence:SEQ"} {
		if _, err := envelope.New(envelope.Options{FlatFields: fields}); err == nil {
			t.Errorf("New took the fields %q", fields)
		}
	}
}

// TestDecode_flatHeaders: what headers hold is JSON too, and is read before the row, which
// is in its envelope here, and whose place must not be lost for it.
func TestDecode_flatHeaders(t *testing.T) {
	const data = `{"schema":{"type":"struct","fields":[{"type":"int32","field":"id"},{"type":"string","field":"a"},{"type":"int32","field":"n"},` +
		`{"type":"string","field":"b"}]},"payload":{"id":1,"a":"first","n":2,"b":"last"}}`
	m := change.Message{ID: "1", Data: []byte(data), Attributes: map[string]string{
		"__op":    `{"schema":{"type":"string","optional":false},"payload":"u"}`,
		"__table": `{"schema":{"type":"string","optional":false},"payload":"t"}`,
		"__lsn":   `{"schema":{"type":"int64","optional":false},"payload":5}`,
	}}
	d, err := envelope.New(envelope.Options{Format: "debezium_flat", Epoch: 7})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // from the second on the schema is known
		events, control, err := d.Decode(m, nil)
		if err != nil || len(events) != 1 || control != "" {
			t.Fatalf("%d events, control %q, error %v", len(events), control, err)
		}
		e := &events[0]
		if got, want := describeKey(e.After), "id = int64 1, a = string \"first\", n = int64 2, b = string \"last\""; got != want || e.Table != "t" || e.Sequence.String() != "7/5/5/1" {
			t.Errorf("table %q, sequence %q, after %s; want t, 7/5/5/1, %s", e.Table, e.Sequence, got, want)
		}
	}
}
