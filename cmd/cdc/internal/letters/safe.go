package letters

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe returns text that a terminal shows and doesn't obey: what isn't printable, and
// what turns or hides the text around it, is written as Go writes it, "\x1b".
func safe(text string) string { return escaped(text, "") }

// safeLines is safe, but for new lines and tabs.
func safeLines(text string) string { return escaped(text, "\n\t") }

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

// clip returns at most so many characters of a text.
func clip(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:limit-1]) + "…"
}
