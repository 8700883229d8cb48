package rowproto

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"
)

// ImageOptions say which of a row's columns an image has. The zero value takes a
// column that the row lacks for NULL and refuses an unknown one, as RowOptions'.
type ImageOptions struct {
	// AbsentUnavailable leaves out a column that the row lacks, instead of NULL.
	AbsentUnavailable bool
	// IgnoreUnknown leaves out columns that the table doesn't have, and not only those
	// that are NULL.
	IgnoreUnknown bool
	// LeftOut, when set, counts the columns whose values the table can't hold, and
	// which are then left out instead of being an error.
	LeftOut *int
}

// AppendImage appends the row as a JSON object, by column: the values that
// AppendUpsert would write, policies and all, so exact that each can be had back
// from its text. A column whose value the source left out is not in it. The table's
// own spelling of a name counts, and its order.
//
// true and false for BOOL, numbers for INT64 and finite FLOAT64, null for NULL, arrays
// and objects for ARRAY and STRUCT, and for all else a string: base64 of BYTES, ISO 8601
// of dates and times (TIMESTAMP with Z), plain digits of NUMERIC and BIGNUMERIC, "NaN",
// "Infinity", "-Infinity", "[start, end)" of RANGE with UNBOUNDED for no bound, the
// document's text for JSON.
//
// The error is a *ValueError; dst is then returned as it was.
func (e *Encoder) AppendImage(dst []byte, row []change.Column, o ImageOptions) ([]byte, error) {
	e.adjusted, e.ignoreUnknown, e.nullUnknown = e.adjusted[:0], o.IgnoreUnknown, true
	root := e.plan.root
	l := &e.layouts[root.id]
	l.match(root, row)
	if err := e.unknown(l, row); err != nil {
		err.Table = e.plan.name
		return dst, err
	}
	null := change.Null()
	out := dst
	out = append(out, '{')
	for i := range root.fields {
		f := &root.fields[i]
		v := &null
		switch at := l.slots[i]; {
		case at >= 0:
			if v = &row[at].Value; v.Kind() == change.KindUnavailable {
				continue
			}
		case at == absent && o.AbsentUnavailable:
			continue
		}
		var err *ValueError
		if l.slots[i] == ambiguous {
			err = ambiguousColumn()
		} else {
			e.image, err = e.appendField(e.image[:0], f, v)
		}
		switch {
		case err == nil:
			out = appendMember(out, f, e.image)
		case o.LeftOut != nil:
			*o.LeftOut++
		default:
			err = err.under(f.name)
			err.Table = e.plan.name
			return dst, err
		}
	}
	return append(out, '}'), nil
}

// AppendKeyImage appends the key columns, in the order of the primary key, as a JSON
// object of AppendImage's kind: equal for equal keys.
func (e *Encoder) AppendKeyImage(dst []byte, columns []change.Column) ([]byte, error) {
	e.keys.match(e.plan.root, columns)
	out := dst
	out = append(out, '{')
	for _, f := range e.plan.key {
		v, err := e.keyValue(int(f.number)-1, columns)
		if err == nil {
			e.image, err = e.appendField(e.image[:0], f, v)
		}
		if err != nil {
			err = err.under(f.name)
			err.Table = e.plan.name
			return dst, err
		}
		out = appendMember(out, f, e.image)
	}
	return append(out, '}'), nil
}

// appendMember appends the field's name and the value that wire, the field as it is
// written, holds: nothing for NULL.
func appendMember(dst []byte, f *field, wire []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(appendShownText(dst, f.name), ':')
	switch {
	case f.repeated:
		return appendList(dst, f, wire)
	case len(wire) == 0:
		return append(dst, "null"...)
	}
	dst, _ = appendShown(dst, f.column, f, wire[len(f.tag):])
	return dst
}

// appendList appends a repeated field's elements.
func appendList(dst []byte, f *field, wire []byte) []byte {
	dst = append(dst, '[')
	if f.packed && len(wire) > 0 {
		wire, _ = protowire.ConsumeBytes(wire[len(f.tag):])
	}
	for first := true; len(wire) > 0; first = false {
		if !first {
			dst = append(dst, ',')
		}
		if !f.packed {
			wire = wire[len(f.tag):]
		}
		dst, wire = appendShown(dst, f.column, f, wire)
	}
	return append(dst, ']')
}

// appendShown appends the value at the beginning of wire, of the column's type, and
// returns what follows it. It reads what this package wrote: it is well formed.
func appendShown(dst []byte, c *table.Column, f *field, wire []byte) (out, rest []byte) {
	switch kinds[c.Type].wire {
	case protowire.VarintType:
		v, n := protowire.ConsumeVarint(wire)
		return appendShownInt(dst, c.Type, int64(v)), wire[n:]
	case protowire.Fixed64Type:
		v, n := protowire.ConsumeFixed64(wire)
		return appendShownFloat(dst, math.Float64frombits(v)), wire[n:]
	default:
	}
	content, n := protowire.ConsumeBytes(wire)
	switch c.Type {
	case table.Struct:
		dst = append(dst, '{')
		for i := range f.message.fields {
			nested := &f.message.fields[i]
			size := sizeOf(nested, content)
			dst = appendMember(dst, nested, content[:size])
			content = content[size:]
		}
		dst = append(dst, '}')
	case table.Range:
		dst = appendShownRange(dst, f.bound.column, content)
	case table.Bytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, content)
		dst = append(dst, '"')
	default:
		dst = appendShownText(dst, textOf(content))
	}
	return dst, wire[n:]
}

// sizeOf returns how many bytes at the beginning of wire are the field's: fields are
// written in the order of their numbers.
func sizeOf(f *field, wire []byte) int {
	size := 0
	for size < len(wire) {
		number, typ, n := protowire.ConsumeTag(wire[size:])
		if number != f.number {
			break
		}
		size += n + protowire.ConsumeFieldValue(number, typ, wire[size+n:])
	}
	return size
}

func appendShownInt(dst []byte, typ table.Type, v int64) []byte {
	switch typ {
	case table.Bool:
		return strconv.AppendBool(dst, v != 0)
	case table.Date:
		return append(appendDateText(append(dst, '"'), v), '"')
	case table.Timestamp:
		return append(appendDateTimeText(append(dst, '"'), v), `Z"`...)
	default:
		return strconv.AppendInt(dst, v, 10)
	}
}

// appendShownFloat appends the shortest digits that read back as the same double.
func appendShownFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 0):
		if v < 0 {
			return append(dst, `"-Infinity"`...)
		}
		return append(dst, `"Infinity"`...)
	case v == 0 && math.Signbit(v):
		return append(dst, "-0.0"...) // -0 would be the integer
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

func appendShownRange(dst []byte, bound *table.Column, wire []byte) []byte {
	dst = append(dst, `"[`...)
	for _, number := range [...]protowire.Number{rangeStart, rangeEnd} {
		tagged, _, n := protowire.ConsumeTag(wire)
		if tagged != number { // 0 at the end
			dst = append(dst, "UNBOUNDED"...)
		} else {
			start := len(dst)
			dst, wire = appendShown(dst, bound, nil, wire[n:])
			dst = slices.Delete(dst, start, start+1) // the bound's quotes
			dst = dst[:len(dst)-1]
		}
		if number == rangeStart {
			dst = append(dst, ", "...)
		}
	}
	return append(dst, `)"`...)
}

func appendShownText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // its error is about what is no UTF-8, which isn't written
	return dst
}
