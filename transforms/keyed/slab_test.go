package keyed

import "testing"

// TestSlab: who appends to a piece more than it has room for writes over no other's.
func TestSlab(t *testing.T) {
	t.Parallel()
	var s slab
	for _, size := range []int{0, 1, 10, largeBytes - 1, largeBytes, slabBytes} {
		piece, next := s.take(size), s.take(3)
		if len(piece) != 0 || cap(piece) != size {
			t.Errorf("a piece of %d bytes has %d, room for %d", size, len(piece), cap(piece))
		}
		next = append(next, "abc"...)
		_ = append(piece, make([]byte, size+3)...)
		if string(next) != "abc" {
			t.Errorf("the piece after %d bytes holds %q", size, next)
		}
	}
}
