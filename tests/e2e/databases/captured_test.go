package databases

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// capturedImage is what the test reads of a captured message by itself.
type capturedImage struct {
	op, table     string
	before, after map[string]json.RawMessage
}

// readEnvelope reads Debezium's own form, with its schema or without.
func readEnvelope(data []byte) (i capturedImage, err error) {
	type envelope struct {
		Before, After map[string]json.RawMessage
		Op            string
		Source        struct{ DB, Schema, Table string }
	}
	var m struct {
		Payload *envelope
		envelope
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return i, err
	}
	e := m.envelope
	if m.Payload != nil {
		e = *m.Payload
	}
	space := e.Source.Schema
	if space == "" {
		space = e.Source.DB
	}
	return capturedImage{e.Op, space + "." + e.Source.Table, e.Before, e.After}, nil
}

// readCloudEvent reads a CloudEvent, with its attributes beside its data.
func readCloudEvent(data []byte) (i capturedImage, err error) {
	var m struct {
		Op     string `json:"iodebeziumop"`
		Schema string `json:"iodebeziumschema"`
		Table  string `json:"iodebeziumtable"`
		Data   struct{ Before, After map[string]json.RawMessage }
	}
	err = json.Unmarshal(data, &m)
	return capturedImage{m.Op, m.Schema + "." + m.Table, m.Data.Before, m.Data.After}, err
}

// readFlattened reads a row among whose columns is what tells of the change.
func readFlattened(data []byte) (i capturedImage, err error) {
	var row map[string]json.RawMessage
	if err := json.Unmarshal(data, &row); err != nil {
		return i, err
	}
	text := func(name string) string { return strings.Trim(string(row[name]), `"`) }
	i.op, i.table = text("__op"), text("__source_schema")+"."+text("__source_table")
	maps.DeleteFunc(row, func(name string, _ json.RawMessage) bool { return strings.HasPrefix(name, "__") })
	if i.op == "d" {
		i.before = row
	} else {
		i.after = row
	}
	return i, nil
}

