package envelope_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// FuzzAttributes decodes messages with any attributes, one a line, "name=value".
// Its invariants are FuzzDecode's: nothing panics; a message is events, a control
// message or an *Error; an event has what its Op promises; a decoder that has
// read other messages says the same as a new one.
func FuzzAttributes(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if m := readMessage(f, file); len(m.Attributes) > 0 {
			var lines []string
			for name, value := range m.Attributes {
				lines = append(lines, name+"="+value)
			}
			slices.Sort(lines)
			f.Add(string(m.Data), strings.Join(lines, "\n"))
		}
	}
	f.Add(insert(`{"id":1}`), "content-encoding=gzip")
	f.Add(`{"id":1}`, "__op={\"schema\":null,\"payload\":\"c\"}\n__lsn=\"5\"\n__deleted=null")
	used := make(map[string]*envelope.Decoder)
	for _, format := range envelope.Formats() {
		d, err := envelope.New(envelope.Options{Format: format, Epoch: 7})
		if err != nil {
			f.Fatal(err)
		}
		used[format] = d
	}
	f.Fuzz(func(t *testing.T, data, attributes string) {
		m := change.Message{ID: "1", Token: 9, Data: []byte(data), Attributes: make(map[string]string)}
		for line := range strings.SplitSeq(attributes, "\n") {
			name, value, _ := strings.Cut(line, "=")
			m.Attributes[name] = value
		}
		for _, format := range envelope.Formats() {
			events, control, err := decode(t, envelope.Options{Format: format, Epoch: 7}, m)
			checkResult(t, format, events, control, err)
			got := describe(events, control, err)
			if again := describe(used[format].Decode(m, nil)); again != got {
				t.Errorf("%s: a used decoder says\n%s\na new one\n%s", format, again, got)
			}
		}
	})
}
