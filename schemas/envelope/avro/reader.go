package avro

import (
	"encoding/binary"
	"errors"
	"strings"
	"unsafe"

	hamba "github.com/hamba/avro/v2"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// The attributes that Pub/Sub gives to a message of a topic with a schema:
// https://cloud.google.com/pubsub/docs/schemas
const (
	encodingAttribute = "googclient_schemaencoding" // BINARY or JSON
	nameAttribute     = "googclient_schemaname"
	revisionAttribute = "googclient_schemarevisionid"
)

// What the attributes hold when the schema, or its revision, is deleted.
const (
	deletedSchema   = "_deleted-schema_"
	deletedRevision = "_deleted-schema-revision_"
)

// What a message may become: so many times its own bytes, and some more.
const (
	expansion = 8
	allowance = 16 << 20
)

// Reader reads the values that messages in Avro hold. It is for one goroutine.
type Reader struct {
	// Schemas finds the schemas that messages refer to. nil means that there are
	// none to be found.
	Schemas Schemas

	configured  *schema
	fingerprint uint64 // of the configured schema, if there is one
	cache       cache
	scan        scan.Scanner

	// Of the message at hand.
	schema *schema
	data   []byte // of the one value; nil when it was read
	file   *file
	left   int // how many bytes of JSON the message may still become

	usual int // how long the JSON before was
}

// New returns a Reader. The schema is that of messages that neither hold nor name
// theirs, "" for none; one that can't be read is an error.
func New(schema string) (*Reader, error) {
	r := new(Reader)
	if schema == "" {
		return r, nil
	}
	var err error
	if r.configured, err = compile(schema); err != nil {
		return nil, err
	}
	parsed, err := parse(schema)
	if err != nil {
		return nil, err
	}
	sum, err := fingerprint(parsed)
	if err != nil {
		return nil, err
	}
	r.fingerprint = sum
	return r, nil
}

func fingerprint(s hamba.Schema) (uint64, error) {
	if ref, ok := s.(*hamba.RefSchema); ok {
		s = ref.Schema()
	}
	sum, err := s.FingerprintUsing(hamba.CRC64AvroLE)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(sum), nil
}

// Open reports whether a message is in Avro, and makes Next return its values. An
// error is an *outcome.Error, or what the Schemas failed with.
func (r *Reader) Open(m *change.Message) (bool, error) {
	r.schema, r.data, r.file = nil, nil, nil
	r.left = allowance + expansion*len(m.Data)
	if len(m.Data) == 0 {
		return false, nil // a tombstone, whatever the schema
	}
	if len(m.Attributes) > 0 {
		if encoding, ok := m.Attributes[encodingAttribute]; ok {
			return r.openTopic(m, encoding)
		}
	}
	switch m.Data[0] {
	case 0:
		if r.configured != nil {
			break // a value may begin with any byte
		}
		return true, r.openRegistered(m.Data)
	case magic[0]:
		if strings.HasPrefix(m.Text(), magic) {
			return true, r.openFile(m.Data)
		}
	case 0xC3:
		if strings.HasPrefix(m.Text(), "\xC3\x01") {
			return true, r.openObject(m.Data)
		}
	}
	if r.configured != nil {
		r.schema, r.data = r.configured, m.Data
	}
	return r.configured != nil, nil
}

// openTopic reads a message of a Pub/Sub topic with a schema.
func (r *Reader) openTopic(m *change.Message, encoding string) (bool, error) {
	isJSON := encoding == "JSON"
	if isJSON && r.Schemas == nil {
		return false, nil // it is JSON all the same
	}
	if !isJSON && encoding != "BINARY" {
		return true, outcome.Errorf(outcome.BadEnvelope, "the attribute %s is neither BINARY nor JSON", encodingAttribute)
	}
	ref := Ref{Name: m.Attributes[nameAttribute], Revision: m.Attributes[revisionAttribute]}
	if ref.Name == "" || ref.Name == deletedSchema || ref.Revision == deletedRevision {
		return true, outcome.Errorf(outcome.UnknownSchema, "the message's schema was deleted, or its attributes don't name it")
	}
	s, err := r.cache.ref(ref, r.Schemas)
	if isJSON && errors.Is(err, ErrNotAvro) {
		return false, nil // that of a protocol buffer
	}
	if err != nil {
		return true, err
	}
	r.schema, r.data = s, m.Data
	if !isJSON {
		return true, nil
	}
	if err := r.scan.Reset(m.Text()); err != nil {
		return true, err
	}
	r.data, err = appendBinary(make([]byte, 0, len(m.Data)), s.root, r.scan.Value(), 0)
	return true, bad(err)
}

// openRegistered reads a message with the ID of its schema in a registry: a zero
// byte and four bytes as Confluent's serializers write it, or eight, as older ones
// of Apicurio's do. IDs begin at 1, so that four zeros tell that there are eight.
func (r *Reader) openRegistered(data []byte) error {
	const short, long = 1 + 4, 1 + 8
	if len(data) < short {
		return outcome.Errorf(outcome.BadAvro, "the data begins with a zero byte, and no schema's ID follows")
	}
	id, size := uint64(binary.BigEndian.Uint32(data[1:])), short
	if id == 0 && len(data) >= long {
		id, size = binary.BigEndian.Uint64(data[1:]), long
	}
	var err error
	r.schema, err = r.cache.ref(Ref{ID: id}, r.Schemas)
	r.data = data[size:]
	return err
}

// openObject reads Avro's single-object encoding, whose fingerprint must be that
// of the configured schema.
func (r *Reader) openObject(data []byte) error {
	const header = 2 + 8
	if len(data) < header {
		return outcome.Errorf(outcome.BadAvro, "the data ends in the header of Avro's single-object encoding")
	}
	if r.configured == nil || binary.LittleEndian.Uint64(data[2:]) != r.fingerprint {
		return outcome.Errorf(outcome.UnknownSchema, "the message has the fingerprint of a schema that isn't the configured one")
	}
	r.schema, r.data = r.configured, data[header:]
	return nil
}

// openFile reads an object container file.
func (r *Reader) openFile(data []byte) error {
	f, text, err := openFile(data)
	if err != nil {
		return bad(err)
	}
	r.file = &f
	r.schema, err = r.cache.text(text)
	return err
}

// Next returns the message's next value: the JSON that Kafka Connect's JSON
// converter would write of it, and what types that. It returns false after the
// last. An error is an *outcome.Error.
func (r *Reader) Next() (text string, types *connect.Schema, more bool, err error) {
	if r.file != nil {
		return r.nextRecord()
	}
	if r.data == nil {
		return "", nil, false, nil
	}
	text, rest, err := r.value(r.data)
	if err == nil && len(rest) > 0 {
		err = outcome.Errorf(outcome.BadAvro, "reading Avro: the data has %d bytes after its value", len(rest))
	}
	r.data = nil
	return text, r.schema.types, err == nil, err
}

func (r *Reader) nextRecord() (text string, types *connect.Schema, more bool, err error) {
	before := r.file.size
	if more, err = r.file.next(); err != nil || !more {
		return "", nil, false, bad(err)
	}
	r.left += expansion * (r.file.size - before)
	text, rest, err := r.value(r.file.block)
	if err == nil && len(rest) == len(r.file.block) {
		err = outcome.Errorf(outcome.BadAvro, "reading Avro: a record of the file takes no bytes")
	}
	r.file.block = rest
	return text, r.schema.types, err == nil, err
}

// value returns the JSON of the value that the data begins with.
func (r *Reader) value(data []byte) (text string, rest []byte, err error) {
	t := transcoder{in: data, out: make([]byte, 0, r.usual), left: r.left}
	if err := t.value(r.schema.root); err != nil {
		return "", nil, bad(err)
	}
	r.left -= len(t.out)
	r.usual = max(len(t.out)+len(t.out)/8, r.usual-r.usual/8)
	return unsafe.String(unsafe.SliceData(t.out), len(t.out)), t.rest(), nil
}

// bad says that a message isn't what its schema says.
func bad(err error) error {
	if err == nil {
		return nil
	}
	return outcome.Errorf(outcome.BadAvro, "reading Avro: %w", err)
}
