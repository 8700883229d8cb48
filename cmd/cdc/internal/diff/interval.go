package diff

import (
	"fmt"
	"regexp"
	"strconv"

	"beamcdc/schemas/table"
)

// sentAsDuration says that the rule takes the column's numbers for microseconds: that is
// how Debezium sends an interval by default (interval.handling.mode: numeric).
func (c *Column) sentAsDuration() bool {
	return c.Type == table.Interval && c.From == table.FromMicros
}

// OpenSpans are the columns of intervals of which the rule leaves open as which they come.
func (t *Table) OpenSpans() []string {
	var names []string
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Type == table.Interval && c.Spans && c.From == "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// pgSpan is an interval as PostgreSQL writes it in the style iso_8601, each part with a
// sign of its own.
var pgSpan = regexp.MustCompile(`^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?$`)

// pgDuration returns the microseconds that Debezium makes of an interval.
func pgDuration(text string) (int64, bool) {
	found := pgSpan.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	var part [6]float64
	for i := range part {
		part[i], _ = strconv.ParseFloat(found[1+i], 64) // 0 for a part that isn't there
	}
	return durationMicros(part[0]*12+part[1], part[2], part[3], part[4], part[5]), true
}

// durationMicros is Debezium's arithmetic (io.debezium.time.MicroDuration), in doubles, of
// which the fraction is cut off: a month has 365.25/12 days and a day 24 hours.
func durationMicros(months, days, hours, minutes, seconds float64) int64 {
	const daysOfMonth = 365.25 / 12
	allDays := float64(months*daysOfMonth) + days
	allMinutes := float64((float64(allDays*24)+hours)*60) + minutes
	return int64(float64((float64(allMinutes*60) + seconds) * 1e6))
}

// durationText writes microseconds as BigQuery writes an INTERVAL.
func durationText(micros int64) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	seconds, fraction := micros/1_000_000, micros%1_000_000
	text := fmt.Sprintf("0-0 0 %s%d:%d:%d", sign, seconds/3600, seconds/60%60, seconds%60)
	switch {
	case fraction == 0:
	case fraction%1000 == 0:
		text += fmt.Sprintf(".%03d", fraction/1000)
	default:
		text += fmt.Sprintf(".%06d", fraction)
	}
	return text
}

// bqSpan is an INTERVAL as rowproto encodes it, Y-M D H:M:S.
var bqSpan = regexp.MustCompile(`^(-?)(\d+)-(\d+) (-?\d+) (-?)(\d+):(\d+):(\d+(?:\.\d+)?)$`)

// sameSpan compares a source's interval with BigQuery's. The latter may also be what
// Debezium makes of the former as a number of microseconds: a rule without from leaves
// open as which it comes. A microsecond is what different versions of its arithmetic differ
// by, which round or don't.
func sameSpan(source, bigquery []byte) bool {
	if string(source) == string(bigquery) {
		return true
	}
	months, days, from, ok := bqDuration(source)
	otherMonths, otherDays, to, otherOK := bqDuration(bigquery)
	if !ok || !otherOK || otherMonths != 0 || otherDays != 0 {
		return false
	}
	difference := durationMicros(months, days, 0, 0, 0) + from - to
	return -1 <= difference && difference <= 1
}

func bqDuration(text []byte) (months, days float64, micros int64, ok bool) {
	found := bqSpan.FindSubmatch(text)
	if found == nil {
		return 0, 0, 0, false
	}
	number := func(i int) float64 {
		n, _ := strconv.ParseFloat(string(found[i]), 64) // the expression lets nothing else through
		return n
	}
	months, days = number(2)*12+number(3), number(4)
	if len(found[1]) > 0 {
		months = -months
	}
	micros = int64(number(6))*3_600_000_000 + int64(number(7))*60_000_000 + int64(number(8)*1e6+0.5)
	if len(found[5]) > 0 {
		micros = -micros
	}
	return months, days, micros, true
}
