package googlesql

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"beamcdc/emulator/internal/decimal"
)

func (t *translator) literal(e *literal) value {
	v := value{typ: Of(e.kind), literal: true, text: e.text}
	switch e.kind {
	case Null:
		v.sql = "NULL"
	case Bool:
		v.sql = strings.ToLower(e.text)
	case Int64:
		n, err := parseInt(e.text)
		if err != nil {
			fail(e.offset(), "Invalid integer literal: %s", e.text)
		}
		v.sql = intSQL(n)
	case Float64:
		f, err := strconv.ParseFloat(e.text, 64)
		if err != nil {
			fail(e.offset(), "Invalid floating point literal: %s", e.text)
		}
		v.sql = floatSQL(f)
	default:
		sql, err := textSQL(v.typ, e.text)
		if err != nil {
			fail(e.offset(), "Invalid %s literal", e.kind)
		}
		v.sql = sql
		if e.kind == String {
			v.written = e
		} else {
			v.text = ""
		}
	}
	return v
}

func intSQL(n int64) string {
	if n == math.MinInt64 { // whose digits DuckDB reads without the sign
		return "CAST('-9223372036854775808' AS BIGINT)"
	}
	return fmt.Sprintf("CAST(%d AS BIGINT)", n)
}

func floatSQL(f float64) string {
	return "CAST('" + strconv.FormatFloat(f, 'g', -1, 64) + "' AS DOUBLE)"
}

// textSQL is a value of a type, from the text that BigQuery writes it as, checked now.
func textSQL(typ *Type, text string) (string, error) {
	switch typ.Kind {
	case Bytes:
		return "unhex('" + hex.EncodeToString([]byte(text)) + "')", nil
	case Bool:
		b, err := parseBool(text)
		return strconv.FormatBool(b), err
	case Int64:
		n, err := parseIntText(text)
		return intSQL(n), err
	case Float64:
		f, err := parseFloatText(text)
		return floatSQL(f), err
	case Numeric:
		n, err := parseDecimal(text, decimal.NumericScale)
		if err != nil {
			return "", err
		}
		return "CAST('" + decimal.Text(n, decimal.NumericScale) + "' AS DECIMAL(38,9))", nil
	case BigNumeric:
		n, err := parseDecimal(text, decimal.BigNumericScale)
		if err != nil {
			return "", err
		}
		return "unhex('" + hex.EncodeToString(decimal.Encode(n)) + "')", nil
	case Date:
		d, err := parseDate(text)
		return "CAST('" + d.Format(time.DateOnly) + "' AS DATE)", err
	case Time:
		d, err := parseTime(text)
		return "CAST('" + d.Format("15:04:05.000000") + "' AS TIME)", err
	case DateTime:
		d, err := parseDateTime(text)
		return "CAST('" + d.Format("2006-01-02 15:04:05.000000") + "' AS TIMESTAMP)", err
	case Timestamp:
		d, err := parseTimestamp(text, time.UTC)
		return timestampSQL(d), err
	case Interval:
		i, err := parseInterval(text)
		return intervalSQL(i), err
	case JSON:
		return quoteText(text), checkJSON(text)
	default:
		return quoteText(text), nil
	}
}

func timestampSQL(at time.Time) string {
	return "CAST('" + at.UTC().Format("2006-01-02 15:04:05.000000") + "+00' AS TIMESTAMPTZ)"
}

func intervalSQL(i IntervalValue) string {
	return fmt.Sprintf("(to_months(%d) + to_days(%d) + to_microseconds(%d))", i.Months, i.Days, i.Micros)
}

// parameter writes a parameter's value as a literal.
func (t *translator) parameter(e *paramExpr) value {
	p, ok := t.options.Named[fold(e.name)]
	switch {
	case e.name != "" && !ok:
		fail(e.offset(), "Query parameter '%s' not found", e.name)
	case e.name == "" && e.index >= len(t.options.Positional):
		fail(e.offset(), "Query parameter number %d is not defined (%d provided)", e.index+1, len(t.options.Positional))
	case e.name == "":
		p = t.options.Positional[e.index]
	}
	sql, err := parameterSQL(p.Type, p.Value)
	if err != nil {
		fail(e.offset(), "Invalid value of a query parameter of type %s", p.Type)
	}
	return value{sql: sql, typ: p.Type, literal: true}
}

