package avro_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	hamba "github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"
	"github.com/hamba/avro/v2/soe"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

var (
	framed    = envelopeOf(`"int"`)
	framedRow = around(long(nil, 5))
)

// schemasBy finds schemas by their references, and counts how often it is asked.
type schemasBy struct {
	texts map[envelope.SchemaRef]string
	err   error
	calls int
}

func (s *schemasBy) Schema(ref envelope.SchemaRef) (string, error) {
	s.calls++
	if s.err != nil {
		return "", s.err
	}
	text, ok := s.texts[ref]
	if !ok {
		return "", fmt.Errorf("looking: %w", envelope.ErrUnknownSchema)
	}
	return text, nil
}

const topicSchema = "projects/p/schemas/orders"

func topicMessage(encoding, name, revision string, data []byte) change.Message {
	return change.Message{Data: data, Attributes: map[string]string{
		"googclient_schemaencoding": encoding, "googclient_schemaname": name, "googclient_schemarevisionid": revision,
	}}
}

func singleObject(t *testing.T, value []byte) []byte {
	t.Helper()
	header, err := soe.BuildHeader(hamba.MustParse(framed))
	if err != nil {
		t.Fatal(err)
	}
	return append(header, value...)
}

// TestFraming: where a message says which schema it was written with.
func TestFraming(t *testing.T) {
	found := &schemasBy{texts: map[envelope.SchemaRef]string{
		{ID: 7}:         framed,
		{ID: 1<<32 + 9}: framed,
		{ID: 9}:         framed,
		{Name: topicSchema, Revision: "a75ff1fd"}: framed,
		{ID: 66}: `{"type":"record"}`,
		{ID: 67}: `nonsense`,
	}}
	const inJSON = `{"op":"c","after":{"x":5},"source":{"schema":"public","lsn":130,"table":"t","connector":"postgresql"}}`
	configured := options{AvroSchema: framed, Schemas: found}
	for _, test := range []struct {
		what    string
		options options
		message change.Message
		reason  string // "": it is one change
	}{
		{"Confluent's", options{Schemas: found}, change.Message{Data: registered(framedRow)}, ""},
		{"Confluent's, unknown", options{Schemas: found}, change.Message{Data: join([]byte{0, 0, 0, 0, 8}, framedRow)}, envelope.UnknownSchema},
		{"Confluent's, no registry", options{}, change.Message{Data: registered(framedRow)}, envelope.UnknownSchema},
		{"Confluent's, cut off", options{Schemas: found}, change.Message{Data: []byte{0, 0, 0, 0}}, envelope.BadAvro},
		{"Confluent's, no value", options{Schemas: found}, change.Message{Data: []byte{0, 0, 0, 0, 7}}, envelope.BadAvro},
		{"Confluent's, a schema that is none", options{Schemas: found}, change.Message{Data: join([]byte{0, 0, 0, 0, 66}, framedRow)}, envelope.BadSchema},
		{"Confluent's, no JSON", options{Schemas: found}, change.Message{Data: join([]byte{0, 0, 0, 0, 67}, framedRow)}, envelope.BadSchema},
		{"Apicurio's of eight bytes", options{Schemas: found}, change.Message{Data: join([]byte{0, 0, 0, 0, 0, 0, 0, 0, 9}, framedRow)}, ""},

		{"a topic's", options{Schemas: found}, topicMessage("BINARY", topicSchema, "a75ff1fd", framedRow), ""},
		{"a topic's, unknown", options{Schemas: found}, topicMessage("BINARY", topicSchema, "00000000", framedRow), envelope.UnknownSchema},
		{"a topic's, deleted", options{Schemas: found}, topicMessage("BINARY", "_deleted-schema_", "a75ff1fd", framedRow), envelope.UnknownSchema},
		{"a topic's, its revision deleted", options{Schemas: found}, topicMessage("BINARY", topicSchema, "_deleted-schema-revision_", framedRow), envelope.UnknownSchema},
		{"a topic's, without a name", options{Schemas: found}, topicMessage("BINARY", "", "", framedRow), envelope.UnknownSchema},
		{"a topic's, of another encoding", options{Schemas: found}, topicMessage("XML", topicSchema, "a75ff1fd", framedRow), envelope.BadEnvelope},
		{"a topic's in JSON", options{Schemas: found}, topicMessage("JSON", topicSchema, "a75ff1fd", []byte(inJSON)), ""},
		{"a topic's in JSON, unknown", options{Schemas: found}, topicMessage("JSON", topicSchema, "00000000", []byte(inJSON)), envelope.UnknownSchema},
		{"a topic's in JSON, cut off", options{Schemas: found}, topicMessage("JSON", topicSchema, "a75ff1fd", []byte(inJSON[:20])), envelope.BadJSON},

		{"a single object", configured, change.Message{Data: singleObject(t, framedRow)}, ""},
		{"a single object, no schema configured", options{Schemas: found}, change.Message{Data: singleObject(t, framedRow)}, envelope.UnknownSchema},
		{"a single object, cut off", configured, change.Message{Data: []byte("\xC3\x01abc")}, envelope.BadAvro},
		{"a single object of another schema", configured, change.Message{Data: join([]byte("\xC3\x01"), make([]byte, 8), framedRow)}, envelope.UnknownSchema},

		{"bare", configured, change.Message{Data: framedRow}, ""},
		{"bare, beginning with a zero byte", configured, change.Message{Data: around(long(nil, 0))}, ""},
		{"bare, cut off", configured, change.Message{Data: framedRow[:8]}, envelope.BadAvro},
		{"bare, JSON", configured, change.Message{Data: []byte(inJSON)}, envelope.BadAvro},
		{"not Avro", options{Schemas: found}, change.Message{Data: []byte("Object")}, envelope.BadJSON},
	} {
		t.Run(test.what, func(t *testing.T) {
			if test.reason == "" {
				e := decodeOne(t, test.options, test.message)
				if len(e.After) != 1 || e.Table != "public.t" {
					t.Errorf("after %v of %s", e.After, e.Table)
				}
				return
			}
			d, err := newDecoder(test.options)
			if err != nil {
				t.Fatal(err)
			}
			events, control, err := d.Decode(test.message, nil)
			e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
			if len(events) > 0 || control != "" || !ok || e.Reason != test.reason {
				t.Errorf("%d events, control %q, error %v, want %s", len(events), control, err, test.reason)
			}
		})
	}
}

