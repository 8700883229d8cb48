package change

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

func appendUvarint(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }
func appendVarint(dst []byte, n int64) []byte   { return binary.AppendVarint(dst, n) }
func appendFixed64(dst []byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(dst, n) }

func appendText[T string | []byte](dst []byte, text T) []byte {
	return append(appendUvarint(dst, uint64(len(text))), text...)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// reader reads a coding. The first error sticks, and everything read after it
// is zero, so that callers check once.
type reader struct {
	typ string // of what is read, for errors
	src []byte
	at  int
	err error

	// pending is the least number of bytes that the lists under way still need.
	// A list is allocated whole before it is read: that each list alone fits into
	// the rest would let lists in lists claim it again and again.
	pending int
}

func newReader(typ string, code byte, src []byte) reader {
	r := reader{typ: typ, src: src}
	switch {
	case len(src) == 0:
		r.fail("version", "there are no bytes")
	case src[0] != code:
		r.fail("version", fmt.Sprintf("it is %#x; this program reads %#x", src[0], code))
	default:
		r.at = 1
	}
	return r
}

// fail keeps the first error. Its text holds no content of src.
func (r *reader) fail(what, reason string) {
	if r.err == nil {
		r.err = fmt.Errorf("reading coded %s: %s at byte %d: %s", r.typ, what, r.at, reason)
	}
	r.at = len(r.src)
}

// end reports the first error, or that bytes are left.
func (r *reader) end() error {
	if r.err == nil && r.at < len(r.src) {
		r.fail("end", fmt.Sprintf("there are %d bytes more", len(r.src)-r.at))
	}
	return r.err
}

func (r *reader) left() int { return len(r.src) - r.at }

func (r *reader) uvarint(what string) uint64 {
	n, size := binary.Uvarint(r.src[r.at:])
	switch {
	case size <= 0:
		r.fail(what, "it is cut short or above 64 bits")
		return 0
	case size > 1 && r.src[r.at+size-1] == 0:
		r.fail(what, "its number is longer than it must be")
		return 0
	}
	r.at += size
	return n
}

func (r *reader) varint(what string) int64 {
	n := r.uvarint(what)
	return int64(n>>1) ^ -int64(n&1)
}

func (r *reader) uint32(what string) uint32 {
	n := r.uvarint(what)
	if n > math.MaxUint32 {
		r.fail(what, "it is above 32 bits")
		return 0
	}
	return uint32(n)
}

func (r *reader) fixed64(what string) uint64 {
	if r.left() < 8 {
		r.fail(what, "it is cut short")
		return 0
	}
	n := binary.LittleEndian.Uint64(r.src[r.at:])
	r.at += 8
	return n
}

// atMost reads a byte that must not be above limit.
func (r *reader) atMost(what string, limit byte) byte {
	if r.left() < 1 {
		r.fail(what, "it is cut short")
		return 0
	}
	b := r.src[r.at]
	if b > limit {
		r.fail(what, fmt.Sprintf("it is %d, above %d", b, limit))
		return 0
	}
	r.at++
	return b
}

func (r *reader) bool(what string) bool { return r.atMost(what, 1) == 1 }

// bytes reads a byte string that shares src's memory, with no room to append
// into it; nil for an empty one.
func (r *reader) bytes(what string) []byte {
	n := r.uvarint(what)
	if n > uint64(r.left()) {
		r.fail(what, fmt.Sprintf("its length is %d, and %d bytes are left", n, r.left()))
		return nil
	}
	if n == 0 {
		return nil
	}
	start := r.at
	r.at += int(n)
	return r.src[start:r.at:r.at]
}

// text reads a string that shares src's memory.
func (r *reader) text(what string) string {
	b := r.bytes(what)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// count reads the length of a list whose elements take at least size bytes
// each. The caller takes size from pending before it reads an element.
func (r *reader) count(what string, size int) int {
	return r.claim(what, r.uvarint(what), size)
}

// countOrNil is count for a list that may be nil, which is -1.
func (r *reader) countOrNil(what string, size int) int {
	n := r.uvarint(what)
	if n == 0 {
		return -1
	}
	return r.claim(what, n-1, size)
}

func (r *reader) claim(what string, n uint64, size int) int {
	if most := max(0, r.left()-r.pending) / size; n > uint64(most) {
		r.fail(what, fmt.Sprintf("its length is %d, and the bytes left hold %d at most", n, most))
		return 0
	}
	r.pending += int(n) * size
	return int(n)
}
