package scan

import (
	"hash/maphash"
	"math"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// A nameSet's slots: those that it begins with, and those that it keeps from one
// text to the next.
const (
	fewSlots  = 1 << 8
	mostSlots = 1 << 16 // 1 MiB
)

// nameSet finds a name that is twice in an object. It is one hash table for all
// objects of a text, whose slots are told apart by the number of the object, which
// grows from object to object and from text to text: nothing is cleared between
// them. The hash has a seed that nobody outside knows, so that no text can make all
// of its names share a slot.
type nameSet struct {
	slots  []slot // a power of two of them, at most half of them taken
	taken  int    // by names of the text
	first  uint32 // the number of the text's first object: lower ones are others'
	last   uint32 // the number of the last object
	seed   maphash.Seed
	text   string
	quoted []byte // scratch
	plain  []byte // the text's escaped names, unescaped
	probes int    // how many slots were looked at, for tests
}

// slot is a name of an object: text[start:end], or plain[^start:^end].
type slot struct {
	hash, object uint32
	start, end   int32
}

// reset forgets the text before.
func (s *nameSet) reset(text string) {
	if s.last > math.MaxInt32 || len(s.slots) > mostSlots {
		*s = nameSet{plain: s.plain}
	}
	if s.slots == nil {
		s.slots, s.seed = make([]slot, fewSlots), maphash.MakeSeed()
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

// add adds the name text[start:end], in its quotes. It returns false if the object
// has it already.
func (s *nameSet) add(object uint32, start, end int, escaped bool) bool {
	added := slot{object: object, start: int32(start + 1), end: int32(end - 1)}
	if escaped {
		n := len(s.plain)
		var err error
		if s.plain, err = jsontext.AppendUnquote(s.plain, s.text[start:end]); err != nil {
			return false
		}
		added.start, added.end = ^int32(n), ^int32(len(s.plain))
	}
	name := s.name(&added)
	at := maphash.String(s.seed, name)
	added.hash = uint32(at >> 32)
	for i := s.index(&added); ; i++ {
		s.probes++
		switch at := &s.slots[i&(len(s.slots)-1)]; {
		case at.object < s.first:
			*at = added
			if s.taken++; s.taken > len(s.slots)/2 {
				s.grow()
			}
			return true
		case at.object == object && at.hash == added.hash && s.name(at) == name:
			return false
		}
	}
}

// index returns the slot from which on a name's is looked for. Objects have the same
// names, as a rule: an odd factor gives each its own places.
func (s *nameSet) index(of *slot) int { return int(of.hash + of.object*0x9E3779B1) }

func (s *nameSet) name(of *slot) string {
	if of.start < 0 {
		// What was appended is never changed, until the next text.
		return unsafe.String(unsafe.SliceData(s.plain[^of.start:]), ^of.end-^of.start)
	}
	return s.text[of.start:of.end]
}

// grow doubles the slots, and keeps the text's names.
func (s *nameSet) grow() {
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	for k := range old {
		if old[k].object < s.first {
			continue
		}
		i := s.index(&old[k])
		for s.slots[i&(len(s.slots)-1)].object != 0 {
			i++
		}
		s.slots[i&(len(s.slots)-1)] = old[k]
	}
}
