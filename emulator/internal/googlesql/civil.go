package googlesql

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // time zones by name, on a machine that has none too
)

// errValue is text that is no value of its type.
var errValue = errors.New("invalid value")

// The range of BigQuery's dates and times.
var (
	minMoment = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	maxMoment = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
)

// inRange refuses moments that BigQuery's types don't hold.
func inRange(at time.Time, kind string) (time.Time, error) {
	if at.Before(minMoment) || at.After(maxMoment) {
		return at, fmt.Errorf("%s is out of supported range", kind)
	}
	return at, nil
}

// scanner reads a literal's text.
type scanner struct {
	rest string
	bad  bool
}

// number reads least to most digits.
func (s *scanner) number(least, most int) int {
	n := 0
	for n < len(s.rest) && n < most && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	if n < least {
		s.bad = true
		return 0
	}
	v, _ := strconv.Atoi(s.rest[:n])
	s.rest = s.rest[n:]
	return v
}

func (s *scanner) skip(separator string) {
	rest, ok := strings.CutPrefix(s.rest, separator)
	s.rest, s.bad = rest, s.bad || !ok
}

func (s *scanner) next(characters string) bool {
	if s.rest == "" || strings.IndexByte(characters, s.rest[0]) < 0 {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// date reads YYYY-[M]M-[D]D.
func (s *scanner) date() (year, month, day int) {
	year = s.number(4, 4)
	s.skip("-")
	month = s.number(1, 2)
	s.skip("-")
	day = s.number(1, 2)
	return year, month, day
}

// clock reads [H]H:[M]M[:[S]S[.F]].
func (s *scanner) clock() (hour, minute, second, nanos int) {
	hour = s.number(1, 2)
	s.skip(":")
	minute = s.number(1, 2)
	if s.next(":") {
		second = s.number(1, 2)
		nanos = s.fraction()
	}
	return hour, minute, second, nanos
}

// fraction reads .F of at most microseconds, as nanoseconds.
func (s *scanner) fraction() int {
	if !s.next(".") {
		return 0
	}
	before := len(s.rest)
	n := s.number(1, 6)
	for range 9 - (before - len(s.rest)) {
		n *= 10
	}
	return n
}

// moment checks civil parts that were read, to the text's end.
func (s *scanner) moment(year, month, day, hour, minute, second, nanos int) (time.Time, error) {
	at := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if s.bad || s.rest != "" || year < 1 || month < 1 || month > 12 || at.Day() != day || hour > 23 || minute > 59 || second > 59 {
		return at, errValue
	}
	return at, nil
}

func parseDate(text string) (time.Time, error) {
	s := &scanner{rest: strings.TrimSpace(text)}
	year, month, day := s.date()
	return s.moment(year, month, day, 0, 0, 0, 0)
}

func parseTime(text string) (time.Time, error) {
	s := &scanner{rest: strings.TrimSpace(text)}
	hour, minute, second, nanos := s.clock()
	return s.moment(1970, 1, 1, hour, minute, second, nanos)
}

func parseDateTime(text string) (time.Time, error) {
	s := &scanner{rest: strings.TrimSpace(text)}
	year, month, day := s.date()
	if s.rest == "" {
		return s.moment(year, month, day, 0, 0, 0, 0)
	}
	if !s.next(" Tt") {
		return time.Time{}, errValue
	}
	hour, minute, second, nanos := s.clock()
	return s.moment(year, month, day, hour, minute, second, nanos)
}

// parseTimestamp reads a date, a time and a time zone, of which the last two may be left out.
func parseTimestamp(text string, zone *time.Location) (time.Time, error) {
	s := &scanner{rest: strings.TrimSpace(text)}
	year, month, day := s.date()
	var hour, minute, second, nanos int
	if len(s.rest) > 1 && strings.IndexByte(" Tt", s.rest[0]) >= 0 && s.rest[1] >= '0' && s.rest[1] <= '9' {
		s.rest = s.rest[1:]
		hour, minute, second, nanos = s.clock()
	}
	suffix := strings.TrimSpace(s.rest)
	s.rest = ""
	if suffix != "" {
		var err error
		if zone, err = parseZone(suffix); err != nil {
			return time.Time{}, err
		}
	}
	at, err := s.moment(year, month, day, hour, minute, second, nanos)
	if err != nil {
		return at, err
	}
	at = time.Date(year, time.Month(month), day, hour, minute, second, nanos, zone).UTC()
	return inRange(at, "TIMESTAMP")
}

// parseZone reads a time zone's name, or an offset from UTC such as +05:30, -8, Z or UTC+1.
func parseZone(text string) (*time.Location, error) {
	rest := text
	switch {
	case strings.EqualFold(text, "Z"), strings.EqualFold(text, "UTC"):
		return time.UTC, nil
	case strings.HasPrefix(text, "UTC+"), strings.HasPrefix(text, "UTC-"):
		rest = text[3:]
	}
	s := &scanner{rest: rest}
	sign := 1
	switch {
	case s.next("-"):
		sign = -1
	case s.next("+"):
	default:
		if text == "" || strings.EqualFold(text, "Local") {
			return nil, fmt.Errorf("Invalid time zone: %s", text) //nolint:staticcheck // BigQuery's text
		}
		return namedZone(text)
	}
	hours, minutes := s.number(1, 2), 0
	if s.next(":") {
		minutes = s.number(2, 2)
	} else if s.rest != "" {
		minutes = s.number(2, 2)
	}
	if s.bad || s.rest != "" || hours > 14 || minutes > 59 {
		return nil, fmt.Errorf("Invalid time zone: %s", text) //nolint:staticcheck // BigQuery's text
	}
	return time.FixedZone("", sign*(hours*60+minutes)*60), nil
}

// zones holds the time zones that were loaded: there are a few hundred names.
var zones sync.Map

func namedZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("Invalid time zone: %s", name) //nolint:staticcheck // BigQuery's text
	}
	zones.Store(name, zone)
	return zone, nil
}

