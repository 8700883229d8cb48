package connect

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

var errNotInterval = errors.New("is no interval")

// duration is an interval by BigQuery's three parts, each with a sign of its own.
type duration struct{ months, days, micros int64 }

func (d *duration) addMonths(n, months int64) bool { return add(&d.months, n, months) }
func (d *duration) addMicros(n, micros int64) bool { return add(&d.micros, n, micros) }

// add adds n times each to sum, and reports whether int64 holds the result.
func add(sum *int64, n, each int64) bool {
	product := saturated(n, each)
	if product == math.MaxInt64 || product == math.MinInt64 {
		return false
	}
	total := *sum + product
	if (product > 0) != (total > *sum) && product != 0 {
		return false
	}
	*sum = total
	return total != math.MinInt64 // its magnitude is no int64
}

// format writes BigQuery's canonical form, "Y-M D H:M:S.F".
// https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#interval_type
func (d *duration) format(a *slab.Arena) string {
	b := a.Reserve(100)
	months := sign(&b, d.months)
	b = strconv.AppendInt(b, months/12, 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, months%12, 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, d.days, 10)
	b = append(b, ' ')
	micros := sign(&b, d.micros)
	seconds, fraction := micros/microsPerSecond, micros%microsPerSecond
	b = strconv.AppendInt(b, seconds/3600, 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, seconds/60%60, 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, seconds%60, 10)
	if fraction > 0 {
		b = append(b, '.')
		for scale := int64(microsPerSecond / 10); fraction > 0; scale /= 10 {
			b = append(b, '0'+byte(fraction/scale))
			fraction %= scale
		}
	}
	return a.Keep(b)
}

// sign writes a minus sign if n is negative, and returns n's magnitude.
func sign(b *[]byte, n int64) int64 {
	if n < 0 {
		*b = append(*b, '-')
		return -n
	}
	return n
}

// readDuration reads a length of time as a number. The sources' months are in
// it already, by their average length, so nothing but the time remains exact.
func readDuration(u unit) reader {
	return func(s *Schema, raw string, a *slab.Arena) (change.Value, error) {
		n, err := parseInt(raw, 64)
		if err != nil && s.Type == "float64" { // Oracle's
			v, floatErr := readFloat(s, raw, a)
			f := math.Floor(v.Float())
			if floatErr != nil || !(math.Abs(f) < 1<<62) {
				return change.Value{}, errNotInterval
			}
			n, err = int64(f), nil
		}
		if err != nil {
			return change.Value{}, err
		}
		if n = u.toMicros(n); n == math.MinInt64 {
			return change.Value{}, errNotInterval
		}
		d := duration{micros: n}
		return change.Interval(d.format(a)), nil
	}
}

// readInterval reads an ISO 8601 duration as Debezium writes it,
// "P1Y2M3DT4H5M6.78S": each component may be negative, seconds may have a
// fraction, which is cut to microseconds, downwards.
func readInterval(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	d, ok := parseInterval(text)
	if !ok {
		return change.Value{}, errNotInterval
	}
	return change.Interval(d.format(a)), nil
}

func parseInterval(text string) (duration, bool) {
	var d duration
	rest, ok := strings.CutPrefix(text, "P")
	if !ok || rest == "" {
		return d, false
	}
	inTime := false
	for rest != "" {
		if rest[0] == 'T' {
			if inTime || len(rest) == 1 {
				return d, false
			}
			inTime, rest = true, rest[1:]
			continue
		}
		n := strings.IndexAny(rest, "YMWDHS")
		if n <= 0 || !d.component(rest[:n], rest[n], inTime) {
			return d, false
		}
		rest = rest[n+1:]
	}
	return d, true
}

// component adds one component of a duration.
func (d *duration) component(text string, designator byte, inTime bool) bool {
	if designator == 'S' {
		return inTime && d.addSeconds(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return false
	}
	switch {
	case designator == 'Y' && !inTime:
		return d.addMonths(n, 12)
	case designator == 'M' && !inTime:
		return d.addMonths(n, 1)
	case designator == 'W' && !inTime:
		return add(&d.days, n, 7)
	case designator == 'D' && !inTime:
		return add(&d.days, n, 1)
	case designator == 'H' && inTime:
		return d.addMicros(n, 3600*microsPerSecond)
	case designator == 'M' && inTime:
		return d.addMicros(n, 60*microsPerSecond)
	}
	return false
}

// addSeconds adds decimal seconds.
func (d *duration) addSeconds(text string) bool {
	whole, fraction, pointed := strings.Cut(text, ".")
	negative := strings.HasPrefix(whole, "-")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || (pointed && fraction == "") || !d.addMicros(seconds, microsPerSecond) {
		return false
	}
	var f int64
	finer := false
	for i := range len(fraction) {
		c := fraction[i]
		switch {
		case c < '0' || c > '9':
			return false
		case i < 6:
			f = f*10 + int64(c-'0')
		case c != '0':
			finer = true
		}
	}
	for i := len(fraction); i < 6; i++ {
		f *= 10
	}
	if !negative {
		return d.addMicros(f, 1)
	}
	if finer {
		f++
	}
	return d.addMicros(-f, 1)
}
