package googlesql

import (
	"fmt"
	"strings"
	"time"
)

// interval translates INTERVAL n part, and INTERVAL 'text' part TO part.
func (t *translator) interval(e *intervalExpr, s *scope) value {
	if constant, ok := constantInterval(e); ok {
		return value{sql: intervalSQL(constant.(IntervalValue)), typ: Of(Interval)}
	}
	if e.to != "" {
		fail(e.offset(), "Invalid INTERVAL value")
	}
	v, ok := t.coerce(t.expr(e.of, s), Of(Int64))
	if !ok {
		fail(e.of.offset(), "Invalid INTERVAL value: expected INT64, but got %s", v.typ)
	}
	if !intervalPart(e.part) {
		fail(e.offset(), "Invalid date part in INTERVAL: %s", e.part)
	}
	return value{sql: fmt.Sprintf("bq_interval(%s, %s)", v.sql, quoteText(e.part)), typ: Of(Interval)}
}

func intervalPart(part string) bool {
	_, err := intervalOf(0, part)
	return err == nil
}

// extract translates EXTRACT(part FROM of AT TIME ZONE zone).
func (t *translator) extract(e *extractExpr, s *scope) value {
	v := t.expr(e.of, s)
	part := e.part.text
	zone := "'UTC'"
	if e.zone != nil {
		z := t.expr(e.zone, s)
		if v.typ.Kind != Timestamp || z.typ.Kind != String {
			fail(e.zone.offset(), "EXTRACT from %s does not support AT TIME ZONE", v.typ)
		}
		zone = z.sql
	}
	civil := v.sql
	switch v.typ.Kind {
	case Timestamp:
		civil = civilSQL(v.sql, zone)
	case DateTime:
	case Date:
		civil = "CAST(" + v.sql + " AS TIMESTAMP)"
	case Time:
		civil = "(DATE '1970-01-01' + " + v.sql + ")"
	case Interval:
		if !intervalPart(part) || part == "WEEK" || part == "QUARTER" {
			fail(e.part.at, "EXTRACT from INTERVAL does not support the %s date part", part)
		}
		return value{sql: fmt.Sprintf("bq_interval_part(%s, %s)", quoteText(part), v.sql), typ: Of(Int64)}
	default:
		fail(e.of.offset(), "EXTRACT does not support literal type %s", v.typ)
	}
	if kind := map[string]Kind{"DATE": Date, "TIME": Time, "DATETIME": DateTime}[part]; kind != Null {
		if v.typ.Kind != Timestamp && (v.typ.Kind != DateTime || kind == DateTime) {
			fail(e.part.at, "EXTRACT from %s does not support the %s date part", v.typ, part)
		}
		return value{sql: "CAST(" + civil + " AS " + Of(kind).DuckDB() + ")", typ: Of(kind)}
	}
	if part != "DAYOFWEEK" && part != "DAYOFYEAR" && !isPart(part, v.typ.Kind) || v.typ.Kind == Time && !isPart(part, Time) {
		fail(e.part.at, "EXTRACT from %s does not support the %s date part", v.typ, part)
	}
	return value{sql: fmt.Sprintf("bq_extract(%s, %s)", quoteText(part), civil), typ: Of(Int64)}
}

// civilSQL is what a clock in the zone shows. DuckDB knows UTC itself; other zones are
// Go's, whose names are BigQuery's.
func civilSQL(timestamp, zone string) string {
	if zone == "'UTC'" {
		return "timezone('UTC', " + timestamp + ")"
	}
	return "bq_civil(" + timestamp + ", " + zone + ")"
}

