package envelope_test

import (
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// many joins so many pieces.
func many(n int, piece func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = piece(i)
	}
	return strings.Join(parts, ",")
}

// TestDecode_streamsLarge: messages that could make a decoder look something up for each
// of very many columns, rows or names are decoded. Where it would have to look at all
// columns for each name, it looks for few names: then the change has no key.
func TestDecode_streamsLarge(t *testing.T) {
	const n = 30_000
	forwards := many(n, func(i int) string { return fmt.Sprintf(`"c%d":"1"`, i) })
	backwards := many(n, func(i int) string { return fmt.Sprintf(`"c%d":"int"`, n-i) })
	names := many(n, func(i int) string { return fmt.Sprintf(`"c%d"`, i) })
	listed := many(n, func(i int) string { return fmt.Sprintf(`{"name":"c%d","value":1}`, i) })
	reversed := many(n, func(i int) string { return fmt.Sprintf(`{"name":"c%d","value":1}`, n-i) })
	types := many(n, func(i int) string { return fmt.Sprintf(`{"name":"c%d","type":{"code":"STRING"}}`, n-i) })
	for what, data := range map[string]string{
		"canal, types in another order": `{"type":"INSERT","table":"t","isDdl":false,"mysqlType":{` + backwards + `},"data":[{` + forwards + `}]}`,
		"canal, names of a key":         `{"type":"INSERT","table":"t","isDdl":false,"pkNames":[` + names + `],"data":[{` + forwards + `}]}`,
		"canal, rows":                   `{"type":"INSERT","table":"t","isDdl":false,"data":[` + many(n, func(int) string { return `{"id":"1"}` }) + `]}`,
		"canal, rows without columns":   `{"type":"INSERT","table":"t","isDdl":false,"data":[` + many(n, func(int) string { return `{}` }) + `]}`,
		"maxwell, names of a key":       `{"type":"insert","database":"d","table":"t","ts":1,"primary_key_columns":[` + names + `],"data":{` + forwards + `}}`,
		"wal2json, another before":      `{"action":"U","schema":"s","table":"t","columns":[` + listed + `],"identity":[` + reversed + `]}`,
		"wal2json, names of a key":      `{"action":"I","schema":"s","table":"t","columns":[` + listed + `],"pk":[` + listed + `]}`,
		"wal2json, changes":             `{"change":[` + many(n, func(int) string { return `{"kind":"truncate","table":"t"}` }) + `]}`,
		"wal2json, lists":               `{"change":[{"kind":"insert","columnnames":[` + names + `],"columnvalues":[` + names + `]}]}`,
		"spanner, types":                `{"mods":[{"keys":{"c1":"1"},"newValues":{` + forwards + `}}],"modType":"INSERT","tableName":"t","rowType":[` + types + `]}`,
		"spanner, values without types": `{"mods":[{"keys":{"c1":"1"},"newValues":{` + forwards + `}}],"modType":"INSERT","tableName":"t","rowType":[{"name":"x","type":"STRING"}]}`,
		"spanner, keys":                 `{"mods":[{"keys":{` + forwards + `},"newValues":{` + forwards + `}}],"modType":"INSERT","tableName":"t"}`,
		"spanner, mods":                 `{"mods":[` + many(n, func(int) string { return `{"keys":{"a":1}}` }) + `],"modType":"INSERT","tableName":"t"}`,
		"spanner, a type in types":      `{"mods":[{"keys":{"a":1}}],"modType":"INSERT","tableName":"t","rowType":[{"name":"a","type":` + strings.Repeat(`{"code":`, 5000) + `1` + strings.Repeat(`}`, 5000) + `}]}`,
		"dms, columns":                  `{"data":{` + forwards + `},"before-image":{` + forwards + `},"metadata":{"record-type":"data","operation":"update"}}`,
		"sequin, columns":               `{"record":{` + forwards + `},"changes":{` + forwards + `},"action":"update","metadata":{"commit_lsn":1}}`,
	} {
		events, control, err := decode(t, envelope.Options{}, change.Message{Data: []byte(data)})
		if (len(events) == 0) == (err == nil) || control != "" {
			t.Errorf("%s: %d events, control %q, error %v", what, len(events), control, err)
		}
		if e, ok := err.(*envelope.Error); err != nil && (!ok || e.Reason == envelope.UnknownFormat || len(err.Error()) > 500) { //nolint:errorlint // Decode promises this very type
			t.Errorf("%s: %.600v", what, err)
		}
		if len(events) > 0 && len(events[0].Key) > 1 {
			t.Errorf("%s: %d names of a key were looked for", what, len(events[0].Key))
		}
	}
}

// TestDecode_quadratic: what would be found by looking at each of many columns for each
// of many names is not looked for: the key's names, and whether columns that are null
// now were so before.
func TestDecode_quadratic(t *testing.T) {
	const n = 200_000
	columns := many(n, func(i int) string { return fmt.Sprintf(`"c%d":null`, i) })
	others := many(n, func(i int) string { return fmt.Sprintf(`"d%d":1`, i) })
	keys := many(n, func(i int) string { return fmt.Sprintf(`"c%d"`, i) })
	for _, test := range []struct {
		what, data string
		c0         change.Kind
	}{
		{"datastream, names of a key", `{"source_metadata":{"table":"t","database":"b","change_type":"INSERT","primary_keys":[` + keys + `]},"payload":{` + columns + `}}`, change.KindNull},
		{"debezium spanner, unchanged", `{"op":"u","source":{"connector":"spanner","table":"t"},"before":{"c0":1,` + others + `},"after":{` + columns + `}}`, change.KindUnavailable},
	} {
		events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(test.data)})
		if len(events) != 1 || err != nil {
			t.Errorf("%s: %d events, error %v", test.what, len(events), err)
			continue
		}
		if n := len(events[0].Key); n > 0 {
			t.Errorf("%s: %d names of a key were looked for", test.what, n)
		}
		if c0, _ := change.Find(events[0].After, "c0"); c0.Kind() != test.c0 {
			t.Errorf("%s: c0 is %s, want %s", test.what, c0.Kind(), test.c0)
		}
	}
}

// TestDecode_tooMany: a message of more changes than fit into memory is an error.
func TestDecode_tooMany(t *testing.T) {
	const n = 1<<20 + 1
	for what, data := range map[string]string{
		"canal":    `{"type":"INSERT","table":"t","isDdl":false,"data":[` + strings.Repeat(`{"a":1},`, n) + `{}]}`,
		"wal2json": `{"change":[` + strings.Repeat(`{"kind":"truncate"},`, n) + `{}]}`,
		"spanner":  `{"mods":[` + strings.Repeat(`{"keys":{"a":1}},`, n) + `{}],"modType":"INSERT","tableName":"t"}`,
	} {
		events, control, err := decode(t, envelope.Options{Format: what}, change.Message{Data: []byte(data)})
		if len(events) > 0 || control != "" || err == nil || !strings.Contains(err.Error(), "more than 1048576 changes") {
			t.Errorf("%s: %d events, control %q, error %v", what, len(events), control, err)
		}
	}
}
