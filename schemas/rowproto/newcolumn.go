package rowproto

import (
	"slices"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// newColumn returns the column that takes the value of one that the table lacks, nil
// where the value says nothing: NULL, an empty array, an object of which that is all.
// depth is how many STRUCTs it is in.
func (v *evolver) newColumn(name string, value change.Value, depth int) (*table.Column, *ValueError) {
	if saysNothing(&value) {
		return nil, nil
	}
	switch value.Kind() {
	case change.KindUnavailable:
		return nil, refused(ReasonUnavailable, "the source left its unchanged value out, and the table doesn't have the column yet")
	case change.KindArray:
		return v.newArray(name, value, depth)
	default:
	}
	name = table.LegalName(strings.Clone(name))
	candidates, typed := v.growth.NewColumns(name, value)
	for i := range candidates {
		c := candidates[i]
		if c.Type == table.Struct && len(c.Fields) == 0 {
			var err *ValueError
			if c.Fields, err = v.newFields(value, depth+1); err != nil {
				return nil, err
			}
		}
		if v.takesAs(&c, &value) {
			return &c, nil
		}
	}
	if !typed {
		return nil, refused(ReasonUnknownColumn, "the table doesn't have it, and the message doesn't type its value: add it to the table, or set `untyped_columns` to infer or string")
	}
	return nil, bad("no type of BigQuery's holds its value exactly")
}

// saysNothing reports whether a value is none that a column could be for: NULL, a
// typed array without elements, which in BigQuery is NULL, and a typed object of such
// values alone.
func saysNothing(v *change.Value) bool {
	switch v.Kind() {
	case change.KindNull:
		return true
	case change.KindArray:
		return len(v.Elems()) == 0
	case change.KindStruct:
		return !slices.ContainsFunc(v.Elems(), func(c change.Column) bool { return !saysNothing(&c.Value) })
	default:
		return false
	}
}

func (v *evolver) newFields(value change.Value, depth int) ([]table.Column, *ValueError) {
	if depth > table.MaxNesting {
		return nil, refused(ReasonUnknownColumn, "its value nests deeper than BigQuery's %d STRUCTs", table.MaxNesting)
	}
	var fields []table.Column
	for _, member := range value.Elems() {
		f, err := v.newColumn(member.Name, member.Value, depth)
		if err != nil {
			return nil, err.under(strings.Clone(member.Name))
		}
		if f != nil {
			fields = append(fields, *f)
		}
	}
	return fields, nil
}

// newArray returns the column of a typed array: of the narrowest type that takes
// every element, or JSON where there is none.
func (v *evolver) newArray(name string, value change.Value, depth int) (*table.Column, *ValueError) {
	name = table.LegalName(strings.Clone(name))
	for _, element := range value.Elems() {
		c, err := v.newColumn(name, element.Value, depth)
		if err != nil {
			return nil, err
		}
		if c == nil || c.Mode == table.Repeated {
			break // a NULL, or an array in an array: neither is in one of BigQuery's
		}
		c.Mode = table.Repeated
		if v.takesAs(c, &value) {
			return c, nil
		}
	}
	c := &table.Column{Name: name, Type: table.JSON, Mode: table.Nullable}
	if !v.takesAs(c, &value) {
		return nil, bad("no type of BigQuery's holds its value exactly")
	}
	return c, nil
}

// takesAs reports whether a column takes the value as it is, NULLs in fields that it
// lacks left out.
func (v *evolver) takesAs(c *table.Column, value *change.Value) bool {
	adjusted, err := v.try(c, value)
	return err == nil && adjusted == 0
}

// try returns why a column doesn't take the value, and else how many policies acted on it.
func (v *evolver) try(c *table.Column, value *change.Value) (adjusted int, _ *ValueError) {
	scratch := Plan{name: v.plan.name}
	m, err := scratch.compileMessage([]table.Column{*c}, "")
	if err != nil {
		return 0, refused(ReasonUnknownColumn, "%w", err)
	}
	e := &Encoder{plan: &scratch, layouts: make([]layout, scratch.messages), ignoreUnknown: v.ignoreUnknown, nullUnknown: true}
	_, refusal := e.appendField(nil, &m.fields[0], value)
	return len(e.adjusted), refusal
}
