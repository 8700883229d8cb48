package avro

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// isPlain says which bytes a JSON string holds as they are, whatever is around
// them.
var isPlain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendText appends a text as a JSON string. It returns false for what isn't
// UTF-8.
func appendText(dst, text []byte) ([]byte, bool) {
	dst = append(dst, '"')
	n := 0
	for n < len(text) && isPlain[text[n]] {
		n++
	}
	dst = append(dst, text[:n]...)
	ok := true
	if n < len(text) {
		dst, ok = appendEscaped(dst, text[n:])
	}
	return append(dst, '"'), ok
}

// appendEscaped escapes what Jackson does, which writes the JSON converter's JSON.
func appendEscaped(dst, text []byte) ([]byte, bool) {
	const digits, letters = "0123456789ABCDEF", "btn?fr" // from U+0008
	for _, c := range text {
		switch {
		case isPlain[c] || c >= utf8.RuneSelf:
			dst = append(dst, c)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= '\b' && c <= '\r' && c != '\v':
			dst = append(dst, '\\', letters[c-'\b'])
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xF])
		}
	}
	return dst, utf8.Valid(text)
}

// appendFloat appends a number of so many bits as Java writes it, digits as few
// as tell it from others: the text of a struct that stays JSON is then the one
// that the JSON converter writes.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	start := len(dst)
	if a := math.Abs(f); a == 0 || (a >= 1e-3 && a < 1e7) {
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		if bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, bits) // -1.5e+07, 1e-05
	at := bytes.IndexByte(text, 'e')
	dst = append(dst, text[:at]...)
	if bytes.IndexByte(text[:at], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	exponent := text[at+1:]
	if exponent[0] == '-' {
		dst = append(dst, '-')
	}
	return append(dst, bytes.TrimLeft(exponent[1:], "0")...)
}
