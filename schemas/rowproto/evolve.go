package rowproto

import (
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Evolution is what a row asks of its table, so that it can be written.
type Evolution struct {
	// Alterations are what the table lacks, in the order of the row.
	Alterations []table.Alteration
	// Row is the row as it is to be encoded once the table has them: a value that its
	// column can't hold is in the column beside it. Like what it was made from, it
	// shares the message's memory.
	Row []change.Column
}

// Evolve finds out what a row that was refused asks of its table:
//
//	refused because of     asks for
//	an unknown column      that column, of the type that its value says; NULL asks for nothing
//	a NULL                 NULLABLE instead of REQUIRED
//	a value                a type that holds it, where BigQuery changes the column's to one; else a
//	                       column beside, for a value of another type than the column's
//
// A field of a STRUCT gets new fields, and is relaxed; its type stays. A key column
// never changes: its bytes would. impossible are alterations that BigQuery has
// refused, by their Keys.
//
// The error is a *ValueError: why nothing helps.
func (e *Encoder) Evolve(row []change.Column, o RowOptions, g *table.Growth, impossible map[string]bool) (Evolution, error) {
	v := evolver{Encoder: e, growth: g, impossible: impossible, options: o}
	e.adjusted, e.ignoreUnknown, e.nullUnknown = e.adjusted[:0], o.IgnoreUnknown, true
	if err := v.row(row); err != nil {
		err.Table = e.plan.name
		return Evolution{}, err
	}
	return Evolution{Alterations: v.alterations, Row: v.out}, nil
}

type evolver struct {
	*Encoder

	growth      *table.Growth
	impossible  map[string]bool
	options     RowOptions
	alterations []table.Alteration
	out         []change.Column
}

func (v *evolver) ask(kind table.AlterationKind, c table.Column, path ...string) {
	v.alterations = append(v.alterations, table.Alteration{Kind: kind, Path: slices.Clone(path), Column: c})
}

func (v *evolver) row(row []change.Column) *ValueError {
	root := v.plan.root
	l := &v.layouts[root.id]
	l.match(root, row)
	v.out = slices.Clone(row)
	for i := range root.fields {
		f := &root.fields[i]
		at := l.slots[i]
		var err *ValueError
		switch {
		case at == ambiguous:
			err = ambiguousColumn()
		case at >= 0:
			err = v.column(f, at)
		case f.required && !f.key && !v.options.AbsentUnavailable:
			v.ask(table.RelaxColumn, table.Column{}, f.name)
		}
		if err != nil {
			return err.under(f.name)
		}
	}
	for _, at := range l.unknowns {
		c, err := v.newColumn(row[at].Name, row[at].Value, 0)
		if err != nil {
			return err.under(strings.Clone(row[at].Name))
		}
		if c != nil {
			v.ask(table.AddColumn, *c, c.Name)
		}
	}
	return nil
}

// column asks for what lets the field take the row's value.
func (v *evolver) column(f *field, at int) *ValueError {
	value := &v.out[at].Value
	_, err := v.appendField(nil, f, value)
	switch {
	case err == nil:
		return nil
	case f.key:
		return err
	case err.Reason == ReasonNullRequired && err.Column == "":
		v.ask(table.RelaxColumn, table.Column{}, f.name)
		return nil
	case err.Reason == ReasonNullRequired || err.Reason == ReasonUnknownColumn:
		asked := len(v.alterations)
		if v.fields(f, value, []string{f.name}) != nil || len(v.alterations) == asked {
			return err
		}
		// Another field may hold what it can't, or have a name that BigQuery doesn't take.
		altered := table.Altered([]table.Column{*f.column}, v.alterations[asked:])
		_, err = v.try(&altered[0], value)
		return err
	case err.Reason != ReasonBadValue || f.column.Type == table.Struct:
		return err
	}
	for _, w := range table.Wider(f.column) {
		a := table.Alteration{Kind: table.WidenColumn, Path: []string{f.name}, Column: w}
		if v.takesAs(&w, value) && !v.impossible[a.Key()] {
			v.alterations = append(v.alterations, a)
			return nil
		}
	}
	for _, b := range v.growth.Beside(f.column, *value) {
		if v.beside(f, at, &b) {
			return nil
		}
	}
	return err
}

// beside moves the row's value to column b, and reports whether that takes it.
func (v *evolver) beside(f *field, at int, b *table.Column) bool {
	value := v.out[at].Value
	if slices.ContainsFunc(v.out, func(c change.Column) bool { return strings.EqualFold(c.Name, b.Name) }) {
		return false // the source has one of that name
	}
	if i := v.plan.root.find(b.Name); i >= 0 {
		if !v.takesAs(v.plan.root.fields[i].column, &value) {
			return false
		}
	} else {
		if !v.takesAs(b, &value) {
			return false
		}
		v.ask(table.AddColumn, *b, b.Name)
	}
	if f.required {
		v.ask(table.RelaxColumn, table.Column{}, f.name)
	}
	v.out[at].Value = change.Null()
	v.out = append(v.out, change.Column{Name: b.Name, Value: value})
	return true
}

// fields asks for the fields that a STRUCT's value has and the STRUCT lacks, and for
// those to be relaxed that it lacks.
func (v *evolver) fields(f *field, value *change.Value, path []string) *ValueError {
	switch value.Kind() {
	case change.KindNull, change.KindUnavailable:
		return nil
	default:
	}
	if f.repeated {
		return v.elements(value, func(element *change.Value) *ValueError {
			single := *f
			single.repeated = false
			return v.fields(&single, element, path)
		})
	}
	columns, done, err := v.members(value)
	defer done()
	if err != nil {
		return err
	}
	present := make([]bool, len(f.message.fields))
	for i := range columns {
		c := &columns[i]
		under := append(slices.Clone(path), strings.Clone(c.Name))
		at := f.message.find(c.Name)
		if at < 0 {
			added, err := v.newColumn(c.Name, c.Value, len(path))
			if err != nil {
				return err
			}
			if added != nil {
				v.ask(table.AddColumn, *added, under...)
			}
			continue
		}
		nested := &f.message.fields[at]
		present[at] = true
		switch {
		case c.Value.IsNull() && nested.required:
			v.ask(table.RelaxColumn, table.Column{}, under...)
		case nested.column.Type == table.Struct:
			if err := v.fields(nested, &c.Value, under); err != nil {
				return err
			}
		}
	}
	for i := range present {
		if nested := &f.message.fields[i]; nested.required && !present[i] {
			v.ask(table.RelaxColumn, table.Column{}, append(slices.Clone(path), nested.name)...)
		}
	}
	return nil
}

// members returns an object's members, good until done is called.
func (v *evolver) members(value *change.Value) (columns []change.Column, done func(), err *ValueError) {
	if value.Kind() == change.KindStruct {
		return value.Elems(), func() {}, nil
	}
	columns, err = v.documents.open(value.Text(), '{')
	return columns, v.documents.close, err
}

// elements calls visit for an array's elements.
func (v *evolver) elements(value *change.Value, visit func(*change.Value) *ValueError) *ValueError {
	columns := value.Elems()
	if value.Kind() != change.KindArray {
		var err *ValueError
		columns, err = v.documents.open(value.Text(), '[')
		defer v.documents.close()
		if err != nil {
			return err
		}
	}
	for i := range columns {
		if err := visit(&columns[i].Value); err != nil {
			return err
		}
	}
	return nil
}
