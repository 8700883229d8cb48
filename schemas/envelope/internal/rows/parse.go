package rows

import (
	"strconv"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
)

// Time reads an ISO date and time with T or a blank, with an offset or none,
// which is UTC; zero when it is none, or outside the years 1 to 9999.
func Time(text string) time.Time {
	micros, _, err := connect.ParseTimestamp(text)
	if err != nil {
		return time.Time{}
	}
	return inRange(time.UnixMicro(micros))
}

// Unix reads a number of units since 1970-01-01 00:00:00 UTC, of so many
// nanoseconds each: time.Second or time.Millisecond.
func Unix(text string, unit time.Duration) time.Time {
	if text == "" { // absent, as it often is: no error to allocate
		return time.Time{}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	if unit == time.Second {
		return inRange(time.Unix(n, 0))
	}
	return inRange(time.UnixMilli(n))
}

func inRange(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Integer reads a decimal integer of 64 bits, with a sign or none.
func Integer(text string) (change.Value, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return change.Int64(n), true
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return change.Uint64(n), true
	}
	return change.Value{}, false
}

// Decimal reads an exact decimal: digits with a sign, a point and an exponent or
// without them, or NaN, Infinity, -Infinity.
func Decimal(text string) (change.Value, bool) {
	switch text {
	case "NaN", "Infinity", "-Infinity":
		return change.Decimal(text), true
	}
	rest := text
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	whole := digits(rest)
	rest, fraction := rest[whole:], 0
	if rest != "" && rest[0] == '.' {
		fraction = digits(rest[1:])
		rest = rest[1+fraction:]
	}
	if whole+fraction == 0 {
		return change.Value{}, false
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			rest = rest[1:]
		}
		if rest == "" || digits(rest) != len(rest) {
			return change.Value{}, false
		}
		rest = ""
	}
	return change.Decimal(text), rest == ""
}

// digits returns how many digits text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// Float reads a binary floating-point number, NaN or an infinity.
func Float(text string) (change.Value, bool) {
	switch text {
	case "NaN", "Infinity", "-Infinity":
	default:
		if _, ok := Decimal(text); !ok { // strconv takes hexadecimal digits, underscores and "inf" too
			return change.Value{}, false
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return change.Value{}, false
	}
	return change.Float64(f), true
}
