package rowproto

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// appendBool takes true and false, the numbers 0 and 1, and their texts.
func appendBool(_ *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	is := byte(0)
	switch v.Kind() {
	case change.KindBool:
		if v.Bool() {
			is = 1
		}
	case change.KindInt64, change.KindUint64:
		if v.Int() != 0 && v.Int() != 1 {
			return dst, bad("BOOL takes no number but 0 and 1")
		}
		is = byte(v.Int())
	case change.KindNumber:
		d, ok := parseDecimal(v.Text())
		if !ok || d.digits > 0 && (d.digits > 1 || d.point != 1 || d.negative || d.digit(0) != '1') {
			return dst, bad("BOOL takes no number but 0 and 1")
		}
		is = byte(d.digits)
	case change.KindText, change.KindString:
		var ok bool
		if is, ok = boolWord(v.Text()); !ok {
			return dst, bad("the text is none of true, false, 1 and 0")
		}
	default:
		return dst, mismatch(f, v)
	}
	return append(dst, is), nil
}

// boolWord reads true and false of any case, PostgreSQL's t and f, 1 and 0.
func boolWord(text string) (is byte, ok bool) {
	switch {
	case text == "1", text == "t", len(text) == 4 && equalFold(text, "true"):
		return 1, true
	case text == "0", text == "f", len(text) == 5 && equalFold(text, "false"):
		return 0, true
	}
	return 0, false
}

// appendInt64 appends an INT64.
func appendInt64(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	n, err := e.int64Of(f, v)
	if err != nil {
		return dst, err
	}
	return appendInt(dst, n), nil
}

// int64Of takes whole numbers of every spelling (1, 1.0, 1e3) and true and false as 1
// and 0, as BigQuery casts them.
func (e *Encoder) int64Of(f *field, v *change.Value) (int64, *ValueError) {
	switch v.Kind() {
	case change.KindInt64:
		if v.Int() >= 0 || f.column.From != table.FromUnsigned {
			return v.Int(), nil
		}
	case change.KindBool:
		if v.Bool() {
			return 1, nil
		}
		return 0, nil
	case change.KindNumber:
		if n, ok := shortInt(v.Text()); ok && (n >= 0 || f.column.From != table.FromUnsigned) {
			return n, nil
		}
	default:
	}
	d, err := e.decimalOf(f, v)
	if err != nil {
		return 0, err
	}
	n, side := d.int64()
	switch {
	case side != 0:
		if !f.clamp {
			return 0, bad("the number is outside INT64's range, -2^63 to 2^63-1")
		}
		e.adjust(f)
	case d.fraction() > 0:
		if !f.clamp {
			return 0, bad("the number is not whole")
		}
		d = d.round(0)
		n, _ = d.int64()
		e.adjust(f)
	}
	return n, nil
}
