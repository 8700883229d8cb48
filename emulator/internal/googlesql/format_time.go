package googlesql

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// dateElements and clockElements are the format elements that need a date and a time.
const (
	dateElements  = "AaBbCcDdeFGghJjQUuVWwxYy"
	clockElements = "HIkLlMPpRrSTX"
)

// shorthands are elements that stand for others.
var shorthands = map[byte]string{'D': "%m/%d/%y", 'F': "%Y-%m-%d", 'R': "%H:%M", 'T': "%H:%M:%S", 'c': "%a %b %e %H:%M:%S %Y", 'x': "%m/%d/%y", 'X': "%H:%M:%S", 'r': "%I:%M:%S %p"}

// formatTime writes a time by a format of strftime's. Kind is DATE, TIME, DATETIME or
// TIMESTAMP: elements that it has nothing for are an error.
func formatTime(format string, at time.Time, kind string) (any, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			b.WriteByte('%')
			break
		}
		element := format[i : i+1]
		if element == "E" || element == "O" {
			end := i + 2
			if end <= len(format) && element == "E" && end < len(format) && strings.IndexByte("*0123456789", format[i+1]) >= 0 {
				end++ // %E*S, %E3S, %E4Y
			}
			if end > len(format) {
				return nil, errQuery("Invalid format element %%%s", element)
			}
			element = format[i:end]
			i = end - 1
		}
		text, err := formatElement(element, at, kind)
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func formatElement(element string, at time.Time, kind string) (string, error) {
	last := element[len(element)-1]
	switch {
	case kind == "DATE" && strings.IndexByte(clockElements+"c", last) >= 0 && last != 'c',
		kind == "TIME" && strings.IndexByte(dateElements, last) >= 0,
		kind != "TIMESTAMP" && strings.IndexByte("sZz", last) >= 0 && element != "%":
		return "", errQuery("Format element %%%s is not allowed for %s", element, kind)
	}
	if long, ok := shorthands[last]; ok && len(element) == 1 {
		text, err := formatTime(long, at, orElse(map[bool]string{true: "DATETIME"}[kind == "DATE"], kind))
		if err != nil {
			return "", err
		}
		return text.(string), nil
	}
	year, week := at.ISOWeek()
	_, offset := at.Zone()
	switch element {
	case "A", "EA":
		return at.Format("Monday"), nil
	case "a":
		return at.Format("Mon"), nil
	case "B":
		return at.Format("January"), nil
	case "b", "h":
		return at.Format("Jan"), nil
	case "C":
		return fmt.Sprintf("%02d", at.Year()/100), nil
	case "d":
		return at.Format("02"), nil
	case "e":
		return at.Format("_2"), nil
	case "G":
		return fmt.Sprintf("%04d", year), nil
	case "g":
		return fmt.Sprintf("%02d", year%100), nil
	case "H":
		return at.Format("15"), nil
	case "I":
		return at.Format("03"), nil
	case "J":
		return fmt.Sprintf("%03d", int(midnight(at).Sub(isoYearStart(year)).Hours()/24)+1), nil
	case "j":
		return fmt.Sprintf("%03d", at.YearDay()), nil
	case "k":
		return fmt.Sprintf("%2d", at.Hour()), nil
	case "l":
		return fmt.Sprintf("%2d", (at.Hour()+11)%12+1), nil
	case "M":
		return at.Format("04"), nil
	case "m":
		return at.Format("01"), nil
	case "n":
		return "\n", nil
	case "P":
		return at.Format("pm"), nil
	case "p":
		return at.Format("PM"), nil
	case "Q":
		return strconv.Itoa((int(at.Month())-1)/3 + 1), nil
	case "S":
		return at.Format("05"), nil
	case "s":
		return strconv.FormatInt(at.Unix(), 10), nil
	case "t":
		return "\t", nil
	case "U":
		return fmt.Sprintf("%02d", weekOfYear(at, time.Sunday)), nil
	case "u":
		return strconv.Itoa((int(at.Weekday())+6)%7 + 1), nil
	case "V":
		return fmt.Sprintf("%02d", week), nil
	case "W":
		return fmt.Sprintf("%02d", weekOfYear(at, time.Monday)), nil
	case "w":
		return strconv.Itoa(int(at.Weekday())), nil
	case "Y", "E4Y":
		if element == "E4Y" {
			return fmt.Sprintf("%04d", at.Year()), nil
		}
		return strconv.Itoa(at.Year()), nil
	case "y":
		return at.Format("06"), nil
	case "Z":
		if offset == 0 {
			return "UTC", nil
		}
		return "UTC" + offsetText(offset, false), nil
	case "z":
		return strings.Replace(offsetText(offset, true), ":", "", 1), nil
	case "Ez":
		return offsetText(offset, true), nil
	case "%":
		return "%", nil
	case "E*S":
		return strings.TrimSuffix(strings.TrimRight(at.Format("05.000000"), "0"), "."), nil
	}
	if len(element) == 3 && element[0] == 'E' && last == 'S' {
		digits := min(int(element[1]-'0'), 6)
		if digits == 0 {
			return at.Format("05"), nil
		}
		return at.Format("05.000000")[:3+digits] + strings.Repeat("0", int(element[1]-'0')-digits), nil
	}
	return "", errQuery("Not supported: format element %%%s", element)
}
