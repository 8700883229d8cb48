package envelope

import (
	"errors"
	"fmt"
	"unsafe"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/avro"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
)

// Schemas finds the Avro schemas that messages refer to.
type Schemas = avro.Schemas

// SchemaRef says which schema a message was written with.
type SchemaRef = avro.Ref

// The errors of a Schemas that are for good, and the message's fault: whatever
// else it returns means that the schema can't be had now.
var (
	ErrUnknownSchema = avro.ErrUnknownSchema
	ErrNotAvro       = avro.ErrNotAvro
)

// Dependency is something that a Decoder needs besides its configuration.
type Dependency func(*Decoder)

// WithSchemas says where the schemas are found that messages in Avro refer to.
// Without it there are none to be found.
func WithSchemas(s Schemas) Dependency { return func(d *Decoder) { d.avro.Schemas = s } }

// typed is a decoder whose rows can be typed from outside of their messages.
type typed interface{ Typed(types *connect.Schema) }

// decodeAvro decodes a message in Avro, which Open has just taken: each of its
// values as the JSON that it becomes. It is a change, a control message or
// several changes, all or none.
func (d *Decoder) decodeAvro(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	var control Control
	start := len(dst)
	for {
		text, types, more, err := d.avro.Next()
		if err != nil {
			return dst[:start], "", readingAvro(err)
		}
		if !more {
			break
		}
		if types != d.types {
			d.setTypes(types)
		}
		d.scan.Trust(text)
		value := m
		value.Data = unsafe.Slice(unsafe.StringData(text), len(text))
		n := len(dst)
		var c Control
		if dst, c, err = d.decode(value, dst); err != nil {
			return dst[:start], "", err
		}
		if control == "" {
			control = c
		}
		for i := n; i < len(dst); i++ {
			dst[i].Message = m // a dead letter holds what was published
		}
	}
	changes := dst[start:]
	for i := range changes {
		changes[i].Part, changes[i].Parts = uint32(i), uint32(len(changes))
	}
	if len(changes) > 0 {
		control = ""
	}
	return dst, control, nil
}

// setTypes says what types the messages that follow; nil is nothing.
func (d *Decoder) setTypes(types *connect.Schema) {
	d.types = types
	for _, of := range d.decoders {
		if t, ok := of.(typed); ok {
			t.Typed(types)
		}
	}
}

// readingAvro gives an error its path. One that isn't the message's fault stays
// what it is.
func readingAvro(err error) error {
	if _, ok := errors.AsType[*outcome.Error](err); ok {
		return decoding("the", err)
	}
	return fmt.Errorf("decoding the envelope: %w", err)
}
