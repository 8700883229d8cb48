package rowproto

import (
	"encoding/base64"
	"unicode/utf8"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// appendText appends a STRING. Text is taken as it is, a number as its literal,
// true and false as these words, a JSON array or object as its text.
func appendText(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindText, change.KindString:
		if f.column.From == "" || f.column.From == table.FromText {
			return e.appendChecked(f, dst, v.Text())
		}
	case change.KindDecimal, change.KindInterval, change.KindJSON, change.KindRaw:
		return e.appendChecked(f, dst, v.Text())
	case change.KindNumber:
		if f.column.From != table.FromUnsigned {
			return e.appendChecked(f, dst, v.Text())
		}
	default:
	}
	text, err := e.textOfValue(f, e.text[:0], v)
	e.text = text
	if err != nil {
		return dst, err
	}
	return e.appendChecked(f, dst, textOf(text))
}

// textOfValue appends the text of a value that isn't text already, or that the
// column's From says is something else.
func (e *Encoder) textOfValue(f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindText, change.KindString:
		return e.textFrom(f, dst, v)
	case change.KindNumber, change.KindInt64, change.KindUint64:
		d, err := e.decimalOf(f, v)
		if err != nil {
			return dst, err
		}
		if d.point > 1000 || d.fraction() > 1000 {
			return append(dst, v.Text()...), nil
		}
		return d.appendPlain(dst), nil
	case change.KindBytes:
		switch {
		case f.column.From == table.FromText:
			return append(dst, v.Text()...), nil
		case f.policy == table.PolicyString:
			e.adjusted++
			return base64.StdEncoding.AppendEncode(dst, bytesOf(v.Text())), nil
		}
		return dst, bad("the value is bytes; `from: text` takes them as the text's UTF-8, `bad_values: string` as base64")
	default:
		return e.appendPlainText(f, dst, v)
	}
}

// textFrom reads a text that stands for another.
func (e *Encoder) textFrom(f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch f.column.From {
	case table.FromBase64:
		if out, ok := appendBase64(dst, v.Text()); ok {
			return out, nil
		}
		return dst, bad("the text is no base64")
	case table.FromHex:
		if out, ok := appendHex(dst, v.Text()); ok {
			return out, nil
		}
		return dst, bad("the text is not hexadecimal")
	case table.FromDecimal:
		d, ok := e.base64Decimal(v.Text(), f.column.FromScale)
		if ok && f.column.FromUnscaled {
			if _, isText := parseDecimal(v.Text()); !isText {
				return dst, unscaledDecimal()
			}
			ok = false
		}
		if !ok {
			return append(dst, v.Text()...), nil // a decimal's text, or NaN
		}
		if d.point > 10000 || d.fraction() > 10000 {
			return dst, bad("the scale is far off")
		}
		return d.appendPlain(dst), nil
	case table.FromUnsigned:
		d, err := e.textDecimal(f, v)
		if err != nil {
			return dst, err
		}
		if d.point > 1000 || d.fraction() > 1000 {
			return dst, bad("`from: unsigned` takes whole numbers of 64 bits")
		}
		return d.appendPlain(dst), nil
	default:
		return append(dst, v.Text()...), nil
	}
}

// appendChecked appends a text that must be UTF-8 and no longer than the column allows.
func (e *Encoder) appendChecked(f *field, dst []byte, text string) ([]byte, *ValueError) {
	if !utf8.ValidString(text) {
		return dst, bad("the text is not UTF-8")
	}
	if limit := f.column.MaxLength; limit > 0 && int64(len(text)) > limit && int64(utf8.RuneCountInString(text)) > limit {
		if !f.clamp {
			return dst, bad("the text has more than %d characters", limit)
		}
		text = firstRunes(text, limit)
		e.adjusted++
	}
	return appendString(dst, text), nil
}

// firstRunes returns the first n characters.
func firstRunes(text string, n int64) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