func parameterSQL(typ *Type, v any) (string, error) {
	if v == nil {
		return "CAST(NULL AS " + typ.DuckDB() + ")", nil
	}
	switch v := v.(type) {
	case string:
		if typ.Kind == Bytes {
			b, err := decodeBase64(v)
			return "unhex('" + hex.EncodeToString(b) + "')", err
		}
		if typ.Kind == Array || typ.Kind == Struct {
			break
		}
		return textSQL(typ, v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			part := typ.Elem
			if typ.Kind == Struct && i < len(typ.Fields) {
				part = typ.Fields[i].Type
			}
			if part == nil {
				return "", errValue
			}
			sql, err := parameterSQL(part, item)
			if err != nil {
				return "", err
			}
			parts[i] = sql
		}
		if typ.Kind == Struct {
			if len(v) != len(typ.Fields) {
				return "", errValue
			}
			return packStruct(typ, parts), nil
		}
		return "CAST([" + strings.Join(parts, ", ") + "] AS " + typ.DuckDB() + ")", nil
	}
	return "", errValue
}

// array translates [a, b], whose elements have a type in common.
func (t *translator) array(e *arrayExpr, s *scope) value {
	items := make([]value, len(e.items))
	literal := true
	for i, x := range e.items {
		items[i] = t.expr(x, s)
		if items[i].typ.Kind == Array {
			fail(x.offset(), "Cannot construct array with element type ARRAY because nested arrays are not supported")
		}
		literal = literal && items[i].literal
	}
	elem := e.element
	if elem == nil {
		items, elem = t.unify(items, e.offset(), "array construction")
	}
	parts := make([]string, len(items))
	for i, v := range items {
		cast, ok := t.coerce(v, elem)
		if !ok {
			fail(e.items[i].offset(), "Array element type %s does not coerce to %s", v.typ, elem)
		}
		parts[i] = cast.sql
	}
	typ := ArrayOf(elem)
	if elem.Kind == Null { // which any array's type takes
		return value{sql: "[" + strings.Join(parts, ", ") + "]", typ: typ, literal: literal}
	}
	return value{sql: "CAST([" + strings.Join(parts, ", ") + "] AS " + typ.DuckDB() + ")", typ: typ, literal: literal && e.element == nil}
}

// structure translates STRUCT(a, b AS c), and STRUCT<…>(a, b).
func (t *translator) structure(e *structExpr, s *scope) value {
	if e.fields != nil && len(e.fields.Fields) != len(e.items) {
		fail(e.offset(), "STRUCT type has %d fields but constructor call has %d fields", len(e.fields.Fields), len(e.items))
	}
	typ := &Type{Kind: Struct}
	values := make([]string, len(e.items))
	seen := map[string]bool{}
	literal := true
	for i, item := range e.items {
		v := t.expr(item.of, s)
		f := Field{Name: orElse(item.alias, implied(item.of)), Type: v.typ}
		if e.fields != nil {
			f = Field{Name: e.fields.Fields[i].Name, Type: e.fields.Fields[i].Type}
			cast, ok := t.coerce(v, f.Type)
			if !ok {
				fail(item.offset(), "Struct field %d has type %s which does not coerce to %s", i+1, v.typ, f.Type)
			}
			v = cast
		}
		if f.Name != "" && seen[fold(f.Name)] {
			fail(item.offset(), "Not supported: a STRUCT with two fields %s", f.Name)
		}
		seen[fold(f.Name)] = true
		typ.Fields = append(typ.Fields, f)
		values[i] = typed(v)
		literal = literal && v.literal
	}
	if len(values) == 0 {
		fail(e.offset(), "Not supported: a STRUCT without fields")
	}
	return value{sql: packStruct(typ, values), typ: typ, literal: literal && e.fields == nil}
}

// index translates array[…] and JSON's subscripts.
func (t *translator) index(e *indexExpr, s *scope) value {
	of, i := t.expr(e.of, s), t.expr(e.index, s)
	if of.typ.Kind == JSON && e.mode == "" && (i.typ.Kind == String || i.typ.Kind == Int64) {
		if i.typ.Kind == String {
			return value{sql: "bq_json_field(" + of.sql + ", " + i.sql + ")", typ: of.typ}
		}
		return value{sql: "bq_json_item(" + of.sql + ", " + i.sql + ")", typ: of.typ}
	}
	if of.typ.Kind != Array {
		fail(e.offset(), "Subscript access using [INT64] is not supported on values of type %s", of.typ)
	}
	if i.typ.Kind != Int64 && !i.isNull() {
		fail(e.index.offset(), "Array position in [] must be coercible to INT64 type, but has type %s", i.typ)
	}
	mode := orElse(e.mode, "OFFSET")
	return value{sql: fmt.Sprintf("list_extract(%s, bq_position(%s, %s, len(%s)))", of.sql, quoteText(mode), typed(i), of.sql), typ: of.typ.Elem}
}
