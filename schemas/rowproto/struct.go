package rowproto

import (
	"beamcdc/schemas/change"
)

// appendStruct appends a STRUCT from a typed struct, a JSON object, or a text
// that holds one. Its fields are matched and refused as a row's columns are; a
// field that it lacks is NULL.
func appendStruct(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindStruct:
		return e.appendFields(f, dst, v.Elems())
	case change.KindRaw, change.KindJSON, change.KindText, change.KindString:
		columns, err := e.documents.open(v.Text(), '{')
		if err == nil {
			dst, err = e.appendFields(f, dst, columns)
		}
		e.documents.close()
		return dst, err
	default:
		return dst, mismatch(f, v)
	}
}

func (e *Encoder) appendFields(f *field, dst []byte, columns []change.Column) ([]byte, *ValueError) {
	m := f.message
	l := &e.layouts[m.id]
	l.match(m, columns)
	if l.unknown >= 0 {
		if err := e.unknown(l, columns); err != nil {
			return dst, err
		}
	}
	start := len(dst)
	dst = openLength(dst)
	for i := range m.fields {
		var err *ValueError
		nested := &m.fields[i]
		switch at := l.slots[i]; {
		case at >= 0:
			dst, err = e.appendField(dst, nested, &columns[at].Value)
		case at == ambiguous:
			err = ambiguousColumn()
		case nested.required:
			err = refused(ReasonNullRequired, "the struct doesn't have it")
		}
		if err != nil {
			return dst, err.under(nested.name)
		}
	}
	return closeLength(dst, start), nil
}
