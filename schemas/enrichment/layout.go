package enrichment

import (
	"slices"
	"strings"

	"beamcdc/schemas/change"
)

// layout is where the steps find the columns of a row of some shape: the names of its
// columns, in order. Rows of one table mostly have the shape of the one before.
//
// Each column has a slot, and keeps it under whatever name: rename and drop are done
// here, once for all rows of the shape.
type layout struct {
	names []string // of the row
	slots []string // what is in them, by its last name
	steps []stepLayout
	out   []int // the slots of the row that comes out
}

// stepLayout is where one step finds its columns.
type stepLayout struct {
	reads     [][]int // by expression, or of the key: slots, -1 for a column that the row lacks
	writes    []int   // slots; -1 for one that a mask leaves alone since the row lacks it
	fresh     int     // the first slot of set's results before they are written
	ambiguous string  // the column that two of the row match, and
	err       error   // that it is so
}

func (l *layout) fits(row []change.Column) bool {
	if l.steps == nil || len(row) != len(l.names) {
		return false
	}
	for i := range row {
		if row[i].Name != l.names[i] {
			return false
		}
	}
	return true
}

// make makes the layout that of the row.
func (l *layout) make(p *Plan, row []change.Column) {
	*l = layout{steps: make([]stepLayout, len(p.steps))}
	b := layoutBuilder{layout: l}
	for i := range row {
		name := strings.Clone(row[i].Name) // it may share a message's memory
		l.names, l.slots = append(l.names, name), append(l.slots, name)
		b.live = append(b.live, i)
	}
	for i := range p.steps {
		b.at = &l.steps[i]
		b.step(&p.steps[i])
	}
	l.out = b.live
}

type layoutBuilder struct {
	*layout
	at   *stepLayout
	live []int // the slots that are columns of the row, in order
}

func (b *layoutBuilder) step(s *step) {
	switch {
	case s.where != nil:
		b.reads(s.where)
	case s.set != nil:
		for i := range s.set {
			b.reads(s.set[i].expression)
		}
		b.at.fresh = len(b.slots)
		b.slots = append(b.slots, make([]string, len(s.set))...)
		for i := range s.set {
			b.write(s.set[i].column.Name)
		}
	case s.metadata != nil:
		for _, m := range s.metadata {
			b.write(m.Column)
		}
	case s.lookup != nil:
		var slots []int
		for i := range s.lookup.key {
			slots = append(slots, b.find(s.lookup.key[i].Name))
		}
		b.at.reads = append(b.at.reads, slots)
		for _, pair := range s.lookup.config.Columns {
			b.write(pair.Column)
		}
	case s.mask != nil:
		for _, name := range s.mask.columns {
			b.at.writes = append(b.at.writes, b.find(name))
		}
	case s.rename != nil:
		slots := make([]int, len(s.rename))
		for i, r := range s.rename {
			slots[i] = b.find(r.From)
		}
		for i, r := range s.rename {
			if slots[i] >= 0 {
				b.slots[slots[i]] = r.To
			}
		}
	case s.drop != nil:
		for _, name := range s.drop {
			b.live = slices.DeleteFunc(b.live, func(slot int) bool { return strings.EqualFold(b.slots[slot], name) })
		}
	}
}

// reads notes the columns that an expression uses.
func (b *layoutBuilder) reads(r *formula) {
	slots := make([]int, len(r.Columns()))
	for i, name := range r.Columns() {
		slots[i] = b.find(name)
	}
	b.at.reads = append(b.at.reads, slots)
}

// write notes a column that the step writes, a new one where the row lacks it.
func (b *layoutBuilder) write(name string) {
	slot := b.find(name)
	if slot < 0 {
		slot = len(b.slots)
		b.slots = append(b.slots, name)
		b.live = append(b.live, slot)
	}
	b.at.writes = append(b.at.writes, slot)
}

// find returns the slot of the column with the name, -1 for none. Names are matched as
// BigQuery does, and two that match are the row's mistake.
func (b *layoutBuilder) find(name string) int {
	found := -1
	for _, slot := range b.live {
		switch {
		case !strings.EqualFold(b.slots[slot], name):
		case found >= 0:
			b.at.ambiguous, b.at.err = name, errAmbiguous
		default:
			found = slot
		}
	}
	return found
}
