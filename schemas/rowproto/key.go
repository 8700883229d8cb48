package rowproto

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"beamcdc/schemas/change"
)

// AppendKey is Plan.AppendKey.
//
// A key is its columns in the order of the primary key's constraint, each as a
// byte length and the column's one encoding, so that no two keys share bytes.
// Neither names nor field numbers are in it: it stays the same when the table
// gets columns.
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
		v, err := e.keyValue(f, int(f.number)-1, columns)
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
	switch v.Kind() {
	case change.KindNull:
		return dst, f.null()
	case change.KindUnavailable:
		return dst, refused(ReasonUnavailable, "the source left its value out, and it is part of the primary key")
	}
	if kinds[f.column.Type].wire == protowire.BytesType {
		return f.append(e, f, dst, v) // it begins with its length
	}
	start := len(dst)
	dst, err := f.append(e, f, dst, v)
	if err != nil {
		return dst, err
	}
	n, _ := protowire.ConsumeVarint(dst[start:])
	return binary.BigEndian.AppendUint64(append(dst[:start], 8), n), nil
}
