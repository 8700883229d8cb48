package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// appendNumeric appends a NUMERIC or BIGNUMERIC as its canonical text: no
// exponent, no zeros that don't count, no negative zero. A number with more
// digits than the column holds is a bad value, never rounded unasked: BigQuery
// would round it without a word.
func appendNumeric(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch from := f.column.From; v.Kind() {
	case change.KindText:
		if from == table.FromDecimal && !f.column.FromUnscaled {
			if n, ok := shortUnscaled(v.Text()); ok {
				if out, ok := appendScaled(dst, n, f.column.FromScale, &f.limits); ok {
					return out, nil
				}
			}
			break
		}
		fallthrough
	case change.KindDecimal, change.KindNumber, change.KindString:
		if text, ok := shortDecimal(v.Text(), &f.limits); ok && from != table.FromUnsigned {
			return appendString(dst, text), nil
		}
	default:
	}
	d, err := e.decimalOf(f, v)
	if err != nil {
		return dst, err
	}
	// Invariant 5: BigQuery would round what it is sent.
	if d.fraction() > f.limits.fraction && d.point != infinitePoint {
		if !f.clamp {
			return dst, bad("the number has more than %d digits after the point", f.limits.fraction)
		}
		d = d.round(f.limits.fraction)
		e.adjust(f)
		if !f.limits.holds(&d) {
			d = f.limits.nearest(d.negative)
		}
	} else if !f.limits.holds(&d) {
		if !f.clamp {
			return dst, tooLarge(f, &d)
		}
		d = f.limits.nearest(d.negative)
		e.adjust(f)
	}
	start := len(dst)
	return closeLength(d.appendPlain(openLength(dst)), start), nil
}

func tooLarge(f *field, d *decimal) *ValueError {
	switch {
	case d.point == infinitePoint:
		return bad("it is an infinity, which %s can't hold", f.column.Type)
	case f.limits.bound != "":
		return bad("the number is outside BIGNUMERIC's range, about ±5.79e38")
	}
	return bad("the number has more than %d digits before the point", f.limits.integer)
}
