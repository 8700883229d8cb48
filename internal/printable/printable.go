// Package printable writes texts that come from messages for terminals and logs.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text that a terminal shows and doesn't obey, in one line: what isn't
// printable, and what turns or hides the text around it, is written as Go writes it,
// "\x1b". It returns the same text where there is nothing to write so.
func Text(text string) string { return escaped(text, "") }

// Lines is Text, but for new lines and tabs.
func Lines(text string) string { return escaped(text, "\n\t") }

// Clip is Text of at most so many bytes of the text, with … in the place of others.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return Text(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return Text(text[:limit]) + "…"
}

func escaped(text, allowed string) string {
	clean := true
	for _, r := range text {
		clean = clean && (unicode.IsPrint(r) && r != utf8.RuneError || strings.ContainsRune(allowed, r))
	}
	if clean {
		return text
	}
	var out strings.Builder
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteString(`\x` + strconv.FormatUint(uint64(text[at])|0x100, 16)[1:])
		case unicode.IsPrint(r), strings.ContainsRune(allowed, r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		at += size
	}
	return out.String()
}
