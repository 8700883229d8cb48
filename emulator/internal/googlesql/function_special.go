package googlesql

import (
	"fmt"
	"strings"
)

// specialFunctions are those whose arguments or results no signature describes.
var specialFunctions map[string]func(*translator, *callExpr, *scope) value

func init() {
	specialFunctions = map[string]func(*translator, *callExpr, *scope) value{
		"IF": (*translator).ifFunction, "IFNULL": (*translator).coalesce, "COALESCE": (*translator).coalesce, "NULLIF": (*translator).nullIf,
		"CONCAT": (*translator).concatFunction, "GREATEST": (*translator).greatest, "LEAST": (*translator).greatest,
		"ZEROIFNULL": (*translator).zeroIfNull, "NULLIFZERO": (*translator).zeroIfNull,
		"ARRAY_LENGTH": (*translator).arrayFunction, "ARRAY_REVERSE": (*translator).arrayFunction, "ARRAY_FIRST": (*translator).arrayFunction,
		"ARRAY_LAST": (*translator).arrayFunction, "ARRAY_CONCAT": (*translator).arrayConcat, "ARRAY_TO_STRING": (*translator).arrayToString,
		"GENERATE_ARRAY": (*translator).generateArray, "GENERATE_DATE_ARRAY": (*translator).generateDates,
		"GENERATE_TIMESTAMP_ARRAY": (*translator).generateDates,
		"SPLIT":                    (*translator).split, "REGEXP_EXTRACT_ALL": (*translator).regexpAll, "TO_CODE_POINTS": (*translator).codePoints,
		"CODE_POINTS_TO_STRING": (*translator).codePoints, "JSON_VALUE_ARRAY": (*translator).jsonArray, "JSON_QUERY_ARRAY": (*translator).jsonArray,
		"JSON_EXTRACT_ARRAY": (*translator).jsonArray, "JSON_EXTRACT_STRING_ARRAY": (*translator).jsonArray,
		"TO_JSON": (*translator).toJSON, "TO_JSON_STRING": (*translator).toJSON, "FORMAT": (*translator).format,
		"CURRENT_DATE": (*translator).clock, "CURRENT_TIME": (*translator).clock, "CURRENT_DATETIME": (*translator).clock,
		"CURRENT_TIMESTAMP": (*translator).clock, "LAST_DAY": (*translator).lastDay, "SESSION_USER": (*translator).user,
		"CURRENT_USER": (*translator).user, "ERROR": (*translator).errorFunction, "PARSE_JSON": (*translator).parseJSON,
	}
	for _, kind := range []Kind{Date, DateTime, Timestamp, Time} {
		for suffix, f := range map[string]func(*translator, *callExpr, Kind, *scope) value{
			"_ADD": (*translator).addFunction, "_SUB": (*translator).addFunction,
			"_DIFF": (*translator).diffFunction, "_TRUNC": (*translator).truncFunction,
		} {
			specialFunctions[kind.String()+suffix] = func(t *translator, c *callExpr, s *scope) value { return f(t, c, kind, s) }
		}
	}
}

func (t *translator) ifFunction(c *callExpr, s *scope) value {
	t.expectArgs(c, 3, 3)
	condition := t.condition(c.args[0], s, "IF condition")
	args, typ := t.unify([]value{t.expr(c.args[1], s), t.expr(c.args[2], s)}, c.offset(), "function IF")
	return value{sql: "CASE WHEN " + condition + " THEN " + args[0].sql + " ELSE " + args[1].sql + " END", typ: typ}
}

func (t *translator) coalesce(c *callExpr, s *scope) value {
	if c.name == "IFNULL" {
		t.expectArgs(c, 2, 2)
	}
	t.expectArgs(c, 1, maxChain)
	args, typ := t.unify(t.arguments(c, s), c.offset(), "function "+c.name)
	return value{sql: "coalesce(" + joinSQL(args) + ")", typ: typ}
}

func joinSQL(values []value) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = v.sql
	}
	return strings.Join(parts, ", ")
}

func (t *translator) nullIf(c *callExpr, s *scope) value {
	t.expectArgs(c, 2, 2)
	args, typ := t.unify(t.arguments(c, s), c.offset(), "function NULLIF")
	equal := t.compare("=", args[0], args[1], c.offset())
	return value{sql: "CASE WHEN " + equal.sql + " THEN NULL ELSE " + args[0].sql + " END", typ: typ}
}

func (t *translator) zeroIfNull(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 1)
	args, typ := t.unify([]value{t.expr(c.args[0], s), {sql: intSQL(0), typ: Of(Int64), literal: true}}, c.offset(), "function "+c.name)
	if c.name == "ZEROIFNULL" {
		return value{sql: "coalesce(" + joinSQL(args) + ")", typ: typ}
	}
	return value{sql: "nullif(" + joinSQL(args) + ")", typ: typ}
}

