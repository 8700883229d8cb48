package envelope_test

import (
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// describeKey writes key columns on one line.
func describeKey(columns []change.Column) string {
	if columns == nil {
		return "none"
	}
	var parts []string
	for _, c := range columns {
		parts = append(parts, c.Name+" = "+describeValue(c.Value))
	}
	return strings.Join(parts, ", ")
}

const decimalField = `{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"},"field":"id"}`

// TestDecode_debeziumKey: the key is the ordering key, where that is a JSON
// object, with its schema or without.
func TestDecode_debeziumKey(t *testing.T) {
	const row = `{"op":"u","source":{"connector":"postgresql","lsn":1},"after":{"id":"MDk=","v":1}}`
	const typedRow = `{"schema":{"type":"struct","fields":[{"type":"struct","fields":[` + decimalField + `],"field":"after"}]},"payload":` + row + `}`
	const typedKey = `{"schema":{"type":"struct","fields":[` + decimalField + `]},"payload":{"id":"MDk="}}`
	for _, test := range []struct{ what, data, key, want string }{
		{"no key", row, ``, "none"},
		{"the sink's null.key", row, `default`, "none"},
		{"a fixed text", row, `orders`, "none"},
		{"null", row, `null`, "none"},
		{"a number", row, `7`, "none"},
		{"a text", row, `"7"`, "none"},
		{"an array", row, `[7]`, "none"},
		{"an empty object", row, `{}`, "none"},
		{"an object that is cut off", row, `{"id":"MD`, "none"},
		{"an object and more", row, `{"id":"MDk="}x`, "none"},
		{"repeated columns", row, `{"id":"MDk=","id":"MDk="}`, "none"},
		{"one column", row, `{"id":"MDk="}`, `id = text "MDk="`},
		{"two columns, in their order", row, `{"tenant":"t1","id":7}`, `tenant = text "t1", id = number 7`},
		{"white space", row, ` { "id" : 7 } `, "id = number 7"},
		{"a number's digits", row, `{"id":9007199254740993}`, `id = number 9007199254740993`},
		{"an escaped name", row, `{"\u0069d":7}`, `id = number 7`},
		{"typed by the row's schema", typedRow, `{"id":"MDk="}`, "id = decimal 123.45"},
		{"typed by its own schema", row, typedKey, "id = decimal 123.45"},
		{"both schemas", typedRow, typedKey, "id = decimal 123.45"},
		{"a null schema", row, `{"schema":null,"payload":{"id":7}}`, "id = number 7"},
		{"white space around a schema", row, " {\n\"schema\" : {\"type\":\"struct\",\"fields\":[" + decimalField + "]} , \"payload\" :\t{\"id\":\"MDk=\"} } ", "id = decimal 123.45"},
		{"a null payload", row, `{"schema":null,"payload":null}`, "none"},
		{"a schema that can't be read", row, `{"schema":{"type":"nope"},"payload":{"id":7}}`, "none"},
		{"columns that are so named", row, `{"schema":"public","payload":"x"}`, `schema = text "public", payload = text "x"`},
		{"a column that is so named", row, `{"schema":7}`, `schema = number 7`},
		{"a payload first", row, `{"payload":{"id":"MDk="},"schema":{"type":"struct","fields":[` + decimalField + `]}}`, "id = decimal 123.45"},
		{"an object beside a payload", row, `{"payload":{"id":7},"schema":null,"id":7}`, `payload = raw {"id":7}, schema = null, id = number 7`},
		{"an envelope and more", row, typedKey + `x`, "none"},
	} {
		t.Run(test.what, func(t *testing.T) {
			d, err := envelope.New(envelope.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // a schema that is known is read another way
				events, _, err := d.Decode(change.Message{Data: []byte(test.data), OrderingKey: test.key}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := describeKey(events[0].Key); got != test.want {
					t.Errorf("key %s: %s, want %s", test.key, got, test.want)
				}
			}
		})
	}
}

// TestDecode_keyOfBadValue: a key that contradicts its own schema is no key to
// go by, and an error.
func TestDecode_keyOfBadValue(t *testing.T) {
	m := change.Message{
		Data:        []byte(`{"op":"u","source":{"connector":"postgresql","lsn":1,"table":"t"},"after":{"id":1}}`),
		OrderingKey: `{"schema":{"type":"struct","fields":[` + decimalField + `]},"payload":{"id":"?"}}`,
	}
	_, _, err := decode(t, envelope.Options{}, m)
	e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
	if !ok || e.Reason != envelope.BadValue || !strings.Contains(err.Error(), "column id") {
		t.Errorf("error %v, want %s of column id", err, envelope.BadValue)
	}
}

// TestDecode_keyIsUnavailable: a placeholder in a key is no key's value
// (cases.md 44), but data where the row is new.
func TestDecode_keyIsUnavailable(t *testing.T) {
	const placeholder = `{"id":"__debezium_unavailable_value"}`
	for op, want := range map[string]string{
		"u": "id = unavailable",
		"d": "id = unavailable",
		"c": `id = text "__debezium_unavailable_value"`,
	} {
		m := change.Message{
			Data:        []byte(`{"op":"` + op + `","source":{"connector":"postgresql","lsn":1},"before":` + placeholder + `,"after":` + placeholder + `}`),
			OrderingKey: placeholder,
		}
		events, _, err := decode(t, envelope.Options{}, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := describeKey(events[0].Key); got != want {
			t.Errorf("op %s: key %s, want %s", op, got, want)
		}
		if after := events[0].After; op != "d" && describeKey(after) != want {
			t.Errorf("op %s: after %s, want %s", op, describeKey(after), want)
		}
	}
}

// TestDecode_placeholder: the configured text stands for what the source left
// out, and the default one is then data.
func TestDecode_placeholder(t *testing.T) {
	m := change.Message{Data: []byte(`{"after":{"a":"n/a","b":"__debezium_unavailable_value"},"source":{"connector":"postgresql","lsn":1},"op":"u"}`)}
	for placeholder, want := range map[string]string{
		"":           `a = text "n/a", b = unavailable`,
		"n/a":        `a = unavailable, b = text "__debezium_unavailable_value"`,
		"hex:6e2f61": `a = unavailable, b = text "__debezium_unavailable_value"`,
	} {
		events, _, err := decode(t, envelope.Options{UnavailablePlaceholder: placeholder}, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := describeKey(events[0].After); got != want {
			t.Errorf("placeholder %q: after %s, want %s", placeholder, got, want)
		}
	}
}

// TestDecode_oldKeyAttribute: a create under a changed key is an old row, in
// which a placeholder stands for what was left out.
func TestDecode_oldKeyAttribute(t *testing.T) {
	data := []byte(`{"after":{"id":2,"doc":"__debezium_unavailable_value"},"source":{"connector":"postgresql","lsn":1},"op":"c"}`)
	for value, want := range map[string]string{
		"":           `id = number 2, doc = text "__debezium_unavailable_value"`,
		`{"id":1}`:   "id = number 2, doc = unavailable",
		`"{id=1}"`:   "id = number 2, doc = unavailable",
		"Struct{id}": "id = number 2, doc = unavailable",
	} {
		m := change.Message{Data: data, Attributes: map[string]string{}}
		if value != "" {
			m.Attributes["__debezium.oldkey"] = value
		}
		events, _, err := decode(t, envelope.Options{}, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := describeKey(events[0].After); got != want {
			t.Errorf("__debezium.oldkey %q: after %s, want %s", value, got, want)
		}
	}
}

// TestDecode_datastreamKey: the key is what source_metadata.primary_keys names,
// in any order.
func TestDecode_datastreamKey(t *testing.T) {
	for _, test := range []struct{ keys, want string }{
		{`["id"]`, "id = number 7"},
		{`["tenant","id"]`, `tenant = text "t1", id = number 7`},
		{`["id","tenant"]`, `id = number 7, tenant = text "t1"`},
		{`["\u0069d"]`, "id = number 7"},
		{`["ID"]`, "id = number 7"},
		{`["none"]`, "none"},
		{`["id","none"]`, "none"},
		{`[]`, "none"},
		{`null`, "none"},
		{`"id"`, "none"},
		{`["id",1]`, "none"},
		{`[["id"]]`, "none"},
		{`[],"replication_index":["ID"]`, "id = number 7"},
		{`["tenant"],"replication_index":["id"]`, `tenant = text "t1"`},
		{`null,"replication_index":"id"`, "none"},
	} {
		for _, data := range []string{
			`{"source_metadata":{"change_type":"INSERT","primary_keys":` + test.keys + `},"payload":{"id":7,"tenant":"t1"}}`,
			`{"payload":{"id":7,"tenant":"t1"},"source_metadata":{"primary_keys":` + test.keys + `,"change_type":"INSERT"}}`,
		} {
			events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(data), OrderingKey: `{"x":1}`})
			if err != nil {
				t.Fatal(err)
			}
			if got := describeKey(events[0].Key); got != test.want {
				t.Errorf("primary_keys %s: key %s, want %s", test.keys, got, test.want)
			}
			if got := describeKey(events[0].After); got != `id = number 7, tenant = text "t1"` {
				t.Errorf("primary_keys %s: after %s", test.keys, got)
			}
		}
	}
}

// TestDecode_movedKeys: the headers of a changed key's two messages tell each of the
// other, with a schema around the key or without.
func TestDecode_movedKeys(t *testing.T) {
	const schema = `{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false}`
	for _, test := range []struct{ op, header, text, from, to string }{
		{"c", "__debezium.oldkey", `{"id":1}`, "id = number 1", "none"},
		{"c", "__debezium.oldkey", `{"schema":` + schema + `,"payload":{"id":1}}`, "id = int64 1", "none"},
		{"d", "__debezium.newkey", `{"id":1}`, "none", "id = number 1"},
		{"c", "__debezium.oldkey", `?`, "none", "none"},
		{"u", "__debezium.oldkey", `{"id":1}`, "none", "none"},
	} {
		m := change.Message{
			Data:        []byte(`{"op":"` + test.op + `","source":{"connector":"postgresql","lsn":1},"before":{"id":2},"after":{"id":2,"doc":"__debezium_unavailable_value"}}`),
			OrderingKey: `{"id":2}`, Attributes: map[string]string{test.header: test.text},
		}
		events, _, err := decode(t, envelope.Options{}, m)
		if err != nil {
			t.Fatal(err)
		}
		if from, to := describeKey(events[0].MovedFrom), describeKey(events[0].MovedTo); from != test.from || to != test.to {
			t.Errorf("op %s with %s %s: moved from %q to %q, want %q, %q", test.op, test.header, test.text, from, to, test.from, test.to)
		}
	}
}
