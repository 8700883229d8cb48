package position_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"beamcdc/schemas/envelope/internal/position"
)

// TestParseUint: numbers are read as strconv reads them.
func TestParseUint(t *testing.T) {
	texts := []string{"", "0", "00", "7", "+7", "-7", " 7", "7 ", "1_000", "0x1", "1e5", "7.0", "٧", "\x00", "/", ":", "12345678:", "99999999999999999999"}
	for _, n := range []uint64{1, 9, 10, 1 << 32, 1e18, math.MaxInt64, 1e19 - 1, 1e19, math.MaxUint64} {
		text := strconv.FormatUint(n, 10)
		texts = append(texts, text, "0"+text, text+"0", text+"x", strings.Repeat("0", 30)+text)
	}
	for _, text := range texts {
		got, ok := position.ParseUint(text)
		want, err := strconv.ParseUint(text, 10, 64)
		if ok != (err == nil) || (ok && got != want) {
			t.Errorf("ParseUint(%q) = %d, %t, strconv says %d, %v", text, got, ok, want, err)
		}
	}
}
