package envelope_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

func packed(t testing.TB, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDecode_compressed: a message that says it is compressed is unpacked, its
// event keeps the bytes that were published, and what can't be unpacked has a
// reason of its own.
func TestDecode_compressed(t *testing.T) {
	plain := insert(`{"id":1}`)
	bomb := packed(t, insert(`{"id":1,"note":"`+strings.Repeat(" ", 65<<20)+`"}`))
	flipped := packed(t, plain)
	flipped[len(flipped)-8] ^= 1 // the checksum
	for _, test := range []struct {
		what, attribute, value string
		data                   []byte
		reason                 string
		control                envelope.Control
	}{
		{what: "gzip", attribute: "content-encoding", value: "gzip", data: packed(t, plain)},
		{what: "gzip, in other letters", attribute: "Content-Encoding", value: " GZIP ", data: packed(t, plain)},
		{what: "two members", attribute: "contentEncoding", value: "gzip", data: append(packed(t, plain[:9]), packed(t, plain[9:])...)},
		{what: "identity", attribute: "content-encoding", value: "identity", data: []byte(plain)},
		{what: "empty", attribute: "content-encoding", value: "", data: []byte(plain)},
		{what: "another attribute", attribute: "encoding", value: "gzip", data: []byte(plain)},
		{what: "no data", attribute: "content-encoding", value: "gzip", control: envelope.Tombstone},
		{what: "nothing, packed", attribute: "content-encoding", value: "gzip", data: packed(t, ""), control: envelope.Tombstone},
		{what: "no gzip", attribute: "content-encoding", value: "gzip", data: []byte(plain), reason: envelope.BadCompression},
		{what: "cut off", attribute: "content-encoding", value: "gzip", data: packed(t, plain)[:20], reason: envelope.BadCompression},
		{what: "a wrong checksum", attribute: "content-encoding", value: "gzip", data: flipped, reason: envelope.BadCompression},
		{what: "more after it", attribute: "content-encoding", value: "gzip", data: append(packed(t, plain), '{'), reason: envelope.BadCompression},
		{what: "another encoding", attribute: "content-encoding", value: "zstd", data: packed(t, plain), reason: envelope.BadCompression},
		{what: "a bomb", attribute: "content-encoding", value: "gzip", data: bomb, reason: envelope.BadCompression},
		{what: "a bomb of values", attribute: "content-encoding", value: "gzip", data: packed(t, insert(`{"a":[`+strings.Repeat("1,", 5<<20)+`1]}`)), reason: envelope.BadCompression},
		{what: "packed without saying so", data: packed(t, plain), reason: envelope.BadJSON},
		{what: "bad JSON, packed", attribute: "content-encoding", value: "gzip", data: packed(t, `{"op"`), reason: envelope.BadJSON},
	} {
		t.Run(test.what, func(t *testing.T) {
			d, err := envelope.New(envelope.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := change.Message{Data: test.data, Attributes: map[string]string{test.attribute: test.value}}
			for range 2 { // with a reader that was used, too
				events, control, err := d.Decode(m, nil)
				if test.reason != "" {
					if e, ok := err.(*envelope.Error); !ok || e.Reason != test.reason { //nolint:errorlint // Decode promises this very type
						t.Fatalf("error %v, want %s", err, test.reason)
					}
					continue
				}
				if err != nil || control != test.control {
					t.Fatalf("control %q, error %v, want %q and none", control, err, test.control)
				}
				if test.control != "" {
					continue
				}
				if len(events) != 1 || describeKey(events[0].After) != "id = number 1" {
					t.Fatalf("events %+v", events)
				}
				if !bytes.Equal(events[0].Message.Data, test.data) {
					t.Error("the event's message isn't the one that was published")
				}
			}
		})
	}
}

// FuzzUnpack decodes any bytes as compressed ones. Its invariant: it is an error
// with the reason of bad compression, or what decoding the unpacked bytes says.
func FuzzUnpack(f *testing.F) {
	for _, data := range []string{"", insert(`{"id":1}`), `{"op"`, `{"schema":null,"payload":null}`} {
		f.Add(packed(f, data))
	}
	f.Add([]byte{0x1F, 0x8B, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := change.Message{ID: "1", Token: 9, Data: data, Attributes: map[string]string{"content-encoding": "gzip"}}
		events, control, err := decode(t, envelope.Options{Epoch: 7}, m)
		if e, ok := err.(*envelope.Error); ok && e.Reason == envelope.BadCompression { //nolint:errorlint // Decode promises this very type
			return
		}
		plain := m
		plain.Attributes = nil
		if len(data) > 0 {
			r, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if plain.Data, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		got := describe(events, control, err)
		if want := describe(decode(t, envelope.Options{Epoch: 7}, plain)); got != want {
			t.Errorf("compressed it is\n%s\nplain it is\n%s", got, want)
		}
	})
}
