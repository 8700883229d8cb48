package rowproto

import (
	"beamcdc/schemas/change"
)

// appendInterval appends an INTERVAL as its text.
func appendInterval(_ *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	if v.Kind() == change.KindInterval {
		return appendString(dst, v.Text()), nil
	}
	return dst, mismatch(f, v)
}
