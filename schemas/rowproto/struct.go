package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
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
	}
	return dst, mismatch(f, v)
}

func (e *Encoder) appendFields(f *field, dst []byte, columns []change.Column) ([]byte, *ValueError) {
	m := f.message
	l := &e.layouts[m.id]
	l.match(m, columns)
	if l.unknown >= 0 && !e.ignoreUnknown {
		return dst, unknownColumn(columns[l.unknown].Name)
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
			err = ambiguousColumn(nested)
		case nested.required:
			err = refused(ReasonNullRequired, "the struct doesn't have it")
		}
		if err != nil {
			return dst, err.under(nested.name)
		}
	}
	return closeLength(dst, start), nil
}

// appendArray appends a REPEATED field, tags included, from a typed array, a
// JSON array, or a text that holds one.
func (e *Encoder) appendArray(dst []byte, f *field, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindArray:
		return e.appendElements(f, dst, v.Elems())
	case change.KindRaw, change.KindJSON, change.KindText, change.KindString:
		elements, err := e.documents.open(v.Text(), '[')
		if err == nil {
			dst, err = e.appendElements(f, dst, elements)
		}
		e.documents.close()
		return dst, err
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
				e.adjusted++
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
