package googlesql

import (
	"strings"
	"time"
	"unicode"
)

// timeParser reads text by a format of strptime's.
type timeParser struct {
	scanner
	year, month, day, hour, minute, second, nanos int
	yearDay                                       int
	pm, twelve                                    bool
	unix                                          int64
	isUnix                                        bool
	zone                                          *time.Location
	kind                                          string
}

// parseFormat is PARSE_DATE and its like. What the format doesn't mention is that of
// 1970-01-01 00:00:00.
func parseFormat(format, text, kind string, zone *time.Location) (time.Time, error) {
	p := &timeParser{scanner: scanner{rest: text}, year: 1970, month: 1, day: 1, zone: zone, kind: kind}
	if err := p.read(format); err != nil {
		return time.Time{}, err
	}
	p.rest = strings.TrimSpace(p.rest)
	if p.twelve {
		p.hour %= 12
		if p.pm {
			p.hour += 12
		}
	}
	at, err := p.moment(p.year, p.month, p.day, p.hour, p.minute, p.second, p.nanos)
	switch {
	case err != nil:
		return at, errQuery("Failed to parse input string %q", text)
	case p.isUnix:
		return inRange(time.Unix(p.unix, 0).UTC(), kind)
	case p.yearDay > 0:
		at = at.AddDate(0, 1-p.month, p.yearDay-p.day)
		if at.Year() != p.year {
			return at, errQuery("Failed to parse input string %q", text)
		}
	}
	return inRange(momentIn(at, p.zone), kind)
}

func (p *timeParser) read(format string) error {
	for i := 0; i < len(format) && !p.bad; i++ {
		c := format[i]
		switch {
		case unicode.IsSpace(rune(c)):
			p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
			continue
		case c != '%':
			p.skip(string(c))
			continue
		}
		if i++; i == len(format) {
			return errQuery("Invalid format: it ends in %%")
		}
		element := format[i : i+1]
		if element == "E" && i+2 < len(format) && strings.IndexByte("*0123456789", format[i+1]) >= 0 {
			element = format[i : i+3]
			i += 2
		} else if element == "E" && i+1 < len(format) {
			element = format[i : i+2]
			i++
		}
		last := element[len(element)-1]
		if p.kind == "DATE" && strings.IndexByte(clockElements+"sZz", last) >= 0 || p.kind == "TIME" && strings.IndexByte(dateElements+"sZz", last) >= 0 ||
			p.kind == "DATETIME" && strings.IndexByte("sZz", last) >= 0 {
			return errQuery("Format element %%%s is not allowed for %s", element, p.kind)
		}
		if err := p.element(element); err != nil {
			return err
		}
	}
	return nil
}

func (p *timeParser) element(element string) error {
	if long, ok := shorthands[element[0]]; ok && len(element) == 1 {
		return p.read(long)
	}
	if strings.IndexByte("CdeHIjklMmSuVyYs", element[0]) >= 0 {
		p.rest = strings.TrimLeft(p.rest, " ")
	}
	switch element {
	case "Y", "E4Y":
		p.year = p.number(1, 4)
	case "y":
		p.year = p.number(1, 2)
		if p.year += 1900; p.year < 1969 {
			p.year += 100
		}
	case "m":
		p.month = p.number(1, 2)
	case "d", "e":
		p.day = p.number(1, 2)
	case "j":
		p.yearDay = p.number(1, 3)
		p.bad = p.bad || p.yearDay == 0
	case "H", "k":
		p.hour = p.number(1, 2)
	case "I", "l":
		p.hour, p.twelve = p.number(1, 2), true
		p.bad = p.bad || p.hour < 1 || p.hour > 12
	case "M":
		p.minute = p.number(1, 2)
	case "S":
		p.second = p.number(1, 2)
	case "E*S", "E1S", "E2S", "E3S", "E4S", "E5S", "E6S":
		p.second = p.number(1, 2)
		p.nanos = p.fraction()
	case "B", "b", "h":
		p.month = p.word(monthNames) + 1
	case "A", "a":
		p.word(weekdayNames)
	case "p", "P":
		p.pm = p.word([]string{"AM", "PM"}) == 1
		p.twelve = true
	case "Z", "z", "Ez":
		end := strings.IndexByte(p.rest, ' ')
		if end < 0 {
			end = len(p.rest)
		}
		zone, err := parseZone(p.rest[:end])
		if err != nil {
			return err
		}
		p.zone, p.rest = zone, p.rest[end:]
	case "s":
		negative := p.next("-")
		p.unix, p.isUnix = int64(p.number(1, 12)), true
		if negative {
			p.unix = -p.unix
		}
	case "n", "t":
		p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	case "%":
		p.skip("%")
	default:
		return errQuery("Not supported: format element %%%s in a parse function", element)
	}
	return nil
}

var (
	monthNames   = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdayNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// word reads one of the words, in any case, in full or its first three letters.
func (p *timeParser) word(words []string) int {
	for _, n := range []int{100, 3} {
		for i, w := range words {
			short := w[:min(n, len(w))]
			if len(p.rest) >= len(short) && strings.EqualFold(p.rest[:len(short)], short) {
				p.rest = p.rest[len(short):]
				return i
			}
		}
	}
	p.bad = true
	return 0
}
