package scan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// walk tells what a Cursor finds in a value: all that it returns, depth first. Of every
// third array and object it passes the value as a whole.
func walk(c *Cursor, found []string) []string {
	kind := c.Peek()
	found = append(found, fmt.Sprintf("%c at %d", kind, c.at))
	switch isWhole := len(found)%3 == 0; {
	case kind == '{' && !isWhole:
		for c.Object(); c.Peek() != '}'; {
			found = append(found, c.Value(), fmt.Sprint(c.escaped))
			found = walk(c, found)
		}
		c.bracket()
	case kind == '[' && !isWhole:
		for c.Array(); c.Element(); {
			found = walk(c, found)
		}
	default:
		found = append(found, c.Value())
		if kind == '"' {
			found = append(found, fmt.Sprint(c.escaped))
		}
	}
	return append(found, fmt.Sprintf("ends at %d", c.at))
}

// sameWalks fails unless a text's tape tells what its bytes tell.
func sameWalks(t *testing.T, c *checker, text string) {
	t.Helper()
	n, tape, ok := c.value(text)
	if !ok {
		return
	}
	got, want := walk(&Cursor{text: text[:n], tape: tape}, nil), walk(&Cursor{text: text[:n]}, nil)
	if !slices.Equal(got, want) {
		t.Errorf("of %.300q the tape tells %q, the bytes %q", text, got, want)
	}
}

// TestTape: a tape tells where the values are that a walk over the bytes finds.
func TestTape(t *testing.T) {
	var c checker
	for _, text := range checked() {
		sameWalks(t, &c, text)
		sameWalks(t, &c, `{"a":[`+text+`],"b" : `+text+`,"c":{"x":{"y":`+text+`,"z":[]}}}`)
	}
	for _, n := range []int{1, 7, 8, 9, 5_000} {
		sameWalks(t, &c, names(n, `"x":"`+strings.Repeat(`x`, n)+`\""`))
	}
}

// TestTape_long: a text of more tokens than a tape holds has none, and is walked over
// all the same.
func TestTape_long(t *testing.T) {
	var c checker
	for _, test := range []struct {
		text    string
		hasTape bool
	}{
		{"[" + strings.Repeat("1,", mostTokens-3) + "1]", true},
		{"[" + strings.Repeat("1,", mostTokens-2) + "1]", false},
		{"[[" + strings.Repeat("1,", mostTokens-4) + "1]]", false},
		{`[` + strings.Repeat(`{"a":1},`, mostTokens) + `[]]`, false},
		{"[" + strings.Repeat(" ", 2*mostTokens) + "]", true},
		{"[[]]", true},
	} {
		n, tape, ok := c.value(test.text)
		if !ok || n != len(test.text) || (tape != nil) != test.hasTape {
			t.Errorf("of %.20q %d of %d bytes are taken, with a tape %t, want %t", test.text, n, len(test.text), tape != nil, test.hasTape)
		}
		sameWalks(t, &c, test.text)
	}
	if len(c.tape) > mostTokens {
		t.Errorf("the tape has grown to %d tokens", len(c.tape))
	}
}

// FuzzTape: the same of any text.
func FuzzTape(f *testing.F) {
	for _, text := range checked() {
		f.Add(text)
	}
	f.Add(`{"before":null,"after":{"id":7,"note":"d\u00e9j\u00e0 vu \ud83d\ude00","x":-1.5e3,"tags":["a",{}, [[]]]},"op":"c","source":{"lsn":1}} x`)
	f.Fuzz(func(t *testing.T, text string) {
		var c checker
		sameWalks(t, &c, text)
	})
}
