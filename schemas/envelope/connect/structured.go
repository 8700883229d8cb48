package connect

import (
	"errors"
	"math"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

// parts are the components of a structured time
// (io.debezium.time.StructuredTemporal). Absent ones are zero.
type parts struct {
	year, month, day              int64
	hour, minute, second, offset  int64
	years, months, days           int64
	hours, minutes, seconds       int64
	nanos, picoseconds            int64
	positiveInfinity, negInfinity bool
	any                           bool // one is not null
}

var errParts = errors.New("has components that make no time")

// readParts reads a structured time. Its finest component is called nanos in
// one version of Debezium, picoseconds in another.
func readParts(raw string, a *slab.Arena) (parts, error) {
	var p parts
	err := members(raw, a, func(name, value string) error {
		if value[0] == 'n' {
			return nil
		}
		to := p.component(name)
		switch {
		case name == "specialValue":
			p.positiveInfinity = value == `"POSITIVE_INFINITY"`
			p.negInfinity = value == `"NEGATIVE_INFINITY"`
			if !p.positiveInfinity && !p.negInfinity {
				return errors.New("has an unknown specialValue")
			}
			return nil
		case to == nil: // precision, zoneId
			return nil
		}
		n, err := parseInt(value, 64)
		*to, p.any = n, true
		return err
	})
	return p, err
}

func (p *parts) component(name string) *int64 {
	switch name {
	case "year":
		return &p.year
	case "month":
		return &p.month
	case "day":
		return &p.day
	case "hour":
		return &p.hour
	case "minute":
		return &p.minute
	case "second":
		return &p.second
	case "offsetSeconds":
		return &p.offset
	case "years":
		return &p.years
	case "months":
		return &p.months
	case "days":
		return &p.days
	case "hours":
		return &p.hours
	case "minutes":
		return &p.minutes
	case "seconds":
		return &p.seconds
	case "nanos":
		return &p.nanos
	case "picoseconds":
		return &p.picoseconds
	}
	return nil
}

// dayNumber returns the date in days since 1970-01-01.
func (p *parts) dayNumber() (int64, error) {
	const limit = 1 << 40 // years: beyond every calendar, and no product overflows
	if !p.any || p.year > limit || p.year < -limit || !isDate(p.year, p.month, p.day) {
		return 0, errParts
	}
	return daysOf(p.year, p.month, p.day), nil
}

// ofDay returns the time of day in microseconds, cut downwards.
func (p *parts) ofDay() (int64, error) {
	const second = 1_000_000_000
	if p.nanos < 0 || p.nanos >= second || p.picoseconds < 0 || p.picoseconds >= second*1000 {
		return 0, errParts
	}
	fraction := p.nanos/1000 + p.picoseconds/1_000_000
	if !p.any || !isTime(p.hour, p.minute, p.second, p.nanos+p.picoseconds) {
		return 0, errParts
	}
	return ((p.hour*60+p.minute)*60+p.second)*microsPerSecond + fraction, nil
}

// instant returns the date and time in microseconds since 1970-01-01 00:00:00 UTC.
func (p *parts) instant() (int64, error) {
	switch {
	case p.positiveInfinity:
		return math.MaxInt64, nil
	case p.negInfinity:
		return math.MinInt64, nil
	}
	days, err := p.dayNumber()
	if err != nil {
		return 0, err
	}
	ofDay, err := p.ofDay()
	if err != nil || !isOffset(p.offset) {
		return 0, errParts
	}
	return instant(days, ofDay, p.offset), nil
}

func isOffset(seconds int64) bool { return -18*3600 <= seconds && seconds <= 18*3600 }

func readStructuredDate(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	p, err := readParts(raw, a)
	switch {
	case err != nil:
		return change.Value{}, err
	case p.positiveInfinity:
		return change.Date(math.MaxInt32), nil
	case p.negInfinity:
		return change.Date(math.MinInt32), nil
	}
	days, err := p.dayNumber()
	return change.Date(days), err
}

func readStructuredTime(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	p, err := readParts(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	ofDay, err := p.ofDay()
	if err == nil && !isOffset(p.offset) {
		err = errParts
	}
	if err != nil {
		return change.Value{}, err
	}
	return utcTime(ofDay, p.offset), nil
}

func readStructuredTimestamp(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	p, err := readParts(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	p.offset = 0 // civil
	t, err := p.instant()
	return change.DateTime(t), err
}

func readStructuredZonedTimestamp(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	p, err := readParts(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	t, err := p.instant()
	return change.Timestamp(t), err
}

func readStructuredDuration(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	p, err := readParts(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	if !p.any {
		return change.Value{}, errParts
	}
	d := duration{days: p.days, micros: p.nanos/1000 + p.picoseconds/1_000_000}
	if p.nanos%1000+p.picoseconds%1_000_000 < 0 {
		d.micros-- // downwards
	}
	ok := d.addMonths(p.years, 12) && d.addMonths(p.months, 1) &&
		d.addMicros(p.hours, 3600*microsPerSecond) && d.addMicros(p.minutes, 60*microsPerSecond) && d.addMicros(p.seconds, microsPerSecond)
	if !ok {
		return change.Value{}, errNotInterval
	}
	return change.Interval(d.format(a)), nil
}
