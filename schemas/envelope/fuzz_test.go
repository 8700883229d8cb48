package envelope_test

import (
	"path/filepath"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// FuzzDecode decodes any bytes as each format. Its invariants:
//
//   - Nothing panics.
//   - A message is events, a control message or an *Error, never two of them and
//     never none; an Error has a reason and a text of bounded length.
//   - An event has a valid Op, one of at least one Parts, the message it came
//     from, and either a Sequence of four sections (but for a row that brings its
//     own) or none; its Position says where or why not.
//   - An event has the images that its Op promises, and no invalid value.
//   - A decoder that has read other messages, and so knows schemas and guesses
//     formats, says the same as a new one; auto says the same as the format that
//     it finds.
//   - The message's bytes don't change.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("found %d files, error %v", len(files), err)
	}
	for _, file := range files {
		m := readMessage(f, file)
		_, changedKey := m.Attributes["__debezium.oldkey"]
		f.Add(string(m.Data), m.OrderingKey, changedKey)
	}
	for file := range capturedFiles(f) {
		for _, m := range readCaptured(f, file) {
			_, changedKey := m.Attributes["__debezium.oldkey"]
			f.Add(string(m.Data), m.OrderingKey, changedKey)
		}
	}
	for _, bm := range benchMessages {
		f.Add(string(bm.message.Data), bm.message.OrderingKey, false)
	}
	f.Add("", "", false)
	f.Add("", `{"schema":{"type":"struct","fields":[{"type":"int64","field":"id"}]},"payload":{"id":7}}`, false)
	f.Add("null", `{"id":7}`, true)
	f.Add(`{"schema":{"type":"array","items":{"type":"int32"}},"payload":{"op":"u","source":{},"after":{"a":[]}}}`, `{"p\u0061yload":{},"schema":{}}`, true)

	used := make(map[string]*envelope.Decoder)
	for _, format := range envelope.Formats() {
		d, err := envelope.New(envelope.Options{Format: format, Epoch: 7, TombstoneDeletes: true})
		if err != nil {
			f.Fatal(err)
		}
		used[format] = d
	}
	f.Fuzz(func(t *testing.T, data, key string, changedKey bool) {
		m := change.Message{ID: "1", Data: []byte(data), OrderingKey: key, Token: 9}
		if changedKey {
			m.Attributes = map[string]string{"__debezium.oldkey": "x"}
		}
		results := make(map[string]string)
		for _, format := range envelope.Formats() {
			events, control, err := decode(t, envelope.Options{Format: format, Epoch: 7, TombstoneDeletes: true}, m)
			checkResult(t, format, events, control, err)
			results[format] = describe(events, control, err)
			if again := describe(used[format].Decode(m, nil)); again != results[format] {
				t.Errorf("%s: a used decoder says\n%s\na new one\n%s", format, again, results[format])
			}
		}
		auto := results[envelope.Auto]
		found := false
		for format, result := range results {
			found = found || (format != envelope.Auto && result == auto)
		}
		_, _, err := decode(t, envelope.Options{TombstoneDeletes: true}, m)
		if e, ok := err.(*envelope.Error); !found && (!ok || (e.Reason != envelope.UnknownFormat && e.Reason != envelope.BadJSON)) { //nolint:errorlint // Decode promises this very type
			t.Errorf("auto says\n%s\nand no format does: %q", auto, results)
		}
		if string(m.Data) != data {
			t.Error("decoding changed the message's bytes")
		}
	})
}

func checkResult(t *testing.T, format string, events []change.Event, control envelope.Control, err error) {
	t.Helper()
	kinds := 0
	for _, is := range []bool{len(events) > 0, control != "", err != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		t.Fatalf("%d events, control %q, error %v: want one of them", len(events), control, err)
	}
	if err != nil {
		e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
		if !ok || e.Reason == "" || e.Err == nil || len(e.Error()) > 2000 {
			t.Fatalf("error %T: %.2100v", err, err)
		}
	}
	for i := range events {
		checkEvent(t, format, &events[i], len(events))
	}
}

func checkEvent(t *testing.T, format string, e *change.Event, parts int) {
	t.Helper()
	if e.Op.String() == "invalid" {
		t.Errorf("op %d is none", e.Op)
	}
	if int(e.Parts) != parts || int(e.Part) >= parts {
		t.Errorf("part %d of %d, want one of %d", e.Part, e.Parts, parts)
	}
	if e.Message.ID != "1" || e.Message.Token != 9 {
		t.Error("the event lost its message")
	}
	// A row with BigQuery's columns has a sequence of its own, also under auto.
	if n := len(e.Sequence.Sections()); format != "columns" && format != envelope.Auto && n != 0 && (n != 4 || e.Sequence.Sections()[0] != 7) {
		t.Errorf("sequence %s, want four sections that begin with the epoch", e.Sequence)
	}
	if e.Position == "" {
		t.Error("the position is empty")
	}
	isGone := e.Op == change.OpDelete || e.Op == change.OpTruncate
	if isGone && e.After != nil {
		t.Errorf("a %s has an after image", e.Op)
	}
	if e.Op == change.OpTruncate && (e.Before != nil || e.Key != nil) {
		t.Error("a truncate has a before image or a key")
	}
	if (e.BeforeComplete && e.Op != change.OpDelete) || (e.AbsentUnavailable && e.Op != change.OpUpdate) {
		t.Error("the event promises what no decoder knows")
	}
	for _, columns := range [][]change.Column{e.Key, e.Before, e.After} {
		checkColumns(t, columns)
	}
}

func checkColumns(t *testing.T, columns []change.Column) {
	t.Helper()
	for _, c := range columns {
		if c.Value.Kind() == change.KindInvalid {
			t.Errorf("column %q has an invalid value", c.Name)
		}
		checkColumns(t, c.Value.Elems())
	}
}
