package googlesql

import (
	"fmt"
	"strings"
)

// maxSQL bounds a translation's text: some of BigQuery's operators name their operands
// more than once in DuckDB, which adds up where they nest.
const maxSQL = 16 << 20

// expr translates an expression; s is nil where there are no columns.
func (t *translator) expr(e expr, s *scope) value {
	v := t.node(e, s)
	if len(v.sql) > maxSQL {
		fail(e.offset(), "The query is too complex")
	}
	return v
}

func (t *translator) node(e expr, s *scope) value {
	switch e := e.(type) {
	case *literal:
		return t.literal(e)
	case *paramExpr:
		return t.parameter(e)
	case *pathExpr:
		return t.resolve(e, s)
	case *parenExpr:
		return t.resolve(e.of, s)
	case *fieldExpr:
		return t.field(t.expr(e.of, s), e.name)
	case *indexExpr:
		return t.index(e, s)
	case *unaryExpr:
		return t.unary(e, s)
	case *binaryExpr:
		return t.binary(e, s)
	case *isExpr:
		return t.is(e, s)
	case *betweenExpr:
		return t.between(e, s)
	case *inExpr:
		return t.in(e, s)
	case *likeExpr:
		return t.like(e, s)
	case *caseExpr:
		return t.caseExpr(e, s)
	case *castExpr:
		return t.cast(e, s)
	case *extractExpr:
		return t.extract(e, s)
	case *intervalExpr:
		return t.interval(e, s)
	case *arrayExpr:
		return t.array(e, s)
	case *structExpr:
		return t.structure(e, s)
	case *subqueryExpr:
		return t.subquery(e, s)
	case *callExpr:
		return t.call(e, s)
	case *starExpr:
		fail(e.offset(), "Argument * can only be used in COUNT(*)")
	case *namedArg:
		fail(e.offset(), "Not supported: named argument %s", e.name.text)
	}
	panic("googlesql: unknown expression")
}

func (t *translator) is(e *isExpr, s *scope) value {
	v := t.expr(e.of, s)
	not := ""
	if e.not {
		not = "NOT "
	}
	switch e.what {
	case "NULL", "UNKNOWN":
		return value{sql: "(" + v.sql + " IS " + not + "NULL)", typ: Of(Bool)}
	case "DISTINCT FROM":
		both, typ := t.unify([]value{v, t.expr(e.right, s)}, e.offset(), "operator IS DISTINCT FROM")
		if typ.Kind == JSON || typ.Kind == Geography || typ.Kind == Array {
			fail(e.offset(), "IS DISTINCT FROM is not defined for arguments of type %s", typ)
		}
		return value{sql: "(" + both[0].sql + " IS " + not + "DISTINCT FROM " + both[1].sql + ")", typ: Of(Bool)}
	}
	if v.typ.Kind != Bool && !v.isNull() {
		fail(e.offset(), "No matching signature for operator IS %s for argument type %s", e.what, v.typ)
	}
	return value{sql: "(" + v.sql + " IS " + not + e.what + ")", typ: Of(Bool)}
}

func (t *translator) between(e *betweenExpr, s *scope) value {
	of := t.expr(e.of, s)
	low, high := t.expr(e.low, s), t.expr(e.high, s)
	if all, typ := t.unify([]value{of, low, high}, e.offset(), "operator BETWEEN"); typ.Kind != Float64 {
		t.compare("<", low, high, e.offset()) // which refuses types that have no order
		return negate(value{sql: "(" + all[0].sql + " BETWEEN " + all[1].sql + " AND " + all[2].sql + ")", typ: Of(Bool)}, e.not)
	}
	v := t.operator("AND", t.compare(">=", of, low, e.offset()), t.compare("<=", of, high, e.offset()), e.offset())
	return negate(v, e.not)
}

func negate(v value, not bool) value {
	if not {
		v.sql = "(NOT " + v.sql + ")"
	}
	return v
}

func (t *translator) in(e *inExpr, s *scope) value {
	of := t.expr(e.of, s)
	switch {
	case e.array != nil:
		array := t.expr(e.array, s)
		if array.typ.Kind != Array {
			fail(e.array.offset(), "Values referenced in UNNEST must be arrays. UNNEST contains expression of type %s", array.typ)
		}
		return negate(t.inArray(of, array, e.offset()), e.not)
	case e.query != nil:
		r := t.query(e.query, s)
		t.readColumns(r)
		if len(r.columns) != 1 {
			fail(e.query.offset(), "Subquery of type IN must have only one output column")
		}
		both, _ := t.unify([]value{of, {sql: "c", typ: r.columns[0].typ}}, e.offset(), "operator IN")
		return negate(value{sql: fmt.Sprintf("(%s IN (SELECT %s FROM (%s) AS %s(c)))", both[0].sql, both[1].sql, r.sql, t.alias()), typ: Of(Bool)}, e.not)
	}
	values := []value{of}
	for _, x := range e.list {
		values = append(values, t.expr(x, s))
	}
	values, typ := t.unify(values, e.offset(), "operator IN")
	if typ.Kind == JSON || typ.Kind == Geography || typ.Kind == Array {
		noOperator(e.offset(), "IN", values...)
	}
	items := make([]string, len(values)-1)
	for i, v := range values[1:] {
		items[i] = v.sql
	}
	return negate(value{sql: "(" + values[0].sql + " IN (" + strings.Join(items, ", ") + "))", typ: Of(Bool)}, e.not)
}

