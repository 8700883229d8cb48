package envelope

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
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
	UnknownFormat  = outcome.UnknownFormat
	BadEnvelope    = outcome.BadEnvelope
	UnknownOp      = outcome.UnknownOp
	BadSchema      = outcome.BadSchema
	BadValue       = outcome.BadValue
	MissingImage   = outcome.MissingImage
	ConflictingOps = outcome.ConflictingOps
)

// decoder decodes the messages of one format. Whatever is wrong with a message,
// it leaves the outline of its members in the Scanner, unless it is no JSON.
type decoder interface {
	Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error)
}

// Decoder decodes messages one after the other. It is for one goroutine.
type Decoder struct {
	scan     scan.Scanner
	decoders []decoder // by format
	format   int       // the configured one, or that of the message before
	auto     bool
}

// New returns a Decoder for a format. An unknown format or a bad placeholder is
// an error.
func New(o Options) (*Decoder, error) {
	d := &Decoder{auto: o.Format == "" || o.Format == Auto}
	if !d.auto {
		d.format = slices.IndexFunc(formats[:], func(f format) bool { return f.name == o.Format })
		if d.format < 0 {
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
	for _, f := range formats {
		d.decoders = append(d.decoders, f.new(o, placeholder, &d.scan))
	}
	return d, nil
}

// Decode appends the message's changes to dst, or says which control message it
// is. The error is always an *Error. Values share the memory of m.Data, which
// must not change any more.
func (d *Decoder) Decode(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	if text := scan.TrimSpace(m.Text()); text == "" || (text[0] == 'n' && strings.TrimRight(text, " \t\r\n") == "null") {
		return dst, Tombstone, nil
	}
	// The message before tells which format this one probably has. It is read as
	// that; the outline, which falls off, tells whether that was right.
	events, control, err := d.decoders[d.format].Decode(&m, dst)
	switch found := d.find(); {
	case !d.auto || found == d.format:
	case isBadJSON(err): // no format's
		return dst, "", decoding("the", err)
	case found < 0:
		return dst, "", decoding("the", outcome.Errorf(outcome.UnknownFormat, "it has the members of no known format"))
	default:
		d.format = found
		events, control, err = d.decoders[found].Decode(&m, dst)
	}
	if err != nil {
		return dst, "", decoding(formats[d.format].name, err)
	}
	return events, control, nil
}