// TestSchemas_once: a schema is asked for once, and a failure to find it is no
// fault of the message.
func TestSchemas_once(t *testing.T) {
	found := &schemasBy{texts: map[envelope.SchemaRef]string{{ID: 7}: framed, {ID: 9}: framed}}
	d, err := newDecoder(options{Schemas: found})
	if err != nil {
		t.Fatal(err)
	}
	m := change.Message{Data: registered(framedRow)}
	found.err = io.ErrUnexpectedEOF
	for range 2 {
		_, _, err := d.Decode(m, nil)
		if e := new(envelope.Error); !errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &e) {
			t.Fatalf("error %v, want what the schemas failed with, and no fault of the message", err)
		}
	}
	found.err, found.calls = nil, 0
	for i := range 10 {
		m.Data[4] = byte(7 + i%2*2)
		if _, _, err := d.Decode(m, nil); err != nil {
			t.Fatal(err)
		}
	}
	if found.calls != 2 {
		t.Errorf("%d calls for two schemas", found.calls)
	}
}

// TestSchemas_bounded: more schemas than are remembered still decode.
func TestSchemas_bounded(t *testing.T) {
	found := &schemasBy{texts: make(map[envelope.SchemaRef]string)}
	for i := range uint64(1100) {
		found.texts[envelope.SchemaRef{ID: i + 1}] = framed
	}
	d, err := newDecoder(options{Schemas: found})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(1100) {
		m := change.Message{Data: append(binary.BigEndian.AppendUint32([]byte{0}, i+1), framedRow...)}
		if _, _, err := d.Decode(m, nil); err != nil {
			t.Fatalf("schema %d: %v", i+1, err)
		}
	}
}

// TestNotAvro: a schema of another kind is the message's fault in binary, and in
// JSON no reason not to read it.
func TestNotAvro(t *testing.T) {
	o := options{Schemas: &schemasBy{err: fmt.Errorf("it is PROTOCOL_BUFFER: %w", envelope.ErrNotAvro)}}
	const inJSON = `{"op":"c","after":{"x":5},"source":{"schema":"public","lsn":130,"table":"t","connector":"postgresql"}}`
	decodeOne(t, o, topicMessage("JSON", topicSchema, "1", []byte(inJSON)))
	d, err := newDecoder(o)
	if err != nil {
		t.Fatal(err)
	}
	var e *envelope.Error
	if _, _, err := d.Decode(topicMessage("BINARY", topicSchema, "1", framedRow), nil); !errors.As(err, &e) || e.Reason != envelope.BadSchema {
		t.Errorf("error %v, want %s", err, envelope.BadSchema)
	}
}

