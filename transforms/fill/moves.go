package fill

import (
	"hash/fnv"

	"beamcdc/schemas/change"
)

// move identifies the change of one row's key: by the table, both keys, and the place
// in the source's log, without the last section, which tells the delete of the old key
// from the new key's row.
type move string

func moveOf(table string, from, to []byte, sequence change.Sequence) move {
	b := append([]byte(table), 0)
	b = appendBytes(b, from)
	b = appendBytes(b, to)
	sections := sequence.Sections()
	for _, section := range sections[:max(0, len(sections)-1)] {
		b = appendUvarint(b, section)
	}
	return move(b)
}

// moving is what a row had that moved to another key, as far as it is known.
type moving struct {
	move    move
	source  string // the table at the source
	told    uint32 // the higher of two is the later one
	columns []change.Column
	whole   bool // what it lacks was NULL
	partial bool // NULL is a value like others; see entry
	// parent is the move by which the row had come to the old key: it had there what
	// it lacks here. "" for none.
	parent move
}

// tell returns what rows had that moved to other keys, where that is news.
func (m *memory) tell(o *outcome, c *change.RowChange, s *settings) {
	if !s.fills {
		return
	}
	for i, e := range m.journal {
		if e.kind != change.Delete || e.movedTo == nil {
			continue
		}
		t := moving{move: moveOf(c.Table, c.Key, e.movedTo, e.sequence), source: c.Event.Table}
		for _, before := range m.journal[i+1:] {
			if before.kind == change.Delete {
				break
			}
			for _, column := range s.kept(before.columns, before.partial) {
				if _, ok := find(t.columns, column.Name); !ok {
					t.columns = append(t.columns, column)
				}
			}
			t.partial = before.partial
			if before.whole {
				t.whole = true
				break
			}
			if before.movedFrom != nil {
				t.parent = moveOf(c.Table, before.movedFrom, c.Key, before.sequence)
				break
			}
		}
		coded := t.append(nil)
		h := fnv.New64a()
		_, _ = h.Write(coded) // never fails
		if hash := h.Sum64(); e.told == 0 || e.toldHash != hash {
			e.told, e.toldHash = e.told+1, hash
			t.told = e.told
			o.told = append(o.told, t)
		}
	}
}

// waitingRow is a row that lacks some of what it had under the key before.
type waitingRow struct {
	change.RowChange
	from    move
	columns []string
}
