package databases

import (
	"bufio"
	"encoding/json"
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
	Payload *capturedImage             `json:"payload"`
	Before  map[string]json.RawMessage `json:"before"`
	After   map[string]json.RawMessage `json:"after"`
	Op      string                     `json:"op"`
	Source  struct {
		DB, Schema, Table, Connector, Snapshot string
	} `json:"source"`
}

// Each message of testdata/captured is as a real Debezium wrote it in a run of
// this folder's tests with BEAMCDC_E2E_CAPTURE, one of each kind. The decoder must
// know it, with its format configured or told by itself.
func TestCaptured(t *testing.T) {
	files, err := filepath.Glob("testdata/captured/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no captured messages: %v", err)
	}
	for _, format := range []string{envelope.Auto, "debezium"} {
		decoder, err := envelope.New(envelope.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(format+"/"+filepath.Base(file), func(t *testing.T) {
				for number, line := range capturedLines(t, file) {
					decodeCaptured(t, decoder, number+1, line)
				}
			})
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

func decodeCaptured(t *testing.T, decoder *envelope.Decoder, number int, line string) {
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
	if len(m.GetData()) > 0 {
		if err := json.Unmarshal(m.GetData(), &image); err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
	}
	if image.Payload != nil {
		image = *image.Payload
	}
	op, isChange := map[string]change.Op{
		"c": change.OpCreate, "r": change.OpSnapshot, "u": change.OpUpdate, "d": change.OpDelete, "t": change.OpTruncate,
	}[image.Op]
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
	space := image.Source.Schema
	if space == "" {
		space = image.Source.DB
	}
	if want := space + "." + image.Source.Table; e.Table != want || e.Op != op {
		t.Errorf("line %d: %s of table %s, want %s of %s", number, e.Op, e.Table, op, want)
	}
	if e.Sequence.IsZero() {
		t.Errorf("line %d: there is no sequence; position: %s", number, e.Position)
	}
	compareNames(t, number, "after", e.After, image.After)
	compareNames(t, number, "before", e.Before, image.Before)
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
