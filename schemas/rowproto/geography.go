package rowproto

import (
	"unicode/utf8"

	"beamcdc/schemas/change"
)

// appendGeography appends a GEOGRAPHY as its text, WKT or GeoJSON, which
// BigQuery checks.
func appendGeography(_ *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindText, change.KindString, change.KindRaw, change.KindJSON:
		if !utf8.ValidString(v.Text()) {
			return dst, bad("the text is not UTF-8")
		}
		return appendString(dst, v.Text()), nil
	}
	return dst, mismatch(f, v)
}
