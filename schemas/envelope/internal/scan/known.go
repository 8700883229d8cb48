package scan

import (
	"encoding/binary"
	"math"
)

// What a checker remembers of names.
const (
	mostKnown   = 1 << 13 // about 1 MB; with one more it begins anew
	mostOthers  = 16      // names in one place
	longestName = 128
)

// known is a name that an object had in an earlier text, in the place where it had
// it: after the same names, in an object that was in the same place. Sources write a
// table's columns in one order, so a name is mostly one of those that are known there;
// it then needs no checking, not even whether the object has it twice, since each was
// held against those before it when it was new.
type known struct {
	words, masks [2]uint64 // the first bytes of the name in its quotes, and which of them count
	rest         string    // the others
	size         int

	prev  *known // the name before it in the object, nil for the first
	next  *known // the one that came after it
	other *known // one that came in its place
	first *known // the first one of the object that was its value, or of those in its array
}

// is reports whether a text has the name at i.
func (n *known) is(b []byte, i int) bool {
	if i+16 > len(b) {
		var end [16]byte // zeros are in no name
		copy(end[:], b[i:])
		b, i = end[:], 0
	}
	first, last := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+8:])
	if (first^n.words[0])&n.masks[0]|(last^n.words[1])&n.masks[1] != 0 {
		return false
	}
	return n.rest == "" || (i+n.size <= len(b) && string(b[i+16:i+n.size]) == n.rest)
}

// memory is the names that are known.
type memory struct {
	top    known // what holds the whole text
	count  int
	credit int // how many more may be learned
}

// begin begins a text, after one in which so many names were known. Who learns much of
// which little is known again is let learn less, down to none where nothing is: until
// the memory is full and begins anew, with what it may learn at first.
func (m *memory) begin(wereKnown int) {
	if m.count >= mostKnown {
		m.top, m.count = known{}, 0
	}
	if m.credit == 0 && wereKnown == 0 && m.count == 0 {
		m.credit = mostKnown // the first text
	}
	m.credit = min(m.credit+(wereKnown+7)/8, mostKnown) // one at least: few names may be all that there are
}

// learn adds the name b[start:end], in its quotes, which is new where link tells, after
// prev. It returns nil if it doesn't.
func (m *memory) learn(b []byte, start, end int, prev *known, link **known) *known {
	size := end - start
	if m.credit == 0 || m.count >= mostKnown || size > longestName {
		return nil
	}
	others := 0
	for n := *link; n != nil; n = n.other {
		others++
	}
	if others >= mostOthers {
		return nil
	}
	m.credit--
	m.count++
	n := &known{size: size, prev: prev, other: *link}
	var words [16]byte
	copy(words[:], b[start:end])
	n.words = [2]uint64{binary.LittleEndian.Uint64(words[:]), binary.LittleEndian.Uint64(words[8:])}
	switch {
	case size < 8:
		n.masks[0] = math.MaxUint64 >> (64 - 8*size)
	case size < 16:
		n.masks = [2]uint64{math.MaxUint64, math.MaxUint64 >> (128 - 8*size)}
	default:
		n.masks = [2]uint64{math.MaxUint64, math.MaxUint64}
		n.rest = string(b[start+16 : end])
	}
	*link = n
	return n
}

// content returns the name without its quotes, appended to dst.
func (n *known) content(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, n.words[0])
	dst = binary.LittleEndian.AppendUint64(dst, n.words[1])
	dst = append(dst[:len(dst)-16+min(16, n.size)], n.rest...)
	start := len(dst) - n.size
	copy(dst[start:], dst[start+1:len(dst)-1])
	return dst[:len(dst)-2]
}
