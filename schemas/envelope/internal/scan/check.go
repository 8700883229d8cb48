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
	names  nameSet
	memory memory
	known  int     // how many names of the text were
	open   []frame // the arrays and objects that are open
	places []place // theirs
	tape   []token
}

// frame is an array or an object that is open.
type frame struct {
	object uint32 // its number among the text's objects, 0 for an array
	token  int32  // where it is on the tape
	inSet  bool   // all of its names so far are in the set, not only those that aren't known
}

// place is a frame's place in the memory: the member at hand, and where the one that
// comes next may be known; nil for neither. An array's member is the one that it is the
// value of.
type place struct {
	member *known
	link   **known
}

// value returns the length of the JSON value that text begins with, with the
// white space before it, or false; and the value's tape, nil where it is too long
// for one. The tape is good until the next value.
func (c *checker) value(text string) (length int, tape []token, ok bool) {
	if len(text) > math.MaxInt32 {
		return 0, nil, false
	}
	if len(c.tape) <= len(text) && len(c.tape) < mostTokens {
		c.tape = make([]token, min(1<<bits.Len(uint(len(text))), mostTokens))
	}
	tape = c.tape
	c.names.reset(text)
	c.memory.begin(c.known)
	c.known = 0
	c.open, c.places = c.open[:0], c.places[:0]
	var (
		in frame                          // the innermost one
		at = place{member: &c.memory.top} // its
		k  int                            // tokens
		b  = unsafe.Slice(unsafe.StringData(text), len(text))
		i  = blank(b, 0)
	)
value:
	if i >= len(b) {
		return 0, nil, false
	}
	switch start := i; b[i] {
	case '"':
		var escaped bool
		if i, escaped = checkString(b, i); i < 0 {
			return 0, nil, false
		}
		if k < len(tape) {
			tape[k] = scalar(start, i, escaped)
		}
		k++
	case '{', '[':
		if len(c.open) == maxDepth {
			return 0, nil, false
		}
		c.open, c.places = append(c.open, in), append(c.places, at)
		in = frame{token: int32(k)}
		k++ // it goes on the tape when it ends
		if b[start] == '{' {
			in.object = c.names.object()
			if at.link = nil; at.member != nil {
				at.link = &at.member.first
			}
			at.member = nil
		}
		if i = blank(b, i+1); i >= len(b) {
			return 0, nil, false
		}
		if k-1 < len(tape) {
			tape[k-1] = token(start)
		}
		switch {
		case in.object != 0 && b[i] != '}':
			goto name
		case in.object == 0 && b[i] != ']':
			goto value
		}
		goto ended
	case 'n', 't', 'f':
		if i = checkLiteral(text, i); i < 0 {
			return 0, nil, false
		}
		if k < len(tape) {
			tape[k] = scalar(start, i, false)
		}
		k++
	default:
		if i = checkNumber(b, i); i < 0 {
			return 0, nil, false
		}
		if k < len(tape) {
			tape[k] = scalar(start, i, false)
		}
		k++
	}
after: // a value
	if len(c.open) == 0 {
		if k > len(tape) {
			return i, nil, true
		}
		return i, tape[:k], true
	}
	if i = blank(b, i); i >= len(b) {
		return 0, nil, false
	}
	switch b[i] {
	case ',':
		if i = blank(b, i+1); in.object == 0 {
			goto value
		}
		goto name
	case '}':
		if in.object == 0 {
			return 0, nil, false
		}
	case ']':
		if in.object != 0 {
			return 0, nil, false
		}
	default:
		return 0, nil, false
	}
ended: // the innermost array or object, with the bracket at i
	if k < len(tape) {
		tape[k] = token(i)
		tape[in.token] |= token(k+1) << 32
	}
	k++
	i++
	in, at = c.open[len(c.open)-1], c.places[len(c.places)-1]
	c.open, c.places = c.open[:len(c.open)-1], c.places[:len(c.places)-1]
	goto after
name:
	if i >= len(b) || b[i] != '"' {
		return 0, nil, false
	}
	start, escaped := i, false
	var n *known
	if at.link != nil {
		for n = *at.link; n != nil && !n.is(b, i); n = n.other {
		}
	}
	if n != nil {
		c.known++
		i += n.size
		if in.inSet && !c.names.add(b, in.object, start+1, i-1, false) {
			return 0, nil, false
		}
	} else {
		if i, escaped = checkString(b, start); i < 0 {
			return 0, nil, false
		}
		if !in.inSet {
			in.inSet = true
			for n := at.member; n != nil; n = n.prev {
				c.names.addKnown(in.object, n)
			}
		}
		if !c.names.add(b, in.object, start+1, i-1, escaped) {
			return 0, nil, false
		}
		if at.link != nil && !escaped {
			n = c.memory.learn(b, start, i, at.member, at.link)
		}
	}
	if at.member, at.link = n, nil; n != nil {
		at.link = &n.next
	}
	if k < len(tape) {
		tape[k] = scalar(start, i, escaped)
	}
	k++
	if i = blank(b, i); i >= len(b) || b[i] != ':' {
		return 0, nil, false
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

// checkLiteral returns where the null, true or false at i ends, or -1.
func checkLiteral(text string, i int) int {
	literal := "null"
	switch text[i] {
	case 't':
		literal = "true"
	case 'f':
		literal = "false"
	}
	if end := i + len(literal); end <= len(text) && text[i:end] == literal {
		return end
	}
	return -1
}

// checkString returns where the string that begins at i ends, or -1, and whether
// something in it is escaped.
func checkString(b []byte, i int) (end int, escaped bool) {
	for i++; ; {
		for ; i+8 <= len(b); i += 8 {
			if found := special(binary.LittleEndian.Uint64(b[i:])); found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
		}
		for i < len(b) && !isSpecial(b[i]) {
			i++
		}
		if i >= len(b) {
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

// digits returns where the digits from i on end.
func digits(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if n := digitsOf(binary.LittleEndian.Uint64(b[i:])); n < 8 {
			return i + n
		}
	}
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
