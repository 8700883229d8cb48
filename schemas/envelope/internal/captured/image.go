package captured

import (
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
)

// Image is a row among a Reader's columns.
type Image struct {
	Present    bool // there, and not null
	start, end int
	schema     *connect.Schema // nil: it types nothing
	text       string          // a JSON string in its quotes instead, as MongoDB's images are
}

// of returns the image's columns, nil for none. Appending to them copies them.
func (i Image) of(columns []change.Column) []change.Column {
	if i.start == i.end {
		return nil
	}
	return columns[i.start:i.end:i.end]
}

// holds reports whether a column is one of the image's.
func (i Image) holds(column int) bool { return i.start <= column && column < i.end }

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

// image reads a row, null, or a string. Anything else is a fault.
func (r *Reader) image(which string, schema *connect.Schema) Image {
	s := r.Scan
	switch s.Peek() {
	case '{':
		return r.row(schema)
	case '"':
		return Image{Present: true, text: s.Value(), schema: schema}
	case 'n':
		s.Skip()
	default:
		s.Skip()
		r.Fail(outcome.Errorf(outcome.BadEnvelope, "%s is neither an object nor null", which))
	}
	return Image{}
}

// row reads the object that the Scanner stands in front of.
func (r *Reader) row(schema *connect.Schema) Image {
	s := r.Scan
	s.Object()
	img := r.Open(schema)
	for {
		name, more := s.Member()
		if !more {
			return r.Close(img)
		}
		r.Column(&img, name)
	}
}

// Open begins an image, whose columns are read by Column until Close.
func (r *Reader) Open(schema *connect.Schema) Image {
	return Image{Present: true, start: len(r.columns), schema: schema}
}

// Close ends the image.
func (r *Reader) Close(img Image) Image {
	img.end = len(r.columns)
	return img
}

// Column reads the value that the Scanner stands in front of as a column of the
// image.
func (r *Reader) Column(img *Image, name string) {
	var (
		schema = img.schema.Field(name, len(r.columns)-img.start)
		raw    = r.Scan.Value()
		v      change.Value
		err    error
	)
	if schema == nil && raw[0] == '"' {
		v = change.Text(r.Scan.Unquote(raw))
	} else {
		v, err = schema.Value(raw, &r.Scan.Arena)
	}
	if placeholder := r.placeholder.Matches(raw); placeholder || err != nil {
		r.doubts = append(r.doubts, doubt{column: len(r.columns), placeholder: placeholder, err: err, schema: schema})
	}
	r.columns = append(r.columns, change.Column{Name: name, Value: v})
}

// settle decides the columns that were in doubt, now that the op is known.
func (r *Reader) settle(e *change.Event, key Image) error {
	// In a new row the placeholder is data, unless the row is an old one under a
	// changed key.
	_, changedKey := e.Message.Attributes["__debezium.oldkey"]
	isNew := (e.Op == change.OpCreate || e.Op == change.OpSnapshot) && !changedKey
	for i := range r.doubts {
		in := &r.doubts[i]
		column := &r.columns[in.column]
		switch {
		case in.placeholder && !isNew:
			column.Value = change.Unavailable()
		case in.err == nil || (e.Op == change.OpDelete && r.After.holds(in.column)):
		case r.Before.holds(in.column) && !r.isKey(column.Name, key):
			// A source fills the before image with whatever a type's zero is.
			column.Value = change.Unavailable()
		default:
			return badValue(column.Name, in, e.Position)
		}
	}
	return nil
}

// isKey reports whether the message names a column as part of the key.
func (r *Reader) isKey(name string, key Image) bool {
	return slices.ContainsFunc(r.columns[key.start:key.end], func(c change.Column) bool { return c.Name == name })
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

// Text returns the text of an image's column, "" when it has none.
func (r *Reader) Text(img Image, name string) string {
	v, _ := change.Find(r.columns[img.start:img.end], name)
	return v.Text()
}
