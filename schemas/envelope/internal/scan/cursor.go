package scan

import "strings"

// Cursor walks over text that is known to be one JSON value.
type Cursor struct {
	text    string
	at      int  // where what comes next begins
	escaped bool // something is, in the string that was returned last
}

// Walk makes the Cursor walk over a value that a Cursor has returned.
func (c *Cursor) Walk(raw string) { *c = Cursor{text: raw} }

// Peek returns the first byte of what comes next, which tells its kind.
func (c *Cursor) Peek() byte {
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
func (c *Cursor) Object() bool {
	if c.Peek() != '{' {
		c.Skip()
		return false
	}
	c.at++
	return true
}

// Array enters an array. It returns false for any other value, which it passes.
func (c *Cursor) Array() bool {
	if c.Peek() != '[' {
		c.Skip()
		return false
	}
	c.at++
	return true
}

// Element reports whether an array that was entered has another element, which
// comes next. At the array's end it leaves the array.
func (c *Cursor) Element() bool {
	if c.Peek() == ']' {
		c.at++
		return false
	}
	return true
}

// Value returns the next value, or a member's name in its quotes, byte for byte.
func (c *Cursor) Value() string {
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
	const short = 24 // up to where a loop is quicker than a call
	i := 1
	for ; i < short && i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1, false
		case '\\':
			return quotedEscaped(text, i), true
		}
	}
	n = i + strings.IndexByte(text[i:], '"') + 1
	if escape := strings.IndexByte(text[i:n], '\\'); escape >= 0 {
		return quotedEscaped(text, i+escape), true
	}
	return n, false
}

// quotedEscaped goes on from a string's first backslash.
func quotedEscaped(text string, i int) int {
	for ; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
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
