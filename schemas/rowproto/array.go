package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// appendArray appends a REPEATED field, tags included, from a typed array, a
// JSON array, a text that holds one, or PostgreSQL's text of one.
func (e *Encoder) appendArray(dst []byte, f *field, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindArray:
		return e.appendElements(f, dst, v.Elems())
	case change.KindText, change.KindString:
		if elements, ok := parseArrayText(nil, v.Text()); ok {
			return e.appendElements(f, dst, elements)
		}
		fallthrough
	case change.KindRaw, change.KindJSON:
		elements, err := e.documents.open(v.Text(), '[')
		if err == nil {
			dst, err = e.appendElements(f, dst, elements)
		}
		e.documents.close()
		return dst, err
	default:
	}
	return dst, bad("a REPEATED column takes no %s", kindWords[v.Kind()])
}

// appendElements appends the elements. BigQuery's arrays hold no NULL: one is a
// bad value, which `bad_values: clamp` leaves out.
func (e *Encoder) appendElements(f *field, dst []byte, elements []change.Column) ([]byte, *ValueError) {
	if len(elements) == 0 {
		return dst, nil
	}
	start := len(dst)
	if f.packed {
		start += len(f.tag)
		dst = openLength(append(dst, f.tag...))
	}
	for i := range elements {
		v := &elements[i].Value
		var err *ValueError
		switch v.Kind() {
		case change.KindNull:
			if f.policy == table.PolicyClamp {
				e.adjust(f)
				continue
			}
			err = bad("an array can't hold NULL")
		case change.KindUnavailable:
			err = refused(ReasonUnavailable, "the source left its unchanged value out")
		default:
			if !f.packed {
				dst = append(dst, f.tag...)
			}
			dst, err = f.append(e, f, dst, v)
		}
		if err != nil {
			return dst, err.under(index(i))
		}
	}
	if f.packed {
		dst = closeLength(dst, start)
	}
	return dst, nil
}
