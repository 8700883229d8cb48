package scan

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Cursor walks over text that is known to be one JSON value.
type Cursor struct {
	text    string
	at      int  // where what comes next begins, or the white space and the delimiter before it
	escaped bool // something is, in the string that was returned last

	tape []token // nil: the text's bytes tell where its tokens end
	k    int     // the token that comes next
}

// token is where something begins that a text holds, in the lower half. The upper half
// is a scalar's length, or a member's name's, and tells whether it is an escaped
// string; an array's or object's number of the token that follows it, the one before
// which is its closing bracket; a closing bracket's is 0.
type token uint64

const escapedToken token = 1 << 63

// mostTokens is how many tokens a tape holds, 1 MiB of them. A text of more is walked
// over by its bytes.
const mostTokens = 1 << 17

// scalar is the token of a scalar, or a member's name.
func scalar(start, end int, escaped bool) token {
	t := token(start) | token(end-start)<<32
	if escaped {
		t |= escapedToken
	}
	return t
}

func (t token) start() int { return int(uint32(t)) }

func (t token) upper() int { return int(t &^ escapedToken >> 32) }

// Walk makes the Cursor walk over a value that a Cursor has returned.
func (c *Cursor) Walk(raw string) { *c = Cursor{text: raw} }

// Peek returns the first byte of what comes next, which tells its kind.
func (c *Cursor) Peek() byte {
	if c.tape != nil {
		c.at = c.tape[c.k].start()
		return c.text[c.at]
	}
	for ; ; c.at++ {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return b
		}
	}
}

// Object enters an object. It returns false for any other value, which it
// passes.
func (c *Cursor) Object() bool { return c.enter('{') }

// Array enters an array. It returns false for any other value, which it passes.
func (c *Cursor) Array() bool { return c.enter('[') }

func (c *Cursor) enter(bracket byte) bool {
	if c.Peek() != bracket {
		c.Skip()
		return false
	}
	c.bracket()
	return true
}

// bracket passes a bracket.
func (c *Cursor) bracket() {
	c.at++
	c.k++
}

// Element reports whether an array that was entered has another element, which
// comes next. At the array's end it leaves the array.
func (c *Cursor) Element() bool {
	if c.Peek() == ']' {
		c.bracket()
		return false
	}
	return true
}

// Value returns the next value, or a member's name in its quotes, byte for byte.
func (c *Cursor) Value() string {
	if c.tape == nil {
		return c.byBytes()
	}
	t := c.tape[c.k]
	start := t.start()
	switch c.text[start] {
	case '{', '[':
		c.k = t.upper()
		c.at = c.tape[c.k-1].start() + 1
	default:
		c.k++
		c.at, c.escaped = start+t.upper(), t&escapedToken != 0
	}
	return c.text[start:c.at]
}

func (c *Cursor) byBytes() string {
	b := c.Peek()
	start := c.at
	switch b {
	case '"':
		var n int
		n, c.escaped = quoted(c.text[start:])
		c.at += n
	case 'n', 't':
		c.at += len("null")
	case 'f':
		c.at += len("false")
	case '{', '[':
		c.at += nested(c.text[start:])
	default:
		c.at += number(c.text[start:])
	}
	return c.text[start:c.at]
}

// Skip passes the next value.
func (c *Cursor) Skip() { c.Value() }

// quoted returns the length of the string that text begins with, with its
// quotes, and whether something in it is escaped.
func quoted(text string) (n int, escaped bool) {
	b := unsafe.Slice(unsafe.StringData(text), len(text))
	for n = 1; n+8 <= len(b); {
		found := ends(binary.LittleEndian.Uint64(b[n:]))
		if found == 0 {
			n += 8
			continue
		}
		n += bits.TrailingZeros64(found) / 8
		if b[n] == '"' {
			return n + 1, escaped
		}
		escaped = true
		n += 2
	}
	for ; b[n] != '"'; n++ {
		if b[n] == '\\' {
			escaped = true
			n++
		}
	}
	return n + 1, escaped
}

// number returns the length of the number that text begins with.
func number(text string) int {
	for i := range len(text) {
		switch text[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(text)
}

// nested returns the length of the array or object that text begins with.
func nested(text string) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			n, _ := quoted(text[i:])
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// TrimSpace cuts JSON's white space from the beginning of text.
func TrimSpace(text string) string {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return text[i:]
		}
	}
	return ""
}

// EachElement calls yield for each element of an array, until it returns false.
// The array is one that a Cursor has returned.
func EachElement(raw string, yield func(element string) bool) {
	c := Cursor{text: raw, at: 1}
	for c.Peek() != ']' {
		if !yield(c.Value()) {
			return
		}
	}
}

// EachMember calls yield for each member of an object, its name in quotes, until
// it returns false. The object is one that a Cursor has returned.
func EachMember(raw string, yield func(name, value string) bool) {
	c := Cursor{text: raw, at: 1}
	for c.Peek() != '}' {
		if name := c.Value(); !yield(name, c.Value()) {
			return
		}
	}
}
