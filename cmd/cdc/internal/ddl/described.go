package ddl

import (
	"cmp"
	"slices"
)

// described collects a database's tables from the rows that describe their columns.
type described struct {
	sources []*Source
	byName  map[string]*Source
	keys    map[string][]keyColumn
}

type keyColumn struct {
	name  string
	place int // in the key
}

// table returns the table of that name, which is added where it is new.
func (d *described) table(name, description string) *Source {
	s := d.byName[name]
	if s == nil {
		if d.byName == nil {
			d.byName, d.keys = make(map[string]*Source), make(map[string][]keyColumn)
		}
		s = &Source{Name: name, Description: description}
		d.byName[name] = s
		d.sources = append(d.sources, s)
	}
	return s
}

func (d *described) key(name, column string, place int) {
	if slices.ContainsFunc(d.keys[name], func(k keyColumn) bool { return k.name == column }) {
		return // another version of the same schema
	}
	d.keys[name] = append(d.keys[name], keyColumn{column, place})
}

// done returns the tables.
func (d *described) done() []*Source {
	for _, s := range d.sources {
		key := d.keys[s.Name]
		slices.SortFunc(key, func(a, b keyColumn) int { return cmp.Compare(a.place, b.place) })
		for _, k := range key {
			s.Key = append(s.Key, k.name)
		}
		if len(key) == 0 {
			s.note("the source's table has no primary key")
		}
	}
	return d.sources
}
