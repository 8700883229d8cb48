package googlesql

import (
	"errors"
	"fmt"
	"strings"
)

// from translates a FROM item and adds it to the scope, which what follows sees.
func (t *translator) from(n fromNode, s *scope) string {
	switch n := n.(type) {
	case *TableRef:
		return t.tableRef(n, s)
	case *subqueryRef:
		r := t.query(n.query, s.siblingless())
		v := t.rangeOf(r, n.alias)
		s.add(v, n.offset())
		return "(" + r.sql + ") AS " + t.lastAlias()
	case *unnestRef:
		return "LATERAL " + t.unnest(n, s)
	case *joinNode:
		return t.join(n, s)
	}
	panic("googlesql: unknown FROM item")
}

// siblingless is the scope of a subquery in FROM, which doesn't see its neighbors, but does
// see WITH's names.
func (s *scope) siblingless() *scope {
	return &scope{outer: s.outer, ctes: s.ctes}
}

func (s *scope) add(v *rangeVar, at int) {
	for _, other := range s.vars {
		if v.name != "" && strings.EqualFold(other.name, v.name) {
			fail(at, "Duplicate table alias %s in the same FROM clause", v.name)
		}
	}
	s.vars = append(s.vars, v)
}

func (t *translator) tableRef(ref *TableRef, s *scope) string {
	if ref.Function == "" && len(ref.Path) == 1 {
		if r := s.cte(ref.Path[0]); r != nil {
			if ref.asOf != nil {
				fail(ref.offset(), "FOR SYSTEM_TIME AS OF is not allowed for a WITH query")
			}
			if r.references != nil {
				*r.references++
			}
			v := t.rangeOf(r, orElse(ref.alias, ref.Path[0]))
			s.add(v, ref.offset())
			return r.sql + " AS " + t.lastAlias()
		}
	}
	if ref.Function == "" && len(ref.Path) > 1 && s.local(ref.Path[0]) {
		return "LATERAL " + t.unnest(&unnestRef{at: ref.at, of: pathOf(ref), alias: orElse(ref.alias, ref.Path[len(ref.Path)-1])}, s)
	}
	sql, v, _ := t.table(ref)
	s.add(v, ref.offset())
	return sql
}

// local says whether a FROM item before has the name: a path that begins with it
// is an array, not a table.
func (s *scope) local(name string) bool {
	for ; s != nil; s = s.outer {
		if s.variable(name) != nil {
			return true
		}
	}
	return false
}

// table asks the resolver for a table.
func (t *translator) table(ref *TableRef) (string, *rangeVar, Relation) {
	resolved := *ref
	resolved.AsOf = t.moment(ref.asOf)
	resolved.Start, resolved.End = t.moment(ref.start), t.moment(ref.end)
	if t.options.Resolver == nil {
		fail(ref.offset(), "Not found: Table %s", strings.Join(ref.Path, "."))
	}
	relation, err := t.options.Resolver.Table(&resolved)
	if err != nil {
		if placed, ok := errors.AsType[*Error](err); ok {
			panic(failure{ref.offset(), placed.Message, placed.cause}) // its position is in a view's text
		}
		fail(ref.offset(), "%s", err)
	}
	alias := t.alias()
	v := &rangeVar{name: orElse(ref.alias, ref.Path[len(ref.Path)-1])}
	for _, c := range relation.Columns {
		v.columns = append(v.columns, scopeColumn{name: c.Name, typ: c.Type, sql: alias + "." + quoteName(c.Name), hidden: c.Hidden})
	}
	t.scan(&resolved, relation, v)
	return relation.SQL + " AS " + alias, v, relation
}

