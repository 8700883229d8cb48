package debezium

import (
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
)

// image is a row among Decoder.columns.
type image struct {
	present    bool // there, and not null
	start, end int
	schema     *connect.Schema // nil: it types nothing
}

// of returns the image's columns, nil for none. Appending to them copies them.
func (i image) of(columns []change.Column) []change.Column {
	if i.start == i.end {
		return nil
	}
	return columns[i.start:i.end:i.end]
}

// holds reports whether a column is one of the image's.
func (i image) holds(column int) bool { return i.start <= column && column < i.end }

// doubt is a column that can't be judged before the op is known.
type doubt struct {
	column int
	// placeholder says that the value is the one for what the source left out,
	// which is nothing but data in a new row.
	placeholder bool
	// err says how the value doesn't fit its schema, nil if it does.
	err    error
	schema *connect.Schema
}

// image reads a row, or null. Anything else is a fault.
func (d *Decoder) image(which string, schema *connect.Schema) image {
	s := d.scan
	kind := s.Peek()
	if !s.Object() {
		if kind != 'n' {
			d.fault(outcome.Errorf(outcome.BadEnvelope, "%s is neither an object nor null", which))
		}
		return image{}
	}
	img := image{present: true, start: len(d.columns), schema: schema}
	for {
		name, more := s.Member()
		if !more {
			img.end = len(d.columns)
			return img
		}
		d.column(name, schema.Field(name, len(d.columns)-img.start))
	}
}

// column reads one column.
func (d *Decoder) column(name string, schema *connect.Schema) {
	var (
		raw = d.scan.Value()
		v   change.Value
		err error
	)
	if schema == nil && raw[0] == '"' {
		v = change.Text(d.scan.Unquote(raw))
	} else {
		v, err = schema.Value(raw, &d.scan.Arena)
	}
	if placeholder := d.options.Placeholder.Matches(raw); placeholder || err != nil {
		d.doubts = append(d.doubts, doubt{column: len(d.columns), placeholder: placeholder, err: err, schema: schema})
	}
	d.columns = append(d.columns, change.Column{Name: name, Value: v})
}

// settle decides the columns that were in doubt, now that the op is known.
func (d *Decoder) settle(e *change.Event, key image) error {
	// In a new row the placeholder is data, unless the row is an old one under a
	// changed key.
	_, changedKey := e.Message.Attributes["__debezium.oldkey"]
	isNew := (e.Op == change.OpCreate || e.Op == change.OpSnapshot) && !changedKey
	for i := range d.doubts {
		in := &d.doubts[i]
		column := &d.columns[in.column]
		switch {
		case in.placeholder && !isNew:
			column.Value = change.Unavailable()
		case in.err == nil || (e.Op == change.OpDelete && d.msg.after.holds(in.column)):
		case d.msg.before.holds(in.column) && !d.isKey(column.Name, key):
			// A source fills the before image with whatever a type's zero is.
			column.Value = change.Unavailable()
		default:
			return badValue(column.Name, in, e.Position)
		}
	}
	return nil
}

// isKey reports whether the message names a column as part of the key.
func (d *Decoder) isKey(name string, key image) bool {
	return slices.ContainsFunc(d.columns[key.start:key.end], func(c change.Column) bool { return c.Name == name })
}

func badValue(column string, d *doubt, position string) error {
	if d.schema == nil {
		return outcome.Errorf(outcome.BadValue, "column %s: %w (position: %s)", clip(column), d.err, position)
	}
	return outcome.Errorf(outcome.BadValue, "column %s (%s): the value %w (position: %s)", clip(column), d.schema, d.err, position)
}

// clip bounds what a hostile message can put into an error.
func clip(text string) string {
	const limit = 100
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
