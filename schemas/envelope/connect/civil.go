package connect

import (
	"math"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

// unit is what a number of a time counts.
type unit int

const (
	millis unit = iota + 1
	micros
	nanos
)

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// toMicros converts to microseconds, downwards. What int64 can't hold becomes
// the nearest that it can.
func (u unit) toMicros(n int64) int64 {
	switch u {
	case millis:
		return saturated(n, 1000)
	case nanos:
		return floorDivide(n, 1000)
	case micros:
	}
	return n
}

func floorDivide(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// What Debezium makes of PostgreSQL's infinite dates: PostgreSQL's greatest and
// least int32, which count from 2000, counted from 1970 and wrapped
// (PostgresValueConverter's POSITIVE_INFINITY_LOCAL_DATE is -5877611-06-21). The
// day before has been seen for the first of them.
const (
	positiveInfinityDate = -2147472692
	negativeInfinityDate = -2147472691
)

// date returns a DATE. Infinity is beyond every DATE, on its side of time.
func date(days int64) change.Value {
	switch days {
	case positiveInfinityDate, positiveInfinityDate - 1:
		return change.Date(math.MaxInt32)
	case negativeInfinityDate:
		return change.Date(math.MinInt32)
	}
	return change.Date(days)
}

// readDays reads days since 1970-01-01.
func readDays(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
	days, err := parseInt(raw, 32)
	return date(days), err
}

// readTime reads a time since midnight. It may be negative or beyond the day,
// as MySQL's TIME is.
func readTime(u unit) reader {
	return func(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
		n, err := parseInt(raw, 64)
		return change.Time(u.toMicros(n)), err
	}
}

// readDateTime reads a civil time since 1970-01-01 00:00:00.
func readDateTime(u unit) reader {
	return func(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
		n, err := parseInt(raw, 64)
		if u == nanos && (n == math.MaxInt64 || n == math.MinInt64) {
			return change.DateTime(n), err // PostgreSQL's infinity, which would be a time in 2262 or 1677
		}
		return change.DateTime(u.toMicros(n)), err
	}
}

// readInstant reads an instant since 1970-01-01 00:00:00 UTC.
func readInstant(u unit) reader {
	return func(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
		n, err := parseInt(raw, 64)
		return change.Timestamp(u.toMicros(n)), err
	}
}

// daysOf returns the days since 1970-01-01 of a proleptic Gregorian date. The
// month is of 1 to 12. It is right for any year whose days int64 holds.
func daysOf(year, month, day int64) int64 {
	// Years begin in March, so that the leap day is the last of its year.
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDivide(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*146_097 + dayOfEra - 719_468
}

// isDate reports whether there is such a day. Years are not bounded.
func isDate(year, month, day int64) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return day <= 29
		}
		return day <= 28
	case 4, 6, 9, 11:
		return day <= 30
	}
	return day <= 31
}

// isTime reports whether there is such a time of day; 24:00:00 is one.
func isTime(hour, minute, second, fraction int64) bool {
	if hour == 24 {
		return minute == 0 && second == 0 && fraction == 0
	}
	return 0 <= hour && hour < 24 && 0 <= minute && minute < 60 && 0 <= second && second < 60 && fraction >= 0
}

// instant returns days and microseconds of a day, less an offset in seconds, as
// microseconds; the nearest that int64 holds.
func instant(days, ofDay, offset int64) int64 {
	const limit = math.MaxInt64/microsPerDay - 2
	switch {
	case days > limit:
		return math.MaxInt64
	case days < -limit:
		return math.MinInt64
	}
	return days*microsPerDay + ofDay - offset*microsPerSecond
}

// utcTime returns a time of day in UTC, less an offset in seconds. 24:00:00 in
// UTC stays itself, which no TIME holds: the column's policy decides.
func utcTime(ofDay, offset int64) change.Value {
	if offset == 0 {
		return change.Time(ofDay)
	}
	t := ofDay - offset*microsPerSecond
	return change.Time(t - floorDivide(t, microsPerDay)*microsPerDay)
}
