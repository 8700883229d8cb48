package googlesql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// query translates a query that stands in outer.
func (t *translator) query(q *query, outer *scope) *relation {
	if t.filter != nil {
		fail(q.offset(), "Not supported: a subquery that filters partitions")
	}
	s := &scope{outer: outer, ctes: map[string]*relation{}}
	prefix := t.with(q, s)
	var r *relation
	switch body := q.body.(type) {
	case *selectNode:
		r = t.selectQuery(body, q, s)
	case *query:
		r = t.wrap(t.query(body, s), q, s)
	case *setNode:
		r = t.wrap(t.setOperation(body, s), q, s)
	}
	r.sql = prefix + r.sql
	return r
}

// wrap adds ORDER BY and LIMIT to a query that isn't a SELECT.
func (t *translator) wrap(r *relation, q *query, s *scope) *relation {
	if len(q.orderBy) == 0 && q.limit == nil {
		return r
	}
	v := t.rangeOf(r, "")
	inner := &scope{outer: s, vars: []*rangeVar{v}}
	wrapped := *r
	items := make([]string, len(r.columns))
	columns := make([]value, len(r.columns))
	alias := t.lastAlias()
	for i, c := range r.columns {
		items[i] = c.sql
		columns[i] = value{sql: alias + "." + c.sql, typ: c.typ, origin: c.origin}
	}
	if q.limit != nil { // a filter of the rows that are left is none of those before
		wrapped.columns = slices.Clone(r.columns)
		for i, c := range r.columns {
			wrapped.columns[i].origin = mixed(c.origin)
		}
	}
	wrapped.sql = "SELECT " + strings.Join(items, ", ") + " FROM (" + r.sql + ") AS " + alias
	wrapped.sql += t.orderBy(q.orderBy, inner, columns) + t.limit(q)
	return &wrapped
}

func (t *translator) lastAlias() string { return fmt.Sprintf("t%d", t.aliases) }

// rangeOf makes a FROM item of a relation, under a new alias.
func (t *translator) rangeOf(r *relation, name string) *rangeVar {
	alias := t.alias()
	v := &rangeVar{name: name}
	for _, c := range r.columns {
		c.sql = alias + "." + c.sql
		v.columns = append(v.columns, c)
	}
	if r.value != nil {
		v.setValue(value{sql: v.columns[0].sql, typ: r.value, origin: mixed(r.columns[0].origin)})
	}
	return v
}

// setValue makes the item one of values: its name is the value, and a STRUCT's fields
// are its columns.
func (v *rangeVar) setValue(whole value) {
	v.value = &whole
	if whole.typ.Kind != Struct {
		v.columns = []scopeColumn{{name: v.name, typ: whole.typ, sql: whole.sql, origin: whole.origin}}
		return
	}
	v.columns = nil
	for i, f := range whole.typ.Fields {
		v.columns = append(v.columns, scopeColumn{name: f.Name, typ: f.Type, sql: "struct_extract(" + whole.sql + ", " + quoteText(whole.typ.fieldName(i)) + ")", origin: whole.origin})
	}
}

// with translates WITH, whose names the query and each later of them may use.
func (t *translator) with(q *query, s *scope) string {
	if len(q.with) == 0 {
		return ""
	}
	sql := "WITH "
	if q.recursive {
		sql = "WITH RECURSIVE "
	}
	for i, c := range q.with {
		if s.ctes[fold(c.name.text)] != nil {
			fail(c.name.at, "Duplicate alias %s for WITH subquery", c.name.text)
		}
		alias := t.alias()
		var r *relation
		if union, ok := c.query.body.(*setNode); ok && q.recursive && strings.HasPrefix(union.op, "UNION") {
			r = t.recursive(c, union, alias, s)
		} else {
			r = t.query(c.query, s)
		}
		sql += comma(i) + alias + " AS (" + r.sql + ")"
		references := new(int)
		s.ctes[fold(c.name.text)] = &relation{sql: alias, columns: named(r.columns, references), value: r.value, references: references}
	}
	return sql + " "
}

// recursive translates one of WITH RECURSIVE's queries. The first operand of its UNION
// gives the columns, so the second can name the query itself.
func (t *translator) recursive(c cte, union *setNode, alias string, s *scope) *relation {
	first := t.body(union.left, s)
	first.columns = slices.Clone(first.columns)
	for i, c := range first.columns { // which aren't the table's alone
		first.columns[i].origin = mixed(c.origin)
	}
	inner := &scope{outer: s, ctes: map[string]*relation{fold(c.name.text): {sql: alias, columns: first.columns, value: first.value}}}
	second := t.body(union.right, inner)
	t.readColumns(first)
	t.readColumns(second)
	if len(first.columns) != len(second.columns) {
		fail(union.offset(), "Queries in %s have mismatched column count", union.op)
	}
	types := make([]*Type, len(first.columns))
	for i, c := range first.columns {
		types[i] = c.typ
	}
	r := *first
	r.sql = "(" + t.castColumns(first, types, union) + ") " + duckSet[union.op] + " (" + t.castColumns(second, types, union) + ")"
	return &r
}

func (t *translator) body(b queryBody, s *scope) *relation {
	switch b := b.(type) {
	case *selectNode:
		return t.selectQuery(b, &query{}, s)
	case *query:
		return t.query(b, s)
	case *setNode:
		return t.setOperation(b, s)
	}
	panic("googlesql: unknown query body")
}

