package enrichment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/change"
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

func (c *compiler) metadata(columns []table.MetadataColumn) {
	for i, m := range columns {
		key := "metadata." + m.Column
		if !slices.Contains(table.Metadatas, m.Of) {
			c.report(key, fmt.Errorf("%q is none of %s", string(m.Of), strings.Join(metadataWords(), ", ")))
			continue
		}
		if slices.ContainsFunc(columns[:i], func(b table.MetadataColumn) bool { return strings.EqualFold(m.Column, b.Column) }) {
			c.report(key, fmt.Errorf("column %s is there twice", m.Column))
		}
		column, err := c.output(c.step, m.Column)
		c.report(key, cmp.Or(err, readsAgain(column)))
		if column != nil && (column.Type != m.Of.Type() || column.Mode == table.Repeated) {
			c.report(key, fmt.Errorf("%s is a %s, and column %s is %s", m.Of, m.Of.Type(), m.Column, column.SQLType()))
		}
	}
}

func metadataWords() []string {
	words := make([]string, len(table.Metadatas))
	for i, m := range table.Metadatas {
		words[i] = string(m)
	}
	return words
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

// metadataValue returns what is known of a change.
func metadataValue(of table.Metadata, e *change.Event, sequence change.Sequence) change.Value {
	text := func(text string) change.Value {
		if text == "" {
			return change.Null()
		}
		return change.String(text)
	}
	switch of {
	case table.MetadataCommitTime:
		if e.CommitTime.IsZero() {
			return change.Null()
		}
		return change.Timestamp(e.CommitTime.UnixMicro())
	case table.MetadataPublishTime:
		if e.Message.PublishTime.IsZero() {
			return change.Null()
		}
		return change.Timestamp(e.Message.PublishTime.UnixMicro())
	case table.MetadataSequence:
		return text(sequence.String())
	case table.MetadataOperation:
		return text(e.Op.String())
	case table.MetadataPosition:
		if e.Sequence.IsZero() { // Position says then why there is none
			return change.Null()
		}
		return text(e.Position)
	case table.MetadataTransaction:
		return text(e.Transaction)
	case table.MetadataTable:
		return text(e.Table)
	case table.MetadataMessageID:
		return text(e.Message.ID)
	}
	return change.Null()
}
