package googlesql

import "fmt"

// castRange is CAST(text AS RANGE<T>) of "[start, end)", where UNBOUNDED, or NULL, is no bound
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_rules).
func (t *translator) castRange(v value, to *Type) (string, bool) {
	switch {
	case v.isNull():
		return castNull(v, to), true
	case v.typ.SameAs(to):
		return v.sql, true
	case v.typ.Kind != String:
		return "", false
	}
	const form = `\[\s*([^,]+?)\s*,\s*([^)]+?)\s*\)`
	bound := func(group int) string {
		text := fmt.Sprintf("regexp_extract(%s, %s, %d)", v.sql, quoteText("^"+form+"$"), group)
		at, _ := t.castSQL(value{sql: text, typ: Of(String)}, to.Elem)
		return fmt.Sprintf("CASE WHEN upper(%s) IN ('UNBOUNDED', 'NULL') THEN NULL ELSE %s END", text, at)
	}
	return fmt.Sprintf("CASE WHEN %[1]s IS NULL THEN NULL WHEN NOT regexp_full_match(%[1]s, %[2]s) THEN CAST(bq_error('Invalid range: ' || %[1]s) AS %[5]s) ELSE CAST(struct_pack(\"start\" := %[3]s, \"end\" := %[4]s) AS %[5]s) END",
		v.sql, quoteText(form), bound(1), bound(2), to.DuckDB()), true
}

// parseJSON takes wide_number_mode, which changes nothing: JSON is kept as it was written.
func (t *translator) parseJSON(c *callExpr, s *scope) value {
	args := c.args
	if len(args) == 2 {
		named, ok := args[1].(*namedArg)
		if !ok || named.name.text != "wide_number_mode" {
			fail(c.offset(), "No matching signature for function PARSE_JSON: its second argument is wide_number_mode")
		}
		mode, ok := t.coerce(t.expr(named.of, s), Of(String))
		if !ok || mode.sql != quoteText("exact") && mode.sql != quoteText("round") {
			fail(c.offset(), "Invalid `wide_number_mode` in PARSE_JSON: it is 'exact' or 'round'")
		}
		args = args[:1]
	} else {
		t.expectArgs(c, 1, 2)
	}
	v := t.expr(args[0], s)
	text, ok := t.coerce(v, Of(String))
	if !ok {
		t.noSignature(c, []value{v})
	}
	return value{sql: "bq_parse_json(" + text.sql + ")", typ: Of(JSON)}
}