var duckSet = map[string]string{"UNION ALL": "UNION ALL", "UNION DISTINCT": "UNION", "INTERSECT DISTINCT": "INTERSECT", "EXCEPT DISTINCT": "EXCEPT"}

func (t *translator) setOperation(n *setNode, s *scope) *relation {
	left, right := t.body(n.left, s), t.body(n.right, s)
	if len(left.columns) != len(right.columns) {
		fail(n.right.offset(), "Queries in %s have mismatched column count; query 1 has %d columns, query 2 has %d columns", n.op, len(left.columns), len(right.columns))
	}
	result := &relation{value: left.value}
	if n.op != "UNION ALL" { // which compare whole rows
		t.readColumns(left)
		t.readColumns(right)
	}
	types := make([]*Type, len(left.columns))
	for i, l := range left.columns {
		r := right.columns[i]
		types[i] = supertype([]value{{typ: l.typ, literal: l.typ.Kind == Null}, {typ: r.typ, literal: r.typ.Kind == Null}})
		if types[i] == nil {
			fail(n.right.offset(), "Column %d in %s has incompatible types: %s, %s", i+1, n.op, l.typ, r.typ)
		}
		l.typ = types[i]
		l.origin = mixed(l.origin, r.origin)
		result.columns = append(result.columns, l)
	}
	if result.value != nil {
		result.value = types[0]
	}
	result.sql = "(" + t.castColumns(left, types, n) + ") " + duckSet[n.op] + " (" + t.castColumns(right, types, n) + ")"
	return result
}

// castColumns makes a relation's columns these types.
func (t *translator) castColumns(r *relation, types []*Type, n *setNode) string {
	items := make([]string, len(types))
	same := true
	for i, c := range r.columns {
		items[i] = c.sql
		if !c.typ.SameAs(types[i]) {
			same = false
			cast, ok := t.coerce(value{sql: c.sql, typ: c.typ, literal: c.typ.Kind == Null}, types[i])
			if !ok {
				fail(n.offset(), "Column %d in %s has incompatible types: %s, %s", i+1, n.op, types[i], c.typ)
			}
			items[i] = cast.sql + " AS " + c.sql
		}
	}
	if same {
		return r.sql
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM (" + r.sql + ") AS " + t.alias()
}

// orderBy translates a query's ORDER BY, where a whole number is a column's position.
func (t *translator) orderBy(items []orderItem, s *scope, columns []value) string {
	if len(items) == 0 {
		return ""
	}
	keys := make([]string, len(items))
	for i, o := range items {
		n, ok := ordinal(o.of)
		if ok && n >= 1 && n <= len(columns) {
			t.read(columns[n-1].origin)
		}
		switch {
		case !ok:
			keys[i] = orderKey(t.expr(o.of, s), o)
		case n < 1 || n > len(columns):
			fail(o.of.offset(), "ORDER BY column number %d is out of range: the query has %d columns", n, len(columns))
		case columns[n-1].typ.Kind == Float64:
			keys[i] = orderKey(columns[n-1], o)
		default:
			orderKey(columns[n-1], o) // which refuses types that have no order
			keys[i] = strconv.Itoa(n) + order(o)
		}
	}
	return " ORDER BY " + strings.Join(keys, ", ")
}

// orderKey is an item of ORDER BY. BigQuery has NULL first, then NaN, then numbers.
func orderKey(v value, o orderItem) string {
	switch v.typ.Kind {
	case Array, Struct, JSON, Geography:
		fail(o.of.offset(), "ORDER BY does not support expressions of type %s", v.typ)
	case Float64:
		if o.desc {
			return fmt.Sprintf("isnan(%s) ASC%s, %s%s", v.sql, nullOrder(o), v.sql, order(o))
		}
		return fmt.Sprintf("isnan(%s) DESC%s, %s%s", v.sql, nullOrder(o), v.sql, order(o))
	default:
	}
	return v.sql + order(o)
}

// order is an item's direction. NULL is less than any value in BigQuery.
func order(o orderItem) string {
	if o.desc {
		return " DESC" + nullOrder(o)
	}
	return " ASC" + nullOrder(o)
}

func nullOrder(o orderItem) string {
	if o.nulls == "FIRST" || o.nulls == "" && !o.desc {
		return " NULLS FIRST"
	}
	return " NULLS LAST"
}

func ordinal(e expr) (int, bool) {
	l, ok := e.(*literal)
	if !ok || l.kind != Int64 {
		return 0, false
	}
	n, err := strconv.Atoi(l.text)
	return n, err == nil
}

func (t *translator) limit(q *query) string {
	if q.limit == nil {
		return ""
	}
	sql := " LIMIT " + t.count(q.limit, "LIMIT")
	if q.skip != nil {
		sql += " OFFSET " + t.count(q.skip, "OFFSET")
	}
	return sql
}

// count is LIMIT's or OFFSET's number: a literal or a parameter, and not negative.
func (t *translator) count(e expr, clause string) string {
	v := t.expr(e, nil)
	if !v.literal || v.typ.Kind != Int64 || strings.Contains(v.sql, "-") {
		fail(e.offset(), "%s expects a non-negative integer literal or parameter", clause)
	}
	return v.sql
}
