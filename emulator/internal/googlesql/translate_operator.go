package googlesql

import (
	"fmt"
	"slices"
	"strconv"
)

func (t *translator) unary(e *unaryExpr, s *scope) value {
	v := t.expr(e.of, s)
	switch {
	case e.op == "NOT" && (v.typ.Kind == Bool || v.isNull()):
		return value{sql: "(NOT " + v.sql + ")", typ: Of(Bool)}
	case e.op == "~" && v.typ.Kind == Int64:
		return value{sql: "(~" + v.sql + ")", typ: v.typ}
	case e.op == "+" && v.typ.isNumber():
		return v
	case e.op == "-" && v.typ.Kind == BigNumeric:
		return value{sql: "bq_big('-', bq_big_parse('0'), " + v.sql + ")", typ: v.typ}
	case e.op == "-" && (v.typ.isNumber() || v.typ.Kind == Interval):
		return value{sql: "(-" + v.sql + ")", typ: v.typ}
	}
	fail(e.offset(), "No matching signature for operator %s for argument type %s", e.op, typeList([]value{v}))
	return value{}
}

func (t *translator) binary(e *binaryExpr, s *scope) value {
	// A chain of operators is deep on its left: it is walked, not descended.
	var chain []*binaryExpr
	var left expr = e
	for {
		b, ok := left.(*binaryExpr)
		if !ok {
			break
		}
		chain = append(chain, b)
		left = b.left
	}
	v := t.expr(left, s)
	for _, b := range slices.Backward(chain) {
		v = t.operator(b.op, v, t.expr(b.right, s), b.offset())
	}
	return v
}

func (t *translator) operator(op string, l, r value, at int) value {
	switch op {
	case "AND", "OR":
		for _, v := range []value{l, r} {
			if v.typ.Kind != Bool && !v.isNull() {
				noOperator(at, op, l, r)
			}
		}
		return joined(l, op, r, Of(Bool))
	case "=", "!=", "<", "<=", ">", ">=":
		return t.compare(op, l, r, at)
	case "||":
		return t.concat(l, r, at)
	case "|", "&", "^", "<<", ">>":
		return t.bits(op, l, r, at)
	}
	return t.arithmetic(op, l, r, at)
}

func noOperator(at int, op string, values ...value) {
	fail(at, "No matching signature for operator %s for argument types: %s", op, typeList(values))
}

func (t *translator) compare(op string, l, r value, at int) value {
	both, typ := t.unify([]value{l, r}, at, "operator "+op)
	switch typ.Kind {
	case JSON, Geography, Array:
		noOperator(at, op, l, r)
	case Struct:
		if op != "=" && op != "!=" {
			noOperator(at, op, l, r)
		}
	case Float64:
		return value{sql: compareFloats(op, both[0], both[1]), typ: Of(Bool)}
	default:
	}
	return value{sql: "(" + both[0].sql + " " + op + " " + both[1].sql + ")", typ: Of(Bool)}
}

// compareFloats has NaN different from everything, as BigQuery does: DuckDB has it equal
// to itself and greater than all numbers.
func compareFloats(op string, l, r value) string {
	sql := l.sql + " " + op + " " + r.sql
	suspect := l
	if op == "<" || op == "<=" {
		suspect = r
	}
	if suspect.text != "" { // a literal is a number
		return "(" + sql + ")"
	}
	if op == "!=" {
		return "(" + sql + " OR isnan(" + suspect.sql + "))"
	}
	return "(" + sql + " AND NOT isnan(" + suspect.sql + "))"
}

func (t *translator) concat(l, r value, at int) value {
	both, typ := t.unify([]value{l, r}, at, "operator ||")
	switch typ.Kind {
	case Null:
		typ = Of(String)
	case String, Bytes:
	case Array:
		return value{sql: fmt.Sprintf("CASE WHEN %s IS NOT NULL AND %s IS NOT NULL THEN list_concat(%s, %s) END", both[0].sql, both[1].sql, both[0].sql, both[1].sql), typ: typ}
	default:
		noOperator(at, "||", l, r)
	}
	return joined(both[0], "||", both[1], typ)
}

func (t *translator) bits(op string, l, r value, at int) value {
	for _, v := range []value{l, r} {
		if v.typ.Kind != Int64 && !v.isNull() {
			if v.typ.Kind == Bytes {
				fail(at, "Not supported: operator %s on BYTES", op)
			}
			noOperator(at, op, l, r)
		}
	}
	switch op {
	case "^":
		return value{sql: "xor(" + typed(l) + ", " + typed(r) + ")", typ: Of(Int64)}
	case "<<", ">>":
		return value{sql: "bq_shift(" + quoteText(op) + ", " + typed(l) + ", " + typed(r) + ")", typ: Of(Int64)}
	}
	return value{sql: "(" + typed(l) + " " + op + " " + typed(r) + ")", typ: Of(Int64)}
}

// arithmetic is + - * /. Numbers overflow with an error, in DuckDB as in BigQuery.
func (t *translator) arithmetic(op string, l, r value, at int) value {
	if v, ok := t.timeArithmetic(op, l, r); ok {
		return v
	}
	typ := supertype([]value{l, r})
	if typ == nil || !typ.isNumber() && typ.Kind != Null {
		noOperator(at, op, l, r)
	}
	if typ.Kind == Null {
		typ = Of(Int64)
	}
	if op == "/" && typ.Kind == Int64 {
		typ = Of(Float64)
	}
	a, okA := t.coerce(l, typ)
	b, okB := t.coerce(r, typ)
	if !okA || !okB {
		noOperator(at, op, l, r)
	}
	sql := ""
	switch {
	case typ.Kind == Int64, typ.Kind == Numeric && (op == "+" || op == "-"):
		return joined(a, op, b, typ)
	case typ.Kind == BigNumeric:
		sql = fmt.Sprintf("bq_big(%s, %s, %s)", quoteText(op), a.sql, b.sql)
	case typ.Kind == Numeric && (op == "*" || op == "/"):
		sql = fmt.Sprintf("bq_numeric(%s, %s, %s)", quoteText(op), a.sql, b.sql)
	case typ.Kind == Float64 && op == "/" && nonZero(b.text):
		sql = "(" + a.sql + " / " + b.sql + ")"
	case typ.Kind == Float64:
		sql = fmt.Sprintf("bq_float(%s, %s, %s)", quoteText(op), a.sql, b.sql)
	}
	return value{sql: sql, typ: typ}
}

// nonZero says whether a literal's digits are of another number than 0, by which a
// division can't fail.
func nonZero(digits string) bool {
	if n, err := parseInt(digits); err == nil {
		return n != 0
	}
	f, err := strconv.ParseFloat(digits, 64)
	return err == nil && f != 0
}
