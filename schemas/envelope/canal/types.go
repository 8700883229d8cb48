package canal

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/rows"
)

// kind is what a column's texts are.
type kind uint8

const (
	text kind = iota // for the destination's column to say
	integer
	unsigned
	decimal
	binary
	document
)

// String returns the kind's name, for errors.
func (k kind) String() string {
	return [...]string{"text", "integer", "unsigned integer", "decimal", "text of ISO-8859-1 characters, one a byte", "JSON"}[k]
}

// column is a column's name and kind.
type column struct {
	name string
	kind kind
}

// readTypes reads mysqlType, or else sqlType.
func (d *Decoder) readTypes() {
	d.types = d.types[:0]
	raw, of := d.msg.mysqlType, ofMySQL
	if raw == "" {
		raw, of = d.msg.sqlType, ofSQL
	}
	if raw == "" {
		return
	}
	s := d.scan
	s.Walk(raw)
	s.Object()
	for {
		name, more := s.Member()
		if !more {
			break
		}
		d.types = append(d.types, column{name, of(s.Scalar())})
	}
	clear(d.byName)
	for _, c := range d.types[min(few, len(d.types)):] {
		if d.byName == nil {
			d.byName = make(map[string]kind)
		}
		d.byName[c.name] = c.kind
	}
}

// few columns are found by looking at each; more are in a map.
const few = 32

// typeOf returns the kind of the column of this name, which is probably the
// hint-th.
func (d *Decoder) typeOf(name string, hint int) kind {
	if hint < len(d.types) && d.types[hint].name == name {
		return d.types[hint].kind
	}
	for i := range d.types[:min(few, len(d.types))] {
		if d.types[i].name == name {
			return d.types[i].kind
		}
	}
	return d.byName[name]
}

// ofMySQL reads a MySQL type: "bigint(20) unsigned", "varbinary(16)".
func ofMySQL(name string) kind {
	base, rest := name, ""
	if end := strings.IndexAny(name, " ("); end >= 0 {
		base, rest = name[:end], name[end:]
	}
	if len(base) > len("geometrycollection") {
		return text
	}
	switch strings.ToLower(base) {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year", "serial":
		if strings.Contains(strings.ToLower(rest), "unsigned") {
			return unsigned
		}
		return integer
	case "decimal", "numeric", "dec", "fixed":
		return decimal
	case "tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary",
		"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection":
		return binary
	case "json":
		return document
	}
	return text
}

// ofSQL reads a number of java.sql.Types.
func ofSQL(number string) kind {
	switch number {
	case "-6", "5", "4", "-5": // TINYINT, SMALLINT, INTEGER, BIGINT
		return integer
	case "3", "2": // DECIMAL, NUMERIC
		return decimal
	case "2004", "-2", "-3", "-4": // BLOB, BINARY, VARBINARY, LONGVARBINARY
		return binary
	}
	return text
}

// typed returns the value that a text is.
func (d *Decoder) typed(k kind, content string) (change.Value, bool) {
	switch k {
	case integer:
		return rows.Integer(content)
	case unsigned:
		v, ok := rows.Integer(content)
		if ok && v.Kind() == change.KindInt64 {
			return change.Uint64(uint64(v.Int())), v.Int() >= 0
		}
		return v, ok
	case decimal:
		return rows.Decimal(content)
	case binary:
		return d.bytes(content)
	case document:
		return change.JSON(content), true
	case text:
	}
	return change.Text(content), true
}

// bytes returns the bytes that a text's characters are in ISO-8859-1.
func (d *Decoder) bytes(content string) (change.Value, bool) {
	i := 0
	for i < len(content) && content[i] < 0x80 {
		i++
	}
	if i == len(content) {
		return change.Bytes(content), true
	}
	b := d.scan.Arena.Reserve(len(content))
	for _, c := range content {
		if c > 0xFF {
			return change.Value{}, false
		}
		b = append(b, byte(c))
	}
	return change.Bytes(d.scan.Arena.Keep(b)), true
}
