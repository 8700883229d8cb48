package wal2json

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/rows"
)

// typed returns the value that a JSON value of a column of PostgreSQL's type is;
// false where it is none of that type. A type that isn't known types nothing.
func (d *Decoder) typed(typeName, raw string) (change.Value, bool) {
	switch raw[0] {
	case 'n':
		return change.Null(), true
	case 't':
		return change.Bool(true), true
	case 'f':
		return change.Bool(false), true
	case '[', '{':
		return change.Raw(raw), true
	}
	content, isText := raw, raw[0] == '"'
	if isText {
		content = d.rows.Text(raw)
	}
	switch base(typeName) {
	case "smallint", "integer", "bigint", "oid":
		return rows.Integer(content)
	case "numeric":
		return rows.Decimal(content)
	case "real", "double precision":
		return rows.Float(content)
	case "bytea":
		return d.bytea(content)
	case "json", "jsonb":
		return change.JSON(content), true
	case "text", "character varying", "character", "name", "uuid", "xml", "citext":
		if isText {
			return change.String(content), true
		}
	}
	if isText {
		return change.Text(content), true
	}
	return change.Number(content), true
}

// base cuts a type's modifier: "numeric(10,2)" is a numeric; arrays are no such
// type, and timestamps keep theirs, which doesn't matter.
func base(typeName string) string {
	open := strings.IndexByte(typeName, '(')
	if open < 0 || typeName[len(typeName)-1] != ')' {
		return typeName
	}
	return typeName[:open]
}

// bytea reads hexadecimal digits, without PostgreSQL's \x or with it.
func (d *Decoder) bytea(content string) (change.Value, bool) {
	digits := strings.TrimPrefix(content, `\x`)
	if len(digits)%2 != 0 {
		return change.Value{}, false
	}
	b := d.scan.Arena.Reserve(len(digits) / 2)
	for i := 0; i < len(digits); i += 2 {
		high, low := nibble(digits[i]), nibble(digits[i+1])
		if high|low > 15 {
			return change.Value{}, false
		}
		b = append(b, high<<4|low)
	}
	return change.Bytes(d.scan.Arena.Keep(b)), true
}

// nibble returns a hexadecimal digit's value, 255 for what is none.
func nibble(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
