package scan

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// maxDepth is how deep jsontext lets arrays and objects nest.
const maxDepth = 10_000

// checker accepts JSON that jsontext accepts too, by the same rules: RFC 8259's
// grammar, UTF-8, escapes that make whole characters, no name twice in an object,
// and maxDepth. It doesn't say what is wrong with what it doesn't accept. Its zero
// value is ready to use.
type checker struct {
	names nameSet
	open  []uint32 // the numbers of the objects that are open, and 0 for arrays
}

// value returns the length of the JSON value that text begins with, with the
// white space before it, or false.
func (c *checker) value(text string) (n int, ok bool) {
	if len(text) > math.MaxInt32 {
		return 0, false
	}
	c.names.reset(text)
	c.open = c.open[:0]
	object := uint32(0) // the innermost one's number, 0 in an array

	b := unsafe.Slice(unsafe.StringData(text), len(text))
	i := blank(b, 0)
value:
	if i >= len(b) {
		return 0, false
	}
	switch b[i] {
	case '"':
		if i, _ = checkString(b, i); i < 0 {
			return 0, false
		}
	case '{', '[':
		if len(c.open) == maxDepth {
			return 0, false
		}
		isObject := b[i] == '{'
		if i = blank(b, i+1); i >= len(b) {
			return 0, false
		}
		object = 0
		if isObject {
			object = c.names.object()
		}
		c.open = append(c.open, object)
		switch {
		case isObject && b[i] != '}':
			goto name
		case !isObject && b[i] != ']':
			goto value
		}
		goto ended
	case 'n', 't':
		if n = i + len("null"); n > len(b) || (text[i:n] != "null" && text[i:n] != "true") {
			return 0, false
		}
		i = n
	case 'f':
		if n = i + len("false"); n > len(b) || text[i:n] != "false" {
			return 0, false
		}
		i = n
	default:
		if i = checkNumber(b, i); i < 0 {
			return 0, false
		}
	}
after: // a value
	if len(c.open) == 0 {
		return i, true
	}
	if i = blank(b, i); i >= len(b) {
		return 0, false
	}
	switch b[i] {
	case ',':
		if i = blank(b, i+1); object == 0 {
			goto value
		}
		goto name
	case '}':
		if object == 0 {
			return 0, false
		}
	case ']':
		if object != 0 {
			return 0, false
		}
	default:
		return 0, false
	}
ended: // the innermost array or object, with the bracket at i
	i++
	c.open = c.open[:len(c.open)-1]
	if object = 0; len(c.open) > 0 {
		object = c.open[len(c.open)-1]
	}
	goto after
name:
	if i >= len(b) || b[i] != '"' {
		return 0, false
	}
	start := i
	i, escaped := checkString(b, start)
	if i < 0 || !c.names.add(object, start, i, escaped) {
		return 0, false
	}
	if i = blank(b, i); i >= len(b) || b[i] != ':' {
		return 0, false
	}
	i = blank(b, i+1)
	goto value
}

// blank returns where the white space at i ends.
func blank(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// checkString returns where the string that begins at i ends, or -1, and whether
// something in it is escaped.
func checkString(b []byte, i int) (end int, escaped bool) {
	for i++; ; {
		if i = plain(b, i); i >= len(b) {
			return -1, false
		}
		switch {
		case b[i] == '"':
			return i + 1, escaped
		case b[i] == '\\':
			escaped = true
			n := escape(b[i:])
			if n == 0 {
				return -1, false
			}
			i += n
		case b[i] < utf8.RuneSelf: // a control character
			return -1, false
		default:
			for i < len(b) && b[i] >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(b[i:])
				if r == utf8.RuneError && n == 1 {
					return -1, false
				}
				i += n
			}
		}
	}
}

// Of eight bytes in one word.
const (
	lows   = 0x0101010101010101
	highs  = 0x8080808080808080
	blanks = ' ' * lows
	quotes = '"' * lows
	slopes = '\\' * lows
)

// plain returns where the first byte from i on is that is more than a character of
// a string: a quote, a backslash, a control character, or one that isn't ASCII.
func plain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// A subtraction borrows from the next byte only in a byte that is itself one of
		// those looked for: the lowest that is found is one.
		if found := (((w ^ quotes) - lows) | ((w ^ slopes) - lows) | (w - blanks) | w) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// escape returns the length of the escape that b begins with, both halves of a
// surrogate pair, or 0.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		first, ok := unit(b)
		switch {
		case !ok:
			return 0
		case !utf16.IsSurrogate(first):
			return 6
		}
		second, ok := unit(b[6:])
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return 0
		}
		return 12
	}
	return 0
}

// unit reads \uXXXX.
func unit(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// checkNumber returns where the number that begins at i ends, or -1. What follows
// it is for others to judge.
func checkNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	if i = digits(b, i); i == start {
		return -1
	}
	if b[start] == '0' && i > start+1 {
		return start + 1 // the number is 0, and more digits follow it
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return -1
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
