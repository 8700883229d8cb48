package change

import "fmt"

// appendColumns writes a list of columns; nil and an empty list differ, as they
// do in an Event.
func appendColumns(dst []byte, columns []Column) []byte {
	if columns == nil {
		return append(dst, 0)
	}
	dst = appendUvarint(dst, uint64(len(columns))+1)
	for i := range columns {
		dst = appendText(dst, columns[i].Name)
		dst = appendValue(dst, &columns[i].Value)
	}
	return dst
}

func appendValue(dst []byte, v *Value) []byte {
	dst = append(dst, byte(v.kind))
	switch v.kind {
	case KindInvalid, KindNull, KindUnavailable:
		return dst
	case KindBool:
		return append(dst, byte(v.num))
	case KindInt64, KindDate, KindTime, KindDateTime, KindTimestamp:
		return appendVarint(dst, v.num)
	case KindUint64:
		return appendUvarint(dst, uint64(v.num))
	case KindFloat64:
		return appendFixed64(dst, uint64(v.num))
	case KindArray, KindStruct:
		return appendColumns(dst, v.Elems())
	case KindDecimal, KindString, KindBytes, KindInterval, KindJSON, KindNumber, KindText, KindRaw:
		return appendText(dst, v.Text())
	}
	// Only this package makes Values: a kind that is missing above is its mistake.
	panic("change: no coding of kind " + v.kind.String())
}

// columns reads a list of columns that is itself inside depth arrays and structs.
func (r *reader) columns(what string, depth int) []Column {
	if depth > MaxDepth {
		r.fail(what, fmt.Sprintf("it is more than %d deep", MaxDepth))
		return nil
	}
	n := r.countOrNil(what, 2)
	if n < 0 {
		return nil
	}
	columns := make([]Column, n)
	for i := range columns {
		r.pending -= 2
		columns[i].Name = r.text("column's name")
		columns[i].Value = r.value(depth)
		if r.err != nil {
			return nil
		}
	}
	return columns
}

func (r *reader) value(depth int) Value {
	v := Value{kind: Kind(r.atMost("kind", byte(KindRaw)))}
	switch v.kind {
	case KindBool:
		v.num = int64(r.atMost("bool", 1))
	case KindInt64, KindDate, KindTime, KindDateTime, KindTimestamp:
		v.num = r.varint("number")
	case KindUint64:
		v.num = int64(r.uvarint("number"))
	case KindFloat64:
		v.num = int64(r.fixed64("number"))
	case KindArray, KindStruct:
		return composed(v.kind, r.columns("elements", depth+1))
	case KindDecimal, KindString, KindBytes, KindInterval, KindJSON, KindNumber, KindText, KindRaw:
		return textual(v.kind, r.text("text"))
	case KindInvalid, KindNull, KindUnavailable:
	}
	return v
}
