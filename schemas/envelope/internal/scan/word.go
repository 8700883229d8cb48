package scan

import (
	"math/bits"
	"unicode/utf8"
)

// Eight bytes in one word, the first of them the lowest. A carry or a borrow leaves a
// byte only if that byte is itself one of those looked for: the first one that is
// found is one.
const (
	lows   = 0x0101010101010101
	highs  = 0x8080808080808080
	blanks = ' ' * lows
	quotes = '"' * lows
	slopes = '\\' * lows
	zeros  = '0' * lows
)

// special marks those of eight bytes that are more than a character of a string: a
// quote, a backslash, a control character, or one that isn't ASCII.
func special(w uint64) uint64 {
	return (((w ^ quotes) - lows) | ((w ^ slopes) - lows) | (w - blanks) | w) & highs
}

// ends marks those of eight bytes that are a quote or a backslash.
func ends(w uint64) uint64 {
	quote, slope := w^quotes, w^slopes
	return ((quote-lows)&^quote | (slope-lows)&^slope) & highs
}

// digitsOf returns how many digits eight bytes begin with.
func digitsOf(w uint64) int {
	w ^= zeros
	return bits.TrailingZeros64(((w+(0x80-10)*lows)|w)&highs) / 8
}

func isSpecial(b byte) bool { return b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf }
