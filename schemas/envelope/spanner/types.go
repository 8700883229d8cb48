package spanner

import (
	"encoding/base64"
	"strings"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/rows"
)

// typ is a column's type: its code, or its elements' where it is an array.
type typ struct {
	code    string // "": not known
	isArray bool
}

// String returns the type for errors.
func (t typ) String() string {
	if t.isArray {
		return "ARRAY<" + rows.Clip(t.code) + ">"
	}
	return rows.Clip(t.code)
}

// column is one of a table's columns.
type column struct {
	name string
	typ  typ
}

// cache keeps the columns that lists of them say, so that a list that was read
// before is compared and not read.
type cache struct {
	columns map[string][]column // by the list as it is written
	bytes   int
}

// cacheBytes is how many bytes of lists are kept before all are forgotten.
const cacheBytes = 1 << 20

// tableColumns reads a list of columns.
func (d *Decoder) tableColumns(raw string) []column {
	c := &d.tables
	if columns, ok := c.columns[raw]; ok {
		return columns
	}
	raw = strings.Clone(raw) // without its message
	columns, ok := d.readColumns(raw)
	if !ok || len(raw) > cacheBytes {
		return columns
	}
	if c.columns == nil || c.bytes+len(raw) > cacheBytes {
		c.columns, c.bytes = make(map[string][]column), 0
	}
	c.columns[raw] = columns
	c.bytes += len(raw)
	return columns
}

func (d *Decoder) readColumns(raw string) ([]column, bool) {
	var columns []column
	s := d.scan
	s.Walk(raw)
	s.Array()
	for s.Element() {
		if !s.Object() {
			d.rows.Fail(outcome.BadEnvelope, "rowType[%d] is no object", len(columns))
			return nil, false
		}
		var name, typeRaw string
		for {
			member, more := s.Member()
			if !more {
				break
			}
			switch member {
			case "name":
				name = strings.Clone(s.Scalar())
			case "type", "Type": // so in Avro
				typeRaw = s.Value()
			default:
				s.Skip()
			}
		}
		if len(columns) == maxColumns {
			d.rows.Fail(outcome.BadEnvelope, "rowType has more than %d columns", maxColumns)
			return nil, false
		}
		rest := s.Cursor
		t := d.readType(typeRaw, 0)
		s.Cursor = rest
		columns = append(columns, column{name, t})
	}
	return columns, true
}

// readType reads a type: {"code":"INT64"}, {"code":"ARRAY","array_element_type":{…}},
// "INT64", or a text of JSON in the place of any of these, as the template writes
// it. What is none of them is not known.
func (d *Decoder) readType(raw string, depth int) typ {
	const deepest = 4 // a text of a text, of an array's element
	if raw == "" || depth > deepest {
		return typ{}
	}
	s := d.scan
	if raw[0] == '"' {
		text := d.rows.Text(raw)
		if !strings.HasPrefix(text, "{") {
			return typ{code: strings.Clone(text)}
		}
		if s.Reset(text) != nil {
			return typ{}
		}
	} else {
		s.Walk(raw)
	}
	if !s.Object() {
		return typ{}
	}
	var code, element string
	for {
		name, more := s.Member()
		if !more {
			break
		}
		switch name {
		case "code":
			code = s.Value()
		case "array_element_type", "arrayElementType":
			element = s.Value()
		default:
			s.Skip()
		}
	}
	t := d.readType(code, depth+1)
	if t.code != "ARRAY" || t.isArray {
		return t
	}
	of := d.readType(element, depth+1)
	if of.isArray {
		of = typ{}
	}
	return typ{code: of.code, isArray: true}
}

// typeOf returns the type of the column of this name, which is probably the next
// one: values are in the order of their columns, as a rule.
func (d *Decoder) typeOf(name string) typ {
	for range d.columns {
		if d.next++; d.next >= len(d.columns) {
			d.next = 0
		}
		if c := &d.columns[d.next]; c.name == name {
			return c.typ
		}
	}
	return typ{}
}

// maxColumns is how many columns a table of Spanner's has at most.
const maxColumns = 1024

// value returns the value that a JSON value of a type is; false where it is none of
// that type.
func (d *Decoder) value(t typ, raw string) (change.Value, bool) {
	switch {
	case raw[0] == 'n':
		return change.Null(), true
	case t.isArray:
		return d.elements(t, raw)
	}
	content, isText := raw, raw[0] == '"'
	if isText {
		content = d.rows.Text(raw)
	}
	isNumber := raw[0] == '-' || ('0' <= raw[0] && raw[0] <= '9')
	switch t.code {
	case "BOOL":
		return change.Bool(raw[0] == 't'), raw[0] == 't' || raw[0] == 'f'
	case "INT64", "ENUM":
		v, ok := rows.Integer(content)
		return v, ok && v.Kind() == change.KindInt64
	case "FLOAT64", "FLOAT32":
		return rows.Float(content)
	case "NUMERIC":
		return rows.Decimal(content)
	case "STRING", "UUID":
		return change.String(content), isText
	case "BYTES", "PROTO":
		return d.bytes(content, isText)
	case "DATE":
		day, err := time.Parse(time.DateOnly, content)
		return change.Date(day.Unix() / 86400), err == nil && isText
	case "TIMESTAMP":
		micros, zoned, err := connect.ParseTimestamp(content)
		return change.Timestamp(micros), err == nil && zoned && isText
	case "JSON":
		if isText {
			return change.JSON(content), true
		}
		return change.JSON(raw), true
	}
	switch {
	case isText:
		return change.Text(content), true
	case isNumber:
		return change.Number(raw), true
	case raw[0] == 't' || raw[0] == 'f':
		return change.Bool(raw[0] == 't'), true
	}
	return change.Raw(raw), true
}

// elements reads an array. One whose elements' type isn't known stays as it is
// written.
func (d *Decoder) elements(t typ, raw string) (change.Value, bool) {
	if raw[0] != '[' {
		return change.Value{}, false
	}
	if t.code == "" {
		return change.Raw(raw), true
	}
	s := d.scan
	rest := s.Cursor
	defer func() { s.Cursor = rest }()
	var elems []change.Column
	s.Walk(raw)
	s.Array()
	for s.Element() {
		v, ok := d.value(typ{code: t.code}, s.Value())
		if !ok {
			return change.Value{}, false
		}
		elems = append(elems, change.Column{Value: v})
	}
	return change.Array(elems), true
}

// strictBase64 is base64 with padding and without stray bits.
var strictBase64 = base64.StdEncoding.Strict()

func (d *Decoder) bytes(content string, isText bool) (change.Value, bool) {
	if !isText || strings.ContainsAny(content, "\r\n") { // which encoding/base64 would skip
		return change.Value{}, false
	}
	b := d.scan.Arena.Reserve(strictBase64.DecodedLen(len(content)))
	b, err := strictBase64.AppendDecode(b, []byte(content))
	if err != nil {
		return change.Value{}, false
	}
	return change.Bytes(d.scan.Arena.Keep(b)), true
}
