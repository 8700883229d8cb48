package googlesql

import (
	"fmt"
	"strings"
)

// window translates the functions that must have OVER.
func (a *aggregation) window() value {
	function := strings.ToLower(a.name)
	if a.distinct != "" {
		fail(a.offset(), "Analytic function %s does not support DISTINCT", a.name)
	}
	switch a.name {
	case "ROW_NUMBER", "RANK", "DENSE_RANK":
		a.want(0)
		return a.call(function, Of(Int64))
	case "PERCENT_RANK", "CUME_DIST":
		a.want(0)
		return a.call(function, Of(Float64))
	case "NTILE":
		a.want(1, Int64)
		return a.call(function, Of(Int64))
	case "PERCENTILE_CONT":
		a.want(2, Float64, Float64)
		return a.percentile("quantile_cont", Of(Float64))
	case "PERCENTILE_DISC":
		a.want(2, Null, Float64)
		return a.percentile("quantile_disc", notNull(a.args[0].typ))
	case "LAG", "LEAD":
		if len(a.args) == 3 {
			both, typ := a.t.unify([]value{a.args[0], a.args[2]}, a.offset(), "function "+a.name)
			a.args[0], a.args[2] = both[0], both[1]
			a.args[0].typ = typ
		}
		if len(a.args) > 1 {
			a.want(len(a.args), Null, Int64)
		}
		a.want(min(max(len(a.args), 1), 3))
	case "NTH_VALUE":
		a.want(2, Null, Int64)
	default: // FIRST_VALUE, LAST_VALUE
		a.want(1)
	}
	nulls := ""
	if a.nulls != "" {
		nulls = " " + a.nulls + " NULLS"
	}
	typ := notNull(a.args[0].typ)
	a.args[0].sql = typed(a.args[0])
	return value{sql: function + "(" + joinSQL(a.args) + nulls + ")" + a.over, typ: typ}
}

func (a *aggregation) percentile(function string, typ *Type) value {
	if !a.args[1].literal {
		fail(a.offset(), "The second argument of %s must be a literal or a query parameter", a.name)
	}
	if a.nulls == "RESPECT" {
		fail(a.offset(), "Not supported: RESPECT NULLS in %s", a.name)
	}
	return a.call(function, typ)
}

// maxWindows bounds how many windows may refer to each other.
const maxWindows = 50

// window translates what stands in OVER's parentheses. A named window is written out.
func (t *translator) window(w *window, s *scope, depth int) string {
	var parts []string
	if w.base != "" {
		base := s.window(w.base)
		if base == nil {
			fail(w.offset(), "Unrecognized window alias %s", w.base)
		}
		if depth == maxWindows {
			fail(w.offset(), "Window %s refers to itself", w.base)
		}
		if len(w.partitionBy) > 0 {
			fail(w.offset(), "PARTITION BY is not allowed if the window has a base window")
		}
		if sql := t.window(base, s, depth+1); sql != "" {
			parts = append(parts, sql)
		}
	}
	if len(w.partitionBy) > 0 {
		items := make([]string, len(w.partitionBy))
		for i, e := range w.partitionBy {
			v := t.expr(e, s)
			groupable(v.typ, e.offset(), "Partitioning")
			items[i] = v.sql
		}
		parts = append(parts, "PARTITION BY "+strings.Join(items, ", "))
	}
	if len(w.orderBy) > 0 {
		items := make([]string, len(w.orderBy))
		for i, o := range w.orderBy {
			// RANGE with numbers must have a single key.
			if w.frame != nil && w.frame.unit == "RANGE" {
				items[i] = t.expr(o.of, s).sql + order(o)
				continue
			}
			items[i] = orderKey(t.expr(o.of, s), o)
		}
		parts = append(parts, "ORDER BY "+strings.Join(items, ", "))
	}
	if w.frame != nil {
		parts = append(parts, fmt.Sprintf("%s BETWEEN %s AND %s", w.frame.unit, t.bound(w.frame.from, s), t.bound(w.frame.to, s)))
	}
	return strings.Join(parts, " ")
}

func (t *translator) bound(b bound, s *scope) string {
	if b.n == nil {
		return b.kind
	}
	v := t.expr(b.n, s)
	if !v.literal || !v.typ.isNumber() {
		fail(b.n.offset(), "Window frame bounds must be literals or parameters of a number type")
	}
	return v.sql + " " + b.kind
}
