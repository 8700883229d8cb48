package enrichment

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/expression"
	"beamcdc/schemas/table"
)

// known is a column that a row may have at some step.
type known struct {
	name   string
	column int // of the destination that it ends in, untouched but for its name; -1 where none does
}

// flow tells, for each step, which columns the row has after it, and which of these
// the primary key is made of. It is worked out from the last step to the first: a
// column has the type of the destination's that it ends in, and one that a step
// replaces or takes away has no type that could be known.
type flow struct {
	table *table.Table // nil where it is not known
	after [][]known    // by step; before the first one at [0], so that after step i it is [i+1]
	keys  [][]string   // by step alike: what the key's columns are called
}

func newFlow(steps []table.Step, t *table.Table) *flow {
	f := &flow{table: t, after: make([][]known, len(steps)+1), keys: make([][]string, len(steps)+1)}
	if t != nil {
		for i := range t.Columns {
			f.after[len(steps)] = append(f.after[len(steps)], known{t.Columns[i].Name, i})
		}
		f.keys[len(steps)] = t.PrimaryKey
	}
	for i := len(steps) - 1; i >= 0; i-- {
		f.after[i], f.keys[i] = before(&steps[i], f.after[i+1]), keysBefore(&steps[i], f.keys[i+1])
	}
	return f
}

// before returns the columns before a step, given those after it.
func before(s *table.Step, after []known) []known {
	columns := slices.Clone(after)
	forget := func(name string) {
		columns = slices.DeleteFunc(columns, func(k known) bool { return strings.EqualFold(k.name, name) })
	}
	untyped := func(name string) { forget(name); columns = append(columns, known{name, -1}) }
	for _, a := range s.Set {
		untyped(a.Column) // what a message has there may be of another type
	}
	for _, m := range s.Metadata {
		untyped(m.Column)
	}
	for _, name := range s.Drop {
		untyped(name)
	}
	if s.Lookup != nil {
		for _, pair := range s.Lookup.Columns {
			untyped(pair.Column)
		}
	}
	if s.Mask != nil && s.Mask.By != table.MaskNull {
		for _, name := range s.Mask.Columns {
			untyped(name)
		}
	}
	if s.Rename != nil {
		for _, r := range s.Rename {
			untyped(r.To)
		}
		for _, r := range s.Rename {
			forget(r.From)
			column := -1
			if k := find(after, r.To); k != nil {
				column = k.column
			}
			columns = append(columns, known{r.From, column})
		}
	}
	return columns
}

// keysBefore returns what the key's columns are called before a step.
func keysBefore(s *table.Step, after []string) []string {
	if s.Rename == nil {
		return after
	}
	keys := slices.Clone(after)
	for i := range keys {
		for _, r := range s.Rename {
			if strings.EqualFold(r.To, after[i]) {
				keys[i] = r.From
			}
		}
	}
	return keys
}

func find(columns []known, name string) *known {
	for i := range columns {
		if strings.EqualFold(columns[i].name, name) {
			return &columns[i]
		}
	}
	return nil
}

func has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// column returns the destination's column that one of the row's ends in, nil where
// that is not known. at is how many steps are behind.
func (f *flow) column(at int, name string) *table.Column {
	if k := find(f.after[at], name); k != nil && k.column >= 0 {
		return &f.table.Columns[k.column]
	}
	return nil
}

// place returns the column's place in the destination, or -1.
func (f *flow) place(at int, name string) int {
	if k := find(f.after[at], name); k != nil {
		return k.column
	}
	return -1
}

// fields returns the columns as expressions see them.
func (f *flow) fields(at int) []expression.Field {
	fields := make([]expression.Field, len(f.after[at]))
	for i, k := range f.after[at] {
		fields[i].Name = k.name
		if k.column >= 0 {
			c := &f.table.Columns[k.column]
			fields[i].Type, fields[i].Mode = c.Type, c.Mode
		}
	}
	return fields
}

// output returns why a step can't write a column: the table lacks it, it is of the
// primary key, or its From would read what the step wrote. step is from 0.
func (f *flow) output(step int, name string) (*table.Column, error) {
	if has(f.keys[step+1], name) {
		return nil, fmt.Errorf("column %s becomes part of the primary key: a delete tells of the key alone, so that only rename and a mask by sha256 or aes_siv may touch it", name)
	}
	return f.written(step, name)
}

// written is output for steps that may write a key.
func (f *flow) written(step int, name string) (*table.Column, error) {
	if f.table == nil {
		return nil, nil
	}
	k := find(f.after[step+1], name)
	switch {
	case k == nil:
		return nil, fmt.Errorf("%v has no column %s; add it to the table, or drop the column in a later step", f.table.Name, name)
	case k.column < 0:
		return nil, nil
	}
	return &f.table.Columns[k.column], nil
}
