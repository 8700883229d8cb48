package avro

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// special writes a value that has a form of its own.
func (t *transcoder) special(n *node) error {
	switch n.kind {
	case kindDuration:
		return t.duration()
	case kindUUID:
		return t.uuid()
	case kindBigDecimal:
		return t.bigDecimal()
	case kindOnly:
		return t.only(n)
	case kindCivil:
		return t.civil(n)
	case kindSpan:
		return t.span(n)
	default:
		return errors.New("a type can't be read")
	}
}

// duration writes an ISO 8601 duration of a fixed: months, days and milliseconds,
// each 32 bits without a sign, little-endian.
func (t *transcoder) duration() error {
	b, err := t.take(12)
	if err != nil {
		return err
	}
	millis := binary.LittleEndian.Uint32(b[8:])
	t.out = append(t.out, `"P`...)
	t.out = strconv.AppendUint(t.out, uint64(binary.LittleEndian.Uint32(b)), 10)
	t.out = append(t.out, 'M')
	t.out = strconv.AppendUint(t.out, uint64(binary.LittleEndian.Uint32(b[4:])), 10)
	t.out = append(t.out, "DT"...)
	t.out = appendFraction(t.out, int64(millis/1000), int64(millis%1000), 3)
	t.out = append(t.out, `S"`...)
	return nil
}

// appendFraction appends seconds with a fraction of so many digits.
func appendFraction(dst []byte, seconds, fraction int64, digits int) []byte {
	dst = strconv.AppendInt(dst, seconds, 10)
	dst = append(dst, '.')
	at := len(dst)
	for range digits {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= at; i-- {
		dst[i] += byte(fraction % 10)
		fraction /= 10
	}
	return dst
}

// uuid writes a fixed of 16 bytes in the usual text.
func (t *transcoder) uuid() error {
	const digits = "0123456789abcdef"
	b, err := t.take(16)
	t.out = append(t.out, '"')
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			t.out = append(t.out, '-')
		}
		t.out = append(t.out, digits[c>>4], digits[c&0xF])
	}
	t.out = append(t.out, '"')
	return err
}

// bigDecimal writes Debezium's struct of a decimal with a scale of its own, of
// bytes that hold the bytes of the unscaled number and then the scale.
func (t *transcoder) bigDecimal() error {
	b, err := t.bytes()
	if err != nil {
		return err
	}
	inner := transcoder{in: b}
	unscaled, err := inner.bytes()
	if err != nil {
		return err
	}
	scale, err := inner.integer(&node{kind: kindInt})
	if err != nil {
		return err
	}
	if len(inner.rest()) > 0 {
		return errors.New("a big-decimal has bytes after its scale")
	}
	t.out = append(t.out, `{"scale":`...)
	t.out = strconv.AppendInt(t.out, scale, 10)
	t.out = append(t.out, `,"value":`...)
	t.base64(unscaled)
	t.out = append(t.out, '}')
	return nil
}

// only writes one field of a record.
func (t *transcoder) only(n *node) error {
	for i := range n.fields {
		start := len(t.out)
		if err := t.value(n.fields[i].node); err != nil {
			return err
		}
		if i != n.only {
			t.out = t.out[:start]
		}
	}
	return nil
}

// civil writes the microseconds of days and microseconds of the day.
func (t *transcoder) civil(n *node) error {
	const day = 86_400_000_000
	parts, err := t.integers(n)
	if err != nil {
		return err
	}
	days, micros := parts[n.at("date", nil)], parts[n.at("time", nil)]
	if days < math.MinInt32 || days > math.MaxInt32 || micros < 0 || micros > day {
		return errors.New("a datetime is no date and time of day")
	}
	switch { // beyond what int64 holds, and every DATETIME: the nearest that it does
	case days > math.MaxInt64/day-1:
		micros = math.MaxInt64
	case days < math.MinInt64/day+1:
		micros = math.MinInt64
	default:
		micros += days * day
	}
	t.out = strconv.AppendInt(t.out, micros, 10)
	return nil
}

// span writes an ISO 8601 duration of months, hours and microseconds.
func (t *transcoder) span(n *node) error {
	parts, err := t.integers(n)
	if err != nil {
		return err
	}
	micros := parts[n.at("micros", nil)]
	t.out = append(t.out, `"P`...)
	t.out = strconv.AppendInt(t.out, parts[n.at("months", nil)], 10)
	t.out = append(t.out, "MT"...)
	t.out = strconv.AppendInt(t.out, parts[n.at("hours", nil)], 10)
	t.out = append(t.out, 'H')
	seconds, fraction := micros/1_000_000, micros%1_000_000
	if fraction < 0 {
		fraction = -fraction
		if seconds == 0 {
			t.out = append(t.out, '-') // there is no -0
		}
	}
	t.out = appendFraction(t.out, seconds, fraction, 6)
	t.out = append(t.out, `S"`...)
	return nil
}

// integers reads a record of integers.
func (t *transcoder) integers(n *node) (parts [3]int64, err error) {
	for i := range n.fields {
		if parts[i], err = t.integer(n.fields[i].node); err != nil {
			return parts, err
		}
	}
	return parts, nil
}
