package googlesql

import (
	"maps"
	"slices"
	"strings"
)

// Scan is what a statement reads of a table that a Resolver gave: BigQuery reads, and
// bills, the columns that are referred to, of the partitions that filters leave.
type Scan struct {
	// Table is the reference that the Resolver was asked for.
	Table *TableRef
	// All says that all columns are read, as of the rows that UPDATE, DELETE and MERGE
	// change, whatever they refer to.
	All bool
	// Filters are conditions that all rows which count fulfil, DuckDB's, on nothing but
	// the columns of Relation.Partitioning, under their own names.
	Filters []string

	columns      map[string]bool
	partitioning []string
}

// Columns are the columns that are read, in order.
func (s *Scan) Columns() []string { return slices.Sorted(maps.Keys(s.columns)) }

// columnRead is a column of a scan. A nil scan stands for what no filter may mention.
type columnRead struct {
	scan   *Scan
	column string
}

// origin is what a column of a FROM item is made of. It is read when the column is
// used, so that what no one uses of a subquery isn't read; nil is made of nothing.
type origin struct {
	reads []columnRead
	same  bool // it is the only one of reads, as it is
	// optional says that an outer join puts NULL where the table has no row: what finds
	// NULLs is no filter of the table.
	optional bool
	use      *cteUse
}

// cteUse is a column's way through a query of WITH's. What filters one reference to that
// is no filter of its tables if there are more.
type cteUse struct {
	references *int
	of         *cteUse // the way before; nil for none
}

// filtering is a filter that is being translated, or is one of a table if nothing else
// refers to what it is taken through.
type filtering struct {
	scan *Scan
	sql  string
	uses []*cteUse
	// optional says that it doesn't hold where an outer join has NULLs.
	optional bool
}

// mixed is the origin of what isn't a table's column any more.
func mixed(all ...*origin) *origin {
	result := &origin{}
	for _, o := range all {
		if o != nil {
			result.reads = append(result.reads, o.reads...)
		}
	}
	return result
}

// read notes that what a value is made of is read.
func (t *translator) read(o *origin) {
	if o == nil {
		return
	}
	if t.filter != nil {
		t.filter.uses = append(t.filter.uses, o.use)
	}
	for _, r := range o.reads {
		if t.filter != nil && o.optional && !t.filter.optional {
			r = columnRead{}
		}
		t.reading[r] = true
	}
}

// collect returns what f reads. Nobody else learns of it: who uses what f translated
// reads it.
func (t *translator) collect(f func()) *origin {
	around := t.reading
	t.reading = map[columnRead]bool{}
	f()
	o := &origin{reads: slices.Collect(maps.Keys(t.reading))}
	t.reading = around
	return o
}

// readColumns reads all columns of a relation.
func (t *translator) readColumns(r *relation) {
	for _, c := range r.columns {
		t.read(c.origin)
	}
}

// scan begins a table's Scan, and says of its columns that they are of it.
func (t *translator) scan(ref *TableRef, r Relation, v *rangeVar) {
	s := &Scan{Table: ref, columns: map[string]bool{}, partitioning: r.Partitioning}
	t.scans = append(t.scans, s)
	for i, c := range r.Columns {
		if v.columns[i].origin = c.origin; c.origin == nil {
			v.columns[i].origin = &origin{reads: []columnRead{{s, c.Name}}, same: true}
		}
	}
}

// finish puts what was read, and the filters, into the scans, and returns them.
func (t *translator) finish() []*Scan {
	for r := range t.reading {
		r.scan.columns[r.column] = true
	}
	for _, f := range t.filters {
		if !slices.ContainsFunc(f.uses, (*cteUse).shared) {
			f.scan.Filters = append(f.scan.Filters, f.sql)
		}
	}
	return t.scans
}

func (u *cteUse) shared() bool { return u != nil && (*u.references > 1 || u.of.shared()) }

// named are the columns of a query of WITH's, whose references are counted.
func named(columns []scopeColumn, references *int) []scopeColumn {
	columns = slices.Clone(columns)
	for i, c := range columns {
		if c.origin != nil {
			o := *c.origin
			o.use = &cteUse{references, o.use}
			columns[i].origin = &o
		}
	}
	return columns
}