// timeArithmetic is + and - of dates, times and intervals; ok is false for other types.
func (t *translator) timeArithmetic(op string, l, r value) (value, bool) {
	sign := map[string]string{"+": "1", "-": "-1"}[op]
	a, b := l.typ.Kind, r.typ.Kind
	switch {
	case a == Interval && b == Interval && sign != "":
		return value{sql: "(" + l.sql + " " + op + " " + r.sql + ")", typ: l.typ}, true
	case a == Interval && b == Int64 && (op == "*" || op == "/"):
		return value{sql: fmt.Sprintf("bq_interval_scale(%s, %s, %s)", quoteText(op), l.sql, r.sql), typ: l.typ}, true
	case a == Int64 && b == Interval && op == "*":
		return t.timeArithmetic(op, r, l)
	case b == Interval && sign != "" && (a == Date || a == DateTime):
		return value{sql: fmt.Sprintf("bq_datetime_plus(CAST(%s AS TIMESTAMP), %s, %s)", l.sql, r.sql, sign), typ: Of(DateTime)}, true
	case b == Interval && sign != "" && a == Timestamp:
		return value{sql: fmt.Sprintf("bq_timestamp_plus(%s, %s, %s)", l.sql, r.sql, sign), typ: l.typ}, true
	case a == Interval && op == "+" && (b == Date || b == DateTime || b == Timestamp):
		return t.timeArithmetic(op, r, l)
	case a == Date && b == Int64 && sign != "":
		return value{sql: fmt.Sprintf("bq_date_add(%s, %s * %s, 'DAY')", l.sql, sign, r.sql), typ: l.typ}, true
	case a == Int64 && b == Date && op == "+":
		return t.timeArithmetic(op, r, l)
	case a == b && op == "-" && (a == Date || a == DateTime || a == Timestamp):
		return value{sql: fmt.Sprintf("bq_between(CAST(%s AS TIMESTAMP), CAST(%s AS TIMESTAMP), %v)", l.sql, r.sql, a == Date), typ: Of(Interval)}, true
	}
	return value{}, false
}

// partOf reads a date part that is an argument.
func partOf(e expr, function string, kind Kind) string {
	path, ok := e.(*pathExpr)
	if !ok || len(path.names) != 1 {
		fail(e.offset(), "%s: expected a date part", function)
	}
	part := strings.ToUpper(path.names[0].text)
	if !isPart(part, kind) {
		fail(e.offset(), "%s does not support the %s date part", function, part)
	}
	return part
}

// addFunction is DATE_ADD and its like: a value and INTERVAL n part.
func (t *translator) addFunction(c *callExpr, kind Kind, s *scope) value {
	if len(c.args) != 2 {
		fail(c.offset(), "%s expects 2 arguments", c.name)
	}
	v := t.expr(c.args[0], s)
	// DATE_ADD and DATETIME_ADD take each other's values, and TIMESTAMPs.
	switch {
	case v.isNull() || v.literal && v.typ.Kind == String:
		v, _ = t.coerce(v, Of(kind))
	case kind == Date && (v.typ.Kind == DateTime || v.typ.Kind == Timestamp):
		kind = v.typ.Kind
	case kind == DateTime && v.typ.Kind == Date:
		v, _ = t.coerce(v, Of(kind))
	}
	if v.typ.Kind != kind {
		fail(c.offset(), "No matching signature for function %s for argument types: %s, INTERVAL", c.name, v.typ)
	}
	i, ok := c.args[1].(*intervalExpr)
	if !ok || i.to != "" {
		fail(c.args[1].offset(), "%s expects INTERVAL with a number and a date part", c.name)
	}
	_, clock := clockUnits[i.part]
	_, months := monthUnits[i.part]
	allowed := clock && kind != Date || i.part == "DAY" && kind != Time || (months || i.part == "WEEK") && (kind == Date || kind == DateTime)
	if !allowed {
		fail(i.offset(), "%s does not support the %s date part", c.name, i.part)
	}
	n := t.expr(i.of, s)
	if n.typ.Kind == String && n.literal {
		n.sql, _ = t.castSQL(n, Of(Int64))
		n.typ = Of(Int64)
	}
	if n.typ.Kind != Int64 && !n.isNull() {
		fail(i.of.offset(), "%s expects INTERVAL with an INT64, but got %s", c.name, n.typ)
	}
	number := typed(n)
	if strings.HasSuffix(c.name, "_SUB") {
		number = "(-" + number + ")"
	}
	return value{sql: fmt.Sprintf("bq_%s_add(%s, %s, %s)", strings.ToLower(kind.String()), v.sql, number, quoteText(i.part)), typ: Of(kind)}
}

