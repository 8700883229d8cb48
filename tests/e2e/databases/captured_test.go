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

// Each message of testdata/captured is as a real Debezium wrote it in a run of
// this folder's tests with BEAMCDC_E2E_CAPTURE, one of each kind. The decoder must
// know it, with its format configured or told by itself.
func TestCaptured(t *testing.T) {
	forms := []struct {
		format, files string
		read          func([]byte) (capturedImage, error)
	}{
		{"debezium", "debezium_*.jsonl", readEnvelope},
		{"cloudevents", "cloudevents.jsonl", readCloudEvent},
		{"debezium_flat", "flattened.jsonl", readFlattened},
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

func decodeCaptured(t *testing.T, decoder *envelope.Decoder, read func([]byte) (capturedImage, error), number int, line string) {
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
	var image capturedImage
	if len(m.GetData()) > 0 { // else it is a tombstone
		if image, err = read(m.GetData()); err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
	}
	op, isChange := map[string]change.Op{
		"c": change.OpCreate, "r": change.OpSnapshot, "u": change.OpUpdate, "d": change.OpDelete, "t": change.OpTruncate,
	}[image.op]
	if !isChange {
		if control == "" || len(events) > 0 {
			t.Errorf("line %d is no change of a row; it was decoded into %d events", number, len(events))
		}
		return
	}
	if len(events) != 1 || control != "" {
		t.Errorf("line %d: %d events and control message %q", number, len(events), control)
		return
	}
	e := &events[0]
	if e.Table != image.table || e.Op != op {
		t.Errorf("line %d: %s of table %s, want %s of %s", number, e.Op, e.Table, op, image.table)
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
