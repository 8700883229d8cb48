package rowproto

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"beamcdc/schemas/change"

	"google.golang.org/protobuf/encoding/protowire"
)

// appendFloat64 appends a FLOAT64. A number with a point or an exponent is the
// nearest double. An integer, or a decimal that the message types as one, must
// come back from the double with the digits it had: 0.1 does, 9007199254740993
// does not (invariant 5: no float in the path of an integer or decimal).
func appendFloat64(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	var x float64
	switch v.Kind() {
	case change.KindFloat64:
		x = v.Float()
	case change.KindNumber, change.KindText, change.KindString, change.KindDecimal:
		if short, ok := shortFloat(v.Text()); ok && f.column.From == "" {
			x = short
			break
		}
		if parsed, word := floatWord(v.Text()); word && v.Kind() != change.KindNumber {
			x = parsed
			break
		}
		var err *ValueError
		if x, err = e.parseFloat(f, v); err != nil {
			return dst, err
		}
	case change.KindInt64, change.KindUint64:
		d, err := e.decimalOf(f, v)
		if err != nil {
			return dst, err
		}
		if x, err = e.sameDigits(f, &d); err != nil {
			return dst, err
		}
	case change.KindRaw, change.KindStruct:
		d, err := e.scaledDecimal(v)
		if err != nil {
			return dst, err
		}
		if x, err = e.sameDigits(f, &d); err != nil {
			return dst, err
		}
	default:
		return dst, mismatch(f, v)
	}
	return protowire.AppendFixed64(dst, math.Float64bits(x)), nil
}

func (e *Encoder) parseFloat(f *field, v *change.Value) (float64, *ValueError) {
	d, err := e.textDecimal(f, v)
	if err != nil {
		return 0, err
	}
	if v.Kind() == change.KindDecimal || v.Text() == "" || isInteger(v.Text()) || f.column.From != "" {
		return e.sameDigits(f, &d)
	}
	x, wrong := strconv.ParseFloat(v.Text(), 64)
	if wrong != nil {
		return e.overflow(f, x, wrong)
	}
	return x, nil
}

// overflow clamps a number beyond the greatest double to it, if the column's policy says so.
func (e *Encoder) overflow(f *field, x float64, wrong error) (float64, *ValueError) {
	if !errors.Is(wrong, strconv.ErrRange) || !f.clamp {
		return 0, bad("the number is outside FLOAT64's range")
	}
	e.adjust(f)
	return math.Copysign(math.MaxFloat64, x), nil
}

// sameDigits returns the double nearest to the decimal if its value is the
// decimal's, or its shortest text has the decimal's digits.
func (e *Encoder) sameDigits(f *field, d *decimal) (float64, *ValueError) {
	if d.digits == 0 {
		return 0, nil
	}
	switch {
	case d.point > 400:
		return e.overflow(f, math.Copysign(math.Inf(1), sign(d.negative)), strconv.ErrRange)
	case d.point < -400, d.digits > 400:
		if !f.clamp {
			return 0, bad("the number has more digits than FLOAT64 keeps")
		}
		e.adjust(f)
		if d.point < -400 {
			return 0, nil
		}
		x, _ := strconv.ParseFloat(textOf(d.appendPlain(nil)), 64) // of an overflow the infinity
		return max(-math.MaxFloat64, min(x, math.MaxFloat64)), nil
	}
	var plain [820]byte
	text := d.appendPlain(plain[:0])
	x, wrong := strconv.ParseFloat(textOf(text), 64)
	if wrong != nil {
		return e.overflow(f, x, wrong)
	}
	var shortest [32]byte
	back, _ := parseDecimal(textOf(strconv.AppendFloat(shortest[:0], x, 'e', -1, 64)))
	var again [820]byte
	if !bytes.Equal(back.appendPlain(again[:0]), text) &&
		(math.Abs(x) < 1<<53 || !bytes.Equal(strconv.AppendFloat(again[:0], x, 'f', 0, 64), text)) {
		if !f.clamp {
			return 0, bad("the number has more digits than FLOAT64 keeps")
		}
		e.adjust(f)
	}
	return x, nil
}

func sign(negative bool) float64 {
	if negative {
		return -1
	}
	return 1
}

func isInteger(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (i > 0 || c != '-' && c != '+') {
			return false
		}
	}
	return true
}

// floatWord reads the words for what is no number, of any case, as BigQuery does.
func floatWord(text string) (x float64, ok bool) {
	word := text
	if word != "" && (word[0] == '-' || word[0] == '+') {
		word = word[1:]
	}
	switch {
	case len(word) == 3 && equalFold(word, "nan") && len(word) == len(text):
		return math.NaN(), true
	case len(word) == 3 && equalFold(word, "inf"), len(word) == 8 && equalFold(word, "infinity"):
		if text[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	return 0, false
}

// equalFold compares ASCII; lower is in lower case and as long as the word.
func equalFold(word, lower string) bool {
	for i := range len(word) {
		if word[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}