// filterBy takes the conjuncts of a condition that filter partitions of items' tables.
// The condition was translated before: nothing is wrong with it.
func (t *translator) filterBy(e expr, s *scope, items []*rangeVar) {
	inner := &scope{clause: "WHERE clause"}
	found := false
	for _, v := range s.vars {
		copied := &rangeVar{name: v.name, columns: slices.Clone(v.columns)}
		for i := range copied.columns {
			found = copied.columns[i].onlyPartitioning(slices.Contains(items, v)) || found
		}
		if v.value != nil {
			whole := *v.value
			whole.origin = &origin{reads: []columnRead{{}}}
			copied.value = &whole
		}
		inner.vars = append(inner.vars, copied)
	}
	if !found {
		return
	}
	for _, c := range s.merged {
		c.onlyPartitioning(true)
		inner.merged = append(inner.merged, c)
	}
	for _, conjunct := range conjuncts(e) {
		if f := t.partitionFilter(conjunct, inner); f.scan != nil {
			t.filters = append(t.filters, f)
		}
	}
}

// onlyPartitioning makes the column its table's own if that is partitioned by it, and
// else one that no filter may mention.
func (c *scopeColumn) onlyPartitioning(may bool) bool {
	if may && c.origin != nil && c.origin.same {
		of := c.origin.reads[0]
		if slices.ContainsFunc(of.scan.partitioning, func(name string) bool { return strings.EqualFold(name, of.column) }) {
			c.sql = quoteName(of.column)
			return true
		}
	}
	c.origin = &origin{reads: []columnRead{{}}}
	return false
}

// mayMiss makes the items optional that a join adds rows of NULLs for; those from before
// on are its right side's.
func (s *scope) mayMiss(kind string, before int) {
	optional := func(columns []scopeColumn) {
		for i, c := range columns {
			if c.origin != nil {
				columns[i].origin = &origin{reads: c.origin.reads, same: c.origin.same, optional: true, use: c.origin.use}
			}
		}
	}
	if kind == "LEFT" || kind == "FULL" {
		for _, v := range s.vars[before:] {
			optional(v.columns)
		}
	}
	if kind == "RIGHT" || kind == "FULL" {
		for _, v := range s.vars[:before] {
			optional(v.columns)
		}
		optional(s.merged)
	}
}

// rejectsNull says of a condition, as far as it is one of the usual, that it doesn't hold
// for a column that is NULL.
func rejectsNull(e expr) bool {
	switch e := e.(type) {
	case *binaryExpr:
		return slices.Contains([]string{"=", "<", ">", "<=", ">=", "!=", "<>"}, e.op) && (strict(e.left) || strict(e.right))
	case *betweenExpr:
		return strict(e.of)
	case *inExpr:
		return strict(e.of) && !e.not
	case *isExpr:
		return e.what == "NULL" && e.not && strict(e.of)
	}
	return false
}

// strict says that an expression is a column, or NULL where that is.
func strict(e expr) bool {
	switch e := e.(type) {
	case *pathExpr, *parenExpr:
		return true
	case *callExpr:
		return len(e.args) > 0 && strict(e.args[0]) && (e.name == "DATE" || strings.HasSuffix(e.name, "_TRUNC"))
	}
	return false
}

func conjuncts(e expr) []expr {
	if b, ok := e.(*binaryExpr); ok && b.op == "AND" {
		return append(conjuncts(b.left), conjuncts(b.right)...)
	}
	return []expr{e}
}

// partitionFilter translates a conjunct for the one table that it mentions; the scan is
// nil if that isn't what it does. "the filter must be a constant expression": a subquery
// prunes nothing.
func (t *translator) partitionFilter(e expr, s *scope) (f *filtering) {
	around := t.reading
	f = &filtering{optional: rejectsNull(e)}
	t.reading, t.filter = map[columnRead]bool{}, f
	defer func() {
		reads := t.reading
		t.reading, t.filter = around, nil
		switch r := recover().(type) {
		case nil:
		case failure: // a subquery, or a column of a query around
			return
		default:
			panic(r)
		}
		var scan *Scan
		for r := range reads {
			if r.scan == nil || scan != nil && scan != r.scan {
				return
			}
			scan = r.scan
		}
		f.scan = scan
	}()
	f.sql = t.expr(e, s).sql
	return f
}
