package googlesql

import (
	"fmt"
	"strings"
)

// aggregateNames are the aggregate functions, all of which may have OVER but those of
// notAnalytic.
var aggregateNames = set("COUNT", "COUNTIF", "SUM", "AVG", "MIN", "MAX", "ANY_VALUE", "ARRAY_AGG", "ARRAY_CONCAT_AGG", "STRING_AGG",
	"APPROX_QUANTILES", "APPROX_COUNT_DISTINCT", "LOGICAL_AND", "LOGICAL_OR", "BIT_AND", "BIT_OR", "BIT_XOR", "STDDEV", "STDDEV_SAMP",
	"STDDEV_POP", "VARIANCE", "VAR_SAMP", "VAR_POP", "CORR", "COVAR_POP", "COVAR_SAMP", "MAX_BY", "MIN_BY")

var notAnalytic = set("APPROX_QUANTILES", "ARRAY_CONCAT_AGG", "MAX_BY", "MIN_BY")

// windowNames are the functions that must have OVER.
var windowNames = set("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD", "FIRST_VALUE",
	"LAST_VALUE", "NTH_VALUE", "PERCENTILE_CONT", "PERCENTILE_DISC")

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// aggregation is a call of an aggregate function, its arguments translated.
type aggregation struct {
	*callExpr
	t        *translator
	args     []value
	distinct string // "DISTINCT " or ""
	orderSQL string // " ORDER BY …" or ""
	over     string // " OVER (…)" or ""
}

func (t *translator) aggregate(c *callExpr, s *scope) value {
	if s == nil {
		fail(c.offset(), "Aggregate function %s not allowed here", c.name)
	}
	analytic := c.over != nil || windowNames[c.name]
	switch {
	case analytic && s.clause != "":
		fail(c.offset(), "Analytic function not allowed in %s", s.clause)
	case analytic && (s.inAggregate || s.inWindow):
		fail(c.offset(), "Analytic function cannot be an argument of another analytic function or of an aggregate function")
	case s.clause != "":
		fail(c.offset(), "Aggregate function %s not allowed in %s", c.name, s.clause)
	case s.inAggregate:
		fail(c.offset(), "Aggregations of aggregations are not allowed")
	}
	inner := *s // in its arguments, names are the FROM clause's alone
	inner.selected = nil
	inner.inWindow, inner.inAggregate = analytic, !analytic
	a := &aggregation{callExpr: c, t: t}
	for _, e := range c.args {
		if _, star := e.(*starExpr); star && c.name == "COUNT" && !c.distinct {
			continue
		}
		a.args = append(a.args, t.expr(e, &inner))
	}
	if c.distinct {
		a.distinct = "DISTINCT "
	}
	if c.over != nil {
		if notAnalytic[c.name] {
			fail(c.offset(), "Aggregate function %s does not support an OVER clause", c.name)
		}
		if len(c.orderBy) > 0 || c.limit != nil {
			fail(c.offset(), "Analytic function %s does not support ORDER BY or LIMIT in its arguments", c.name)
		}
		a.over = " OVER (" + t.window(c.over, s, 0) + ")"
		t.windowed = true
	} else if windowNames[c.name] {
		fail(c.offset(), "Analytic function %s cannot be called without an OVER clause", c.name)
	}
	if len(c.orderBy) > 0 {
		if c.name != "ARRAY_AGG" && c.name != "STRING_AGG" && c.name != "ARRAY_CONCAT_AGG" {
			fail(c.offset(), "Aggregate function %s does not support ORDER BY in arguments", c.name)
		}
		a.orderSQL = t.orderBy(noOrdinals(c.orderBy), &inner, nil)
	}
	if c.limit != nil && c.name != "ARRAY_AGG" && c.name != "STRING_AGG" {
		fail(c.offset(), "Aggregate function %s does not support LIMIT in arguments", c.name)
	}
	if c.having != "" {
		return a.havingExtreme(&inner)
	}
	if windowNames[c.name] {
		return a.window()
	}
	return a.translate()
}

// noOrdinals keeps whole numbers from being positions: in an aggregate they are constants.
func noOrdinals(items []orderItem) []orderItem {
	var kept []orderItem
	for _, o := range items {
		if _, ok := ordinal(o.of); !ok {
			kept = append(kept, o)
		}
	}
	return kept
}

