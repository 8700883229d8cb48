package googlesql

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// The range of each part of an INTERVAL, on either side of zero.
const (
	maxIntervalMonths = 10_000 * 12
	maxIntervalDays   = 3_660_000
	maxIntervalMicros = 87_840_000 * microsPerHour
	microsPerHour     = 3_600_000_000
)

var errInterval = errors.New("INTERVAL is out of supported range")

func (i IntervalValue) check() (IntervalValue, error) {
	if abs(i.Months) > maxIntervalMonths || abs(i.Days) > maxIntervalDays || abs(i.Micros) > maxIntervalMicros {
		return i, errInterval
	}
	return i, nil
}

func abs(n int64) int64 { return max(n, -n) }

// intervalOf is n of a date part.
func intervalOf(n int64, part string) (IntervalValue, error) {
	if n > math.MaxInt64/2 || n < math.MinInt64/2 {
		return IntervalValue{}, errInterval
	}
	if months, ok := monthUnits[part]; ok {
		return IntervalValue{Months: clamp(n) * int64(months)}.check()
	}
	if unit, ok := clockUnits[part]; ok {
		micros := unit.Microseconds()
		if n > maxIntervalMicros/micros || n < -maxIntervalMicros/micros {
			return IntervalValue{}, errInterval
		}
		return IntervalValue{Micros: n * micros}.check()
	}
	switch part {
	case "WEEK":
		return IntervalValue{Days: clamp(n) * 7}.check()
	case "DAY":
		return IntervalValue{Days: clamp(n)}.check()
	}
	return IntervalValue{}, fmt.Errorf("invalid date part %s", part)
}

// constantInterval is the value of an INTERVAL literal.
func constantInterval(e *intervalExpr) (any, bool) {
	v, ok := constant(e.of)
	if !ok {
		return nil, false
	}
	switch v := v.(type) {
	case int64:
		if e.to != "" {
			return nil, false
		}
		i, err := intervalOf(v, e.part)
		return i, err == nil
	case string:
		i, err := parseIntervalParts(v, e.part, e.to)
		return i, err == nil
	}
	return nil, false
}

// intervalOrder are the parts of an INTERVAL's canonical form.
var intervalOrder = []string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}

// parseIntervalParts reads the text of INTERVAL 'text' from TO to: the part of the
// canonical form Y-M D H:M:S between the two.
func parseIntervalParts(text, from, to string) (IntervalValue, error) {
	if to == "" {
		if from == "SECOND" {
			micros, err := parseSeconds(text)
			return IntervalValue{Micros: micros}, err
		}
		n, err := parseIntText(text)
		if err != nil {
			return IntervalValue{}, err
		}
		return intervalOf(n, from)
	}
	first, last := -1, -1
	for i, part := range intervalOrder {
		if part == from {
			first = i
		}
		if part == to {
			last = i
		}
	}
	if first < 0 || last <= first {
		return IntervalValue{}, errValue
	}
	var sum IntervalValue
	rest := strings.TrimSpace(text)
	for i := first; i <= last; {
		switch {
		case i <= 1: // years and months share a sign
			end := 1
			word, tail, _ := strings.Cut(rest, " ")
			rest = tail
			sign, digits := cutSign(word)
			parts := strings.Split(digits, "-")
			if i == 1 || last == 0 {
				end = i
			}
			if len(parts) != end-i+1 {
				return sum, errValue
			}
			for j, p := range parts {
				n, err := parseDigits(p)
				if err != nil {
					return sum, err
				}
				sum.Months += sign * n * int64([]int{12, 1}[i+j])
			}
			i = end + 1
		case i == 2:
			word, tail, _ := strings.Cut(rest, " ")
			rest = tail
			sign, digits := cutSign(word)
			n, err := parseDigits(digits)
			if err != nil {
				return sum, err
			}
			sum.Days = sign * n
			i++
		default: // hours, minutes and seconds share a sign
			sign, digits := cutSign(rest)
			rest = ""
			parts := strings.Split(digits, ":")
			if len(parts) != last-i+1 {
				return sum, errValue
			}
			for j, p := range parts {
				unit := []int64{microsPerHour, microsPerHour / 60, 1}[i+j-3]
				n, err := parseDigits(p)
				if i+j == 5 {
					n, err = parseSeconds(p)
				}
				if err != nil {
					return sum, err
				}
				sum.Micros += sign * n * unit
			}
			i = last + 1
		}
	}
	if rest != "" {
		return sum, errValue
	}
	return sum.check()
}

