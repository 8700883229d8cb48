package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"orders":               "orders",
		"Ågren 日本":             "Ågren 日本",
		"a\x1b[2Jb":            `a\x1b[2Jb`,
		"a\nlevel=ERROR":       `a\nlevel=ERROR`,
		"a\r\t\x00\x7f":        `a\r\t\x00\x7f`,
		"\u202egnp.exe":        `\u202egnp.exe`,
		"\u200b":               `\u200b`,
		"\u009b31m":            `\u009b31m`,
		"\xff\xfe":             `\xff\xfe`,
		"\ufeff":               `\ufeff`,
		"\x1b]8;;http://x\x07": `\x1b]8;;http://x\a`,
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Lines("a\n\tb\x1b"); got != "a\n\tb\\x1b" {
		t.Errorf("%q", got)
	}
}

// FuzzText: nothing that a terminal obeys is left, and a text is bounded.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "a\x1b[31m", "\u202e", "\xff", strings.Repeat("é", 100)} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, 0), 1000)
		for _, got := range []string{Text(text), Clip(text, limit)} {
			for _, r := range got {
				if !unicode.IsPrint(r) {
					t.Fatalf("%q holds %U", got, r)
				}
			}
			if !utf8.ValidString(got) {
				t.Fatalf("%q", got)
			}
		}
		if got := Clip(text, limit); len(got) > 10*limit+3 {
			t.Fatalf("%d bytes for a limit of %d", len(got), limit)
		}
	})
}