// inArray is of IN UNNEST(array): false for an array that is empty or NULL; NULL if only
// a NULL keeps it from being true or false.
func (t *translator) inArray(of, array value, at int) value {
	both, typ := t.unify([]value{of, {sql: "NULL", typ: array.typ.Elem, literal: array.literal}}, at, "operator IN UNNEST")
	if typ.Kind == JSON || typ.Kind == Geography || typ.Kind == Array {
		noOperator(at, "IN UNNEST", of, array)
	}
	list := array.sql
	if !array.typ.Elem.SameAs(typ) {
		cast, ok := t.castArray(array, ArrayOf(typ), false)
		if !ok {
			noOperator(at, "IN UNNEST", of, array)
		}
		list = cast.sql
	}
	item := both[0].sql
	return value{sql: fmt.Sprintf("CASE WHEN coalesce(len(%[1]s), 0) = 0 THEN false WHEN list_contains(%[1]s, %[2]s) THEN true WHEN %[2]s IS NULL OR len(%[1]s) > list_count(%[1]s) THEN NULL ELSE false END", list, item), typ: Of(Bool)}
}

func (t *translator) like(e *likeExpr, s *scope) value {
	of := t.expr(e.of, s)
	matches := make([]string, len(e.patterns))
	for i, p := range e.patterns {
		both, typ := t.unify([]value{of, t.expr(p, s)}, e.offset(), "operator LIKE")
		switch typ.Kind {
		case String, Null:
		case Bytes:
			fail(e.offset(), "Not supported: LIKE on BYTES")
		default:
			noOperator(e.offset(), "LIKE", both...)
		}
		matches[i] = "(" + both[0].sql + " LIKE " + both[1].sql + ` ESCAPE '\')`
	}
	op := " OR "
	if e.quantifier == "ALL" {
		op = " AND "
	}
	return negate(value{sql: "(" + strings.Join(matches, op) + ")", typ: Of(Bool)}, e.not)
}

func (t *translator) caseExpr(e *caseExpr, s *scope) value {
	var sql strings.Builder
	sql.WriteString("CASE")
	var subject value
	if e.of != nil {
		subject = t.expr(e.of, s)
	}
	var results []value
	for _, w := range e.whens {
		results = append(results, t.expr(w.then, s))
	}
	if e.other != nil {
		results = append(results, t.expr(e.other, s))
	}
	results, typ := t.unify(results, e.offset(), "operator CASE")
	for i, w := range e.whens {
		sql.WriteString(" WHEN ")
		if e.of != nil {
			sql.WriteString(t.compare("=", subject, t.expr(w.when, s), w.when.offset()).sql)
		} else {
			sql.WriteString(t.condition(w.when, s, "CASE WHEN condition"))
		}
		sql.WriteString(" THEN " + results[i].sql)
	}
	if e.other != nil {
		sql.WriteString(" ELSE " + results[len(results)-1].sql)
	}
	return value{sql: sql.String() + " END", typ: typ}
}

func (t *translator) subquery(e *subqueryExpr, s *scope) value {
	r := t.query(e.query, s)
	if e.kind == "EXISTS" {
		return value{sql: "EXISTS (" + r.sql + ")", typ: Of(Bool)}
	}
	t.readColumns(r)
	what := map[string]string{"": "Scalar", "ARRAY": "ARRAY"}[e.kind]
	if len(r.columns) != 1 {
		fail(e.offset(), "%s subquery cannot have more than one column unless using SELECT AS STRUCT to build STRUCT values", what)
	}
	typ := r.columns[0].typ
	if e.kind == "ARRAY" {
		if typ.Kind == Array {
			fail(e.offset(), "Cannot use array subquery with column of type %s because nested arrays are not supported", typ)
		}
		return value{sql: "ARRAY(" + r.sql + ")", typ: ArrayOf(notNull(typ))}
	}
	return value{sql: "(" + r.sql + ")", typ: notNull(typ)}
}
