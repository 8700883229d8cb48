package rowproto

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"github.com/go-json-experiment/json/jsontext"
)

// appendPlainText appends the text of a typed value to become a STRING: a date
// or time as ISO 8601, an instant with Z, an array or struct as JSON.
func (e *Encoder) appendPlainText(f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case change.KindFloat64:
		return appendFloatText(dst, v.Float()), nil
	case change.KindDate, change.KindTime, change.KindDateTime, change.KindTimestamp:
		return appendTemporalText(dst, v)
	case change.KindArray, change.KindStruct:
		return e.appendDocument(dst, v, anyNumbers)
	default:
		return dst, mismatch(f, v)
	}
}

// appendFloatText appends the shortest digits that read back as the same double.
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

// appendTemporalText appends a typed date or time, which must be in BigQuery's range.
func appendTemporalText(dst []byte, v *change.Value) ([]byte, *ValueError) {
	lo, hi, n := int64(minMicro), int64(maxMicro), v.Int()
	switch v.Kind() {
	case change.KindDate:
		lo, hi = minDay, maxDay
	case change.KindTime:
		lo, hi = 0, microsPerDay-1
	default:
	}
	if n < lo || n > hi {
		return dst, bad("the value is no date or time between 0001-01-01 and 9999-12-31")
	}
	switch v.Kind() {
	case change.KindDate:
		return appendDateText(dst, n), nil
	case change.KindTime:
		return appendTimeText(dst, n), nil
	case change.KindTimestamp:
		return append(appendDateTimeText(dst, n), 'Z'), nil
	default:
		return appendDateTimeText(dst, n), nil
	}
}

// numbers says which numbers a JSON document may have.
type numbers int

const (
	anyNumbers    numbers = iota // of a STRING: all digits; NaN and infinities are strings
	exactNumbers                 // of a JSON column: those that come back as they were, others are bad values
	quotedNumbers                // of a JSON column: others are strings
)

// appendDocument appends a value as JSON: numbers by their digits, bytes as
// base64, dates, times and intervals as strings.
func (e *Encoder) appendDocument(dst []byte, v *change.Value, allowed numbers) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindNull:
		return append(dst, "null"...), nil
	case change.KindUnavailable:
		return dst, refused(ReasonUnavailable, "the source left its unchanged value out")
	case change.KindBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case change.KindInt64:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case change.KindUint64:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case change.KindFloat64:
		start := len(dst)
		return e.numberOrString(appendFloatText(dst, v.Float()), start, allowed)
	case change.KindDecimal:
		start := len(dst)
		return e.numberOrString(append(dst, v.Text()...), start, allowed)
	case change.KindNumber, change.KindJSON, change.KindRaw:
		return append(dst, v.Text()...), nil // checked with the rest when it goes to a JSON column
	case change.KindString, change.KindText, change.KindInterval:
		return appendQuoted(dst, v.Text())
	case change.KindBytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), bytesOf(v.Text()))
		return append(dst, '"'), nil
	case change.KindDate, change.KindTime, change.KindDateTime, change.KindTimestamp:
		dst, err := appendTemporalText(append(dst, '"'), v)
		return append(dst, '"'), err
	case change.KindArray:
		return e.appendMembers(dst, v.Elems(), false, allowed)
	case change.KindStruct:
		return e.appendMembers(dst, v.Elems(), true, allowed)
	default:
		return dst, bad("a JSON document takes no %s", kindWords[v.Kind()])
	}
}

func (e *Encoder) appendMembers(dst []byte, members []change.Column, named bool, allowed numbers) ([]byte, *ValueError) {
	open, end := byte('['), byte(']')
	if named {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	var err *ValueError
	for i := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		name := index(i)
		if named {
			name = members[i].Name
			if dst, err = appendQuoted(dst, name); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
		}
		if dst, err = e.appendDocument(dst, &members[i].Value, allowed); err != nil {
			return dst, err.under(name)
		}
	}
	return append(dst, end), nil
}

func appendQuoted(dst []byte, text string) ([]byte, *ValueError) {
	if !utf8.ValidString(text) {
		return dst, bad("a text in it is not UTF-8")
	}
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst, nil
}

// numberOrString takes what was appended at start for a JSON number, if it may be
// one, else for a string.
func (e *Encoder) numberOrString(dst []byte, start int, allowed numbers) ([]byte, *ValueError) {
	text := jsontext.Value(dst[start:])
	problem := "JSON has no number for it"
	if text.Kind() == '0' && text.IsValid() {
		problem = ""
		if allowed != anyNumbers {
			problem = e.inexact(textOf(text))
		}
	}
	switch {
	case problem == "":
		return dst, nil
	case allowed == exactNumbers:
		return dst, bad("%s", problem)
	}
	return appendQuoted(dst[:start], string(text))
}

// inexact says why a typed number would come back from a JSON column with other digits.
func (e *Encoder) inexact(text string) (problem string) {
	if problem = checkNumber(text); problem != "" || len(text) <= 15 || !strings.ContainsAny(text, ".eE") {
		return problem
	}
	d, _ := parseDecimal(text)
	if _, err := e.sameDigits(&typedNumber, &d); err != nil {
		return "the number has more digits than JSON's numbers keep in BigQuery"
	}
	return ""
}

// typedNumber is of no policy.
var typedNumber = field{column: &table.Column{}}
