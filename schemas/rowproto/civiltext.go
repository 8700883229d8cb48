package rowproto

import (
	"math"
	"strings"
)

// civil is what a text says of a date, a time of day and a zone.
type civil struct {
	hasDate, hasTime, hasZone bool

	days   int64 // since 1970-01-01
	micros int64 // since midnight
	offset int64 // of the zone, in seconds east of UTC
	// side is -1 for what is before every date that a column can hold and +1 for
	// what is after: infinities, and years with too many digits or none.
	side int
}

// parseCivil reads ISO 8601's and SQL's date, time of day, or both with a T or
// a blank between them; a time may have a fraction of up to nine digits, cut to
// microseconds, and a zone (Z, UTC, ±HH, ±HHMM, ±HH:MM, ±HH:MM:SS). It returns
// what is wrong, or "".
func parseCivil(text string) (c civil, problem string) {
	if x, word := floatWord(text); word && !math.IsNaN(x) { // PostgreSQL's infinity
		c.hasDate, c.hasTime, c.hasZone = true, true, true
		c.side = 1
		if x < 0 {
			c.side = -1
		}
		return c, ""
	}
	rest := text
	if len(rest) < 3 || rest[2] != ':' {
		if rest, problem = c.parseDate(rest); problem != "" {
			return c, problem
		}
		if rest == "" || c.bc(rest) {
			return c, ""
		}
		if rest[0] == 'T' || rest[0] == 't' || rest[0] == ' ' && len(rest) > 1 && isDigit(rest[1]) {
			rest = rest[1:]
		} else {
			return c, c.parseZone(rest) // "2025-03-09Z"
		}
	}
	if rest, problem = c.parseTime(rest); problem != "" {
		return c, problem
	}
	if rest == "" || c.bc(rest) {
		return c, ""
	}
	return c, c.parseZone(rest)
}

const noDate = "the text is no date"

// bc takes PostgreSQL's mark for a year before 1.
func (c *civil) bc(rest string) bool {
	if !c.hasDate || rest != " BC" {
		return false
	}
	c.side = -1
	return true
}

func (c *civil) parseDate(text string) (rest, problem string) {
	negative := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	digits := 0
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	if digits < 4 || len(text) < digits+6 || text[digits] != '-' || text[digits+3] != '-' {
		return text, noDate
	}
	month, ok1 := twoDigits(text[digits+1:])
	day, ok2 := twoDigits(text[digits+4:])
	if !ok1 || !ok2 {
		return text, noDate
	}
	c.hasDate = true
	rest = text[digits+6:]
	if month == 0 || day == 0 {
		return rest, "the text is a zero date, which is no date"
	}
	year := int64(0)
	for i := range digits {
		if year = year*10 + int64(text[i]-'0'); year > 999_999_999 {
			year = 999_999_999
		}
	}
	if negative {
		year = -year
	}
	if month > 12 || day > daysIn(year, month) {
		return rest, "the month has no such day"
	}
	c.setDate(year, month, day)
	return rest, ""
}

// setDate sets a date that is in the calendar.
func (c *civil) setDate(year, month, day int64) {
	switch {
	case year < 1:
		c.side = -1
	case year > 9999:
		c.side = +1
	default:
		c.days = dayOf(year, month, day)
	}
}

func (c *civil) parseTime(text string) (rest, problem string) {
	const noTime = "the text is no time of day"
	if len(text) < 5 || text[2] != ':' {
		return text, noTime
	}
	hour, ok1 := twoDigits(text)
	minute, ok2 := twoDigits(text[3:])
	if !ok1 || !ok2 {
		return text, noTime
	}
	rest = text[5:]
	second := int64(0)
	if rest != "" && rest[0] == ':' {
		var ok bool
		if second, ok = twoDigits(rest[1:]); !ok {
			return rest, noTime
		}
		rest = rest[3:]
	}
	if hour > 23 || minute > 59 || second > 59 {
		return rest, "the day has no such time"
	}
	c.hasTime = true
	c.micros = ((hour*60+minute)*60 + second) * 1_000_000
	if rest == "" || rest[0] != '.' && rest[0] != ',' {
		return rest, ""
	}
	rest = rest[1:]
	digits, unit := 0, int64(100_000)
	for ; digits < len(rest) && isDigit(rest[digits]); digits++ {
		c.micros += int64(rest[digits]-'0') * unit // unit is 0 from the seventh digit on: cut downwards
		unit /= 10
	}
	if digits == 0 || digits > 9 {
		return rest, "the fraction of the second has no digit or more than nine"
	}
	return rest[digits:], ""
}

// parseZone reads the whole rest of a text.
func (c *civil) parseZone(text string) (problem string) {
	const noZone = "what follows the time is no zone that has an offset"
	text = strings.TrimPrefix(text, " ")
	c.hasZone = true
	switch text {
	case "Z", "z", "UTC":
		return ""
	}
	if len(text) < 3 || text[0] != '+' && text[0] != '-' {
		return noZone
	}
	negative := text[0] == '-'
	hours, ok := twoDigits(text[1:])
	if !ok || hours > maxOffset/3600 {
		return noZone
	}
	c.offset = hours * 3600
	rest := text[3:]
	for _, unit := range [...]int64{60, 1} {
		if rest == "" {
			break
		}
		rest = strings.TrimPrefix(rest, ":")
		n, ok := twoDigits(rest)
		if !ok || n > 59 {
			return noZone
		}
		c.offset += n * unit
		rest = rest[2:]
	}
	if rest != "" {
		return noZone
	}
	if negative {
		c.offset = -c.offset
	}
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func twoDigits(text string) (n int64, ok bool) {
	if len(text) < 2 || !isDigit(text[0]) || !isDigit(text[1]) {
		return 0, false
	}
	return int64(text[0]-'0')*10 + int64(text[1]-'0'), true
}
