package rest

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"beamcdc/emulator/internal/engine"
)

var (
	errNumber  = errors.New("it is no such number")
	errBool    = errors.New("it is neither true nor false")
	errBase64  = errors.New("it is not base64")
	errRange   = errors.New("it is no RANGE such as [2026-01-01, UNBOUNDED)")
	errUTF8    = errors.New("it is not valid UTF-8")
	errNoValue = errors.New("a value of this kind doesn't fit")
)

// bareValue is a JSON number, true or false, as a column takes it: the digits as they
// were written, never by way of a float.
func bareValue(c *engine.Column, text string) (any, error) {
	number := text != "true" && text != "false"
	switch c.Kind {
	case engine.KindBool:
		if !number {
			return text == "true", nil
		}
	case engine.KindInt64, engine.KindFloat64, engine.KindNumeric, engine.KindBigNumeric:
		if number {
			return textValue(c, text)
		}
	case engine.KindTimestamp: // in seconds
		if number {
			return secondsValue(text)
		}
	case engine.KindString:
		return c.StringValue(text)
	default:
	}
	return nil, errNoValue
}

// textValue is a value's text as a column takes it: of a JSON string, of CSV.
func textValue(c *engine.Column, text string) (any, error) {
	if !utf8.ValidString(text) {
		return nil, errUTF8
	}
	switch c.Kind {
	case engine.KindString:
		return c.StringValue(text)
	case engine.KindGeography:
		return text, nil
	case engine.KindJSON:
		return engine.ParseJSON(text)
	default: // blanks around it don't count
	}
	text = strings.TrimSpace(text)
	switch c.Kind {
	case engine.KindBool:
		switch strings.ToLower(text) {
		case "true", "t", "yes", "y", "1":
			return true, nil
		case "false", "f", "no", "n", "0":
			return false, nil
		}
		return nil, errBool
	case engine.KindInt64:
		return integerValue(text)
	case engine.KindFloat64:
		f, err := strconv.ParseFloat(text, 64) // takes NaN, Inf and Infinity of any case
		if err != nil || strings.ContainsAny(text, "xX_") {
			return nil, errNumber
		}
		return f, nil
	case engine.KindNumeric, engine.KindBigNumeric:
		return c.DecimalLiteral(text)
	case engine.KindBytes:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			if b, err = base64.URLEncoding.DecodeString(text); err != nil {
				return nil, errBase64
			}
		}
		return c.BytesValue(b)
	case engine.KindDate:
		return engine.ParseDate(text)
	case engine.KindTime:
		return engine.ParseTime(text)
	case engine.KindDateTime:
		return engine.ParseDateTime(text)
	case engine.KindTimestamp:
		return timestampValue(text)
	case engine.KindInterval:
		return engine.ParseInterval(text)
	case engine.KindRange:
		inner, ok := strings.CutPrefix(text, "[")
		inner, closed := strings.CutSuffix(inner, ")")
		start, end, two := strings.Cut(inner, ",")
		if !ok || !closed || !two {
			return nil, errRange
		}
		start, end = strings.TrimSpace(start), strings.TrimSpace(end)
		return rangeValue(c, &start, &end)
	default:
		return nil, errNoValue
	}
}

// integerValue reads a whole number, also one that is written with a fraction of zeros
// or an exponent.
func integerValue(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, nil
	}
	if errors.Is(err, strconv.ErrRange) {
		return nil, errors.New("it is out of range")
	}
	f, err := strconv.ParseFloat(text, 64)
	// Below 2^53 a float that is whole is exact.
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 || strings.ContainsAny(text, "xXpP_") {
		return nil, errNumber
	}
	if _, fraction, _ := strings.Cut(text, "."); strings.Trim(fraction, "0") != "" && !strings.ContainsAny(text, "eE") {
		return nil, errNumber // a fraction that is too small for the float
	}
	return int64(f), nil
}
