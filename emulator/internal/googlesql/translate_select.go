package googlesql

import (
	"fmt"
	"strconv"
	"strings"
)

// output is an item of the SELECT list once * is expanded.
type output struct {
	name string
	value
	of expr // nil if * brought it
}

// selectQuery translates a SELECT with q's ORDER BY and LIMIT, which see its columns.
func (t *translator) selectQuery(n *selectNode, q *query, outer *scope) *relation {
	s := &scope{outer: outer, windows: map[string]*window{}}
	around := t.windowed
	t.windowed = false
	defer func() { t.windowed = around }()
	from := ""
	if n.from != nil {
		from = " FROM " + t.from(n.from, s)
	}
	for _, w := range n.windows {
		s.windows[fold(w.name.text)] = w.window
	}
	where := ""
	if n.where != nil {
		where = " WHERE " + t.condition(n.where, s.within("WHERE clause"), "WHERE clause")
		t.filterBy(n.where, s, s.vars)
	}
	var outputs []output
	for _, item := range n.items {
		outputs = append(outputs, t.expand(item, s)...)
	}
	group := t.groupBy(n.group, outputs, s)
	s.selected = map[string]value{}
	for _, o := range outputs {
		if o.name != "" && o.of != nil {
			s.selected[fold(o.name)] = o.value
		}
	}
	tail := where + group
	if n.having != nil {
		tail += " HAVING " + t.condition(n.having, s, "HAVING clause")
	}
	if n.qualify != nil {
		tail += " QUALIFY " + t.condition(n.qualify, s, "QUALIFY clause")
	}
	if t.windowed || q.limit != nil {
		for i := range outputs {
			outputs[i].origin = mixed(outputs[i].origin)
		}
	}
	r := t.selectList(n, outputs)
	r.sql += from + tail
	orderBy := t.positions(q.orderBy, outputs, s)
	if n.distinct && len(orderBy) > 0 { // whose keys are its columns alone
		for _, o := range orderBy {
			if _, ok := ordinal(o.of); !ok {
				fail(o.of.offset(), "ORDER BY expression references an expression which is not in the SELECT list after SELECT DISTINCT")
			}
		}
		return t.wrap(r, &query{orderBy: orderBy, limit: q.limit, skip: q.skip}, outer)
	}
	columns := make([]value, len(outputs))
	for i, o := range outputs {
		columns[i] = o.value
	}
	r.sql += t.orderBy(orderBy, s, columns) + t.limit(q)
	return r
}

// positions replaces keys that are in the SELECT list by their positions.
func (t *translator) positions(items []orderItem, outputs []output, s *scope) []orderItem {
	adapted := make([]orderItem, len(items))
	for i, o := range items {
		adapted[i] = o
		if _, isNumber := ordinal(o.of); isNumber {
			continue
		}
		v := t.expr(o.of, s)
		for j, out := range outputs {
			if out.sql == v.sql {
				adapted[i].of = &literal{at: at(o.of.offset()), kind: Int64, text: strconv.Itoa(j + 1)}
				break
			}
		}
	}
	return adapted
}

