package letters

import (
	"unicode/utf8"

	"beamcdc/internal/printable"
)

// safe returns text that a terminal shows and doesn't obey.
func safe(text string) string { return printable.Text(text) }

// safeLines is safe, but for new lines and tabs.
func safeLines(text string) string { return printable.Lines(text) }

// clip returns at most so many characters of a text.
func clip(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:limit-1]) + "…"
}
