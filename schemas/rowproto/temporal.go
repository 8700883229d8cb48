package rowproto

import (
	"math"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// The four types of date and time. What a value may become:
//
//   - a civil value (DATE, DATETIME: what a clock on a wall shows) and an instant
//     (TIMESTAMP) become each other in UTC, as BigQuery's own CAST has it and as
//     Debezium counts its civil values, typed or as a text: a message means the
//     same with its schema envelope and without.
//   - a text with an offset from UTC other than zero is no civil value: the wall
//     clock that it shows is not the one that a civil column would keep.
//   - a date is midnight to a DATETIME, and midnight to a DATE is the date.

// appendDate appends a DATE as days since 1970-01-01.
func appendDate(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	days, err := e.daysOf(f, v)
	if err != nil {
		return dst, err
	}
	if days, err = e.within(f, days, minDay, maxDay); err != nil {
		return dst, err
	}
	return appendInt(dst, days), nil
}

// daysOf returns the value as days; beyond BigQuery's range it need not be exact.
func (e *Encoder) daysOf(f *field, v *change.Value) (int64, *ValueError) {
	switch v.Kind() {
	case change.KindDate:
		return v.Int(), nil
	case change.KindDateTime, change.KindTimestamp:
		return e.wholeDays(f, v.Int())
	case change.KindNumber:
		// Days are the one count that a DATE has.
		if n, ok := shortInt(v.Text()); ok && (f.column.From == "" || f.column.From == table.FromDays) {
			return n, nil
		}
	default:
	}
	if isNumber(v) {
		if f.column.From == "" && v.Kind() != change.KindNumber {
			return 0, bad("nothing says what the number counts; `from: days` does so, or another unit")
		}
		unit := f
		if f.column.From == "" {
			unit = &daysField
		}
		micros, err := e.microsOf(unit, v)
		if err != nil {
			return 0, err
		}
		return e.wholeDays(f, micros)
	}
	c, err := e.readCivil(f, v)
	switch {
	case err != nil:
		return 0, err
	case c.side != 0:
		return beyond(c.side), nil
	case c.offset != 0:
		return 0, zoned(f)
	case !c.hasDate:
		return 0, bad(noDate)
	}
	return e.wholeDays(f, c.days*microsPerDay+c.micros)
}

// daysField reads a DATE's number that has no unit.
var daysField = field{column: &table.Column{Type: table.Date, From: table.FromDays}}

// wholeDays returns the days of a date and time that must be midnight.
func (e *Encoder) wholeDays(f *field, micros int64) (int64, *ValueError) {
	days := floorDiv(micros, microsPerDay)
	if micros != days*microsPerDay && days >= minDay && days <= maxDay {
		if !f.clamp {
			return 0, bad("the value has a time of day, which a DATE can't hold")
		}
		e.adjust(f)
	}
	return days, nil
}

// appendTimestamp appends a TIMESTAMP as microseconds since 1970-01-01 00:00:00 UTC.
func appendTimestamp(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	micros, err := e.instantOf(f, v)
	if err != nil {
		return dst, err
	}
	if micros, err = e.within(f, micros, minMicro, maxMicro); err != nil {
		return dst, err
	}
	return appendInt(dst, micros), nil
}

func (e *Encoder) instantOf(f *field, v *change.Value) (int64, *ValueError) {
	micros, offset, err := e.momentOf(f, v)
	return micros - offset*1_000_000, err
}

// momentOf returns the microseconds of a date and time as its clock shows them,
// and that clock's offset from UTC in seconds, which a text alone may have.
func (e *Encoder) momentOf(f *field, v *change.Value) (micros, offset int64, _ *ValueError) {
	switch v.Kind() {
	case change.KindTimestamp, change.KindDateTime:
		return v.Int(), 0, nil
	case change.KindDate:
		return saturatingDays(v.Int()), 0, nil
	default:
	}
	if isNumber(v) {
		if f.column.From == "" {
			return 0, 0, needsUnit(f)
		}
		micros, err := e.microsOf(f, v)
		return micros, 0, err
	}
	c, err := e.readCivil(f, v)
	switch {
	case err != nil:
		return 0, 0, err
	case c.side != 0:
		return beyond(c.side), 0, nil
	case !c.hasDate:
		return 0, 0, bad(noDate)
	}
	return c.days*microsPerDay + c.micros, c.offset, nil
}

// appendDateTime appends a DATETIME as its text.
func appendDateTime(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	micros, err := e.civilOf(f, v)
	if err != nil {
		return dst, err
	}
	if micros, err = e.within(f, micros, minMicro, maxMicro); err != nil {
		return dst, err
	}
	start := len(dst)
	return closeLength(appendDateTimeText(openLength(dst), micros), start), nil
}

func (e *Encoder) civilOf(f *field, v *change.Value) (int64, *ValueError) {
	micros, offset, err := e.momentOf(f, v)
	if err == nil && offset != 0 {
		return 0, zoned(f)
	}
	return micros, err
}

// appendTime appends a TIME as its text.
func appendTime(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	micros, err := e.timeOf(f, v)
	if err != nil {
		return dst, err
	}
	if micros, err = e.within(f, micros, 0, microsPerDay-1); err != nil {
		return dst, err
	}
	start := len(dst)
	return closeLength(appendTimeText(openLength(dst), micros), start), nil
}

func (e *Encoder) timeOf(f *field, v *change.Value) (int64, *ValueError) {
	if v.Kind() == change.KindTime {
		return v.Int(), nil
	}
	if isNumber(v) {
		if f.column.From == "" {
			return 0, needsUnit(f)
		}
		return e.microsOf(f, v)
	}
	if side := longTime(v); side != 0 {
		return beyond(side), nil
	}
	c, err := e.readCivil(f, v)
	switch {
	case err != nil:
		return 0, err
	case c.hasDate || !c.hasTime:
		return 0, bad("the text is no time of day")
	case c.offset != 0:
		return 0, zoned(f)
	}
	return c.micros, nil
}

// longTime recognizes a MySQL TIME that is no time of day: "-01:00:00",
// "838:59:59", and PostgreSQL's "24:00:00". It returns on which side it is.
func longTime(v *change.Value) int {
	if v.Kind() != change.KindText && v.Kind() != change.KindString {
		return 0
	}
	text, side := v.Text(), 1
	if text != "" && text[0] == '-' {
		text, side = text[1:], -1
	}
	digits := 0
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	if digits != 2 && digits != 3 || side > 0 && digits == 2 && text[:2] < "24" || len(text) < digits+6 || text[digits] != ':' {
		return 0
	}
	var c civil
	rest, problem := c.parseTime("00" + text[digits:])
	if rest != "" || problem != "" || side < 0 && c.micros == 0 && text[:digits] == "000"[:digits] {
		return 0
	}
	return side
}

// within returns v when it is between the bounds, the nearer bound when the
// column's policy is to clamp, else a bad value.
func (e *Encoder) within(f *field, v, lo, hi int64) (int64, *ValueError) {
	if v >= lo && v <= hi {
		return v, nil
	}
	if f.clamp {
		e.adjust(f)
		return max(lo, min(v, hi)), nil
	}
	if f.column.Type == table.Time {
		return 0, bad("the value is not between 00:00:00 and 23:59:59.999999")
	}
	return 0, bad("the value is outside BigQuery's range, 0001-01-01 to 9999-12-31")
}

func beyond(side int) int64 {
	if side < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

func zoned(f *field) *ValueError {
	return bad("the text has an offset from UTC, which a %s can't keep", f.column.Type)
}

// readCivil reads a text or a structured date or time; any other kind of value
// is a mismatch.
func (e *Encoder) readCivil(f *field, v *change.Value) (civil, *ValueError) {
	switch v.Kind() {
	case change.KindText, change.KindString:
		c, problem := parseCivil(v.Text())
		if problem != "" {
			return c, bad("%s", problem)
		}
		return c, nil
	case change.KindRaw, change.KindStruct:
		return e.structuredCivil(v)
	default:
		return civil{}, mismatch(f, v)
	}
}