// readWal2JSON reads a change of the plugin's second form, or a transaction of its
// first. An update has what its columns lack in the row before.
func readWal2JSON(data []byte) ([]capturedImage, error) {
	type named struct {
		Name  string
		Value json.RawMessage
	}
	var m struct {
		Action, Schema, Table string
		Columns, Identity     []named
		Change                []struct {
			Kind, Schema, Table string
			ColumnNames         []string
			ColumnValues        []json.RawMessage
			OldKeys             struct {
				KeyNames  []string
				KeyValues []json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	var images []capturedImage
	add := func(op, table string, after, before map[string]json.RawMessage) {
		for name, value := range before {
			if _, there := after[name]; op == "u" && !there {
				after[name] = value
			}
		}
		images = append(images, capturedImage{op: op, table: table, before: before, after: after})
	}
	image := func(columns []named) map[string]json.RawMessage {
		row := map[string]json.RawMessage{}
		for _, c := range columns {
			row[c.Name] = c.Value
		}
		return row
	}
	if op, isChange := map[string]string{"I": "c", "U": "u", "D": "d"}[m.Action]; isChange {
		add(op, m.Schema+"."+m.Table, image(m.Columns), image(m.Identity))
	}
	pairs := func(names []string, values []json.RawMessage) map[string]json.RawMessage {
		row := map[string]json.RawMessage{}
		for i, name := range names {
			row[name] = values[i]
		}
		return row
	}
	for _, c := range m.Change {
		add(map[string]string{"insert": "c", "update": "u", "delete": "d"}[c.Kind], c.Schema+"."+c.Table,
			pairs(c.ColumnNames, c.ColumnValues), pairs(c.OldKeys.KeyNames, c.OldKeys.KeyValues))
	}
	return images, nil
}

// readMaxwell reads Maxwell's form. What was in an update's row before is what has
// changed alone.
func readMaxwell(data []byte) (i capturedImage, err error) {
	var m struct {
		Database, Table, Type string
		Data, Old             map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return i, err
	}
	i.op, i.table = map[string]string{"insert": "c", "update": "u", "delete": "d"}[m.Type], m.Database+"."+m.Table
	if i.op == "d" {
		i.before = m.Data
	} else {
		i.after, i.before = m.Data, m.Old
	}
	return i, nil
}

// ops are the operations by Debezium's letters.
var ops = map[string]change.Op{
	"c": change.OpCreate, "r": change.OpSnapshot, "u": change.OpUpdate, "d": change.OpDelete, "t": change.OpTruncate,
}

// one reads a message that holds one change, or none of a row.
func one(read func([]byte) (capturedImage, error)) func([]byte) ([]capturedImage, error) {
	return func(data []byte) ([]capturedImage, error) {
		image, err := read(data)
		if _, isChange := ops[image.op]; err != nil || !isChange {
			return nil, err
		}
		return []capturedImage{image}, nil
	}
}

// Each message of testdata/captured is as a real Debezium, wal2json or Maxwell wrote it in a
// run of this folder's tests with BEAMCDC_E2E_CAPTURE, one of each kind. The decoder
// must know it, with its format configured or told by itself, and find in it what the
// functions above do. All that it says of it is in schemas/envelope/testdata/captured.
func TestCaptured(t *testing.T) {
	forms := []struct {
		format, files string
		read          func([]byte) ([]capturedImage, error)
	}{
		{"debezium", "debezium_*.jsonl", one(readEnvelope)},
		{"cloudevents", "cloudevents.jsonl", one(readCloudEvent)},
		{"debezium_flat", "flattened.jsonl", one(readFlattened)},
		{"wal2json", "wal2json_*.jsonl", readWal2JSON},
		{"maxwell", "maxwell_*.jsonl", one(readMaxwell)},
	}
	for _, form := range forms {
		files, err := filepath.Glob("testdata/captured/" + form.files)
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no captured messages of format %s: %v", form.format, err)
		}
		for _, format := range []string{envelope.Auto, form.format} {
			decoder, err := envelope.New(envelope.Options{Format: format})
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				t.Run(format+"/"+filepath.Base(file), func(t *testing.T) {
					for number, line := range capturedLines(t, file) {
						decodeCaptured(t, decoder, form.read, number+1, line)
					}
				})
			}
		}
	}
}

func capturedLines(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func decodeCaptured(t *testing.T, decoder *envelope.Decoder, read func([]byte) ([]capturedImage, error), number int, line string) {
	t.Helper()
	m, err := parseCaptured([]byte(line))
	if err != nil {
		t.Fatalf("line %d: %v", number, err)
	}
	message := change.Message{ID: "1", Data: m.GetData(), OrderingKey: m.GetOrderingKey(), Attributes: m.GetAttributes()}
	events, control, err := decoder.Decode(message, nil)
	if err != nil {
		t.Errorf("line %d: %v", number, err)
		return
	}
	var images []capturedImage
	if len(m.GetData()) > 0 { // else it is a tombstone
		if images, err = read(m.GetData()); err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
	}
	if wantControl := len(images) == 0; len(events) != len(images) || (control != "") != wantControl {
		t.Errorf("line %d has %d changes of rows; it was decoded into %d events and control message %q", number, len(images), len(events), control)
		return
	}
	for i, image := range images {
		e := &events[i]
		if e.Table != image.table || e.Op != ops[image.op] {
			t.Errorf("line %d: %s of table %s, want %s of %s", number, e.Op, e.Table, ops[image.op], image.table)
		}
		if e.Sequence.IsZero() {
			t.Errorf("line %d: there is no sequence; position: %s", number, e.Position)
		}
		compareNames(t, number, "after", e.After, image.after)
		compareNames(t, number, "before", e.Before, image.before)
		if wantKey := strings.Contains(m.GetOrderingKey(), "{"); wantKey && len(e.Key) == 0 {
			t.Errorf("line %d: the key of the ordering key is lost", number)
		}
	}
}

// compareNames compares the names of an image's columns, and which of them are NULL.
func compareNames(t *testing.T, number int, which string, columns []change.Column, want map[string]json.RawMessage) {
	t.Helper()
	describe := func(name string, null bool) string {
		if null {
			return name + " NULL"
		}
		return name
	}
	var got, wanted []string
	for i := range columns {
		got = append(got, describe(columns[i].Name, columns[i].Value.Kind() == change.KindNull))
	}
	for name, value := range want {
		wanted = append(wanted, describe(name, string(value) == "null"))
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Errorf("line %d, %s: columns %v, want %v", number, which, got, wanted)
	}
}