// greatest is NULL if any argument is, where DuckDB's passes them over.
func (t *translator) greatest(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, maxChain)
	args, typ := t.unify(t.arguments(c, s), c.offset(), "function "+c.name)
	var nulls []string
	for _, a := range args {
		nulls = append(nulls, a.sql+" IS NULL")
	}
	sql := strings.ToLower(c.name) + "(" + joinSQL(args) + ")"
	if typ.Kind == Float64 && c.name == "LEAST" { // NaN is the result, but the greatest in DuckDB
		var nans []string
		for _, a := range args {
			nans = append(nans, "isnan("+a.sql+")")
		}
		sql = "CASE WHEN " + strings.Join(nans, " OR ") + " THEN CAST('nan' AS DOUBLE) ELSE " + sql + " END"
	}
	return value{sql: "CASE WHEN " + strings.Join(nulls, " OR ") + " THEN NULL ELSE " + sql + " END", typ: typ}
}

// concatFunction is NULL if any argument is. All but STRING and BYTES become STRING.
func (t *translator) concatFunction(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, maxChain)
	args := t.arguments(c, s)
	typ := Of(String)
	for _, a := range args {
		if a.typ.Kind == Bytes {
			typ = a.typ
		}
	}
	parts := make([]string, len(args))
	for i, a := range args {
		sql, ok := t.castSQL(a, typ)
		if !ok || typ.Kind == Bytes && a.typ.Kind != Bytes && !a.isNull() {
			t.noSignature(c, args)
		}
		parts[i] = sql
	}
	return value{sql: "(" + strings.Join(parts, " || ") + ")", typ: typ}
}

func (t *translator) arrayArg(c *callExpr, i int, s *scope) value {
	v := t.expr(c.args[i], s)
	if v.typ.Kind != Array {
		t.noSignature(c, []value{v})
	}
	return v
}

func (t *translator) arrayFunction(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 1)
	v := t.arrayArg(c, 0, s)
	switch c.name {
	case "ARRAY_LENGTH":
		return value{sql: "CAST(len(" + v.sql + ") AS BIGINT)", typ: Of(Int64)}
	case "ARRAY_REVERSE":
		return value{sql: "list_reverse(" + v.sql + ")", typ: v.typ}
	case "ARRAY_FIRST":
		return value{sql: fmt.Sprintf("list_extract(%s, bq_position('OFFSET', CAST(0 AS BIGINT), len(%s)))", v.sql, v.sql), typ: v.typ.Elem}
	}
	return value{sql: fmt.Sprintf("list_extract(%s, bq_position('ORDINAL', len(%s), len(%s)))", v.sql, v.sql, v.sql), typ: v.typ.Elem}
}

func (t *translator) arrayConcat(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, maxChain)
	v := t.arrayArg(c, 0, s)
	for i := 1; i < len(c.args); i++ {
		v = t.concat(v, t.arrayArg(c, i, s), c.offset())
	}
	return v
}

// arrayToString leaves NULLs out unless the third argument says what stands for them.
func (t *translator) arrayToString(c *callExpr, s *scope) value {
	t.expectArgs(c, 2, 3)
	array, separator := t.arrayArg(c, 0, s), t.expr(c.args[1], s)
	if array.typ.Elem.Kind != String || separator.typ.Kind != String {
		t.noSignature(c, []value{array, separator})
	}
	list := "list_filter(" + array.sql + ", lambda x: x IS NOT NULL)"
	if len(c.args) == 3 {
		null := t.expr(c.args[2], s)
		if null.typ.Kind != String {
			t.noSignature(c, []value{array, separator, null})
		}
		list = fmt.Sprintf("list_transform(%s, lambda x: coalesce(x, %s))", array.sql, null.sql)
	}
	return value{sql: fmt.Sprintf("CASE WHEN len(%s) = 0 THEN '' ELSE array_to_string(%s, %s) END", list, list, separator.sql), typ: Of(String)}
}

func (t *translator) generateArray(c *callExpr, s *scope) value {
	t.expectArgs(c, 2, 3)
	args := t.arguments(c, s)
	if len(args) == 2 {
		args = append(args, value{sql: intSQL(1), typ: Of(Int64), literal: true})
	}
	args, typ := t.unify(args, c.offset(), "function GENERATE_ARRAY")
	function := map[Kind]string{Int64: "bq_generate_ints", Float64: "bq_generate_floats"}[typ.Kind]
	if function == "" {
		t.noSignature(c, args)
	}
	return value{sql: function + "(" + joinSQL(args) + ")", typ: ArrayOf(typ)}
}

