package rowproto

import (
	"beamcdc/schemas/change"
)

// structuredCivil reads Debezium's structured dates and times (precision mode
// isn't a number but {"year":…,"month":…,"day":…,"hour":…,"minute":…,"second":…,
// "nanos":…,"precision":…,"specialValue":…}); a date lacks the time's members
// and the other way round. The fraction is "nanos" in one version of Debezium
// and "picoseconds" in another: the name says which. A zoned one has the offset
// from UTC and perhaps the zone's name. Whatever else it has is unknown, and a
// bad value.
func (e *Encoder) structuredCivil(v *change.Value) (c civil, err *ValueError) {
	columns := v.Elems()
	if v.Kind() == change.KindRaw {
		defer e.documents.close()
		if columns, err = e.documents.open(v.Text(), '{'); err != nil {
			return c, err
		}
	}
	var year, month, day, hour, minute, second, nanos, picos int64
	members := [...]struct {
		name  string
		value *int64
		of    *bool
	}{
		{"year", &year, &c.hasDate},
		{"month", &month, nil},
		{"day", &day, nil},
		{"hour", &hour, &c.hasTime},
		{"minute", &minute, nil},
		{"second", &second, nil},
		{"nanos", &nanos, nil},
		{"picoseconds", &picos, nil},
		{"precision", new(int64), nil},
		{"offsetSeconds", &c.offset, &c.hasZone},
	}
columns:
	for i := range columns {
		member := &columns[i]
		if member.Name == "specialValue" {
			if c.side, err = specialSide(&member.Value); err != nil {
				return c, err
			}
			continue
		}
		if member.Name == "zoneId" {
			continue
		}
		for _, known := range members {
			if known.name != member.Name {
				continue
			}
			if member.Value.IsNull() {
				continue columns
			}
			if *known.value, err = wholeNumberOf(&member.Value); err != nil {
				return c, err.under(member.Name)
			}
			if known.of != nil {
				*known.of = true
			}
			continue columns
		}
		return c, bad("the object is no structured date or time")
	}
	if c.side != 0 {
		c.hasDate, c.hasTime = true, true
		return c, nil
	}
	if c.offset < -maxOffset || c.offset > maxOffset || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 ||
		nanos < 0 || nanos > 999_999_999 || picos < 0 || picos > 999_999_999_999 {
		return c, bad("the day has no such time")
	}
	c.micros = ((hour*60+minute)*60+second)*1_000_000 + nanos/1_000 + picos/1_000_000
	if !c.hasDate {
		if !c.hasTime {
			return c, bad("the object is no structured date or time")
		}
		return c, nil
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return c, bad("the month has no such day")
	}
	c.setDate(year, month, day)
	return c, nil
}

// maxOffset is the greatest of java.time's and so Debezium's offsets from UTC.
const maxOffset = 18 * 3600

// structuredSpan reads Debezium's structured durations: years, months, days,
// hours, minutes, seconds and nanos or picoseconds, each with its own sign.
func (e *Encoder) structuredSpan(v *change.Value) (s span, err *ValueError) {
	columns := v.Elems()
	if v.Kind() == change.KindRaw {
		defer e.documents.close()
		if columns, err = e.documents.open(v.Text(), '{'); err != nil {
			return s, err
		}
	}
	known := false
	for i := range columns {
		member := &columns[i]
		if member.Value.IsNull() || member.Name == "precision" {
			continue
		}
		n, err := wholeNumberOf(&member.Value)
		if err != nil {
			return s, err.under(member.Name)
		}
		known = true
		switch member.Name {
		case "years":
			s.months += times(n, 12)
		case "months":
			s.months += n
		case "days":
			s.days += n
		case "hours":
			s.micros += times(n, 3_600_000_000)
		case "minutes":
			s.micros += times(n, 60_000_000)
		case "seconds":
			s.micros += times(n, 1_000_000)
		case "nanos":
			s.micros += floorDiv(n, 1_000)
		case "picoseconds":
			s.micros += floorDiv(n, 1_000_000)
		default:
			known = false
		}
		if !known {
			break
		}
	}
	if !known {
		return s, bad("the object is no structured duration")
	}
	return s, nil
}

func specialSide(v *change.Value) (int, *ValueError) {
	switch v.Text() {
	case "POSITIVE_INFINITY", "infinity":
		return +1, nil
	case "NEGATIVE_INFINITY", "-infinity":
		return -1, nil
	}
	if v.IsNull() {
		return 0, nil
	}
	return 0, bad("the special value is none that is known")
}

func wholeNumberOf(v *change.Value) (int64, *ValueError) {
	n, ok := v.Int(), v.Kind() == change.KindInt64
	if !ok && v.Kind() == change.KindNumber {
		n, ok = shortInt(v.Text())
	}
	if !ok || n < -999_999_999_999 || n > 999_999_999_999 {
		return 0, bad("it is no whole number")
	}
	return n, nil
}
