package googlesql

import (
	"database/sql/driver"
	"strings"
	"time"
)

// timeUDFs are the functions of dates and times.
var timeUDFs = func() []function {
	list := []function{
		{"bq_civil", params("TIMESTAMPTZ", "VARCHAR"), "TIMESTAMP", func(a []driver.Value) (any, error) {
			zone, err := parseZone(a[1].(string))
			if err != nil {
				return nil, err
			}
			return civilIn(a[0].(time.Time), zone), nil
		}},
		{"bq_timestamp", params("TIMESTAMP", "VARCHAR"), "TIMESTAMPTZ", func(a []driver.Value) (any, error) {
			zone, err := parseZone(a[1].(string))
			if err != nil {
				return nil, err
			}
			return moment(inRange(momentIn(a[0].(time.Time).UTC(), zone), "TIMESTAMP"))
		}},
		{"bq_make", params("BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT"), "TIMESTAMP", func(a []driver.Value) (any, error) {
			var n [6]int
			for i := range n {
				n[i] = int(max(-1, min(a[i].(int64), 100_000)))
			}
			at, err := (&scanner{}).moment(n[0], n[1], n[2], n[3], n[4], n[5], 0)
			if err != nil || at.Year() > 9999 || n[3] < 0 || n[4] < 0 || n[5] < 0 {
				return nil, errQuery("Input calculates to invalid date or time: %d-%d-%d %d:%d:%d", a[0], a[1], a[2], a[3], a[4], a[5])
			}
			return at, nil
		}},
		{"bq_unix", params("TIMESTAMPTZ", "BIGINT"), "BIGINT", func(a []driver.Value) (any, error) {
			return floorDiv(a[0].(time.Time).UnixMicro(), a[1].(int64)), nil
		}},
		{"bq_from_unix", params("BIGINT", "BIGINT"), "TIMESTAMPTZ", func(a []driver.Value) (any, error) {
			n, unit := a[0].(int64), a[1].(int64)
			if abs(n/1_000_000) > 1<<62/(unit*1_000_000) {
				return nil, errQuery("TIMESTAMP value is out of allowed range")
			}
			return moment(inRange(time.UnixMicro(n*unit).UTC(), "TIMESTAMP"))
		}},
		{"bq_extract", params("VARCHAR", "TIMESTAMP"), "BIGINT", func(a []driver.Value) (any, error) {
			return extractPart(a[1].(time.Time).UTC(), a[0].(string))
		}},
		{"bq_last_day", params("DATE", "VARCHAR"), "DATE", func(a []driver.Value) (any, error) {
			return lastDay(a[0].(time.Time).UTC(), a[1].(string))
		}},
		{"bq_timestamp_trunc", params("TIMESTAMPTZ", "VARCHAR", "VARCHAR"), "TIMESTAMPTZ", func(a []driver.Value) (any, error) {
			return truncateIn(a[0].(time.Time), a[1].(string), a[2].(string))
		}},
		{"bq_timestamp_diff", params("TIMESTAMPTZ", "TIMESTAMPTZ", "VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
			return wholeUnits(a[0].(time.Time), a[1].(time.Time), a[2].(string))
		}},
		{"bq_timestamp_text", params("TIMESTAMPTZ", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
			zone, err := parseZone(a[1].(string))
			if err != nil {
				return nil, err
			}
			return timestampText(a[0].(time.Time), zone), nil
		}},
		{"bq_json_timestamp", params("TIMESTAMPTZ"), "VARCHAR", func(a []driver.Value) (any, error) {
			return strings.Replace(dateTimeText(a[0].(time.Time).UTC()), " ", "T", 1) + "Z", nil
		}},
		{"bq_date_text", params("DATE"), "VARCHAR", func(a []driver.Value) (any, error) { return dateText(a[0].(time.Time).UTC()), nil }},
		{"bq_time_text", params("TIME"), "VARCHAR", func(a []driver.Value) (any, error) { return timeText(a[0].(time.Time).UTC()), nil }},
		{"bq_datetime_text", params("TIMESTAMP"), "VARCHAR", func(a []driver.Value) (any, error) {
			return dateTimeText(a[0].(time.Time).UTC()), nil
		}},
		{"bq_parse_timestamp", params("VARCHAR", "VARCHAR"), "TIMESTAMPTZ", func(a []driver.Value) (any, error) {
			zone, err := parseZone(a[1].(string))
			if err != nil {
				return nil, err
			}
			at, err := parseTimestamp(a[0].(string), zone)
			if err != nil {
				return nil, errQuery("Invalid timestamp: '%s'", a[0])
			}
			return at, nil
		}},
		{"bq_format_time", params("VARCHAR", "VARCHAR", "TIMESTAMP", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
			return formatTime(a[1].(string), a[2].(time.Time).UTC(), a[0].(string))
		}},
		{"bq_format_timestamp", params("VARCHAR", "TIMESTAMPTZ", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
			zone, err := parseZone(a[2].(string))
			if err != nil {
				return nil, err
			}
			return formatTime(a[0].(string), a[1].(time.Time).In(zone), "TIMESTAMP")
		}},
		{"bq_parse_civil", params("VARCHAR", "VARCHAR", "VARCHAR"), "TIMESTAMP", func(a []driver.Value) (any, error) {
			return moment(parseFormat(a[1].(string), a[2].(string), a[0].(string), time.UTC))
		}},
		{"bq_parse_moment", params("VARCHAR", "VARCHAR", "VARCHAR"), "TIMESTAMPTZ", func(a []driver.Value) (any, error) {
			zone, err := parseZone(a[2].(string))
			if err != nil {
				return nil, err
			}
			return moment(parseFormat(a[0].(string), a[1].(string), "TIMESTAMP", zone))
		}},
	}
	for _, v := range []struct{ name, duck, kind string }{
		{"date", "DATE", "DATE"}, {"datetime", "TIMESTAMP", "DATETIME"}, {"timestamp", "TIMESTAMPTZ", "TIMESTAMP"}, {"time", "TIME", "TIME"},
	} {
		list = append(list, function{"bq_" + v.name + "_add", params(v.duck, "BIGINT", "VARCHAR"), v.duck, func(a []driver.Value) (any, error) {
			at, n, part := a[0].(time.Time).UTC(), a[1].(int64), a[2].(string)
			if v.kind == "TIME" { // which goes around
				day := int64(24 * time.Hour / clockUnits[part])
				at = time.Date(1970, 1, 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
				return at.Add(time.Duration(n%day) * clockUnits[part]), nil
			}
			return moment(addPart(at, n, part, v.kind))
		}})
		if v.kind == "TIMESTAMP" {
			continue
		}
		list = append(list,
			function{"bq_" + v.name + "_diff", params(v.duck, v.duck, "VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
				return difference(a[0].(time.Time).UTC(), a[1].(time.Time).UTC(), a[2].(string))
			}},
			function{"bq_" + v.name + "_trunc", params(v.duck, "VARCHAR"), v.duck, func(a []driver.Value) (any, error) {
				return moment(truncate(a[0].(time.Time).UTC(), a[1].(string)))
			}})
	}
	for _, v := range []struct {
		name, duck, kind string
		parse            func(string) (time.Time, error)
	}{{"date", "DATE", "date", parseDate}, {"time", "TIME", "time", parseTime}, {"datetime", "TIMESTAMP", "datetime", parseDateTime}} {
		list = append(list, function{"bq_parse_" + v.name, params("VARCHAR"), v.duck, func(a []driver.Value) (any, error) {
			at, err := v.parse(a[0].(string))
			if err != nil {
				return nil, errQuery("Invalid %s: '%s'", v.kind, a[0])
			}
			return at, nil
		}})
	}
	return list
}()

// moment is a time or an error, as a function's result.
func moment(at time.Time, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return at, nil
}

func lastDay(at time.Time, part string) (any, error) {
	first, err := truncate(at, part)
	if err != nil {
		return nil, err
	}
	if months, ok := monthUnits[part]; ok {
		return first.AddDate(0, months, -1), nil
	}
	if part == "ISOYEAR" {
		year, _ := at.ISOWeek()
		return isoYearStart(year+1).AddDate(0, 0, -1), nil
	}
	return first.AddDate(0, 0, 6), nil
}

// truncateIn truncates what a clock in a zone shows. Parts of a day are truncated as
// moments, so that an hour that comes twice stays itself.
func truncateIn(at time.Time, part, zoneName string) (any, error) {
	zone, err := parseZone(zoneName)
	if err != nil {
		return nil, err
	}
	civil := civilIn(at, zone)
	start, err := truncate(civil, part)
	if err != nil {
		return nil, err
	}
	if _, ok := clockUnits[part]; ok {
		return at.Add(start.Sub(civil)), nil
	}
	return momentIn(start, zone), nil
}

var intervalUDFs = []function{
	{"bq_interval", params("BIGINT", "VARCHAR"), "INTERVAL", func(a []driver.Value) (any, error) {
		return intervalResult(intervalOf(a[0].(int64), a[1].(string)))
	}},
	{"bq_interval_part", params("VARCHAR", "INTERVAL"), "BIGINT", func(a []driver.Value) (any, error) {
		i := interval(a[1])
		switch a[0].(string) {
		case "YEAR":
			return i.Months / 12, nil
		case "MONTH":
			return i.Months % 12, nil
		case "DAY":
			return i.Days, nil
		case "HOUR":
			return i.Micros / microsPerHour, nil
		case "MINUTE":
			return i.Micros / 60_000_000 % 60, nil
		case "SECOND":
			return i.Micros / 1_000_000 % 60, nil
		case "MILLISECOND":
			return i.Micros / 1000 % 1000, nil
		}
		return i.Micros % 1_000_000, nil
	}},
	{"bq_interval_text", params("INTERVAL"), "VARCHAR", func(a []driver.Value) (any, error) { return interval(a[0]).String(), nil }},
	{"bq_parse_interval", params("VARCHAR"), "INTERVAL", func(a []driver.Value) (any, error) {
		i, err := parseInterval(a[0].(string))
		if err != nil {
			return nil, errQuery("Invalid INTERVAL value '%s'", a[0])
		}
		return i.duck(), nil
	}},
	{"bq_interval_scale", params("VARCHAR", "INTERVAL", "BIGINT"), "INTERVAL", func(a []driver.Value) (any, error) {
		return scaleInterval(a[0].(string), interval(a[1]), a[2].(int64))
	}},
	{"bq_between", params("TIMESTAMP", "TIMESTAMP", "BOOLEAN"), "INTERVAL", func(a []driver.Value) (any, error) {
		micros := a[0].(time.Time).UnixMicro() - a[1].(time.Time).UnixMicro()
		if a[2].(bool) {
			return intervalResult(IntervalValue{Days: micros / 86_400_000_000}.check())
		}
		return intervalResult(IntervalValue{Micros: micros}.check())
	}},
	{"bq_datetime_plus", params("TIMESTAMP", "INTERVAL", "BIGINT"), "TIMESTAMP", func(a []driver.Value) (any, error) {
		return plusInterval(a[0].(time.Time).UTC(), interval(a[1]), a[2].(int64), "DATETIME")
	}},
	{"bq_timestamp_plus", params("TIMESTAMPTZ", "INTERVAL", "BIGINT"), "TIMESTAMPTZ", func(a []driver.Value) (any, error) {
		i := interval(a[1])
		if i.Months != 0 {
			return nil, errQuery("TIMESTAMP +/- INTERVAL is not supported for intervals with non-zero MONTH or YEAR part")
		}
		return plusInterval(a[0].(time.Time).UTC(), i, a[2].(int64), "TIMESTAMP")
	}},
}

func intervalResult(i IntervalValue, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return i.duck(), nil
}

func plusInterval(at time.Time, i IntervalValue, sign int64, kind string) (any, error) {
	sum, err := addMonths(at, sign*i.Months)
	if err != nil {
		return nil, err
	}
	if sum, err = addPart(sum, sign*i.Days, "DAY", kind); err != nil {
		return nil, err
	}
	return moment(addPart(sum, sign*i.Micros, "MICROSECOND", kind))
}

// scaleInterval multiplies each part, or divides and hands a part's rest to the next.
func scaleInterval(op string, i IntervalValue, n int64) (any, error) {
	if op == "/" {
		if n == 0 {
			return nil, errQuery("division by zero: INTERVAL / 0")
		}
		days := i.Days + i.Months%n*30
		micros := i.Micros + days%n*86_400_000_000
		return IntervalValue{Months: i.Months / n, Days: days / n, Micros: micros / n}.duck(), nil
	}
	for _, part := range []int64{i.Months, i.Days, i.Micros} {
		if part != 0 && (n == -1<<63 || abs(n) > 1<<62/abs(part)) {
			return nil, errInterval
		}
	}
	return intervalResult(IntervalValue{Months: i.Months * n, Days: i.Days * n, Micros: i.Micros * n}.check())
}