func (a *aggregation) want(n int, kinds ...Kind) {
	ok := len(a.args) == n
	for i := 0; ok && i < len(kinds); i++ {
		if kinds[i] != Null {
			var v value
			if v, ok = a.t.coerce(a.args[i], Of(kinds[i])); ok {
				a.args[i] = v
			}
		}
	}
	if !ok {
		a.t.noSignature(a.callExpr, a.args)
	}
}

// call is a DuckDB aggregate of the first argument.
func (a *aggregation) call(function string, typ *Type) value {
	return value{sql: function + "(" + a.distinct + joinSQL(a.args) + ")" + a.over, typ: typ}
}

func (a *aggregation) translate() value {
	switch a.name {
	case "COUNT":
		if len(a.callExpr.args) == 1 && len(a.args) == 0 {
			return value{sql: "count(*)" + a.over, typ: Of(Int64)}
		}
		a.want(1)
		return a.call("count", Of(Int64))
	case "COUNTIF":
		a.want(1, Bool)
		return value{sql: "count(" + a.distinct + "CASE WHEN " + a.args[0].sql + " THEN true END)" + a.over, typ: Of(Int64)}
	case "SUM", "AVG":
		return a.sum()
	case "MIN", "MAX":
		return a.extreme()
	case "ANY_VALUE":
		a.want(1)
		return a.call("any_value", notNull(a.args[0].typ))
	case "LOGICAL_AND", "LOGICAL_OR":
		a.want(1, Bool)
		return a.call(map[string]string{"LOGICAL_AND": "bool_and", "LOGICAL_OR": "bool_or"}[a.name], Of(Bool))
	case "BIT_AND", "BIT_OR", "BIT_XOR":
		a.want(1, Int64)
		return a.call(strings.ToLower(a.name), Of(Int64))
	case "APPROX_COUNT_DISTINCT":
		a.want(1)
		return value{sql: "count(DISTINCT " + a.args[0].sql + ")" + a.over, typ: Of(Int64)}
	case "CORR":
		a.want(2, Float64, Float64)
		// DuckDB's is NaN of a single pair.
		return value{sql: "CASE WHEN " + a.call("regr_count", Of(Int64)).sql + " > 1 THEN " + a.call("corr", Of(Float64)).sql + " END", typ: Of(Float64)}
	case "COVAR_POP", "COVAR_SAMP":
		a.want(2, Float64, Float64)
		return a.call(strings.ToLower(a.name), Of(Float64))
	case "MAX_BY", "MIN_BY":
		a.want(2)
		return a.call(map[string]string{"MAX_BY": "arg_max_null", "MIN_BY": "arg_min_null"}[a.name], notNull(a.args[0].typ))
	case "ARRAY_AGG":
		return a.array()
	case "ARRAY_CONCAT_AGG":
		a.want(1)
		if a.args[0].typ.Kind != Array {
			a.t.noSignature(a.callExpr, a.args)
		}
		return value{sql: fmt.Sprintf("flatten(list(%s%s) FILTER (WHERE %s IS NOT NULL))", a.args[0].sql, a.orderSQL, a.args[0].sql), typ: a.args[0].typ}
	case "STRING_AGG":
		return a.text()
	case "APPROX_QUANTILES":
		return a.quantiles()
	}
	a.want(1, Float64) // STDDEV and VARIANCE, with their variants
	name := map[string]string{"STDDEV": "stddev_samp", "VARIANCE": "var_samp"}[a.name]
	return a.call(orElse(name, strings.ToLower(a.name)), Of(Float64))
}

// sum is SUM and AVG. DuckDB's sum of BIGINTs is wider, and its average of decimals a
// double.
func (a *aggregation) sum() value {
	a.want(1)
	typ := a.args[0].typ
	if a.args[0].isNull() {
		a.want(1, Int64)
		typ = Of(Int64)
	}
	sum := a.call("sum", typ)
	switch {
	case typ.Kind == Int64 && a.name == "SUM":
		sum.sql = "CAST(" + sum.sql + " AS BIGINT)"
		return sum
	case typ.Kind == Int64, typ.Kind == Float64 && a.name == "AVG":
		return a.call("avg", Of(Float64))
	case typ.Kind == Numeric && a.name == "AVG":
		return value{sql: "bq_numeric('/', " + sum.sql + ", CAST(nullif(" + a.call("count", nil).sql + ", 0) AS DECIMAL(38,9)))", typ: typ}
	case typ.Kind == Float64, typ.Kind == Numeric:
		return sum
	case typ.Kind == BigNumeric, typ.Kind == Interval:
		fail(a.offset(), "Not supported: %s of %s", a.name, typ)
	}
	a.t.noSignature(a.callExpr, a.args)
	return value{}
}

