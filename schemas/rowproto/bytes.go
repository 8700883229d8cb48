package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// appendBytes appends BYTES. The text of a message without types is base64, the
// way such messages spell bytes, unless From says hexadecimal or text. A text
// that the message types as one says nothing of bytes, so that From must.
func appendBytes(_ *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	from := f.column.From
	switch v.Kind() {
	case change.KindBytes:
		return appendLimited(f, dst, len(dst), append(openLength(dst), v.Text()...))
	case change.KindText:
		if from == "" {
			from = table.FromBase64
		}
	case change.KindString:
		if from == "" {
			return dst, bad("the value is text; `from: base64`, `hex` or `text` says which bytes it stands for")
		}
	default:
		return dst, mismatch(f, v)
	}
	var ok bool
	start, out := len(dst), openLength(dst)
	switch from {
	case table.FromBase64:
		if out, ok = appendBase64(out, v.Text()); !ok {
			return dst, bad("the text is no base64; `from: hex` or `text` would say what it is")
		}
	case table.FromHex:
		if out, ok = appendHex(out, v.Text()); !ok {
			return dst, bad("the text is not hexadecimal")
		}
	default:
		out = append(out, v.Text()...)
	}
	return appendLimited(f, dst, start, out)
}

// appendLimited closes what was opened at start, if it isn't too long.
func appendLimited(f *field, dst []byte, start int, out []byte) ([]byte, *ValueError) {
	if limit := f.column.MaxLength; limit > 0 && int64(len(out)-start-1) > limit {
		return dst, bad("the value has more than %d bytes", limit)
	}
	return closeLength(out, start), nil
}