// selectList translates the list itself.
func (t *translator) selectList(n *selectNode, outputs []output) *relation {
	r := &relation{sql: "SELECT "}
	if n.distinct {
		r.sql += "DISTINCT "
	}
	switch n.as {
	case "STRUCT":
		typ := &Type{Kind: Struct}
		var values []string
		var origins []*origin
		seen := map[string]bool{}
		for _, o := range outputs {
			if seen[fold(o.name)] && o.name != "" {
				fail(n.offset(), "Not supported: a STRUCT with two fields %s", o.name)
			}
			seen[fold(o.name)] = true
			typ.Fields = append(typ.Fields, Field{Name: o.name, Type: notNull(o.typ)})
			values = append(values, typed(o.value))
			origins = append(origins, o.origin)
		}
		r.value = typ
		r.columns = []scopeColumn{{typ: typ, sql: "v", origin: mixed(origins...)}}
		r.sql += packStruct(typ, values) + " AS v"
		return r
	case "VALUE":
		if len(outputs) != 1 {
			fail(n.offset(), "SELECT AS VALUE query must have exactly one column")
		}
		r.value = outputs[0].typ
		r.columns = []scopeColumn{{typ: outputs[0].typ, sql: "v", origin: mixed(outputs[0].origin)}}
		r.sql += typed(outputs[0].value) + " AS v"
		return r
	}
	used := map[string]bool{}
	for i, o := range outputs {
		if n.distinct {
			t.read(o.origin)
			groupable(o.typ, n.offset(), "SELECT DISTINCT")
		}
		column := o.name
		for k := i; column == "" || used[fold(column)]; k++ { // DuckDB's name; BigQuery's may be none, or another's
			column = fmt.Sprintf("_c%d", k)
		}
		used[fold(column)] = true
		r.columns = append(r.columns, scopeColumn{name: o.name, typ: o.typ, sql: quoteName(column), origin: o.origin})
		r.sql += comma(i) + typed(o.value) + " AS " + quoteName(column)
	}
	return r
}

// typed is a value whose type DuckDB knows: a bare NULL gets BigQuery's.
func typed(v value) string {
	switch {
	case v.isNull():
		return castNull(v, Of(Int64))
	case v.typ.Kind == Array && v.typ.Elem.Kind == Null:
		return "CAST(" + v.sql + " AS BIGINT[])"
	}
	return v.sql
}

// notNull is a type with INT64 for a bare NULL's, as BigQuery has it in results.
func notNull(t *Type) *Type {
	switch t.Kind {
	case Null:
		return Of(Int64)
	case Array:
		if elem := notNull(t.Elem); elem != t.Elem {
			return ArrayOf(elem)
		}
	case Struct:
		known := &Type{Kind: Struct}
		for _, f := range t.Fields {
			known.Fields = append(known.Fields, Field{Name: f.Name, Type: notNull(f.Type)})
		}
		return known
	default:
	}
	return t
}

// groupBy translates GROUP BY, where numbers are positions and aliases go before columns.
func (t *translator) groupBy(g *grouping, outputs []output, s *scope) string {
	if g == nil {
		return ""
	}
	if g.all {
		for _, o := range outputs {
			t.read(o.origin)
		}
		return " GROUP BY ALL"
	}
	parts := make([]string, len(g.items))
	for i, e := range g.items {
		position := groupPosition(e, outputs)
		if position > 0 {
			t.read(outputs[position-1].origin)
		}
		switch {
		case position == 0:
			v := t.expr(e, s.within("GROUP BY"))
			groupable(v.typ, e.offset(), "GROUP BY")
			parts[i] = v.sql
		case g.rollup:
			parts[i] = outputs[position-1].sql
		default:
			groupable(outputs[position-1].typ, e.offset(), "GROUP BY")
			parts[i] = strconv.Itoa(position)
		}
	}
	list := strings.Join(parts, ", ")
	if g.rollup {
		list = "ROLLUP (" + list + ")"
	}
	return " GROUP BY " + list
}

func groupPosition(e expr, outputs []output) int {
	if n, ok := ordinal(e); ok {
		if n < 1 || n > len(outputs) {
			fail(e.offset(), "GROUP BY is out of range: %d is no column of the SELECT list", n)
		}
		return n
	}
	if path, ok := e.(*pathExpr); ok && len(path.names) == 1 {
		for i, o := range outputs {
			if o.of != nil && strings.EqualFold(o.name, path.names[0].text) {
				return i + 1
			}
		}
	}
	return 0
}

// groupable refuses types that BigQuery doesn't group by.
func groupable(t *Type, at int, clause string) {
	if t.Kind == JSON || t.Kind == Geography {
		fail(at, "%s is not allowed for expressions of type %s", clause, t)
	}
}