// extreme is MIN and MAX, which are NaN if any value is.
func (a *aggregation) extreme() value {
	a.want(1)
	typ := notNull(a.args[0].typ)
	switch typ.Kind {
	case JSON, Geography, Struct, Array, Interval, Range:
		a.t.noSignature(a.callExpr, a.args)
	default:
	}
	v := a.call(strings.ToLower(a.name), typ)
	if typ.Kind == Float64 && a.name == "MIN" {
		v.sql = "CASE WHEN bool_or(isnan(" + a.args[0].sql + "))" + a.over + " THEN CAST('nan' AS DOUBLE) ELSE " + v.sql + " END"
	}
	return v
}

// array is ARRAY_AGG. A NULL stays, though BigQuery lets none into a result.
func (a *aggregation) array() value {
	a.want(1)
	v := a.args[0]
	if v.typ.Kind == Array {
		fail(a.offset(), "The argument to ARRAY_AGG must not be an array type but was %s", v.typ)
	}
	sql := "list(" + a.distinct + typed(v) + a.orderSQL + ")"
	if a.nulls == "IGNORE" {
		sql += " FILTER (WHERE " + v.sql + " IS NOT NULL)"
	}
	return value{sql: a.limited(sql + a.over), typ: ArrayOf(notNull(v.typ))}
}

func (a *aggregation) limited(list string) string {
	if a.limit == nil {
		return list
	}
	return "list_slice(" + list + ", 1, " + a.t.count(a.limit, "LIMIT") + ")"
}

// text is STRING_AGG, which passes NULLs over.
func (a *aggregation) text() value {
	if len(a.args) == 1 {
		a.args = append(a.args, value{sql: "','", typ: Of(String), literal: true})
	}
	a.want(2, String, String)
	of, separator := a.args[0].sql, a.args[1].sql
	if a.limit == nil {
		return value{sql: fmt.Sprintf("string_agg(%s%s, %s%s)%s", a.distinct, of, separator, a.orderSQL, a.over), typ: Of(String)}
	}
	list := fmt.Sprintf("list(%s%s%s) FILTER (WHERE %s IS NOT NULL)", a.distinct, of, a.orderSQL, of)
	return value{sql: "array_to_string(" + a.limited(list) + ", " + separator + ")", typ: Of(String)}
}

// quantiles is APPROX_QUANTILES, exactly: of n values in order, boundary i of k is the
// one at (n-1)·i/k, rounded down.
func (a *aggregation) quantiles() value {
	a.want(2, Null, Int64)
	v := a.args[0]
	if !a.args[1].literal {
		fail(a.offset(), "The second argument of APPROX_QUANTILES must be a literal or a query parameter")
	}
	list := "list(" + a.distinct + v.sql + " ORDER BY " + v.sql + " ASC NULLS FIRST)"
	if a.nulls != "RESPECT" {
		list += " FILTER (WHERE " + v.sql + " IS NOT NULL)"
	}
	return value{sql: fmt.Sprintf("list_select(%s, bq_quantiles(len(%s), %s))", list, list, a.args[1].sql), typ: ArrayOf(notNull(v.typ))}
}

// havingExtreme is f(x HAVING MAX y).
func (a *aggregation) havingExtreme(s *scope) value {
	if a.name != "ANY_VALUE" || a.over != "" {
		fail(a.offset(), "Not supported: HAVING %s in %s", a.having, a.name)
	}
	a.want(1)
	by := a.t.expr(a.havingOf, s)
	function := map[string]string{"MAX": "arg_max_null", "MIN": "arg_min_null"}[a.having]
	return value{sql: function + "(" + typed(a.args[0]) + ", " + by.sql + ")", typ: notNull(a.args[0].typ)}
}
