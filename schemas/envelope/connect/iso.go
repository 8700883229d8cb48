package connect

import (
	"errors"
	"math"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

var (
	errNotDate      = errors.New("is no ISO date")
	errNotTime      = errors.New("is no ISO time")
	errNotTimestamp = errors.New("is no ISO date and time")
	errNoOffset     = errors.New("has no offset from UTC")
)

// readZonedTimestamp reads an instant: "2025-03-09T08:07:06.005004Z", or
// PostgreSQL's infinity.
func readZonedTimestamp(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	t, zoned, err := ParseTimestamp(text)
	if err == nil && !zoned {
		err = errNoOffset
	}
	return change.Timestamp(t), err
}

// readISOTimestamp reads a civil time, which Debezium writes as one in UTC.
func readISOTimestamp(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	t, _, err := ParseTimestamp(text)
	return change.DateTime(t), err
}

// readISODate reads "2025-03-09Z" or "2025-03-09".
func readISODate(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	switch text {
	case "infinity":
		return change.Date(math.MaxInt32), nil
	case "-infinity":
		return change.Date(math.MinInt32), nil
	}
	days, rest, ok := cutDate(text)
	if ok {
		_, _, ok = parseOffset(rest)
	}
	if !ok {
		return change.Value{}, errNotDate
	}
	return date(days), nil
}

// readISOTime reads a time of day, "08:07:06.5Z", and returns it in UTC.
func readISOTime(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	ofDay, rest, ok := cutTime(text)
	if !ok {
		return change.Value{}, errNotTime
	}
	offset, _, ok := parseOffset(rest)
	if !ok {
		return change.Value{}, errNotTime
	}
	return utcTime(ofDay, offset), nil
}

// ParseTimestamp reads an ISO date and time in the proleptic Gregorian
// calendar, joined by T or a blank, with any number of digits in the fraction,
// and an offset or none, which counts as UTC. It returns microseconds since
// 1970-01-01 00:00:00 UTC, the nearest that int64 holds, which "infinity" and
// "-infinity" are too; zoned says that there is an offset.
func ParseTimestamp(text string) (t int64, zoned bool, err error) {
	switch text {
	case "infinity":
		return math.MaxInt64, true, nil
	case "-infinity":
		return math.MinInt64, true, nil
	}
	days, rest, ok := cutDate(text)
	if !ok || rest == "" || (rest[0] != 'T' && rest[0] != ' ') {
		return 0, false, errNotTimestamp
	}
	ofDay, rest, ok := cutTime(rest[1:])
	if !ok {
		return 0, false, errNotTimestamp
	}
	offset, zoned, ok := parseOffset(rest)
	if !ok {
		return 0, false, errNotTimestamp
	}
	return instant(days, ofDay, offset), zoned, nil
}

// cutDate reads a date from the beginning of text: a year of four digits, or of
// up to ten with a sign, month and day.
func cutDate(text string) (days int64, rest string, ok bool) {
	sign, rest := int64(1), text
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		if rest[0] == '-' {
			sign = -1
		}
		rest = rest[1:]
	}
	year, n := digits(rest, 10)
	if n < 4 || (n > 4 && len(rest) == len(text)) {
		return 0, "", false
	}
	if rest = rest[n:]; len(rest) < 6 || rest[0] != '-' || rest[3] != '-' {
		return 0, "", false
	}
	month, m := digits(rest[1:3], 2)
	day, d := digits(rest[4:6], 2)
	year *= sign
	if m != 2 || d != 2 || !isDate(year, month, day) {
		return 0, "", false
	}
	return daysOf(year, month, day), rest[6:], true
}

// cutTime reads a time of day from the beginning of text, in microseconds. What
// is finer is cut, which is downwards since a fraction adds to its second.
func cutTime(text string) (ofDay int64, rest string, ok bool) {
	hour, text, ok := cutPair(text)
	if !ok || text == "" || text[0] != ':' {
		return 0, "", false
	}
	minute, text, ok := cutPair(text[1:])
	if !ok {
		return 0, "", false
	}
	var second, fraction int64
	if text != "" && text[0] == ':' {
		if second, text, ok = cutPair(text[1:]); !ok {
			return 0, "", false
		}
		if text != "" && text[0] == '.' {
			n := 0
			for text = text[1:]; n < len(text) && '0' <= text[n] && text[n] <= '9'; n++ {
			}
			if n == 0 {
				return 0, "", false
			}
			f, read := digits(text[:min(n, 6)], 6)
			for ; read < 6; read++ {
				f *= 10
			}
			fraction, text = f, text[n:]
		}
	}
	if !isTime(hour, minute, second, fraction) {
		return 0, "", false
	}
	return ((hour*60+minute)*60+second)*microsPerSecond + fraction, text, true
}

// parseOffset reads an offset in seconds: "Z", "+02", "+0200", "+02:00",
// "+02:00:00", or nothing, which is none.
func parseOffset(text string) (seconds int64, zoned, ok bool) {
	switch text {
	case "":
		return 0, false, true
	case "Z", "z":
		return 0, true, true
	}
	sign := int64(1)
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false, false
	}
	text = text[1:]
	for _, scale := range [...]int64{3600, 60, 1} {
		n, rest, ok := cutPair(text)
		if !ok || n >= 60 {
			return 0, false, false
		}
		seconds += n * scale
		if rest == "" {
			return sign * seconds, true, seconds <= 18*3600
		}
		if rest[0] == ':' {
			rest = rest[1:]
		}
		text = rest
	}
	return 0, false, false
}

// cutPair reads two digits from the beginning of text.
func cutPair(text string) (n int64, rest string, ok bool) {
	if len(text) < 2 {
		return 0, "", false
	}
	n, read := digits(text[:2], 2)
	return n, text[2:], read == 2
}

// digits reads up to limit decimal digits from the beginning of text, and
// returns how many it read.
func digits(text string, limit int) (n int64, read int) {
	for read < len(text) && read < limit && '0' <= text[read] && text[read] <= '9' {
		n = n*10 + int64(text[read]-'0')
		read++
	}
	return n, read
}
