package envelope

import (
	"compress/gzip"
	"fmt"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/avro"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/flat"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/unavailable"
)

// DefaultUnavailablePlaceholder is what Debezium writes for a value that its
// source left out, unless its unavailable.value.placeholder says otherwise.
const DefaultUnavailablePlaceholder = "__debezium_unavailable_value"

// Auto is the format that is told by each message's members.
const Auto = "auto"

// Options configures a Decoder.
type Options struct {
	// Format is the envelope's name: one of Formats. "" means Auto.
	Format string
	// Epoch is the first section of every sequence.
	Epoch uint64
	// UnavailablePlaceholder is the text that stands for a value that the source
	// left out; with the prefix "hex:" the hexadecimal form of its bytes. ""
	// means DefaultUnavailablePlaceholder.
	UnavailablePlaceholder string
	// AvroSchema is the schema of messages in Avro that neither hold nor name
	// theirs, as JSON. With it, what isn't in a framing of Avro's is bare Avro, and
	// not JSON. "" means that there are none.
	AvroSchema string
	// FlatPrefix is what begins the names of a debezium_flat message's metadata,
	// the transformation's add.fields.prefix; "" means "__".
	FlatPrefix string
	// FlatFields is the transformation's add.fields, such as "op,lsn:SEQ": then
	// nothing but these is metadata. "" means all that has the prefix.
	FlatFields string
	// TombstoneDeletes makes an empty message the delete of the row that its
	// ordering key names, instead of a control message.
	TombstoneDeletes bool

	names flat.Names
}

// Control says which kind of message without a row change a message is; "" means
// that it holds changes.
type Control = outcome.Control

// The kinds of control messages.
const (
	Heartbeat      = outcome.Heartbeat
	Transaction    = outcome.Transaction
	SchemaChange   = outcome.SchemaChange
	Tombstone      = outcome.Tombstone
	LogicalMessage = outcome.LogicalMessage
	Notification   = outcome.Notification
)

// Error says why a message can't be decoded: it belongs to the dead letters.
type Error = outcome.Error

// The reasons of an Error.
const (
	BadJSON        = outcome.BadJSON
	BadAvro        = outcome.BadAvro
	UnknownSchema  = outcome.UnknownSchema
	UnknownFormat  = outcome.UnknownFormat
	BadEnvelope    = outcome.BadEnvelope
	UnknownOp      = outcome.UnknownOp
	BadSchema      = outcome.BadSchema
	BadValue       = outcome.BadValue
	MissingImage   = outcome.MissingImage
	MissingKey     = outcome.MissingKey
	ConflictingOps = outcome.ConflictingOps
	BadCompression = outcome.BadCompression
)

// decoder decodes the messages of one format. Whatever is wrong with a message,
// it leaves the outline of its members in the Scanner, unless it is no JSON.
type decoder interface {
	Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error)
}

// Decoder decodes messages one after the other. It is for one goroutine.
type Decoder struct {
	avro     *avro.Reader
	types    *connect.Schema // of a message in Avro, else nil
	scan     scan.Scanner
	gzip     *gzip.Reader // nil before the first compressed message
	decoders []decoder    // by format
	format   int          // the configured one, or that of the message before
	auto     bool
	message  change.Message // at hand: in the Decoder, so that it costs no allocation

	tombstones *flat.Decoder // reads what an empty message deletes; nil: nothing
}

// New returns a Decoder for a format. An unknown format or a bad placeholder is
// an error.
func New(o Options, with ...Dependency) (*Decoder, error) {
	d := &Decoder{auto: o.Format == "" || o.Format == Auto}
	if !d.auto {
		if d.format = formatNamed(o.Format); d.format < 0 {
			return nil, fmt.Errorf("format %q is not supported yet; the formats are %s", o.Format, strings.Join(Formats(), ", "))
		}
	}
	if o.UnavailablePlaceholder == "" {
		o.UnavailablePlaceholder = DefaultUnavailablePlaceholder
	}
	placeholder, err := unavailable.New(o.UnavailablePlaceholder)
	if err != nil {
		return nil, err
	}
	if d.avro, err = avro.New(o.AvroSchema); err != nil {
		return nil, err
	}
	if o.names, err = flat.ParseNames(o.FlatPrefix, o.FlatFields); err != nil {
		return nil, fmt.Errorf("reading the fields of flattened messages: %w", err)
	}
	for _, f := range formats {
		d.decoders = append(d.decoders, f.new(o, placeholder, &d.scan))
	}
	if o.TombstoneDeletes {
		d.tombstones = flat.New(flat.Options{Epoch: o.Epoch, Placeholder: placeholder, Names: o.names}, &d.scan)
	}
	for _, dependency := range with {
		dependency(d)
	}
	return d, nil
}

// Decode appends the message's changes to dst, or says which control message it
// is. The error is an *Error, or what the Schemas failed with. Values share
// the memory of m.Data, which must not change any more.
func (d *Decoder) Decode(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	dst, control, err := d.decodeMessage(m, dst)
	if control != Tombstone || d.tombstones == nil {
		return dst, control, err
	}
	e, err := d.tombstones.Tombstone(&m)
	if err != nil {
		return dst, "", decoding("the", err)
	}
	return append(dst, e), "", nil
}

// decodeMessage decodes a message, compressed or not.
func (d *Decoder) decodeMessage(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	if len(m.Attributes) == 0 || !isCompressed(&m) {
		return d.decodeAny(m, dst)
	}
	packed := m.Data
	data, err := d.unpack(&m)
	if err != nil {
		return dst, "", decoding("the", err)
	}
	m.Data = data
	n := len(dst)
	dst, control, err := d.decodeAny(m, dst)
	for i := range dst[n:] {
		dst[n+i].Message.Data = packed // a dead letter holds what was published
	}
	return dst, control, err
}

// decodeAny decodes a message in JSON or in Avro.
func (d *Decoder) decodeAny(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	switch isAvro, err := d.avro.Open(&m); {
	case err != nil:
		return dst, "", readingAvro(err)
	case isAvro:
		return d.decodeAvro(m, dst)
	case d.types != nil:
		d.setTypes(nil)
	}
	return d.decode(m, dst)
}

// decode decodes a message in JSON.
func (d *Decoder) decode(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	d.message = m
	if text := scan.TrimSpace(m.Text()); text == "" || (text[0] == 'n' && strings.TrimRight(text, " \t\r\n") == "null") {
		return dst, Tombstone, nil
	}
	// The message before tells which format this one probably has. It is read as
	// that; the outline, which falls off, tells whether that was right.
	events, control, err := d.decoders[d.format].Decode(&d.message, dst)
	if d.auto {
		switch found := d.find(&d.message); {
		case err != nil && isBadJSON(err): // no format's
			return dst, "", decoding("the", err)
		case found == d.format:
		case found < 0:
			return dst, "", decoding("the", unknownFormat(&d.scan.Outline))
		default:
			d.format = found
			events, control, err = d.decoders[found].Decode(&d.message, dst)
		}
	}
	if err != nil {
		if !d.auto {
			err = d.looksLike(&d.message, err)
		}
		return dst, "", decoding(formats[d.format].name, err)
	}
	return events, control, nil
}
