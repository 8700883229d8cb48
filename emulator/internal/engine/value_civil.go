package engine

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// The ranges of BigQuery's dates and times: 0001-01-01 to 9999-12-31.
const (
	minDate         = -719162
	maxDate         = 2932896
	minTimestamp    = minDate * microsPerDay
	maxTimestamp    = (maxDate+1)*microsPerDay - 1
	microsPerDay    = 86_400_000_000
	microsPerSecond = 1_000_000
)

// ErrCivilRange is the reason why a date or time isn't one of BigQuery's.
var ErrCivilRange = errors.New("it is out of range")

// DateValue is a DATE as it is stored, from days since 1970-01-01.
func DateValue(days int64) (any, error) {
	if days < minDate || days > maxDate {
		return nil, ErrCivilRange
	}
	return time.Unix(days*86_400, 0).UTC(), nil
}

// TimestampValue is a TIMESTAMP as it is stored, from microseconds since the epoch.
func TimestampValue(micros int64) (any, error) {
	if micros < minTimestamp || micros > maxTimestamp {
		return nil, ErrCivilRange
	}
	return time.UnixMicro(micros).UTC(), nil
}

// civil is a civil date and time, or one half of it.
type civil struct{ year, month, day, hour, minute, second, micros int }

// time returns the civil time as if it were UTC's; ok is false for one that no
// calendar or clock shows.
func (c civil) time() (t time.Time, ok bool) {
	if c.year < 1 || c.year > 9999 || c.month < 1 || c.month > 12 || c.day < 1 || c.day > 31 {
		return time.Time{}, false
	}
	if c.hour > 23 || c.minute > 59 || c.second > 59 || c.micros > 999_999 {
		return time.Time{}, false
	}
	t = time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.micros*1000, time.UTC)
	return t, t.Day() == c.day
}

func (c civil) value() (any, error) {
	t, ok := c.time()
	if !ok {
		return nil, ErrCivilRange
	}
	return t, nil
}

// UnpackTime reads CivilTimeEncoder's TIME: hour, minute, second and microsecond
// in fields of 5, 6, 6 and 20 bits.
func UnpackTime(packed uint64) (any, error) {
	if packed>>37 != 0 {
		return nil, ErrCivilRange
	}
	c := unpackClock(packed)
	c.year, c.month, c.day = 1, 1, 1
	return c.value()
}

func unpackClock(packed uint64) civil {
	return civil{
		micros: int(packed & 0xFFFFF), second: int(packed >> 20 & 0x3F), minute: int(packed >> 26 & 0x3F), hour: int(packed >> 32 & 0x1F),
	}
}

// UnpackDateTime reads CivilTimeEncoder's DATETIME: year, month and day in fields
// of 14, 4 and 5 bits before TIME's.
func UnpackDateTime(packed uint64) (any, error) {
	if packed>>60 != 0 {
		return nil, ErrCivilRange
	}
	c := unpackClock(packed)
	c.day, c.month, c.year = int(packed>>37&0x1F), int(packed>>42&0xF), int(packed>>46&0x3FFF)
	return c.value()
}

var errCivilText = errors.New("its text is no valid literal")

// ParseDate reads a DATE literal: YYYY-[M]M-[D]D.
func ParseDate(text string) (any, error) {
	var c civil
	if rest, ok := c.scanDate(text); !ok || rest != "" {
		return nil, errCivilText
	}
	return c.value()
}

// ParseTime reads a TIME literal: [H]H:[M]M:[S]S[.FFFFFF].
func ParseTime(text string) (any, error) {
	c := civil{year: 1, month: 1, day: 1}
	if rest, ok := c.scanTime(text); !ok || rest != "" {
		return nil, errCivilText
	}
	return c.value()
}

// ParseDateTime reads a DATETIME literal: a date, and a time after a blank or T.
func ParseDateTime(text string) (any, error) {
	var c civil
	rest, ok := c.scanDate(text)
	if !ok {
		return nil, errCivilText
	}
	if rest != "" {
		if !strings.ContainsRune(" Tt", rune(rest[0])) {
			return nil, errCivilText
		}
		if rest, ok = c.scanTime(rest[1:]); !ok || rest != "" {
			return nil, errCivilText
		}
	}
	return c.value()
}

func (c *civil) scanDate(text string) (rest string, ok bool) {
	if c.year, text, ok = scanNumber(text, 4, 4); !ok {
		return "", false
	}
	if c.month, text, ok = scanAfter(text, '-'); !ok {
		return "", false
	}
	c.day, text, ok = scanAfter(text, '-')
	return text, ok
}

func (c *civil) scanTime(text string) (rest string, ok bool) {
	if c.hour, text, ok = scanNumber(text, 1, 2); !ok {
		return "", false
	}
	if c.minute, text, ok = scanAfter(text, ':'); !ok {
		return "", false
	}
	if c.second, text, ok = scanAfter(text, ':'); !ok {
		return "", false
	}
	if text == "" || text[0] != '.' {
		return text, true
	}
	before := len(text) - 1
	if c.micros, text, ok = scanNumber(text[1:], 1, 6); !ok {
		return "", false
	}
	for range 6 - (before - len(text)) {
		c.micros *= 10
	}
	return text, true
}

func scanAfter(text string, separator byte) (n int, rest string, ok bool) {
	if text == "" || text[0] != separator {
		return 0, "", false
	}
	return scanNumber(text[1:], 1, 2)
}

// scanNumber reads all digits that text begins with, of which there must be least to most.
func scanNumber(text string, least, most int) (n int, rest string, ok bool) {
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits < least || digits > most {
		return 0, "", false
	}
	n, err := strconv.Atoi(text[:digits])
	return n, text[digits:], err == nil
}

// The forms in which values leave the emulator.
const (
	dateLayout      = "2006-01-02"
	timeLayout      = "15:04:05.000000"
	dateTimeLayout  = "2006-01-02T15:04:05.000000"
	timestampLayout = "2006-01-02T15:04:05.000000Z"
)