// generateDates is GENERATE_DATE_ARRAY(a, b[, INTERVAL n part]), and TIMESTAMP's.
func (t *translator) generateDates(c *callExpr, s *scope) value {
	kind, step := Date, "CAST(1 AS BIGINT), 'DAY'"
	least := 2
	if c.name == "GENERATE_TIMESTAMP_ARRAY" {
		kind, least = Timestamp, 3
	}
	t.expectArgs(c, least, 3)
	var ends [2]string
	for i := range ends {
		v, ok := t.coerce(t.expr(c.args[i], s), Of(kind))
		if !ok {
			t.noSignature(c, []value{v})
		}
		ends[i] = v.sql
	}
	if len(c.args) == 3 {
		i, ok := c.args[2].(*intervalExpr)
		if !ok || i.to != "" || !isPart(i.part, kind) || kind == Timestamp && i.part != "DAY" && clockUnits[i.part] == 0 {
			fail(c.args[2].offset(), "%s expects INTERVAL with a number and a date part", c.name)
		}
		n, ok := t.coerce(t.expr(i.of, s), Of(Int64))
		if !ok {
			fail(i.of.offset(), "%s expects INTERVAL with an INT64", c.name)
		}
		step = n.sql + ", " + quoteText(i.part)
	}
	return value{sql: fmt.Sprintf("bq_generate_%ss(%s, %s, %s)", strings.ToLower(kind.String()), ends[0], ends[1], step), typ: ArrayOf(Of(kind))}
}

func (t *translator) split(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 2)
	args := t.arguments(c, s)
	if len(args) == 1 {
		args = append(args, value{sql: "','", typ: Of(String), literal: true})
	}
	if args[0].typ.Kind != String && !args[0].isNull() || args[1].typ.Kind != String {
		t.noSignature(c, args)
	}
	return value{sql: "bq_split(" + joinSQL(args) + ")", typ: ArrayOf(Of(String))}
}

func (t *translator) regexpAll(c *callExpr, s *scope) value {
	t.expectArgs(c, 2, 2)
	args := t.arguments(c, s)
	if args[0].typ.Kind != String && !args[0].isNull() || args[1].typ.Kind != String {
		t.noSignature(c, args)
	}
	return value{sql: "bq_regexp_extract_all(" + joinSQL(args) + ")", typ: ArrayOf(Of(String))}
}

func (t *translator) codePoints(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 1)
	v := t.expr(c.args[0], s)
	switch {
	case c.name == "TO_CODE_POINTS" && v.typ.Kind == String:
		return value{sql: "bq_to_code_points(" + v.sql + ")", typ: ArrayOf(Of(Int64))}
	case c.name == "CODE_POINTS_TO_STRING" && v.typ.SameAs(ArrayOf(Of(Int64))):
		return value{sql: "bq_from_code_points(" + v.sql + ")", typ: Of(String)}
	}
	t.noSignature(c, []value{v})
	return value{}
}

// jsonArray takes an array out of JSON, as scalars or as JSON.
func (t *translator) jsonArray(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 2)
	args := t.arguments(c, s)
	if len(args) == 1 {
		args = append(args, value{sql: "'$'", typ: Of(String), literal: true})
	}
	if args[0].typ.Kind != JSON && args[0].typ.Kind != String || args[1].typ.Kind != String {
		t.noSignature(c, args)
	}
	if c.name == "JSON_VALUE_ARRAY" || c.name == "JSON_EXTRACT_STRING_ARRAY" {
		return value{sql: "bq_json_values(" + joinSQL(args) + ")", typ: ArrayOf(Of(String))}
	}
	return value{sql: "bq_json_items(" + joinSQL(args) + ")", typ: ArrayOf(args[0].typ)}
}

func (t *translator) lastDay(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 2)
	v := t.expr(c.args[0], s)
	if v.typ.Kind != DateTime {
		cast, ok := t.coerce(v, Of(Date))
		if !ok {
			t.noSignature(c, []value{v})
		}
		v = cast
	}
	part := "MONTH"
	if len(c.args) == 2 {
		part = partOf(c.args[1], c.name, Date)
		if part == "DAY" {
			fail(c.args[1].offset(), "LAST_DAY does not support the DAY date part")
		}
	}
	return value{sql: fmt.Sprintf("bq_last_day(CAST(%s AS DATE), %s)", v.sql, quoteText(part)), typ: Of(Date)}
}

func (t *translator) user(c *callExpr, _ *scope) value {
	t.expectArgs(c, 0, 0)
	return value{sql: quoteText(t.options.User), typ: Of(String)}
}

// errorFunction's result has any type, as NULL has.
func (t *translator) errorFunction(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 1)
	v, ok := t.coerce(t.expr(c.args[0], s), Of(String))
	if !ok {
		t.noSignature(c, []value{v})
	}
	return value{sql: "bq_error(" + v.sql + ")", typ: Of(Null)}
}