func cutSign(text string) (sign int64, rest string) {
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		return -1, rest
	}
	return 1, strings.TrimPrefix(text, "+")
}

func parseDigits(text string) (int64, error) {
	if text == "" || len(text) > 12 {
		return 0, errValue
	}
	n := int64(0)
	for _, b := range []byte(text) {
		if b < '0' || b > '9' {
			return 0, errValue
		}
		n = n*10 + int64(b-'0')
	}
	return n, nil
}

// parseSeconds reads seconds with a fraction, as microseconds.
func parseSeconds(text string) (int64, error) {
	sign, rest := cutSign(text)
	whole, fraction, dot := strings.Cut(rest, ".")
	n, err := parseDigits(whole)
	if err != nil || dot && (fraction == "" || len(fraction) > 6) {
		return 0, errValue
	}
	micros := int64(0)
	if dot {
		if micros, err = parseDigits(fraction + strings.Repeat("0", 6-len(fraction))); err != nil {
			return 0, err
		}
	}
	return sign * (n*1_000_000 + micros), nil
}

// parseInterval reads an INTERVAL's canonical form, or ISO 8601's P1Y2M3DT4H5M6.5S.
func parseInterval(text string) (IntervalValue, error) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "P"); ok {
		return parseISOInterval(rest)
	}
	return parseIntervalParts(text, "YEAR", "SECOND")
}

func parseISOInterval(text string) (IntervalValue, error) {
	var sum IntervalValue
	date, clock, _ := strings.Cut(text, "T")
	if date == "" && clock == "" {
		return sum, errValue
	}
	for i, half := range []string{date, clock} {
		for half != "" {
			end := strings.IndexAny(half, "YMWDHS")
			if end < 0 {
				return sum, errValue
			}
			number, unit := half[:end], half[end]
			half = half[end+1:]
			sign, digits := cutSign(number)
			if i == 1 && unit == 'S' {
				micros, err := parseSeconds(digits)
				if err != nil {
					return sum, err
				}
				sum.Micros += sign * micros
				continue
			}
			n, err := parseDigits(digits)
			if err != nil {
				return sum, err
			}
			n *= sign
			switch {
			case i == 0 && unit == 'Y':
				sum.Months += 12 * n
			case i == 0 && unit == 'M':
				sum.Months += n
			case i == 0 && unit == 'W':
				sum.Days += 7 * n
			case i == 0 && unit == 'D':
				sum.Days += n
			case i == 1 && unit == 'H':
				sum.Micros += n * microsPerHour
			case i == 1 && unit == 'M':
				sum.Micros += n * microsPerHour / 60
			default:
				return sum, errValue
			}
		}
	}
	return sum.check()
}

// String returns the canonical form, [-]Y-M [-]D [-]H:M:S[.F].
func (i IntervalValue) String() string {
	sign := func(n int64) string {
		if n < 0 {
			return "-"
		}
		return ""
	}
	months, days, micros := abs(i.Months), abs(i.Days), abs(i.Micros)
	text := fmt.Sprintf("%s%d-%d %s%d %s%d:%d:%d", sign(i.Months), months/12, months%12, sign(i.Days), days,
		sign(i.Micros), micros/microsPerHour, micros/60_000_000%60, micros/1_000_000%60)
	if fraction := micros % 1_000_000; fraction != 0 {
		digits := fmt.Sprintf("%06d", fraction)
		if fraction%1000 == 0 {
			digits = digits[:3]
		}
		text += "." + digits
	}
	return text
}
