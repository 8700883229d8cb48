package rowproto

import (
	"math"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

const microsPerDay = 86_400_000_000

// exponentOf returns by which power of ten the unit differs from microseconds.
func exponentOf(unit table.From) int64 {
	switch unit {
	case table.FromSeconds:
		return 6
	case table.FromMillis:
		return 3
	case table.FromNanos:
		return -3
	default:
		return 0
	}
}

// microsOf returns the value, a number of the column's unit, in microseconds.
// Nanoseconds are cut downwards: the one loss that needs no setting. Anything
// finer is a bad value. Beyond int64 it returns the nearest, which is beyond
// every type's range too.
func (e *Encoder) microsOf(f *field, v *change.Value) (int64, *ValueError) {
	unit := f.column.From
	n, short := v.Int(), v.Kind() == change.KindInt64
	if !short {
		n, short = shortInt(v.Text())
	}
	if short {
		if micros, ok := scaleInt(n, unit); ok {
			return micros, nil
		}
	}
	d, err := e.decimalOf(f, v)
	if err != nil {
		return 0, err
	}
	if unit == table.FromDays {
		days, side := d.int64()
		if d.fraction() > 0 && side == 0 {
			return 0, bad("the number of days is not whole")
		}
		return saturatingDays(days), nil
	}
	if d.digits > 0 {
		d.point += exponentOf(unit)
	}
	if d.fraction() > 3 {
		return 0, bad("the number is finer than a nanosecond")
	}
	micros, side := d.int64()
	if side == 0 && d.negative && d.fraction() > 0 && micros > math.MinInt64 {
		micros-- // int64 cut towards zero
	}
	return micros, nil
}

// looksNumeric says that a text is a number rather than a date or a time.
func looksNumeric(text string) bool {
	_, ok := parseDecimal(text)
	return ok
}

// scaleInt turns n of a unit into microseconds, unless they overflow.
func scaleInt(n int64, unit table.From) (micros int64, ok bool) {
	factor := int64(1)
	switch unit {
	case table.FromSeconds:
		factor = 1_000_000
	case table.FromMillis:
		factor = 1_000
	case table.FromNanos:
		return floorDiv(n, 1_000), true
	case table.FromDays:
		factor = microsPerDay
	default:
	}
	if n > math.MaxInt64/factor || n < math.MinInt64/factor {
		return 0, false
	}
	return n * factor, true
}

func saturatingDays(days int64) int64 {
	if micros, ok := scaleInt(days, table.FromDays); ok {
		return micros
	}
	if days < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// floorDiv divides downwards: -1 / 1000 is -1, as before 1970 it must be.
func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// isNumber says that the value is a number, or text that spells one.
func isNumber(v *change.Value) bool {
	switch v.Kind() {
	case change.KindInt64, change.KindUint64, change.KindFloat64, change.KindDecimal, change.KindNumber:
		return true
	case change.KindText, change.KindString:
		return looksNumeric(v.Text())
	default:
		return false
	}
}

// needsUnit says which setting would decide what a number means.
func needsUnit(f *field) *ValueError {
	units := table.FromsOf(f.column.Type)
	var others strings.Builder
	for _, unit := range units[1 : len(units)-1] {
		others.WriteString(", `" + string(unit) + "`")
	}
	return bad("nothing says what the number counts; `from: %s`%s or `%s` does so for %s",
		units[0], others.String(), units[len(units)-1], f.column.Type)
}
