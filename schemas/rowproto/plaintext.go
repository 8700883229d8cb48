package rowproto

import (
	"math"
	"strconv"

	"beamcdc/schemas/change"
)

// appendPlainText appends the text of a typed value: a date or a time as ISO
// 8601, a number by its shortest digits.
func (e *Encoder) appendPlainText(f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case change.KindFloat64:
		return appendFloatText(dst, v.Float()), nil
	}
	return dst, mismatch(f, v)
}

func appendFloatText(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "NaN"...)
	case math.IsInf(x, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(x, -1):
		return append(dst, "-Infinity"...)
	}
	format := byte('f')
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, x, format, -1, 64)
}