// diffFunction is DATE_DIFF and its like.
func (t *translator) diffFunction(c *callExpr, kind Kind, s *scope) value {
	if len(c.args) != 3 {
		fail(c.offset(), "%s expects 3 arguments", c.name)
	}
	values := []value{t.expr(c.args[0], s), t.expr(c.args[1], s)}
	if kind == Date && values[0].typ.Kind == values[1].typ.Kind && (values[0].typ.Kind == DateTime || values[0].typ.Kind == Timestamp) {
		kind = values[0].typ.Kind
	}
	for i, v := range values {
		cast, ok := t.coerce(v, Of(kind))
		if !ok {
			fail(c.offset(), "No matching signature for function %s for argument types: %s", c.name, typeList(values))
		}
		values[i] = cast
	}
	part := partOf(c.args[2], c.name, kind)
	if kind == Timestamp {
		if _, err := wholeUnits(time.Time{}, time.Time{}, part); err != nil {
			fail(c.args[2].offset(), "%s does not support the %s date part", c.name, part)
		}
	}
	return value{sql: fmt.Sprintf("bq_%s_diff(%s, %s, %s)", strings.ToLower(kind.String()), values[0].sql, values[1].sql, quoteText(part)), typ: Of(Int64)}
}

// truncFunction is DATE_TRUNC and its like.
func (t *translator) truncFunction(c *callExpr, kind Kind, s *scope) value {
	if len(c.args) < 2 || len(c.args) > 3 {
		fail(c.offset(), "%s expects a value and a date part", c.name)
	}
	v := t.expr(c.args[0], s)
	if v.isNull() || v.literal && v.typ.Kind == String {
		v, _ = t.coerce(v, Of(kind))
	}
	if v.typ.Kind != kind && (kind == Time || v.typ.Kind != Date && v.typ.Kind != DateTime && v.typ.Kind != Timestamp) {
		fail(c.offset(), "No matching signature for function %s for argument types: %s", c.name, typeList([]value{v}))
	}
	kind = v.typ.Kind
	part := partOf(c.args[1], c.name, kind)
	if kind != Timestamp {
		if len(c.args) == 3 {
			fail(c.args[2].offset(), "%s with a time zone expects a TIMESTAMP", c.name)
		}
		return value{sql: fmt.Sprintf("bq_%s_trunc(%s, %s)", strings.ToLower(kind.String()), v.sql, quoteText(part)), typ: Of(kind)}
	}
	zone := "'UTC'"
	if len(c.args) == 3 {
		zone = t.zone(c.args[2], s)
	}
	return value{sql: fmt.Sprintf("bq_timestamp_trunc(%s, %s, %s)", v.sql, quoteText(part), zone), typ: Of(kind)}
}

func (t *translator) zone(e expr, s *scope) string {
	v := t.expr(e, s)
	if v.typ.Kind != String && !v.isNull() {
		fail(e.offset(), "A time zone must be a STRING, but got %s", v.typ)
	}
	return v.sql
}

// clock is CURRENT_DATE and its like, by the translation's clock.
func (t *translator) clock(c *callExpr, s *scope) value {
	kind := typeNames[strings.TrimPrefix(c.name, "CURRENT_")]
	now := timestampSQL(t.options.Now)
	zone := "'UTC'"
	switch {
	case len(c.args) > 1 || len(c.args) == 1 && kind == Timestamp:
		fail(c.offset(), "%s: too many arguments", c.name)
	case len(c.args) == 1:
		zone = t.zone(c.args[0], s)
	}
	if kind == Timestamp {
		return value{sql: now, typ: Of(kind)}
	}
	return value{sql: fmt.Sprintf("CAST(%s AS %s)", civilSQL(now, zone), Of(kind).DuckDB()), typ: Of(kind)}
}