// civilIn is what a clock in the zone shows, as if it were UTC's.
func civilIn(at time.Time, zone *time.Location) time.Time {
	local := at.In(zone)
	return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
}

// momentIn is when a clock in the zone shows this.
func momentIn(civil time.Time, zone *time.Location) time.Time {
	return time.Date(civil.Year(), civil.Month(), civil.Day(), civil.Hour(), civil.Minute(), civil.Second(), civil.Nanosecond(), zone).UTC()
}

// fractionText writes a second's fraction in 0, 3 or 6 digits.
func fractionText(at time.Time) string {
	micros := at.Nanosecond() / 1000
	switch {
	case micros == 0:
		return ""
	case micros%1000 == 0:
		return fmt.Sprintf(".%03d", micros/1000)
	}
	return fmt.Sprintf(".%06d", micros)
}

func dateText(at time.Time) string {
	return fmt.Sprintf("%04d-%02d-%02d", at.Year(), at.Month(), at.Day())
}
func timeText(at time.Time) string     { return at.Format("15:04:05") + fractionText(at) }
func dateTimeText(at time.Time) string { return dateText(at) + " " + timeText(at) }

// timestampText writes a TIMESTAMP as CAST does: with the zone's offset, in hours if
// that is all there is.
func timestampText(at time.Time, zone *time.Location) string {
	local := at.In(zone)
	_, offset := local.Zone()
	return dateTimeText(local) + offsetText(offset, false)
}

// offsetText writes an offset from UTC as +HH, or +HH:MM if it must or always.
func offsetText(seconds int, always bool) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	text := fmt.Sprintf("%c%02d", sign, seconds/3600)
	if always || seconds%3600 != 0 {
		text += fmt.Sprintf(":%02d", seconds%3600/60)
	}
	return text
}

func decodeBase64(text string) ([]byte, error) {
	if b, err := base64.StdEncoding.DecodeString(text); err == nil {
		return b, nil
	}
	return base64.URLEncoding.DecodeString(text)
}
