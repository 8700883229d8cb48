package enrichment

import (
	"slices"
	"strings"

	"beamcdc/schemas/expression"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// Plan is a rule's steps compiled for a table. It never changes and is safe for any
// number of goroutines; an [Enricher], which it makes, is for one.
type Plan struct {
	steps   []step
	rows    *rowproto.Plan // of the table; nil where it is not known
	keys    []keyColumn
	lookups []*lookup
	secrets []*table.SecretKey // of the masks that have a key
}

// step is one step, compiled. Exactly one of its parts is set.
type step struct {
	kind     string
	set      []assignment
	where    *formula
	metadata []table.MetadataColumn
	lookup   *lookup
	mask     *mask
	rename   []table.Renaming
	drop     []string
}

type assignment struct {
	column     expression.Field
	expression *formula
}

// formula is an expression, and the destination's columns that those it names end
// in: their places, -1 where that is not known.
type formula struct {
	*expression.Row
	row, before []int
}

// keyColumn is how a column of the primary key comes from the source's.
type keyColumn struct {
	name   string  // the destination's
	source string  // the source's
	masks  []*mask // in order
}

// Secrets returns the keys of the masks, as [Plan.NewEnricher] takes their bytes.
func (p *Plan) Secrets() []*table.SecretKey { return p.secrets }

// Lookups returns the lookups, as [Plan.NewEnricher] takes their indexes.
func (p *Plan) Lookups() []Join {
	joins := make([]Join, len(p.lookups))
	for i, l := range p.lookups {
		joins[i] = Join{Lookup: l.config, Reference: l.reference}
	}
	return joins
}

// Join is a lookup, and what of its reference is to be read.
type Join struct {
	Lookup    *table.Lookup
	Reference *Reference
}

// Sources returns the names of the source's columns that the table's row is made of:
// those that end in one of its columns, and those that a step reads.
func (p *Plan) Sources() []string {
	var needed []string
	need := func(names ...string) {
		for _, name := range names {
			if !has(needed, name) {
				needed = append(needed, name)
			}
		}
	}
	made := func(name string) {
		needed = slices.DeleteFunc(needed, func(n string) bool { return strings.EqualFold(n, name) })
	}
	if p.rows != nil {
		for _, c := range p.rows.Table().Columns {
			need(c.Name)
		}
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := &p.steps[i]
		for _, a := range s.set {
			made(a.column.Name)
		}
		for _, a := range s.set {
			need(a.expression.Columns()...)
		}
		if s.where != nil {
			need(s.where.Columns()...)
		}
		for _, m := range s.metadata {
			made(m.Column)
		}
		if s.lookup != nil {
			for _, pair := range s.lookup.config.Columns {
				made(pair.Column)
			}
			for _, pair := range s.lookup.config.Key {
				need(pair.Column)
			}
		}
		needed = renamedBack(s.rename, needed)
	}
	return needed
}

// renamedBack returns the names as they were before a rename.
func renamedBack(renamings []table.Renaming, names []string) []string {
	before := make([]string, 0, len(names))
	for _, name := range names {
		if i := slices.IndexFunc(renamings, func(r table.Renaming) bool { return strings.EqualFold(r.To, name) }); i >= 0 {
			name = renamings[i].From
		} else if slices.ContainsFunc(renamings, func(r table.Renaming) bool { return strings.EqualFold(r.From, name) }) {
			continue // it has another name now
		}
		if !has(before, name) {
			before = append(before, name)
		}
	}
	return before
}

// ChangesKey reports whether a column of the primary key has another name or is masked.
func (p *Plan) ChangesKey() bool {
	return slices.ContainsFunc(p.keys, func(k keyColumn) bool { return len(k.masks) > 0 || !strings.EqualFold(k.name, k.source) })
}
