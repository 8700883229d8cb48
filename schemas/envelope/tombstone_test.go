package envelope_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// An empty message, in each of its forms, is the delete of the row that its
// ordering key names, where the configuration says so.
func TestDecode_tombstoneDeletes(t *testing.T) {
	const schema = `{"type":"struct","fields":[{"type":"int64","optional":false,"field":"id"},` +
		`{"type":"int32","optional":false,"name":"io.debezium.time.Date","version":1,"field":"day"}],"optional":false,"name":"acme.public.items.Key"}`
	plain := []change.Column{{Name: "id", Value: change.Number("7")}}
	for _, test := range []struct {
		name, format, data, key string
		attributes              map[string]string
		table                   string
		want                    []change.Column // nil: a dead letter
	}{
		{name: "no data", key: `{"id":7}`, want: plain},
		{name: "blank", data: " \n", key: ` {"id": 7} `, want: plain},
		{name: "null", data: "null", key: `{"id":7}`, want: plain},
		{name: "null in its envelope", data: `{"schema":null,"payload":null}`, key: `{"id":7}`, want: plain},
		{name: "null in its envelope, with a schema", data: `{"schema":` + schema + `,"payload":null}`, key: `{"id":7}`, want: plain},
		{name: "configured", format: "debezium", data: `{"schema":null,"payload":null}`, key: `{"id":7}`, want: plain},
		{name: "flattened", format: "debezium_flat", key: `{"id":7}`, want: plain},
		{
			name: "key with its schema", key: `{"schema":` + schema + `,"payload":{"id":7,"day":20156}}`,
			want: []change.Column{{Name: "id", Value: change.Int64(7)}, {Name: "day", Value: change.Date(20156)}},
		},
		{name: "a composite key", key: `{"b":"x","a":1}`, want: []change.Column{{Name: "b", Value: change.Text("x")}, {Name: "a", Value: change.Number("1")}}},
		{
			name: "headers that name the table", key: `{"id":7}`, want: plain, table: "public.items",
			attributes: map[string]string{"__op": `"d"`, "__table": `"items"`, "__source_schema": `{"schema":{"type":"string"},"payload":"public"}`},
		},
		{
			name: "packed", data: string(packed(t, "null")), key: `{"id":7}`, want: plain,
			attributes: map[string]string{"content-encoding": "gzip"},
		},
		{name: "no key"},
		{name: "the sink's key for none", key: "default"},
		{name: "a key that is cut off", key: `{"id":7`},
		{name: "a key of no columns", key: `{}`},
		{name: "a key that is no object", key: `7`},
		{name: "a key that is null", key: `{"schema":null,"payload":null}`},
		{name: "no key, but a table", attributes: map[string]string{"__table": "items"}, table: "items"},
		{name: "a value that its schema refuses", key: `{"schema":` + schema + `,"payload":{"id":"x","day":1}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := change.Message{ID: "1", Data: []byte(test.data), OrderingKey: test.key, Attributes: test.attributes}
			events, control, err := decode(t, envelope.Options{Format: test.format, Epoch: 3, TombstoneDeletes: true}, m)
			if test.want == nil {
				var e *envelope.Error
				if !errors.As(err, &e) || len(events) > 0 || control != "" || e.Table != test.table {
					t.Fatalf("events %v, control %q, error %v, want an error", events, control, err)
				}
				if want := envelope.MissingKey; e.Reason != want && !strings.Contains(test.name, "refuses") {
					t.Errorf("reason %s, want %s", e.Reason, want)
				}
				return
			}
			if err != nil || control != "" || len(events) != 1 {
				t.Fatalf("events %v, control %q, error %v, want one event", events, control, err)
			}
			e := events[0]
			if e.Op != change.OpDelete || !e.Tombstone || e.Parts != 1 || e.Table != test.table || !e.Sequence.IsZero() || e.Before != nil || e.After != nil {
				t.Errorf("got %+v", e)
			}
			if string(e.Message.Data) != test.data {
				t.Errorf("the event's message holds %q, want what was published", e.Message.Data)
			}
			if diff := cmp.Diff(test.want, e.Key, cmp.AllowUnexported(change.Value{})); diff != "" {
				t.Errorf("key, -want +got:\n%s", diff)
			}
		})
	}
}

// A decoder goes on as before after a tombstone: nothing of it is left.
func TestDecode_afterATombstone(t *testing.T) {
	d, err := envelope.New(envelope.Options{TombstoneDeletes: true})
	if err != nil {
		t.Fatal(err)
	}
	const create = `{"before":null,"after":{"id":1},"source":{"connector":"postgresql","schema":"public","table":"items","snapshot":"false","sequence":"[\"16\",\"32\"]","lsn":32},"op":"c","ts_ms":1}`
	var events []change.Event
	for _, m := range []change.Message{
		{Data: []byte(create), OrderingKey: `{"id":1}`},
		{OrderingKey: `{"id":2}`, Attributes: map[string]string{"__table": "other"}},
		{Data: []byte(create), OrderingKey: `{"id":1}`},
		{OrderingKey: `{"id":3}`},
	} {
		if events, _, err = d.Decode(m, events); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for i := range events {
		got += events[i].Table + " " + events[i].Op.String() + " " + events[i].Key[0].Value.Text() + "\n"
	}
	if want := "public.items create 1\nother delete 2\npublic.items create 1\n delete 3\n"; got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