// fileOf writes an object container file of rows.
func fileOf(t testing.TB, codec ocf.CodecName, rows ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := ocf.NewEncoder(framed, &b, ocf.WithCodec(codec), ocf.WithBlockLength(2), ocf.WithSchemaMarshaler(ocf.FullSchemaMarshaler))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if _, err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFile: an object container file's records are the message's changes, of all
// codecs and blocks.
func TestFile(t *testing.T) {
	for _, codec := range []ocf.CodecName{ocf.Null, ocf.Deflate, ocf.Snappy} {
		var rows [][]byte
		for i := range 5 {
			rows = append(rows, around(long(nil, int64(i))))
		}
		m := change.Message{Data: fileOf(t, codec, rows...)}
		d, err := newDecoder(options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // with a schema that was seen before too
			events, control, err := d.Decode(m, nil)
			if err != nil || control != "" || len(events) != len(rows) {
				t.Fatalf("%s: %d events, control %q, error %v, want %d", codec, len(events), control, err, len(rows))
			}
			for i, e := range events {
				if int(e.Part) != i || int(e.Parts) != len(rows) || e.After[0].Value.Int() != int64(i) || !bytes.Equal(e.Message.Data, m.Data) {
					t.Errorf("%s: record %d is part %d of %d, column %d", codec, i, e.Part, e.Parts, e.After[0].Value.Int())
				}
			}
		}
	}
}

// TestFile_bad: what is wrong with a file.
func TestFile_bad(t *testing.T) {
	row := framedRow
	good := fileOf(t, ocf.Null, row, row, row)
	if len(good) < 64 {
		t.Fatal("the file is too short")
	}
	sync := good[len(good)-16:]
	header := good[:bytes.Index(good, sync)+16]
	block := func(count int64, data []byte) []byte { return join(long(nil, count), text(nil, string(data)), sync) }
	zeros := func(codec string) []byte {
		h := bytes.Replace(header, text(nil, "null"), text(nil, codec), 1)
		if len(h) == len(header) && codec != "null" {
			t.Fatal("the header names no codec")
		}
		return h
	}
	for _, test := range []struct {
		what string
		data []byte
		want string
	}{
		{"nothing but magic", []byte("Obj\x01"), "header"},
		{"no schema", join([]byte("Obj\x01"), []byte{0}, make([]byte, 16)), "no avro.schema"},
		{"a schema that is none", join([]byte("Obj\x01"), []byte{2}, text(nil, "avro.schema"), text(nil, `{}`), []byte{0}, make([]byte, 16)), "schema"},
		{"a block cut off", good[:len(good)-20], "ends too early"},
		{"a sync marker that differs", join(good[:len(good)-1], []byte{^sync[15]}), "sync"},
		{"a record too many", join(header, block(2, row)), "ends too early"},
		{"a record too few", join(header, block(1, join(row, row)), block(1, row)), "after its records"},
		{"a negative number of records", join(header, block(-1, row)), "negative"},
		{"an unknown codec", join(zeros("xz"), block(1, row)), "codec"},
		{"no deflate", join(zeros("deflate"), block(1, []byte("\xff\xff"))), "decompressing"},
		{"no snappy", join(zeros("snappy"), block(1, []byte("abcd"))), "decompressing"},
	} {
		d, err := newDecoder(options{})
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := d.Decode(change.Message{Data: test.data}, nil)
		if e := new(envelope.Error); len(events) > 0 || !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d events, error %v, want it to say %q", test.what, len(events), err, test.want)
		}
	}
}

// TestFile_control: a file of nothing but control messages is one.
func TestFile_control(t *testing.T) {
	const schema = `{"type":"record","name":"Heartbeat","fields":[{"name":"ts_ms","type":"long"}]}`
	var b bytes.Buffer
	w, err := ocf.NewEncoder(schema, &b, ocf.WithCodec(ocf.Deflate))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := w.Encode(map[string]any{"ts_ms": int64(1)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := newDecoder(options{})
	if err != nil {
		t.Fatal(err)
	}
	if events, control, err := d.Decode(change.Message{Data: b.Bytes()}, nil); len(events) > 0 || control != envelope.Heartbeat || err != nil {
		t.Errorf("%d events, control %q, error %v, want a heartbeat", len(events), control, err)
	}
}
