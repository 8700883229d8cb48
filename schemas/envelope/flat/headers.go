package flat

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/scan"
)

// HasHeaders reports whether a message's attributes tell what happened to its
// row, as the transformation's add.headers makes them.
func HasHeaders(m *change.Message) bool {
	if len(m.Attributes) == 0 {
		return false
	}
	_, hasOp := m.Attributes[DefaultPrefix+"op"]
	return hasOp
}

// headers reads the fields that add.headers has put into the message's
// attributes. It leaves the message's Scanner where it is, which a text that is checked
// would take the tape from: what the row holds of the same comes later, and wins.
func (d *Decoder) headers(m *change.Message) {
	if len(m.Attributes) == 0 {
		return
	}
	for name, value := range m.Attributes {
		// The names of Debezium's own headers begin with the default prefix too.
		if field, ok := d.names.field(name); ok && !strings.HasPrefix(name, "__debezium.") {
			d.hasMetadata = true
			d.set(name, field, d.header(value))
		}
	}
}

// header returns what a header holds: JSON, with a schema or without, or the
// text itself.
func (d *Decoder) header(value string) string {
	text := scan.TrimSpace(value)
	if text == "" || (text[0] != '"' && text[0] != '{' && text != "null") || d.attribute.Reset(text) != nil {
		return value
	}
	raw := d.attribute.Value()
	if raw[0] == '{' {
		raw = payloadOf(raw)
	}
	d.attribute.Walk(raw)
	return d.attribute.Scalar()
}

// payloadOf returns the payload of {"schema": …, "payload": …}, or the object
// itself.
func payloadOf(object string) string {
	found := object
	scan.EachMember(object, func(name, value string) bool {
		if name == `"payload"` {
			found = value
		}
		return true
	})
	return found
}
