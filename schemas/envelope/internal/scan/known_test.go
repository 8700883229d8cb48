package scan

import (
	"fmt"
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

// TestMemory_bounded: names that never come again take no more than a full memory.
func TestMemory_bounded(t *testing.T) {
	t.Parallel()
	var c checker
	for i := range 4 * mostKnown {
		if _, _, ok := c.value(fmt.Sprintf(`{"v":{"a%d":1,"b%d":2}}`, i, i)); !ok {
			t.Fatal("refused")
		}
		if c.memory.count > mostKnown {
			t.Fatalf("%d names are remembered", c.memory.count)
		}
	}
}
