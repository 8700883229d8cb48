package scan

import (
	"strings"
	"testing"
)

// TestMemory_begin: texts of few names are learned, too, whatever was learned before.
func TestMemory_begin(t *testing.T) {
	t.Parallel()
	var c checker
	c.memory.count, c.memory.credit = 1, 1 // as after a full memory began anew with one more to learn
	const text = `{"a":1,"b":2,"c":3}`
	for range 10 {
		if _, _, ok := c.value(text); !ok {
			t.Fatalf("%s is refused", text)
		}
	}
	if c.known != 3 {
		t.Errorf("%d names are known of %s", c.known, text)
	}
}

// TestMemory_bounded: a text of more names than are to be remembered, or of long ones,
// takes no more than a full memory.
func TestMemory_bounded(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int{8: mostKnown, longestName: 0} {
		var c checker
		text := names(3*mostKnown, `"x":1`)
		if size == longestName {
			text = `{"` + strings.Repeat("a", longestName) + `":1}`
		}
		if _, _, ok := c.value(text); !ok {
			t.Fatalf("%.50q is refused", text)
		}
		if c.memory.count > most {
			t.Errorf("%d names of %.50q are remembered, want %d at most", c.memory.count, text, most)
		}
	}
}
