package googlesql

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
)

// signature is one way to call a function: its parameters and its result by their kinds,
// and the DuckDB expression, in which $1 is the first argument and $* all of them.
type signature struct {
	params   []Kind
	variadic bool // the last parameter may repeat, and there must be one
	result   Kind
	sql      string
}

// parseSignature reads "STRING, INT64 -> STRING" or "STRING... -> STRING".
func parseSignature(text, sql string) signature {
	params, result, _ := strings.Cut(text, " -> ")
	s := signature{result: typeNames[result], sql: sql}
	for p := range strings.SplitSeq(params, ", ") {
		if p == "" {
			continue
		}
		p, s.variadic = strings.CutSuffix(p, "...")
		s.params = append(s.params, typeNames[p])
	}
	return s
}

// signatures are the functions that signatures describe, by name.
var signatures = sync.OnceValue(func() map[string][]signature {
	all := map[string][]signature{}
	for _, table := range [][][3]string{stringFunctions, mathFunctions, timeFunctions, jsonFunctions, hashFunctions} {
		for _, f := range table {
			all[f[0]] = append(all[f[0]], parseSignature(f[1], f[2]))
		}
	}
	return all
})

// fill puts arguments into a template.
func fill(template string, args ...string) string {
	if strings.Contains(template, "$*") {
		return strings.ReplaceAll(template, "$*", strings.Join(args, ", "))
	}
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		if template[i] == '$' && i+1 < len(template) && template[i+1] >= '1' && template[i+1] <= '9' {
			i++
			b.WriteString(args[template[i]-'1'])
			continue
		}
		b.WriteByte(template[i])
	}
	return b.String()
}

// accept coerces the arguments to the signature's parameters; exact counts those that
// didn't need it. misfit is the failure of a literal whose text isn't of its parameter's type.
func (s signature) accept(t *translator, args []value) (coerced []string, exact int, ok bool, misfit *failure) {
	if len(args) != len(s.params) && (!s.variadic || len(args) < len(s.params)) {
		return nil, 0, false, nil
	}
	for i, a := range args {
		want := Of(s.params[min(i, len(s.params)-1)])
		if a.typ.SameAs(want) {
			exact++
		}
		v, ok, misfit := t.tryCoerce(a, want)
		if !ok {
			return nil, 0, false, misfit
		}
		coerced = append(coerced, v.sql)
	}
	return coerced, exact, true, nil
}

// tryCoerce is coerce for one of several types: a literal that doesn't fit may fit another.
func (t *translator) tryCoerce(v value, to *Type) (cast value, ok bool, misfit *failure) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			cast, ok, misfit = v, false, &f
		default:
			panic(f)
		}
	}()
	cast, ok = t.coerce(v, to)
	return cast, ok, nil
}

// described calls a function of signatures'. Of those that take the arguments, the one
// that needs the fewest coercions wins, the first of equals.
func (t *translator) described(c *callExpr, candidates []signature, args []value) value {
	best := -1
	var result value
	var misfit *failure // the first
	for _, s := range candidates {
		coerced, exact, ok, m := s.accept(t, args)
		misfit = cmp.Or(misfit, m)
		if ok && exact > best {
			best = exact
			result = value{sql: fill(s.sql, coerced...), typ: Of(s.result)}
		}
	}
	switch {
	case best >= 0:
	case misfit != nil:
		panic(*misfit)
	default:
		t.noSignature(c, args)
	}
	return result
}

func (t *translator) noSignature(c *callExpr, args []value) {
	if len(args) == 0 {
		fail(c.offset(), "No matching signature for function %s with no arguments", c.name)
	}
	fail(c.offset(), "No matching signature for function %s for argument types: %s", c.name, typeList(args))
}

// call translates a function's call.
func (t *translator) call(c *callExpr, s *scope) value {
	if c.safe && c.over != nil {
		fail(c.offset(), "Analytic functions can not be called with SAFE prefix")
	}
	v := t.callOf(c, s)
	if c.safe {
		if aggregateNames[c.name] {
			fail(c.offset(), "Aggregate functions can not be called with SAFE prefix")
		}
		v.sql = "TRY(" + v.sql + ")"
	}
	return v
}

func (t *translator) callOf(c *callExpr, s *scope) value {
	if aggregateNames[c.name] || windowNames[c.name] {
		return t.aggregate(c, s)
	}
	for what, present := range map[string]bool{
		"DISTINCT": c.distinct, "ORDER BY": len(c.orderBy) > 0, "LIMIT": c.limit != nil, c.nulls + " NULLS": c.nulls != "",
		"HAVING": c.having != "",
	} {
		if present {
			fail(c.offset(), "%s is not allowed in a call of %s", what, c.name)
		}
	}
	candidates := signatures()[c.name]
	special, isSpecial := specialFunctions[c.name]
	if unsupported[c.name] || strings.HasPrefix(c.name, "ST_") && candidates == nil || strings.Contains(c.name, ".") {
		fail(c.offset(), "Not supported: function %s", c.name)
	}
	if candidates == nil && !isSpecial {
		fail(c.offset(), "Function not found: %s", c.name)
	}
	if c.over != nil {
		fail(c.offset(), "Function %s does not support OVER", c.name)
	}
	if isSpecial {
		return special(t, c, s)
	}
	return t.described(c, candidates, t.arguments(c, s))
}

func (t *translator) arguments(c *callExpr, s *scope) []value {
	args := make([]value, len(c.args))
	for i, a := range c.args {
		args[i] = t.expr(a, s)
	}
	return args
}

func (t *translator) expectArgs(c *callExpr, least, most int) {
	if len(c.args) < least || len(c.args) > most {
		wanted := fmt.Sprint(least)
		if least != most {
			wanted = fmt.Sprintf("%d to %d", least, most)
		}
		fail(c.offset(), "Number of arguments does not match for function %s: it takes %s, but got %d", c.name, wanted, len(c.args))
	}
}

// unsupported are functions of BigQuery's that aren't here; GAPS.md lists them.
var unsupported = set(
	"FARM_FINGERPRINT", "APPROX_TOP_COUNT", "APPROX_TOP_SUM", "GROUPING", "SOUNDEX", "TO_BASE32", "FROM_BASE32", "EDIT_DISTANCE",
	"COLLATE", "SEARCH", "VECTOR_SEARCH", "RANGE", "RANGE_BUCKET", "RANGE_CONTAINS", "GENERATE_RANGE_ARRAY", "JUSTIFY_DAYS",
	"JUSTIFY_HOURS", "JUSTIFY_INTERVAL", "JSON_SET", "JSON_REMOVE", "JSON_KEYS", "JSON_ARRAY", "JSON_OBJECT", "JSON_STRIP_NULLS",
	"JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT", "LAX_BOOL", "LAX_INT64", "LAX_FLOAT64", "PARSE_NUMERIC", "PARSE_BIGNUMERIC",
	"ARRAY_FILTER", "ARRAY_TRANSFORM", "ARRAY_INCLUDES", "ARRAY_MAX", "ARRAY_MIN", "ARRAY_SUM", "ARRAY_AVG", "ARRAY_SLICE",
	"CODE_POINTS_TO_BYTES", "COSH", "SINH", "TANH", "ACOSH", "ASINH", "ATANH", "CBRT", "COT", "CSC", "SEC", "COSINE_DISTANCE",
	"EUCLIDEAN_DISTANCE", "EXTERNAL_QUERY", "IFERROR", "ISERROR", "NULLIFERROR",
	"APPENDS", "CHANGES", // where no table function may be
)
