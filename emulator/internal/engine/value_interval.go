package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// The range of each part of an INTERVAL, on either side of zero.
const (
	maxIntervalMonths = 10_000 * 12
	maxIntervalDays   = 3_660_000
	maxIntervalMicros = 87_840_000 * 3600 * microsPerSecond
)

var (
	errInterval      = errors.New("its text is no INTERVAL in canonical or ISO 8601 form")
	errIntervalRange = errors.New("it is out of range")
)

// IntervalValue is an INTERVAL as it is stored.
func IntervalValue(months, days, micros int64) (any, error) {
	if abs(months) > maxIntervalMonths || abs(days) > maxIntervalDays || abs(micros) > maxIntervalMicros {
		return nil, errIntervalRange
	}
	return duckdb.Interval{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

func abs(n int64) int64 { return max(n, -n) }

// ParseInterval reads an INTERVAL's canonical form, "[-]Y-M [-]D [-]H:M:S[.F]", or
// ISO 8601's, "P1Y2M3DT4H5M6.5S". Digits beyond microseconds are refused.
func ParseInterval(text string) (any, error) {
	if rest, ok := strings.CutPrefix(text, "P"); ok {
		return parseISOInterval(rest)
	}
	parts := strings.Split(text, " ")
	if len(parts) != 3 {
		return nil, errInterval
	}
	yearMonth, sign := cutSign(parts[0])
	years, months, ok := strings.Cut(yearMonth, "-")
	y, okYears := scanAll(years)
	m, okMonths := scanAll(months)
	if !ok || !okYears || !okMonths {
		return nil, errInterval
	}
	total := sign * (y*12 + m)
	dayText, sign := cutSign(parts[1])
	days, ok := scanAll(dayText)
	if !ok {
		return nil, errInterval
	}
	days *= sign
	clock, sign := cutSign(parts[2])
	hms := strings.Split(clock, ":")
	if len(hms) != 3 {
		return nil, errInterval
	}
	hours, okHours := scanAll(hms[0])
	minutes, okMinutes := scanAll(hms[1])
	micros, okSeconds := scanSeconds(hms[2])
	if !okHours || !okMinutes || !okSeconds {
		return nil, errInterval
	}
	return IntervalValue(total, days, sign*((hours*60+minutes)*60*microsPerSecond+micros))
}

func parseISOInterval(text string) (any, error) {
	date, clock, hasTime := strings.Cut(text, "T")
	var months, days, micros int64
	seen := false
	for _, part := range []struct {
		text, units string
		isDate      bool
	}{{date, "YMWD", true}, {clock, "HMS", false}} {
		units := part.units
		for rest := part.text; rest != ""; {
			end := strings.IndexAny(rest, units)
			if end < 0 {
				return nil, errInterval
			}
			number, sign := cutSign(rest[:end])
			unit := rest[end]
			units = units[strings.IndexByte(units, unit)+1:] // each at most once, in order
			rest, seen = rest[end+1:], true
			if unit == 'S' {
				n, ok := scanSeconds(number)
				if !ok {
					return nil, errInterval
				}
				micros += sign * n
				continue
			}
			n, ok := scanAll(number)
			if !ok {
				return nil, errInterval
			}
			n *= sign
			switch {
			case unit == 'Y':
				months += 12 * n
			case unit == 'W':
				days += 7 * n
			case unit == 'D':
				days += n
			case unit == 'H':
				micros += n * 3600 * microsPerSecond
			case part.isDate:
				months += n
			default:
				micros += n * 60 * microsPerSecond
			}
		}
	}
	if !seen || hasTime && clock == "" {
		return nil, errInterval
	}
	return IntervalValue(months, days, micros)
}

func cutSign(text string) (rest string, sign int64) {
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		return rest, -1
	}
	return strings.TrimPrefix(text, "+"), 1
}

// scanAll reads a number of at most nine digits: no sum of such can overflow.
func scanAll(text string) (int64, bool) {
	n, rest, ok := scanNumber(text, 1, 9)
	return int64(n), ok && rest == ""
}

// scanSeconds reads seconds with up to six digits after the point, as microseconds.
func scanSeconds(text string) (int64, bool) {
	whole, fraction, hasFraction := strings.Cut(text, ".")
	n, ok := scanAll(whole)
	if !ok || hasFraction && (fraction == "" || len(fraction) > 6 || !allDigits(fraction)) {
		return 0, false
	}
	micros, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	return n*microsPerSecond + micros, err == nil
}

// intervalText is BigQuery's canonical form: "[-]Y-M [-]D [-]H:M:S[.FFF[FFF]]".
func intervalText(i duckdb.Interval) string {
	signed := func(n int64) (string, int64) {
		if n < 0 {
			return "-", -n
		}
		return "", n
	}
	monthSign, months := signed(int64(i.Months))
	microSign, micros := signed(i.Micros)
	seconds := micros / microsPerSecond
	text := fmt.Sprintf("%s%d-%d %d %s%d:%d:%d", monthSign, months/12, months%12, i.Days, microSign, seconds/3600, seconds/60%60, seconds%60)
	switch fraction := micros % microsPerSecond; {
	case fraction == 0:
		return text
	case fraction%1000 == 0:
		return text + fmt.Sprintf(".%03d", fraction/1000)
	default:
		return text + fmt.Sprintf(".%06d", fraction)
	}
}

func allDigits(text string) bool {
	for _, b := range []byte(text) {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}
