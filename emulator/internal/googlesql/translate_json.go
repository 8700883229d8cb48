package googlesql

import (
	"fmt"
	"strings"
)

// toJSON is TO_JSON and TO_JSON_STRING: what a value's JSON is depends on its type, which
// is known here, so the expression is composed from its parts.
func (t *translator) toJSON(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, 1) // pretty printing and stringify_wide_numbers aren't there
	v := t.expr(c.args[0], s)
	result := Of(String)
	if c.name == "TO_JSON" {
		result = Of(JSON)
	}
	return value{sql: "coalesce(" + t.jsonOf(typed(v), notNull(v.typ)) + ", 'null')", typ: result}
}

// jsonOf is a value's JSON text; NULL for NULL.
func (t *translator) jsonOf(sql string, typ *Type) string {
	switch typ.Kind {
	case JSON:
		return sql
	case Bool:
		return "CAST(" + sql + " AS VARCHAR)"
	case Int64:
		return "bq_json_integer(" + sql + ")"
	case Float64:
		return "bq_json_number(" + sql + ")"
	case Numeric:
		return "bq_numeric_text(" + sql + ")"
	case BigNumeric:
		return "bq_big_text(" + sql + ")"
	case Bytes:
		return "bq_json_quote(base64(" + sql + "))"
	case Timestamp:
		return "bq_json_quote(bq_json_timestamp(" + sql + "))"
	case DateTime:
		return "bq_json_quote(replace(bq_datetime_text(" + sql + "), ' ', 'T'))"
	case Array:
		t.aliases++
		name := fmt.Sprintf("e%d", t.aliases)
		item := "coalesce(" + t.jsonOf(name, typ.Elem) + ", 'null')"
		return "CASE WHEN len(" + sql + ") = 0 THEN '[]' ELSE '[' || array_to_string(list_transform(" + sql + ", lambda " + name + ": " + item + "), ',') || ']' END"
	case Struct:
		parts := make([]string, len(typ.Fields))
		for i, f := range typ.Fields {
			part := "struct_extract(" + sql + ", " + quoteText(typ.fieldName(i)) + ")"
			parts[i] = quoteText(jsonText(f.Name)+":") + " || coalesce(" + t.jsonOf(part, f.Type) + ", 'null')"
		}
		return "CASE WHEN " + sql + " IS NOT NULL THEN '{' || " + strings.Join(parts, " || ',' || ") + " || '}' END"
	default:
		text, ok := t.castSQL(value{sql: sql, typ: typ}, Of(String))
		if !ok {
			text = "CAST(" + sql + " AS VARCHAR)"
		}
		return "bq_json_quote(" + text + ")"
	}
}

// format is FORMAT(pattern, …): each argument goes as text, beside its type's name.
func (t *translator) format(c *callExpr, s *scope) value {
	t.expectArgs(c, 1, maxChain)
	args := t.arguments(c, s)
	if args[0].typ.Kind != String {
		t.noSignature(c, args)
	}
	kinds, texts := make([]string, len(args)-1), make([]string, len(args)-1)
	for i, a := range args[1:] {
		kinds[i] = quoteText(a.typ.Kind.String())
		sql, ok := t.castSQL(a, Of(String))
		switch {
		case a.typ.Kind == Bytes:
			sql = "lower(hex(" + a.sql + "))"
		case a.typ.Kind == Array, a.typ.Kind == Struct, a.typ.Kind == JSON, a.typ.Kind == Geography, a.typ.Kind == Range:
			if a.typ.Kind != JSON {
				fail(c.args[i+1].offset(), "Not supported: FORMAT of %s", a.typ)
			}
			sql = a.sql
		case !ok:
			t.noSignature(c, args)
		}
		texts[i] = sql
	}
	return value{sql: fmt.Sprintf("bq_format(%s, CAST([%s] AS VARCHAR[]), CAST([%s] AS VARCHAR[]))", args[0].sql, strings.Join(kinds, ", "), strings.Join(texts, ", ")), typ: Of(String)}
}
