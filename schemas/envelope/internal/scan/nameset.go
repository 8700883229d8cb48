package scan

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// A nameSet's slots: those that it begins with, and those that it keeps from one
// text to the next.
const (
	fewSlots  = 1 << 8
	mostSlots = 1 << 16 // 2 MiB
)

// shortName is up to which length a name lies in its slot.
const shortName = 16

// nameSet finds a name that is twice in an object. It is one hash table for all
// objects of a text, whose slots are told apart by the number of the object, which
// grows from object to object and from text to text: nothing is cleared between
// them. The hash has a seed that nobody outside knows, so that no text can make all
// of its names share a slot.
type nameSet struct {
	slots []slot // a power of two of them, at most half of them taken
	taken int    // by names of the text
	first uint32 // the number of the text's first object: lower ones are others'
	last  uint32 // the number of the last object
	seed  maphash.Seed
	mix   [2]uint64 // the seed of short names
	text  string
	plain []byte // the text's escaped names, unescaped
}

// slot is a name of an object.
type slot struct {
	words  [2]uint64 // a short name, or a long one's place: in the text, or in plain
	object uint32
	length uint32
	hash   uint32
}

// inPlain is added to a long name's place where that is in plain.
const inPlain = 1 << 63

// reset forgets the text before.
func (s *nameSet) reset(text string) {
	if s.last > math.MaxInt32 || len(s.slots) > mostSlots {
		*s = nameSet{plain: s.plain}
	}
	if s.slots == nil {
		s.slots, s.seed = make([]slot, fewSlots), maphash.MakeSeed()
		s.mix = [2]uint64{maphash.String(s.seed, "a"), maphash.String(s.seed, "b")}
	}
	if cap(s.plain) > mostSlots {
		s.plain = nil
	}
	s.text, s.plain = text, s.plain[:0]
	s.taken, s.first = 0, s.last+1
}

// object returns the number of an object that begins.
func (s *nameSet) object() uint32 {
	s.last++
	return s.last
}

// add adds the name b[start:end], of the text's bytes, without its quotes. It returns
// false if the object has it already.
func (s *nameSet) add(b []byte, object uint32, start, end int, escaped bool) bool {
	n := end - start
	if n > shortName || start+shortName > len(b) || escaped {
		return s.addOther(b, object, start, end, escaped)
	}
	first, last := binary.LittleEndian.Uint64(b[start:]), binary.LittleEndian.Uint64(b[start+8:])
	if n <= 8 {
		first, last = first&^(math.MaxUint64<<(8*n)), 0
	} else {
		last &^= math.MaxUint64 << (8*n - 64)
	}
	return s.addShort(object, first, last, n)
}

// addKnown adds a name that is known, and not in the set.
func (s *nameSet) addKnown(object uint32, of *known) {
	n := len(s.plain)
	s.plain = of.content(s.plain)
	s.addText(object, s.plainText(n, len(s.plain)), uint64(n)|inPlain)
}

// addOther adds a name that is long, or escaped, or at the text's end.
func (s *nameSet) addOther(b []byte, object uint32, start, end int, escaped bool) bool {
	name, place := s.text[start:end], uint64(start)
	if escaped {
		n := len(s.plain)
		var err error
		if s.plain, err = jsontext.AppendUnquote(s.plain, b[start-1:end+1]); err != nil {
			return false
		}
		name, place = s.plainText(n, len(s.plain)), uint64(n)|inPlain
	}
	return s.addText(object, name, place)
}

func (s *nameSet) addText(object uint32, name string, place uint64) bool {
	if len(name) > shortName {
		return s.addLong(object, name, place)
	}
	var words [shortName]byte
	copy(words[:], name)
	return s.addShort(object, binary.LittleEndian.Uint64(words[:]), binary.LittleEndian.Uint64(words[8:]), len(name))
}

// plainText returns a piece of plain. What was appended to that is never changed,
// until the next text.
func (s *nameSet) plainText(start, end int) string {
	return unsafe.String(unsafe.SliceData(s.plain[start:end]), end-start)
}

// addShort adds a name of two words, which are filled up with zeros. Its hash is made
// as wyhash makes it.
func (s *nameSet) addShort(object uint32, first, last uint64, n int) bool {
	high, low := bits.Mul64(first^s.mix[0], last^s.mix[1]^uint64(n))
	hash, length := uint32(high^low), uint32(n)
	for i := home(hash, object); ; i++ {
		at := &s.slots[i&(len(s.slots)-1)]
		if at.object < s.first {
			at.words[0], at.words[1] = first, last
			at.object, at.length, at.hash = object, length, hash
			s.take()
			return true
		}
		if at.object == object && at.words[0] == first && at.words[1] == last && at.length == length {
			return false
		}
	}
}

func (s *nameSet) addLong(object uint32, name string, place uint64) bool {
	whole := maphash.String(s.seed, name)
	hash, length := uint32(whole), uint32(len(name))
	for i := home(hash, object); ; i++ {
		at := &s.slots[i&(len(s.slots)-1)]
		if at.object < s.first {
			*at = slot{[2]uint64{whole, place}, object, length, hash}
			s.take()
			return true
		}
		if at.object == object && at.words[0] == whole && at.length == length && s.long(at) == name {
			return false
		}
	}
}

// long returns a long name.
func (s *nameSet) long(at *slot) string {
	start := int(at.words[1] &^ inPlain)
	end := start + int(at.length)
	if at.words[1]&inPlain != 0 {
		return s.plainText(start, end)
	}
	return s.text[start:end]
}

// home returns the slot from which on a name is looked for. Objects have the same
// names, as a rule: an odd factor gives each its own places.
func home(hash, object uint32) int { return int(hash + object*0x9E3779B1) }

// take counts a slot, and makes more of them when half of them are taken.
func (s *nameSet) take() {
	if s.taken++; s.taken > len(s.slots)/2 {
		s.grow()
	}
}

func (s *nameSet) grow() {
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	for k := range old {
		if old[k].object < s.first {
			continue
		}
		i := home(old[k].hash, old[k].object)
		for s.slots[i&(len(s.slots)-1)].object != 0 {
			i++
		}
		s.slots[i&(len(s.slots)-1)] = old[k]
	}
}