// moment translates a constant TIMESTAMP expression.
func (t *translator) moment(e expr) string {
	if e == nil {
		return ""
	}
	v, ok := t.coerce(t.expr(e, nil), Of(Timestamp))
	if !ok {
		fail(e.offset(), "Expected a TIMESTAMP, but got %s", v.typ)
	}
	return v.sql
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// unnest translates UNNEST to a subquery that may refer to the items before it.
func (t *translator) unnest(n *unnestRef, s *scope) string {
	array := t.expr(n.of, s.within("FROM clause"))
	if array.typ.Kind == Null {
		array.typ = ArrayOf(Of(Int64))
		array.sql = "CAST(NULL AS BIGINT[])"
	}
	if array.typ.Kind != Array {
		fail(n.of.offset(), "Values referenced in UNNEST must be arrays. UNNEST contains expression of type %s", array.typ)
	}
	alias := t.alias()
	v := &rangeVar{name: n.alias}
	v.setValue(value{sql: alias + ".v", typ: array.typ.Elem})
	s.add(v, n.offset())
	if !n.ordinal {
		return fmt.Sprintf("(SELECT unnest(%s) AS v) AS %s", array.sql, alias)
	}
	position := orElse(n.position, "offset")
	s.add(&rangeVar{name: position, columns: []scopeColumn{{name: position, typ: Of(Int64), sql: alias + ".o"}}}, n.offset())
	s.vars[len(s.vars)-1].name = ""
	return fmt.Sprintf("(SELECT unnest(a) AS v, unnest(range(len(a))) AS o FROM (SELECT %s AS a)) AS %s", array.sql, alias)
}

func (t *translator) join(n *joinNode, s *scope) string {
	left := t.from(n.left, s)
	before := len(s.vars)
	right := t.from(n.right, s)
	lateral := strings.HasPrefix(right, "LATERAL ")
	if _, nested := n.right.(*joinNode); nested {
		right = "(" + right + ")"
	}
	if n.kind == "CROSS" {
		return left + " CROSS JOIN " + right
	}
	on := "true"
	switch {
	case n.on != nil:
		on = t.condition(n.on, s.within("JOIN ON clause"), "JOIN ON clause")
		switch n.kind {
		case "INNER":
			t.filterBy(n.on, s, s.vars)
		case "LEFT":
			t.filterBy(n.on, s, s.vars[before:])
		case "RIGHT":
			t.filterBy(n.on, s, s.vars[:before])
		}
		s.mayMiss(n.kind, before)
	case n.using != nil:
		s.mayMiss(n.kind, before)
		on = t.using(n, s, before)
	case !lateral:
		fail(n.offset(), "Syntax error: %s JOIN must have an immediately following ON or USING clause", n.kind)
	}
	return left + " " + n.kind + " JOIN " + right + " ON " + on
}

// using translates USING's columns to a condition, and makes one column of each two.
func (t *translator) using(n *joinNode, s *scope, before int) string {
	left := &scope{vars: s.vars[:before], merged: s.merged}
	right := &scope{vars: s.vars[before:]}
	var conditions []string
	var merged []scopeColumn
	for _, column := range n.using {
		l, okLeft := left.column(column)
		r, okRight := right.column(column)
		if !okLeft || !okRight {
			fail(column.at, "Column %s in USING clause not found on %s side of join", column.text, map[bool]string{true: "right", false: "left"}[okLeft])
		}
		t.read(mixed(l.origin, r.origin))
		conditions = append(conditions, t.compare("=", l, r, column.at).sql)
		c := scopeColumn{name: column.text, typ: l.typ, sql: l.sql, origin: l.origin}
		switch n.kind {
		case "RIGHT":
			c.sql, c.typ, c.origin = r.sql, r.typ, r.origin
		case "FULL":
			typ := supertype([]value{l, r})
			a, _ := t.coerce(l, typ)
			b, _ := t.coerce(r, typ)
			c.sql, c.typ, c.origin = "coalesce("+a.sql+", "+b.sql+")", typ, mixed(l.origin, r.origin)
		}
		merged = append(merged, c)
	}
	for _, c := range s.merged { // of joins before, but what was merged again
		if _, again := findColumn(merged, c.name); !again {
			merged = append(merged, c)
		}
	}
	s.merged = merged
	return strings.Join(conditions, " AND ")
}

// condition translates a BOOL expression.
func (t *translator) condition(e expr, s *scope, clause string) string {
	v := t.expr(e, s)
	if v.typ.Kind != Bool && v.typ.Kind != Null {
		fail(e.offset(), "%s should return type BOOL, but returns %s", clause, v.typ)
	}
	return v.sql
}
