package avro_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/hamba/avro/v2/ocf"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/envelope/avro"
)

// values reads a message's values. Whatever it holds, each is JSON, since nothing
// checks that again, errors are the message's, and what it becomes is bounded.
func values(t *testing.T, r *avro.Reader, m change.Message) {
	isAvro, err := r.Open(&m)
	total := 0
	for isAvro && err == nil {
		var (
			text string
			more bool
		)
		if text, _, more, err = r.Next(); !more {
			break
		}
		if !jsontext.Value(text).IsValid() {
			t.Fatalf("not JSON: %.1000s", text)
		}
		total += len(text)
	}
	if e := new(envelope.Error); err != nil && !errors.As(err, &e) {
		t.Fatalf("error %v is not the message's", err)
	}
	if limit := 16<<20 + 8*(len(m.Data)+32<<20) + 1<<20; total > limit {
		t.Fatalf("%d bytes became %d", len(m.Data), total)
	}
}

// FuzzValue: any bytes as a value of schemas of all types.
func FuzzValue(f *testing.F) {
	schemas := []string{
		datastreamSchema, spannerSchema, framed, bomb(10),
		envelopeOf(`{"type":"map","values":["null","string",` + decimalOf(1) + `,{"type":"array","items":"double"}]}`),
		`{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]},{"name":"f","type":` + fixedOf(12, `,"logicalType":"duration"`) + `}]}`,
	}
	readers := make([]*avro.Reader, len(schemas))
	for i, schema := range schemas {
		r, err := avro.New(schema)
		if err != nil {
			f.Fatal(err)
		}
		readers[i] = r
	}
	f.Add(byte(0), datastreamValue(f))
	f.Add(byte(2), framedRow)
	f.Add(byte(5), []byte{2, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		values(t, readers[int(which)%len(readers)], change.Message{Data: data})
	})
}

// FuzzSchema: any text as a schema, of any bytes as its value, in binary and in
// Avro's JSON encoding.
func FuzzSchema(f *testing.F) {
	for _, schema := range []string{
		datastreamSchema, spannerSchema, framed, `"int"`, `["null","string"]`,
		`{"type":"record","name":"R","fields":[{"name":"r","type":"R","default":{}}]}`,
		`{"type":"fixed","name":"F","size":-1}`, `{"type":"enum","name":"E","symbols":[]}`,
		`{"type":"bytes","logicalType":"decimal","precision":4,"scale":"x"}`, `[]`, `[["null"]]`, `{"type":{"type":"int"}}`,
	} {
		f.Add(schema, framedRow)
	}
	f.Fuzz(func(t *testing.T, schema string, data []byte) {
		r, err := avro.New("")
		if err != nil {
			t.Fatal(err)
		}
		r.Schemas = fixedSchema(schema)
		values(t, r, change.Message{Data: registered(data)})
		values(t, r, topicMessage("JSON", topicSchema, "1", data))
	})
}

// FuzzFile: any bytes as an object container file.
func FuzzFile(f *testing.F) {
	for _, codec := range []ocf.CodecName{ocf.Null, ocf.Deflate, ocf.Snappy} {
		f.Add(fileOf(f, codec, framedRow, framedRow, framedRow)[4:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := avro.New("")
		if err != nil {
			t.Fatal(err)
		}
		values(t, r, change.Message{Data: append([]byte("Obj\x01"), data...)})
	})
}

// TestFile_bomb: a file whose blocks decompress to more than any message has.
func TestFile_bomb(t *testing.T) {
	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 64 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	schema := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`
	meta := join([]byte{4}, text(nil, "avro.schema"), text(nil, schema), text(nil, "avro.codec"), text(nil, "deflate"), []byte{0})
	data := join([]byte("Obj\x01"), meta, make([]byte, 16), long(nil, 64<<20), text(nil, compressed.String()), make([]byte, 16))
	d, err := newDecoder(options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Decode(change.Message{Data: data}, nil); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error %v, want that it is too large", err)
	}
}
