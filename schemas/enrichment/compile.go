package enrichment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/expression"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// compiler collects everything that is wrong.
type compiler struct {
	*flow
	plan  *Plan
	open  bool
	step  int
	gone  []string // columns that a step before this one took away
	found []error
}

func (c *compiler) report(key string, err error) {
	if err != nil {
		c.found = append(c.found, &Problem{Key: fmt.Sprintf("enrich[%d].%s", c.step, key), Err: err})
	}
}

// Compile compiles a rule's steps for the table that its rows go to, as rows is
// compiled for it; nil where it is not known yet, so that only what a step says by
// itself is checked. open says that the source may have columns besides those that
// the table has and the steps name: an expression may use any then. The errors are
// *Problem, everything that is wrong at once.
func Compile(steps []table.Step, rows *rowproto.Plan, open bool) (*Plan, []error) {
	c := &compiler{plan: &Plan{rows: rows}, open: open || rows == nil}
	var t *table.Table
	if rows != nil {
		t = rows.Table()
		for _, name := range t.PrimaryKey {
			c.plan.keys = append(c.plan.keys, keyColumn{name: name})
		}
	}
	c.flow = newFlow(steps, t)
	for i := range steps {
		c.step = i
		c.compile(&steps[i])
		c.gone = goneAfter(&steps[i], c.gone)
	}
	for i := range c.plan.keys {
		c.plan.keys[i].source = c.keys[0][i]
	}
	if len(c.found) > 0 {
		return nil, c.found
	}
	return c.plan, nil
}

// goneAfter returns the columns that are gone after a step, given those before it.
func goneAfter(s *table.Step, gone []string) []string {
	gone = slices.Clone(gone)
	back := func(name string) {
		gone = slices.DeleteFunc(gone, func(g string) bool { return strings.EqualFold(g, name) })
	}
	gone = append(gone, s.Drop...)
	for _, r := range s.Rename {
		gone = append(gone, r.From)
	}
	for _, r := range s.Rename {
		back(r.To)
	}
	for _, a := range s.Set {
		back(a.Column)
	}
	for _, m := range s.Metadata {
		back(m.Column)
	}
	if s.Lookup != nil {
		for _, pair := range s.Lookup.Columns {
			back(pair.Column)
		}
	}
	return gone
}

func (c *compiler) compile(s *table.Step) {
	compiled := step{kind: s.Kind()}
	switch {
	case s.Lookup != nil:
		compiled.lookup = c.lookup(s.Lookup)
		c.plan.lookups = append(c.plan.lookups, compiled.lookup)
	case s.Set != nil:
		compiled.set = c.set(s.Set)
	case s.Where != "":
		compiled.where = c.expression("where", s.Where)
		if compiled.where != nil {
			c.report("where", compiled.where.CheckCondition())
		}
	case s.Metadata != nil:
		compiled.metadata = s.Metadata
		c.metadata(s.Metadata)
	case s.Rename != nil:
		compiled.rename = s.Rename
		c.rename(s.Rename)
	case s.Drop != nil:
		compiled.drop = s.Drop
		c.drop(s.Drop)
	case s.Mask != nil:
		compiled.mask = c.mask(s.Mask)
	}
	c.plan.steps = append(c.plan.steps, compiled)
}

func (c *compiler) expression(key, text string) *formula {
	r, err := expression.CompileRow(text, &expression.Scope{
		Row:    slices.DeleteFunc(c.fields(c.step), func(f expression.Field) bool { return has(c.gone, f.Name) }),
		Before: c.fields(0), Open: c.open,
	})
	if err != nil {
		problem, _, _ := strings.Cut(err.Error(), "\n") // CEL draws an arrow under the place
		c.report(key, errors.New(strings.Replace(problem, "ERROR: <input>:", "at ", 1)))
		return nil
	}
	compiled := &formula{Row: r}
	for _, name := range r.Columns() {
		compiled.row = append(compiled.row, c.place(c.step, name))
	}
	for _, name := range r.Before() {
		compiled.before = append(compiled.before, c.place(0, name))
	}
	return compiled
}

// set compiles assignments, which all see the row as it was before the step.
func (c *compiler) set(assignments []table.Assignment) []assignment {
	var compiled []assignment
	for i, a := range assignments {
		key := "set." + a.Column
		if slices.ContainsFunc(assignments[:i], func(b table.Assignment) bool { return strings.EqualFold(a.Column, b.Column) }) {
			c.report(key, fmt.Errorf("column %s is set twice in one step", a.Column))
		}
		r := c.expression(key, a.Expression)
		if r == nil {
			continue // what follows from that is not told
		}
		field := expression.Field{Name: a.Column}
		column, err := c.output(c.step, a.Column)
		c.report(key, cmp.Or(err, readsAgain(column)))
		if column != nil {
			field.Type, field.Mode = column.Type, column.Mode
		}
		c.report(key, r.Check(field))
		compiled = append(compiled, assignment{field, r})
	}
	return compiled
}

// readsAgain returns why a column's From would read what a step wrote.
func readsAgain(c *table.Column) error {
	if c != nil && c.From != "" {
		return fmt.Errorf("column %s has `from: %s`, which would read what this step writes; take it out, or write to another column", c.Name, c.From)
	}
	return nil
}

// rename checks names, which change all at once: {a: b, b: a} swaps two columns.
func (c *compiler) rename(renamings []table.Renaming) {
	for i, r := range renamings {
		key := "rename." + r.From
		for _, other := range renamings[:i] {
			if strings.EqualFold(other.From, r.From) || strings.EqualFold(other.To, r.To) {
				c.report(key, fmt.Errorf("%s and %s are of one name", r.From+": "+r.To, other.From+": "+other.To))
			}
		}
		_, err := c.written(c.step, r.To)
		if err == nil && has(c.keys[c.step+1], r.From) && !slices.ContainsFunc(renamings, func(o table.Renaming) bool { return strings.EqualFold(o.To, r.From) }) {
			err = fmt.Errorf("column %s is part of the primary key, and no other column gets its name", r.From)
		}
		c.report(key, err)
	}
}

func (c *compiler) drop(names []string) {
	for i, name := range names {
		key := fmt.Sprintf("drop[%d]", i)
		if has(c.keys[c.step+1], name) {
			c.report(key, fmt.Errorf("column %s is part of the primary key", name))
		} else if column := c.column(c.step+1, name); column != nil && column.Mode == table.Required {
			c.report(key, fmt.Errorf("column %s of the table is REQUIRED", name))
		}
		if has(names[:i], name) {
			c.report(key, fmt.Errorf("column %s is there twice", name))
		}
	}
}
