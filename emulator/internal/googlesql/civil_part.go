package googlesql

import (
	"fmt"
	"strings"
	"time"
)

// Parts of dates and times. All of these work on civil times, written as UTC's.

var weekdays = map[string]time.Weekday{
	"SUNDAY": time.Sunday, "MONDAY": time.Monday, "TUESDAY": time.Tuesday, "WEDNESDAY": time.Wednesday,
	"THURSDAY": time.Thursday, "FRIDAY": time.Friday, "SATURDAY": time.Saturday,
}

// weekStart tells the day that a week begins with, for WEEK, WEEK(day) and ISOWEEK.
func weekStart(part string) (time.Weekday, bool) {
	switch part {
	case "WEEK":
		return time.Sunday, true
	case "ISOWEEK":
		return time.Monday, true
	}
	if inner, ok := strings.CutPrefix(part, "WEEK("); ok {
		day, ok := weekdays[strings.TrimSuffix(inner, ")")]
		return day, ok
	}
	return 0, false
}

// clockUnits are the parts of a fixed length.
var clockUnits = map[string]time.Duration{
	"MICROSECOND": time.Microsecond, "MILLISECOND": time.Millisecond, "SECOND": time.Second, "MINUTE": time.Minute, "HOUR": time.Hour,
}

// monthUnits are the parts of whole months.
var monthUnits = map[string]int{"MONTH": 1, "QUARTER": 3, "YEAR": 12}

// isPart says whether a function for this kind of values takes the part.
func isPart(part string, kind Kind) bool {
	_, clock := clockUnits[part]
	_, week := weekStart(part)
	_, months := monthUnits[part]
	switch kind {
	case Time:
		return clock
	case Date:
		return part == "DAY" || week || months || part == "ISOYEAR"
	default:
		return clock || part == "DAY" || week || months || part == "ISOYEAR"
	}
}

func midnight(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
}

// truncate is the beginning of the part that the time is in.
func truncate(at time.Time, part string) (time.Time, error) {
	if unit, ok := clockUnits[part]; ok {
		day := midnight(at)
		return day.Add(at.Sub(day).Truncate(unit)), nil
	}
	if start, ok := weekStart(part); ok {
		return midnight(at).AddDate(0, 0, -int((at.Weekday()-start+7)%7)), nil
	}
	if months, ok := monthUnits[part]; ok {
		month := (int(at.Month()) - 1) / months * months
		return time.Date(at.Year(), time.Month(month+1), 1, 0, 0, 0, 0, time.UTC), nil
	}
	switch part {
	case "DAY":
		return midnight(at), nil
	case "ISOYEAR":
		year, _ := at.ISOWeek()
		return isoYearStart(year), nil
	}
	return at, fmt.Errorf("unsupported date part %s", part)
}

func isoYearStart(year int) time.Time {
	first := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is always in week 1
	return first.AddDate(0, 0, -int((first.Weekday()+6)%7))
}

// difference counts the boundaries of the part between b and a.
func difference(a, b time.Time, part string) (int64, error) {
	if unit, ok := clockUnits[part]; ok {
		// Durations have too few nanoseconds for the whole range.
		per := int64(unit / time.Microsecond)
		return floorDiv(a.UnixMicro(), per) - floorDiv(b.UnixMicro(), per), nil
	}
	if months, ok := monthUnits[part]; ok {
		count := func(t time.Time) int64 { return int64(t.Year()*12+int(t.Month())-1) / int64(months) }
		return count(a) - count(b), nil
	}
	x, err := truncate(a, part)
	if err != nil {
		return 0, err
	}
	y, _ := truncate(b, part)
	days := (x.Unix() - y.Unix()) / 86_400
	if _, ok := weekStart(part); ok {
		return days / 7, nil
	}
	if part == "ISOYEAR" {
		yearA, _ := a.ISOWeek()
		yearB, _ := b.ISOWeek()
		return int64(yearA - yearB), nil
	}
	return days, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// wholeUnits counts how many whole units lie between two moments: TIMESTAMP_DIFF, which
// drops the rest where DATETIME_DIFF counts boundaries.
func wholeUnits(a, b time.Time, part string) (int64, error) {
	unit, ok := clockUnits[part]
	if part == "DAY" {
		unit, ok = 24*time.Hour, true
	}
	if !ok {
		return 0, fmt.Errorf("TIMESTAMP_DIFF does not support the %s date part", part)
	}
	return (a.UnixMicro() - b.UnixMicro()) / int64(unit/time.Microsecond), nil
}

// extractPart is EXTRACT of a civil time.
func extractPart(at time.Time, part string) (int64, error) {
	year, week := at.ISOWeek()
	switch part {
	case "MICROSECOND":
		return int64(at.Nanosecond() / 1000), nil
	case "MILLISECOND":
		return int64(at.Nanosecond() / 1_000_000), nil
	case "SECOND":
		return int64(at.Second()), nil
	case "MINUTE":
		return int64(at.Minute()), nil
	case "HOUR":
		return int64(at.Hour()), nil
	case "DAYOFWEEK":
		return int64(at.Weekday()) + 1, nil
	case "DAY":
		return int64(at.Day()), nil
	case "DAYOFYEAR":
		return int64(at.YearDay()), nil
	case "ISOWEEK":
		return int64(week), nil
	case "MONTH":
		return int64(at.Month()), nil
	case "QUARTER":
		return int64(at.Month()-1)/3 + 1, nil
	case "YEAR":
		return int64(at.Year()), nil
	case "ISOYEAR":
		return int64(year), nil
	}
	if start, ok := weekStart(part); ok {
		return int64(weekOfYear(at, start)), nil
	}
	return 0, fmt.Errorf("unsupported date part %s", part)
}

// weekOfYear counts from 0: the days before the year's first start day are week 0.
func weekOfYear(at time.Time, start time.Weekday) int {
	return (at.YearDay() - 1 + 7 - int((at.Weekday()-start+7)%7)) / 7
}

// addMonths keeps the day, or takes the month's last.
func addMonths(at time.Time, months int64) (time.Time, error) {
	if months > 200_000 || months < -200_000 {
		return at, fmt.Errorf("date arithmetic is out of supported range")
	}
	first := time.Date(at.Year(), at.Month()+time.Month(months), 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(at.Day(), last)-1), nil
}

// addPart is *_ADD's sum.
func addPart(at time.Time, n int64, part, kind string) (time.Time, error) {
	if months, ok := monthUnits[part]; ok {
		sum, err := addMonths(at, clamp(n)*int64(months))
		if err != nil {
			return at, err
		}
		return inRange(sum, kind)
	}
	micros := int64(86_400_000_000)
	switch unit, ok := clockUnits[part]; {
	case ok:
		micros = int64(unit / time.Microsecond)
	case part == "WEEK":
		micros *= 7
	case part != "DAY":
		return at, fmt.Errorf("unsupported date part %s", part)
	}
	const limit = 1 << 60 // far beyond the range, and far from an overflow
	if n > limit/micros || n < -limit/micros {
		return at, fmt.Errorf("%s is out of supported range", kind)
	}
	sum := at.UnixMicro() + n*micros
	if sum > 1<<61 || sum < -1<<61 {
		return at, fmt.Errorf("%s is out of supported range", kind)
	}
	return inRange(time.UnixMicro(sum).UTC(), kind)
}

func clamp(n int64) int64 { return max(-1<<40, min(n, 1<<40)) }
