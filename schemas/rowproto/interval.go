package rowproto

import (
	"strconv"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// span is an INTERVAL: three parts that BigQuery never turns into one another,
// each with its own sign.
type span struct{ months, days, micros int64 }

// BigQuery's limits: 10,000 years in each part, a year having 12 months, 366
// days and 8,784 hours.
const (
	maxMonths       = 120_000
	maxSpanDays     = 3_660_000
	maxMicrosOfSpan = maxSpanDays * microsPerDay
)

// appendInterval appends an INTERVAL in BigQuery's canonical form. It takes ISO
// 8601's durations (P1Y2M3DT4H5M6.78S), PostgreSQL's own texts (1 year 2 mons
// 3 days 04:05:06.78), BigQuery's canonical form, a bare H:M:S (MySQL's TIME),
// Debezium's structured durations, and a number of From's unit, which goes to the part of days for `from: days`
// and to that of hours, minutes and seconds for the others.
func appendInterval(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	s, err := e.spanOf(f, v)
	if err != nil {
		return dst, err
	}
	clamped := span{
		months: max(-maxMonths, min(s.months, maxMonths)),
		days:   max(-maxSpanDays, min(s.days, maxSpanDays)),
		micros: max(-maxMicrosOfSpan, min(s.micros, maxMicrosOfSpan)),
	}
	if clamped != s {
		if !f.clamp {
			return dst, bad("a part of the interval is beyond 10,000 years")
		}
		e.adjust(f)
	}
	start := len(dst)
	return closeLength(clamped.append(openLength(dst)), start), nil
}

func (e *Encoder) spanOf(f *field, v *change.Value) (span, *ValueError) {
	switch {
	case v.Kind() == change.KindTime:
		return span{micros: v.Int()}, nil
	case isNumber(v):
		switch f.column.From {
		case "":
			return span{}, needsUnit(f)
		case table.FromDays:
			micros, err := e.microsOf(f, v)
			return span{days: micros / microsPerDay}, err
		default:
		}
		micros, err := e.microsOf(f, v)
		return span{micros: micros}, err
	case v.Kind() == change.KindInterval, v.Kind() == change.KindText, v.Kind() == change.KindString:
		s, ok := parseSpan(v.Text())
		if !ok {
			return span{}, bad("the text is no interval")
		}
		return s, nil
	case v.Kind() == change.KindRaw, v.Kind() == change.KindStruct:
		return e.structuredSpan(v)
	}
	return span{}, mismatch(f, v)
}

// append appends [-]Y-M [-]D [-]H:M:S[.FFF[FFF]].
func (s span) append(dst []byte) []byte {
	months, micros := s.months, s.micros
	if months < 0 {
		dst, months = append(dst, '-'), -months
	}
	dst = strconv.AppendInt(dst, months/12, 10)
	dst = strconv.AppendInt(append(dst, '-'), months%12, 10)
	dst = strconv.AppendInt(append(dst, ' '), s.days, 10)
	dst = append(dst, ' ')
	if micros < 0 {
		dst, micros = append(dst, '-'), -micros
	}
	seconds, fraction := micros/1_000_000, micros%1_000_000
	dst = strconv.AppendInt(dst, seconds/3600, 10)
	dst = strconv.AppendInt(append(dst, ':'), seconds/60%60, 10)
	dst = strconv.AppendInt(append(dst, ':'), seconds%60, 10)
	if fraction != 0 {
		dst = append(dst, '.')
		start := len(dst)
		dst = strconv.AppendInt(dst, 1_000_000+fraction, 10)
		dst = append(dst[:start], dst[start+1:]...)
		if fraction%1000 == 0 {
			dst = dst[:len(dst)-3]
		}
	}
	return dst
}

// parseSpan reads any of the texts.
func parseSpan(text string) (s span, ok bool) {
	if iso := strings.TrimPrefix(text, "-"); strings.HasPrefix(iso, "P") {
		s, nanos, ok := parseISOSpan(iso[1:])
		if len(iso) < len(text) {
			s, nanos = span{-s.months, -s.days, -s.micros}, -nanos
		}
		s.micros += floorDiv(nanos, 1000)
		return s, ok
	}
	if strings.ContainsAny(text, "aeou") { // the vowels of year, mon and day
		return parseVerboseSpan(text)
	}
	words := strings.Split(text, " ")
	switch len(words) {
	case 1:
	case 3:
		if s.months, ok = parseYearMonth(words[0]); !ok {
			return s, false
		}
		if s.days, ok = signedNumber(words[1]); !ok {
			return s, false
		}
	default:
		return s, false
	}
	s.micros, ok = parseClock(words[len(words)-1])
	return s, ok
}

// parseISOSpan reads what follows the P. What is below a microsecond is returned
// beside, so that it can be cut downwards once the sign is known.
func parseISOSpan(text string) (s span, nanos int64, ok bool) {
	date, clock, hasClock := strings.Cut(text, "T")
	if date == "" && !hasClock || hasClock && clock == "" {
		return s, 0, false
	}
	for _, unit := range [...]struct {
		letter byte
		part   *int64
		factor int64
	}{{'Y', &s.months, 12}, {'M', &s.months, 1}, {'W', &s.days, 7}, {'D', &s.days, 1}} {
		if i := strings.IndexByte(date, unit.letter); i >= 0 {
			n, ok := signedNumber(date[:i])
			if !ok {
				return s, 0, false
			}
			*unit.part += times(n, unit.factor)
			date = date[i+1:]
		}
	}
	for _, unit := range [...]struct {
		letter byte
		micros int64
	}{{'H', 3_600_000_000}, {'M', 60_000_000}} {
		if i := strings.IndexByte(clock, unit.letter); i >= 0 {
			n, ok := signedNumber(clock[:i])
			if !ok {
				return s, 0, false
			}
			s.micros += times(n, unit.micros)
			clock = clock[i+1:]
		}
	}
	if strings.HasSuffix(clock, "S") {
		whole, part, ok := parseSeconds(clock[:len(clock)-1])
		if !ok {
			return s, 0, false
		}
		s.micros, nanos = s.micros+whole, part
		clock = ""
	}
	return s, nanos, date == "" && clock == ""
}

// parseVerboseSpan reads PostgreSQL's default output: numbers with their units,
// and a clock.
func parseVerboseSpan(text string) (s span, ok bool) {
	words := strings.Fields(text)
	for len(words) >= 2 {
		n, isNumber := signedNumber(words[0])
		if !isNumber {
			return s, false
		}
		switch words[1] {
		case "year", "years":
			s.months += times(n, 12)
		case "mon", "mons":
			s.months += n
		case "day", "days":
			s.days += n
		default:
			return s, false
		}
		words = words[2:]
	}
	if len(words) == 1 {
		s.micros, ok = parseClock(words[0])
		return s, ok
	}
	return s, true
}

// parseYearMonth reads [-]Y-M.
func parseYearMonth(text string) (months int64, ok bool) {
	negative := strings.HasPrefix(text, "-")
	years, rest, hasMonths := strings.Cut(strings.TrimLeft(text, "+-"), "-")
	y, ok1 := number(years)
	m, ok2 := number(rest)
	if months = times(y, 12) + m; negative {
		months = -months
	}
	return months, hasMonths && ok1 && ok2 && len(text)-len(years)-len(rest) <= 2
}

// parseClock reads [-]H:M:S[.F].
func parseClock(text string) (micros int64, ok bool) {
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	hours, rest, _ := strings.Cut(text, ":")
	minutes, seconds, hasSeconds := strings.Cut(rest, ":")
	h, ok1 := number(hours)
	m, ok2 := number(minutes)
	whole, nanos, ok3 := parseSeconds(seconds)
	if !hasSeconds || !ok1 || !ok2 || !ok3 || m > 59 || whole < 0 || whole >= 60_000_000 {
		return 0, false
	}
	micros = times(h, 3_600_000_000) + m*60_000_000 + whole
	if negative {
		return -micros - floorDiv(nanos+999, 1000), true // downwards from a negative is away from zero
	}
	return micros + nanos/1000, true
}

// parseSeconds reads [-]S[.F] with up to nine digits after the point as
// microseconds of the whole seconds and nanoseconds of the rest, of one sign.
func parseSeconds(text string) (micros, nanos int64, ok bool) {
	negative := strings.HasPrefix(text, "-")
	whole, fraction, hasFraction := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	seconds, ok := number(whole)
	if !ok || hasFraction && (fraction == "" || len(fraction) > 9) {
		return 0, 0, false
	}
	if hasFraction {
		if nanos, ok = number(fraction); !ok {
			return 0, 0, false
		}
		for range 9 - len(fraction) {
			nanos *= 10
		}
	}
	micros = times(seconds, 1_000_000)
	if negative {
		micros, nanos = -micros, -nanos
	}
	return micros, nanos, true
}

func signedNumber(text string) (n int64, ok bool) {
	if strings.HasPrefix(text, "+") {
		return number(text[1:])
	}
	if strings.HasPrefix(text, "-") {
		n, ok = number(text[1:])
		return -n, ok
	}
	return number(text)
}

// spanCeiling is beyond every part of an interval, and so far below int64's end
// that a few of them can be added.
const spanCeiling = 1 << 60

// number reads digits; far beyond every part of an interval it stops counting.
func number(text string) (n int64, ok bool) {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0, false
		}
		n = min(n*10+int64(text[i]-'0'), spanCeiling/16) // ten times it is no overflow
	}
	return n, text != ""
}

// times multiplies without overflow.
func times(n, by int64) int64 {
	switch limit := spanCeiling / by; {
	case n > limit:
		return spanCeiling
	case n < -limit:
		return -spanCeiling
	}
	return n * by
}
