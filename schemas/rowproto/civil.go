package rowproto

// BigQuery's ranges: 0001-01-01 to 9999-12-31 in the proleptic Gregorian calendar.
const (
	minDay   = -719162
	maxDay   = 2932896
	minMicro = minDay * microsPerDay
	maxMicro = (maxDay+1)*microsPerDay - 1
)

// dayOf returns the days from 1970-01-01 to a date of the proleptic Gregorian
// calendar. The years are counted from March, so that the leap day is the last.
func dayOf(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// dateOf is the inverse of dayOf.
func dateOf(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	dayOfEra := days - era*146097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153 // months since March
	day = dayOfYear - (153*shifted+2)/5 + 1
	year, month = yearOfEra+era*400, shifted+3
	if month > 12 {
		year++
		month -= 12
	}
	return year, month, day
}

func daysIn(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// appendDateText appends YYYY-MM-DD; the day is in BigQuery's range.
func appendDateText(dst []byte, days int64) []byte {
	year, month, day := dateOf(days)
	dst = append(appendTwo(appendTwo(dst, year/100), year%100), '-')
	dst = append(appendTwo(dst, month), '-')
	return appendTwo(dst, day)
}

// appendTimeText appends HH:MM:SS, and six digits after a point where there is
// a fraction; micros is within a day.
func appendTimeText(dst []byte, micros int64) []byte {
	seconds := micros / 1_000_000
	dst = append(appendTwo(dst, seconds/3600), ':')
	dst = append(appendTwo(dst, seconds/60%60), ':')
	dst = appendTwo(dst, seconds%60)
	if fraction := micros % 1_000_000; fraction != 0 {
		dst = appendTwo(append(dst, '.'), fraction/10_000)
		dst = appendTwo(dst, fraction/100%100)
		dst = appendTwo(dst, fraction%100)
	}
	return dst
}

// appendDateTimeText appends YYYY-MM-DDTHH:MM:SS[.ffffff]; micros is in range.
func appendDateTimeText(dst []byte, micros int64) []byte {
	days := floorDiv(micros, microsPerDay)
	dst = append(appendDateText(dst, days), 'T')
	return appendTimeText(dst, micros-days*microsPerDay)
}

func appendTwo(dst []byte, n int64) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }
