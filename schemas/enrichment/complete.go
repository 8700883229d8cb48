package enrichment

import (
	"slices"
	"strings"

	"beamcdc/schemas/expression"
	"beamcdc/schemas/table"
)

// Complete returns the rule with the columns that its steps add to the row and that
// it doesn't list, as far as their types are known: those of metadata, and those of set
// whose expression gives a BOOL, INT64, FLOAT64, STRING, BYTES or TIMESTAMP. Of the
// others (what a lookup finds, a decimal) a rule must say what they are. The errors are
// the compiler's, of expressions that can't be compiled.
func Complete(r *table.Rule) (*table.Rule, []error) {
	if len(r.Enrich) == 0 || len(r.Columns) == 0 {
		return r, nil
	}
	completed := *r
	completed.Columns = slices.Clone(r.Columns)
	row := fieldsOf(r.Columns)
	var errs []error
	for i := range r.Enrich {
		s := &r.Enrich[i]
		add := func(name string, of table.Type) {
			last := lastName(r.Enrich[i+1:], name)
			if of != "" && last != "" && !slices.ContainsFunc(completed.Columns, func(c table.Column) bool { return strings.EqualFold(c.Name, last) }) {
				completed.Columns = append(completed.Columns, table.Column{Name: last, Type: of})
			}
			row = append(slices.DeleteFunc(row, func(f expression.Field) bool { return strings.EqualFold(f.Name, name) }), expression.Field{Name: name, Type: of})
		}
		for _, m := range s.Metadata {
			add(m.Column, m.Of.Type())
		}
		scope := &expression.Scope{Row: slices.Clone(row), Open: true}
		for _, a := range s.Set {
			compiled, err := expression.CompileRow(a.Expression, scope)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			add(a.Column, compiled.TypeOf())
		}
	}
	return &completed, errs
}

// lastName returns what a column is called after the steps, "" where it is dropped or
// its values are replaced by what has another type.
func lastName(steps []table.Step, name string) string {
	for i := range steps {
		if slices.ContainsFunc(steps[i].Drop, func(d string) bool { return strings.EqualFold(d, name) }) {
			return ""
		}
		if m := steps[i].Mask; m != nil && m.By != table.MaskNull && has(m.Columns, name) {
			return ""
		}
		for _, r := range steps[i].Rename {
			if strings.EqualFold(r.From, name) {
				name = r.To
				break
			}
		}
	}
	return name
}

func fieldsOf(columns []table.Column) []expression.Field {
	fields := make([]expression.Field, len(columns))
	for i := range columns {
		fields[i] = expression.Field{Name: columns[i].Name, Type: columns[i].Type, Mode: columns[i].Mode}
	}
	return fields
}
