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
			return appendChecked(f, dst, v.Text())
		}
	case change.KindRaw:
		if f.column.From != table.FromDecimal {
			return appendChecked(f, dst, v.Text())
		}
	case change.KindDecimal, change.KindInterval, change.KindJSON:
		return appendChecked(f, dst, v.Text())
	case change.KindNumber:
		if f.column.From != table.FromUnsigned {
			return appendChecked(f, dst, v.Text())
		}
	default:
	}
	text, err := e.textOfValue(f, e.text[:0], v)
	e.text = text
	if err != nil {
		return dst, err
	}
	return appendChecked(f, dst, textOf(text))
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
	case change.KindRaw, change.KindStruct:
		if f.column.From != table.FromDecimal {
			return e.appendPlainText(f, dst, v)
		}
		d, err := e.scaledDecimal(v)
		if err != nil {
			return dst, err
		}
		return appendUnscaled(dst, &d)
	case change.KindBytes:
		switch {
		case f.column.From == table.FromText:
			return append(dst, v.Text()...), nil
		case f.policy == table.PolicyString:
			e.adjust(f)
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
		return appendUnscaled(dst, &d)
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

// appendUnscaled appends a decimal whose scale the message or a setting gave.
func appendUnscaled(dst []byte, d *decimal) ([]byte, *ValueError) {
	const far = 10_000 // a NUMBER of Oracle's has 130 digits
	if d.point > far || d.fraction() > far {
		return dst, bad("the scale is far off")
	}
	return d.appendPlain(dst), nil
}

// appendChecked appends a text that must be UTF-8 and no longer than the column allows.
func appendChecked(f *field, dst []byte, text string) ([]byte, *ValueError) {
	if !utf8.ValidString(text) {
		return dst, bad("the text is not UTF-8")
	}
	if limit := f.column.MaxLength; limit > 0 && int64(len(text)) > limit && int64(utf8.RuneCountInString(text)) > limit {
		return dst, bad("the text has more than %d characters", limit)
	}
	return appendString(dst, text), nil
}
