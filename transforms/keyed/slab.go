package keyed

// slab gives the memory of rows: their bytes are few, so that rows share an allocation.
// A row that lives keeps its piece's neighbours in memory too, 8 KiB at most.
type slab struct{ free []byte }

const (
	slabBytes = 8 << 10
	// largeBytes is from which size on a row has an allocation of its own: no more than an
	// eighth of a slab is wasted.
	largeBytes = slabBytes / 8
)

// take returns an empty slice with room for size bytes and no more.
func (s *slab) take(size int) []byte {
	if size >= largeBytes {
		return make([]byte, 0, size)
	}
	if size > len(s.free) {
		s.free = make([]byte, slabBytes)
	}
	piece := s.free[:0:size]
	s.free = s.free[size:]
	return piece
}
