package rest

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"beamcdc/emulator/internal/engine"
)

// zone is what may follow a timestamp's civil time.
var zone = regexp.MustCompile(`^(.*?[0-9])\s*(Z|z|UTC|[+-][0-9]{1,2}(?::?[0-9]{2})?|[A-Za-z]+(?:/[A-Za-z_+\-0-9]+)+)$`)

var errTimestamp = errors.New("it is no TIMESTAMP")

// timestampValue reads a TIMESTAMP's text: a date, or a date and time, with a zone or
// in UTC; or seconds since the epoch.
func timestampValue(text string) (any, error) {
	if isDecimal(text) {
		return secondsValue(text)
	}
	civil, name := strings.TrimSuffix(text, " UTC"), ""
	// A date's own hyphens look like an offset's.
	if m := zone.FindStringSubmatch(text); m != nil && (strings.ContainsAny(m[1], ":") || !strings.HasPrefix(m[2], "-")) {
		civil, name = m[1], m[2]
	}
	v, err := engine.ParseDateTime(civil)
	if err != nil {
		return nil, err
	}
	t, ok := v.(time.Time)
	if !ok {
		return nil, errTimestamp
	}
	switch {
	case name == "" || strings.EqualFold(name, "Z") || name == "UTC":
	case name[0] == '+' || name[0] == '-':
		digits := strings.ReplaceAll(name[1:], ":", "")
		hours, minutes := digits, "0"
		if len(digits) > 2 {
			hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
		}
		h, _ := strconv.Atoi(hours) // the pattern has digits there
		m, _ := strconv.Atoi(minutes)
		if h > 14 || m > 59 {
			return nil, errTimestamp
		}
		offset := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
		if name[0] == '-' {
			offset = -offset
		}
		t = t.Add(-offset)
	default:
		where, err := time.LoadLocation(name)
		if err != nil {
			return nil, errors.New("it has an unknown time zone")
		}
		t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), where)
	}
	return engine.TimestampValue(t.UnixMicro())
}

func isDecimal(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.eE+-") == "" && strings.Count(text, "-") < 2
}

// secondsValue is a TIMESTAMP of seconds since the epoch; what is beyond
// microseconds is rounded.
func secondsValue(text string) (any, error) {
	// A NUMERIC's digits are exact, and beyond any TIMESTAMP's.
	seconds := &engine.Column{Kind: engine.KindNumeric, Precision: 30, Scale: 6}
	v, err := seconds.DecimalLiteral(text)
	if err != nil {
		return nil, errTimestamp
	}
	whole, fraction, _ := strings.Cut(engine.ScalarText(seconds, v), ".")
	micros, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return nil, errTimestamp
	}
	return engine.TimestampValue(micros)
}
