package rowproto

import (
	"fmt"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The field numbers of a RANGE's bounds. An unset bound is unbounded.
const (
	rangeStart protowire.Number = 1
	rangeEnd   protowire.Number = 2
)

func compileRange(f *field, c *table.Column) error {
	switch c.Element {
	case table.Date, table.DateTime, table.Timestamp:
	default:
		return fmt.Errorf("a RANGE is of DATE, DATETIME or TIMESTAMP, not of %q", c.Element)
	}
	bound := *c
	bound.Type, bound.Element, bound.Mode = c.Element, "", table.Nullable
	f.bound = &field{name: f.name, path: f.path, column: &bound, policy: f.policy, clamp: f.clamp}
	return nil
}

func describeRange(name string, element table.Type) *descriptorpb.DescriptorProto {
	bound := func(name string, number protowire.Number) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name:   new(name),
			Number: new(int32(number)),
			Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:   kinds[element].proto.Enum(),
		}
	}
	return &descriptorpb.DescriptorProto{
		Name:  new(name),
		Field: []*descriptorpb.FieldDescriptorProto{bound("start", rangeStart), bound("end", rangeEnd)},
	}
}

// bounds are a range's start, which is in it, and end, which is not, in the
// element's number: days or microseconds.
type bounds struct {
	start, end       int64
	hasStart, hasEnd bool
}

// appendRange appends a RANGE from the text that PostgreSQL and BigQuery write,
// "[start, end)", or from an object or struct of start and end. An absent bound
// is unbounded. Of dates, which are whole days, other brackets are moved to
// these; of instants they are a bad value, and so is an empty range.
func appendRange(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	adjusted := len(e.adjusted)
	b, err := e.boundsOf(f, v)
	if err != nil {
		return dst, err
	}
	e.adjusted = e.adjusted[:min(len(e.adjusted), adjusted+1)] // its bounds are one value
	if b.hasStart && b.hasEnd && b.start >= b.end {
		return dst, bad("the range is empty, which a RANGE can't be")
	}
	start := len(dst)
	dst = openLength(dst)
	if b.hasStart {
		dst = appendBound(dst, f.bound, rangeStart, b.start)
	}
	if b.hasEnd {
		dst = appendBound(dst, f.bound, rangeEnd, b.end)
	}
	return closeLength(dst, start), nil
}

func appendBound(dst []byte, f *field, number protowire.Number, at int64) []byte {
	dst = protowire.AppendTag(dst, number, kinds[f.column.Type].wire)
	if f.column.Type != table.DateTime {
		return appendInt(dst, at)
	}
	start := len(dst)
	return closeLength(appendDateTimeText(openLength(dst), at), start)
}

func (e *Encoder) boundsOf(f *field, v *change.Value) (bounds, *ValueError) {
	switch v.Kind() {
	case change.KindStruct:
		return e.boundsIn(f, v.Elems())
	case change.KindText, change.KindString:
		if !strings.HasPrefix(v.Text(), "{") {
			return e.parseRange(f, v.Text())
		}
	case change.KindRaw, change.KindJSON:
	default:
		return bounds{}, mismatch(f, v)
	}
	defer e.documents.close()
	columns, err := e.documents.open(v.Text(), '{')
	if err != nil {
		return bounds{}, err
	}
	return e.boundsIn(f, columns)
}

// boundsIn reads an object or struct of start and end.
func (e *Encoder) boundsIn(f *field, columns []change.Column) (b bounds, err *ValueError) {
	for i := range columns {
		v := &columns[i].Value
		at, has := &b.start, &b.hasStart
		switch fold(columns[i].Name) {
		case "start":
		case "end":
			at, has = &b.end, &b.hasEnd
		default:
			return b, bad("a range has start and end, and nothing else")
		}
		if *has {
			return b, bad("the range has a bound twice")
		}
		switch v.Kind() {
		case change.KindNull:
			continue
		case change.KindUnavailable:
			return b, refused(ReasonUnavailable, "the source left its unchanged value out")
		default:
		}
		*has = true
		if *at, err = e.boundOf(f.bound, v); err != nil {
			return b, err
		}
	}
	return b, nil
}

// parseRange reads "[start, end)"; a bound may be quoted.
func (e *Encoder) parseRange(f *field, text string) (b bounds, err *ValueError) {
	if text == "empty" {
		return b, bad("the range is empty, which a RANGE can't be")
	}
	last := len(text) - 1
	if last < 2 || text[0] != '[' && text[0] != '(' || text[last] != ')' && text[last] != ']' {
		return b, bad("the text is no range")
	}
	start, end, ok := strings.Cut(text[1:last], ",")
	if !ok {
		return b, bad("the text is no range")
	}
	if b.start, b.hasStart, err = e.parseBound(f, start, text[0] == '('); err != nil {
		return b, err
	}
	b.end, b.hasEnd, err = e.parseBound(f, end, text[last] == ']')
	return b, err
}

// parseBound reads a bound, and moves it by a day if its bracket is the other one.
func (e *Encoder) parseBound(f *field, text string, other bool) (at int64, has bool, err *ValueError) {
	text = strings.Trim(text, " ")
	switch strings.ToUpper(text) {
	case "", "UNBOUNDED", "NULL":
		return 0, false, nil
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	v := change.Text(text)
	if at, err = e.boundOf(f.bound, &v); err != nil || !other {
		return at, true, err
	}
	if f.bound.column.Type != table.Date {
		return 0, true, bad("the range has brackets other than [ and ), which a RANGE of %s can't keep", f.bound.column.Type)
	}
	at, err = e.within(f.bound, at+1, minDay, maxDay)
	return at, true, err
}

func (e *Encoder) boundOf(f *field, v *change.Value) (at int64, err *ValueError) {
	switch f.column.Type {
	case table.Date:
		if at, err = e.daysOf(f, v); err == nil {
			at, err = e.within(f, at, minDay, maxDay)
		}
		return at, err
	case table.DateTime:
		at, err = e.civilOf(f, v)
	default:
		at, err = e.instantOf(f, v)
	}
	if err == nil {
		at, err = e.within(f, at, minMicro, maxMicro)
	}
	return at, err
}
