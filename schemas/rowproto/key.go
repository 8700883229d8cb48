package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendKey is Plan.AppendKey.
//
// A key is a change.Key: the typed values of its columns in the order of the
// primary key's constraint. Neither names nor field numbers are in it, so that
// it stays the same when the table gets columns.
func (e *Encoder) AppendKey(dst []byte, columns []change.Column) ([]byte, error) {
	out, err := e.appendKey(dst, columns)
	if err != nil {
		err.Table = e.plan.name
		return dst, err
	}
	return out, nil
}

func (e *Encoder) appendKey(dst []byte, columns []change.Column) ([]byte, *ValueError) {
	e.keys.match(e.plan.root, columns)
	for _, f := range e.plan.key {
		v, err := e.keyValue(int(f.number)-1, columns)
		if err == nil {
			dst, err = e.appendKeyPart(dst, f, v)
		}
		if err != nil {
			return dst, err.under(f.name)
		}
	}
	return dst, nil
}

func (e *Encoder) appendKeyPart(dst []byte, f *field, v *change.Value) ([]byte, *ValueError) {
	typed, err := e.typedKey(f, v)
	if err != nil {
		return dst, err
	}
	dst, wrong := change.AppendKeyValue(dst, typed)
	if wrong != nil {
		return dst, bad("%w", wrong)
	}
	return dst, nil
}

// typedKey returns the value in the one form that its column's type gives it.
// It may share e.part.
func (e *Encoder) typedKey(f *field, v *change.Value) (change.Value, *ValueError) {
	switch v.Kind() {
	case change.KindNull:
		return change.Value{}, f.null()
	case change.KindUnavailable:
		return change.Value{}, refused(ReasonUnavailable, "the source left its value out, and it is part of the primary key")
	default:
	}
	switch f.column.Type {
	case table.Int64:
		n, err := e.int64Of(f, v)
		return change.Int64(n), err
	case table.DateTime:
		micros, err := e.civilOf(f, v)
		if err == nil {
			micros, err = e.within(f, micros, minMicro, maxMicro)
		}
		return change.DateTime(micros), err
	case table.Time:
		micros, err := e.timeOf(f, v)
		if err == nil {
			micros, err = e.within(f, micros, 0, microsPerDay-1)
		}
		return change.Time(micros), err
	default:
	}
	// The other types' wire encoding is their one form.
	part, err := f.append(e, f, e.part[:0], v)
	e.part = part
	if err != nil {
		return change.Value{}, err
	}
	if kinds[f.column.Type].wire == protowire.BytesType {
		content, _ := protowire.ConsumeBytes(part)
		switch f.column.Type {
		case table.String:
			return change.String(textOf(content)), nil
		case table.Bytes:
			return change.Bytes(textOf(content)), nil
		default:
		}
		return change.Decimal(textOf(content)), nil
	}
	n, _ := protowire.ConsumeVarint(part)
	switch f.column.Type {
	case table.Bool:
		return change.Bool(n != 0), nil
	case table.Date:
		return change.Date(int64(n)), nil
	default:
		return change.Timestamp(int64(n)), nil
	}
}
