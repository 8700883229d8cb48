package googlesql

import "fmt"

func (t *translator) cast(e *castExpr, s *scope) value {
	v := t.expr(e.of, s)
	sql, ok := t.castSQL(v, e.to)
	if !ok {
		fail(e.offset(), "Invalid cast from %s to %s", v.typ, e.to)
	}
	to := e.to
	switch {
	case to.Length > 0:
		check := map[Kind]string{String: "bq_check_length", Bytes: "bq_check_bytes"}[to.Kind]
		sql = fmt.Sprintf("%s(%s, CAST(%d AS BIGINT), %s)", check, sql, to.Length, quoteText(to.String()))
		to = Of(to.Kind)
	case to.Precision > 0 && to.Kind == Numeric:
		sql = fmt.Sprintf("bq_check_numeric(%s, CAST(%d AS BIGINT), CAST(%d AS BIGINT))", sql, to.Precision, to.Scale)
		to = Of(to.Kind)
	case to.Precision > 0:
		fail(e.offset(), "Not supported: CAST to %s", to)
	}
	if e.safe {
		sql = "TRY(" + sql + ")"
	}
	return value{sql: sql, typ: to}
}

// casts are the DuckDB expressions of BigQuery's casts between scalars; $1 is the value.
var casts = map[[2]Kind]string{
	{Bool, Int64}:       "CAST($1 AS BIGINT)",
	{Bool, String}:      "CAST($1 AS VARCHAR)",
	{Int64, Bool}:       "($1 != 0)",
	{Int64, Float64}:    "CAST($1 AS DOUBLE)",
	{Int64, Numeric}:    "CAST($1 AS DECIMAL(38,9))",
	{Int64, BigNumeric}: "bq_big_parse(CAST($1 AS VARCHAR))",
	{Int64, String}:     "CAST($1 AS VARCHAR)",

	{Float64, Int64}:      "bq_float_int($1)", // half away from zero; DuckDB rounds half to even
	{Float64, Numeric}:    "bq_float_numeric($1)",
	{Float64, BigNumeric}: "bq_float_big($1)",
	{Float64, String}:     "bq_float_text($1)",

	{Numeric, Int64}:      "CAST($1 AS BIGINT)",
	{Numeric, Float64}:    "CAST($1 AS DOUBLE)",
	{Numeric, BigNumeric}: "bq_big_parse(CAST($1 AS VARCHAR))",
	{Numeric, String}:     "bq_numeric_text($1)",

	{BigNumeric, Int64}:   "bq_big_int($1)",
	{BigNumeric, Float64}: "CAST(bq_big_text($1) AS DOUBLE)",
	{BigNumeric, Numeric}: "bq_parse_numeric(bq_big_text($1))",
	{BigNumeric, String}:  "bq_big_text($1)",

	{String, Bool}:       "bq_parse_bool($1)",
	{String, Int64}:      "bq_parse_int($1)",
	{String, Float64}:    "bq_parse_float($1)",
	{String, Numeric}:    "bq_parse_numeric($1)",
	{String, BigNumeric}: "bq_big_parse($1)",
	{String, Bytes}:      "encode($1)",
	{String, Date}:       "bq_parse_date($1)",
	{String, Time}:       "bq_parse_time($1)",
	{String, DateTime}:   "bq_parse_datetime($1)",
	{String, Timestamp}:  "bq_parse_timestamp($1, 'UTC')",
	{String, Interval}:   "bq_parse_interval($1)",

	{Bytes, String}: "bq_utf8($1)",

	{Date, String}:        "bq_date_text($1)",
	{Date, DateTime}:      "CAST($1 AS TIMESTAMP)",
	{Date, Timestamp}:     "timezone('UTC', CAST($1 AS TIMESTAMP))",
	{DateTime, String}:    "bq_datetime_text($1)",
	{DateTime, Date}:      "CAST($1 AS DATE)",
	{DateTime, Time}:      "CAST($1 AS TIME)",
	{DateTime, Timestamp}: "timezone('UTC', $1)",
	{Time, String}:        "bq_time_text($1)",
	{Timestamp, String}:   "bq_timestamp_text($1, 'UTC')",
	{Timestamp, Date}:     "CAST(timezone('UTC', $1) AS DATE)",
	{Timestamp, DateTime}: "timezone('UTC', $1)",
	{Timestamp, Time}:     "CAST(timezone('UTC', $1) AS TIME)",
	{Interval, String}:    "bq_interval_text($1)",
}

// castSQL is CAST(v AS to); ok is false if BigQuery has no such cast. A literal's text
// that is no value of the type stays an error of the query when it runs, as for other text.
func (t *translator) castSQL(v value, to *Type) (string, bool) {
	switch {
	case to.Kind == Range:
		return t.castRange(v, to)
	case v.isNull():
		return castNull(v, to), true
	case v.typ.SameAs(to):
		return v.sql, true
	case v.typ.Kind == Array && to.Kind == Array:
		cast, ok := t.castArray(v, to, true)
		return cast.sql, ok
	case v.typ.Kind == Struct && to.Kind == Struct && len(v.typ.Fields) == len(to.Fields):
		return t.castStruct(v, to)
	}
	template, ok := casts[[2]Kind{v.typ.Kind, to.Kind}]
	if !ok {
		return "", false
	}
	return fill(template, v.sql), true
}

// castArray converts an array element by element: as a cast does if explicit, else as
// literals coerce.
func (t *translator) castArray(v value, to *Type, explicit bool) (value, bool) {
	if v.typ.Elem.SameAs(to.Elem) {
		return v, true
	}
	if v.typ.Elem.Kind == Null {
		return value{sql: "CAST(" + v.sql + " AS " + to.DuckDB() + ")", typ: to}, true
	}
	t.aliases++
	name := fmt.Sprintf("e%d", t.aliases)
	item := value{sql: name, typ: v.typ.Elem, literal: v.literal}
	cast, ok := t.coerce(item, to.Elem)
	if explicit {
		cast.sql, ok = t.castSQL(item, to.Elem)
	}
	if !ok {
		return v, false
	}
	sql := cast.sql
	return value{sql: "list_transform(" + v.sql + ", lambda " + name + ": " + sql + ")", typ: to, literal: v.literal}, true
}

func (t *translator) castStruct(v value, to *Type) (string, bool) {
	values := make([]string, len(to.Fields))
	for i, f := range to.Fields {
		part := value{sql: "struct_extract(" + v.sql + ", " + quoteText(v.typ.fieldName(i)) + ")", typ: v.typ.Fields[i].Type}
		cast, ok := t.castSQL(part, f.Type)
		if !ok {
			return "", false
		}
		values[i] = cast
	}
	return "CASE WHEN " + v.sql + " IS NOT NULL THEN " + packStruct(to, values) + " END", true
}
