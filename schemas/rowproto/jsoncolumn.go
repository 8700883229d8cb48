package rowproto

import (
	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
)

// appendJSON appends a JSON document byte for byte as the source wrote it.
func appendJSON(_ *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindText, change.KindString, change.KindJSON, change.KindRaw, change.KindNumber:
		if !jsontext.Value(bytesOf(v.Text())).IsValid() {
			return dst, bad("the text is no JSON document")
		}
		return appendString(dst, v.Text()), nil
	case change.KindBool:
		if v.Bool() {
			return appendString(dst, "true"), nil
		}
		return appendString(dst, "false"), nil
	}
	return dst, mismatch(f, v)
}
