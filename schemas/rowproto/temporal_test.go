package rowproto

import (
	"math"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestDate(t *testing.T) {
	plain := table.Column{Type: table.Date}
	from := func(f table.From) table.Column { return table.Column{Type: table.Date, From: f} }
	clamp := table.Column{Type: table.Date, BadValues: table.PolicyClamp}
	runCases(t, []valueCase{
		{name: "typed", column: plain, value: change.Date(20156), want: int32(20156)},
		{name: "the day before 1970", column: plain, value: change.Date(-1), want: int32(-1)},
		{name: "1970-01-01 is not NULL", column: plain, value: change.Date(0), want: int32(0)},
		{name: "first", column: plain, value: change.Number("-719162"), want: int32(-719162)},
		{name: "last", column: plain, value: change.Number("2932896"), want: int32(2932896)},
		badCase("before the first", plain, change.Date(-719163), "0001-01-01"),
		badCase("after the last", plain, change.Number("2932897"), "9999-12-31"),
		badCase("PostgreSQL's infinity in days", plain, change.Date(-2147472693), "0001-01-01"),
		badCase("beyond int64", plain, change.Number("99999999999999999999"), "9999-12-31"),
		badCase("part of a day", plain, change.Number("0.5"), "not whole"),
		{name: "text", column: plain, value: change.Text("2025-03-09"), want: int32(20156)},
		{name: "typed text", column: plain, value: change.String("1969-12-31"), want: int32(-1)},
		{name: "text with Z", column: plain, value: change.Text("2025-03-09Z"), want: int32(20156)},
		{name: "first in a text", column: plain, value: change.Text("0001-01-01"), want: int32(-719162)},
		{name: "last in a text", column: plain, value: change.Text("9999-12-31"), want: int32(2932896)},
		{name: "midnight in a text", column: plain, value: change.Text("2025-03-09T00:00:00Z"), want: int32(20156)},
		badCase("noon in a text", plain, change.Text("2025-03-09 12:00:00"), "time of day"),
		badCase("offset", plain, change.Text("2025-03-09+02:00"), "offset"),
		{name: "leap day", column: plain, value: change.Text("2000-02-29"), want: int32(11016)},
		badCase("no leap day", plain, change.Text("1900-02-29"), "no such day"),
		badCase("April 31", plain, change.Text("2025-04-31"), "no such day"),
		badCase("month 13", plain, change.Text("2025-13-01"), "no such day"),
		badCase("zero date", plain, change.Text("0000-00-00"), "zero date"),
		badCase("month zero", plain, change.Text("2025-00-10"), "zero date"),
		badCase("day zero", plain, change.Text("2025-03-00"), "zero date"),
		badCase("year zero", plain, change.Text("0000-03-09"), "0001-01-01"),
		badCase("BC", plain, change.Text("0044-03-15 BC"), "0001-01-01"),
		badCase("negative year", plain, change.Text("-0043-03-15"), "0001-01-01"),
		badCase("year 10000", plain, change.Text("10000-01-01"), "9999-12-31"),
		badCase("year 10000 with a sign", plain, change.Text("+10000-01-01"), "9999-12-31"),
		badCase("year of twenty digits", plain, change.Text("99999999999999999999-01-01"), "9999-12-31"),
		badCase("infinity", plain, change.Text("infinity"), "9999-12-31"),
		badCase("two digits of a year", plain, change.Text("25-03-09"), "no date"),
		badCase("one digit of a month", plain, change.Text("2025-3-09"), "no date"),
		badCase("slashes", plain, change.Text("2025/03/09"), "no date"),
		badCase("empty", plain, change.Text(""), "no date"),
		badCase("digits without a unit", plain, change.Text("20156"), "`from: days`"),
		badCase("integer that is typed as one", plain, change.Int64(20156), "`from: days`"),
		{name: "instant at UTC's midnight", column: plain, value: change.Timestamp(1741478400000000), want: int32(20156)},
		badCase("instant with a time of day", plain, change.Timestamp(1), "time of day"),
		{name: "midnight", column: plain, value: change.DateTime(86400000000), want: int32(1)},
		badCase("a microsecond after midnight", plain, change.DateTime(86400000001), "time of day"),
		badCase("true", plain, change.Bool(true), "takes no BOOL"),
		{name: "structured", column: plain, value: change.Raw(`{"year":2025,"month":3,"day":9}`), want: int32(20156)},
		badCase("structured infinity", plain, change.Raw(`{"year":null,"month":null,"day":null,"specialValue":"POSITIVE_INFINITY"}`), "9999-12-31"),
		badCase("object", plain, change.Raw(`{"year":2025,"month":3,"day":9,"era":"BC"}`), "structured"),

		{name: "from days", column: from(table.FromDays), value: change.Int64(20156), want: int32(20156)},
		{name: "from days in a text", column: from(table.FromDays), value: change.Text("20156"), want: int32(20156)},
		{name: "from days takes texts still", column: from(table.FromDays), value: change.Text("2025-03-09"), want: int32(20156)},
		{name: "from micros at midnight", column: from(table.FromMicros), value: change.Number("1741478400000000"), want: int32(20156)},
		badCase("from micros at noon", from(table.FromMicros), change.Number("1741521600000000"), "time of day"),
		{name: "from seconds before 1970", column: from(table.FromSeconds), value: change.Number("-86400"), want: int32(-1)},

		{name: "clamped down", column: clamp, value: change.Number("2932897"), want: int32(2932896), adjusted: 1},
		{name: "clamped up", column: clamp, value: change.Text("-infinity"), want: int32(-719162), adjusted: 1},
		{name: "clamped noon", column: clamp, value: change.DateTime(-1), want: int32(-1), adjusted: 1},
		badCase("a zero date has nothing nearest", clamp, change.Text("0000-00-00"), "zero date"),
		{name: "NULL instead of a zero date", column: table.Column{Type: table.Date, BadValues: table.PolicyNull}, value: change.Text("0000-00-00"), adjusted: 1},
	})
}

func TestTimestamp(t *testing.T) {
	plain := table.Column{Type: table.Timestamp}
	from := func(f table.From) table.Column { return table.Column{Type: table.Timestamp, From: f} }
	clamp := table.Column{Type: table.Timestamp, From: table.FromMicros, BadValues: table.PolicyClamp}
	const at = int64(1741507626005004)
	runCases(t, []valueCase{
		{name: "typed", column: plain, value: change.Timestamp(at), want: at},
		{name: "a microsecond before 1970", column: plain, value: change.Timestamp(-1), want: int64(-1)},
		{name: "1970 is not NULL", column: plain, value: change.Timestamp(0), want: int64(0)},
		{name: "first", column: plain, value: change.Timestamp(-62135596800000000), want: int64(-62135596800000000)},
		{name: "last", column: plain, value: change.Timestamp(253402300799999999), want: int64(253402300799999999)},
		badCase("before the first", plain, change.Timestamp(-62135596800000001), "0001-01-01"),
		badCase("year 10000", plain, change.Timestamp(253402300800000000), "9999-12-31"),

		{name: "zone Z", column: plain, value: change.Text("2025-03-09T08:07:06.005004Z"), want: at},
		{name: "blank and no zone", column: plain, value: change.Text("2025-03-09 08:07:06.84"), want: int64(1741507626840000)},
		{name: "no fraction", column: plain, value: change.Text("2025-03-09T08:07:06Z"), want: int64(1741507626000000)},
		{name: "one digit", column: plain, value: change.Text("2025-03-09T08:07:06.1Z"), want: int64(1741507626100000)},
		{name: "nine digits", column: plain, value: change.Text("2025-03-09T08:07:06.123456789Z"), want: int64(1741507626123456)},
		{name: "nine digits before 1970", column: plain, value: change.Text("1969-12-31T23:59:59.999999999Z"), want: int64(-1)},
		badCase("ten digits", plain, change.Text("2025-03-09T08:07:06.1234567891Z"), "more than nine"),
		badCase("no digit", plain, change.Text("2025-03-09T08:07:06.Z"), "no digit"),
		{name: "offset east", column: plain, value: change.Text("2025-03-09T08:07:06+02:00"), want: int64(1741500426000000)},
		{name: "offset of half an hour", column: plain, value: change.Text("2025-03-09T13:37:06.005004+05:30"), want: at},
		{name: "offset west before 1582", column: plain, value: change.Text("1491-07-04T02:10:00+03:00"), want: int64(-15099871800000000)},
		{name: "PostgreSQL's offset", column: plain, value: change.Text("2025-03-09 08:07:06.005004+00"), want: at},
		{name: "offset without a colon", column: plain, value: change.Text("2025-03-09 08:07:06.005004 -0000"), want: at},
		{name: "offset with seconds", column: plain, value: change.Text("1890-01-01 00:00:00+00:53:28"), want: int64(-2524524808000000)},
		{name: "UTC", column: plain, value: change.Text("2025-03-09 08:07:06.005004 UTC"), want: at},
		{name: "no seconds", column: plain, value: change.Text("2025-03-09T08:07Z"), want: int64(1741507620000000)},
		{name: "date alone is midnight UTC", column: plain, value: change.Text("2025-03-09"), want: int64(1741478400000000)},
		badCase("offset that leaves the range", plain, change.Text("0001-01-01T00:00:00+05:00"), "0001-01-01"),
		{name: "offset that comes into the range", column: plain, value: change.Text("0001-01-01T00:00:00-05:00"), want: int64(-62135578800000000)},
		badCase("infinity", plain, change.Text("infinity"), "9999-12-31"),
		badCase("zero date", plain, change.Text("0000-00-00 00:00:00"), "zero date"),
		badCase("leap second", plain, change.Text("2016-12-31T23:59:60Z"), "no such time"),
		badCase("24:00", plain, change.Text("2025-03-09T24:00:00Z"), "no such time"),
		badCase("minute 60", plain, change.Text("2025-03-09T08:60:00Z"), "no such time"),
		badCase("zone name", plain, change.Text("2025-03-09 08:07:06 Europe/Paris"), "zone"),
		badCase("offset of 19 hours", plain, change.Text("2025-03-09 08:07:06+19"), "zone"),
		badCase("offset cut short", plain, change.Text("2025-03-09 08:07:06+0"), "zone"),
		badCase("something behind", plain, change.Text("2025-03-09T08:07:06Z "), "zone"),
		badCase("time alone", plain, change.Text("08:07:06"), "no date"),
		badCase("empty", plain, change.Text(""), "no date"),
		{name: "local time in a gap is UTC", column: plain, value: change.Text("2025-03-09 02:30:00"), want: int64(1741487400000000)},

		badCase("number", plain, change.Number("1741507626386"), "`from: seconds`, `millis`, `micros`, `nanos` or `days`"),
		badCase("digits", plain, change.Text("1741507626386"), "`from: seconds`"),
		badCase("typed integer", plain, change.Int64(at), "`from: seconds`"),
		{name: "civil is UTC's", column: plain, value: change.DateTime(at), want: at},
		{name: "date is UTC's midnight", column: plain, value: change.Date(20156), want: int64(1741478400000000)},
		badCase("time of day", plain, change.Time(1), "takes no time of day"),

		{name: "from millis", column: from(table.FromMillis), value: change.Number("1741507626386"), want: int64(1741507626386000)},
		{name: "from millis, .094", column: from(table.FromMillis), value: change.Number("1741507626094"), want: int64(1741507626094000)},
		{name: "from millis at a small magnitude", column: from(table.FromMillis), value: change.Number("1"), want: int64(1000)},
		{name: "from millis in a text", column: from(table.FromMillis), value: change.Text("-1"), want: int64(-1000)},
		{name: "from millis, typed", column: from(table.FromMillis), value: change.Int64(1741507626386), want: int64(1741507626386000)},
		{name: "from millis with an exponent", column: from(table.FromMillis), value: change.Number("1.741507626386E12"), want: int64(1741507626386000)},
		{name: "from millis leaves typed instants", column: from(table.FromMillis), value: change.Timestamp(at), want: at},
		{name: "from millis leaves texts", column: from(table.FromMillis), value: change.Text("2025-03-09T08:07:06.005004Z"), want: at},
		{name: "from reads a civil value as UTC", column: from(table.FromMillis), value: change.DateTime(at), want: at},
		{name: "from reads a date as midnight UTC", column: from(table.FromDays), value: change.Date(20156), want: int64(1741478400000000)},
		{name: "from micros", column: from(table.FromMicros), value: change.Number("1741507626005004"), want: at},
		{name: "from micros, -1", column: from(table.FromMicros), value: change.Number("-1"), want: int64(-1)},
		{name: "from nanos", column: from(table.FromNanos), value: change.Number("1741507626005004999"), want: at},
		{name: "from nanos before 1970", column: from(table.FromNanos), value: change.Number("-1"), want: int64(-1)},
		{name: "from nanos, -1000", column: from(table.FromNanos), value: change.Number("-1000"), want: int64(-1)},
		{name: "from nanos, greatest of int64", column: from(table.FromNanos), value: change.Number("9223372036854775807"), want: int64(9223372036854775)},
		{name: "from nanos, least of int64", column: from(table.FromNanos), value: change.Int64(math.MinInt64), want: int64(-9223372036854776)},
		badCase("from nanos with a fraction", from(table.FromNanos), change.Number("1.5"), "nanosecond"),
		{name: "from seconds", column: from(table.FromSeconds), value: change.Number("1741507626"), want: int64(1741507626000000)},
		{name: "from seconds with a fraction", column: from(table.FromSeconds), value: change.Number("-0.0000005"), want: int64(-1)},
		{name: "from seconds with micros", column: from(table.FromSeconds), value: change.Number("1741507626.005004"), want: at},
		badCase("from seconds with picos", from(table.FromSeconds), change.Number("0.0000000001"), "nanosecond"),
		{name: "from days", column: from(table.FromDays), value: change.Number("20156"), want: int64(1741478400000000)},
		badCase("from seconds that overflow", from(table.FromSeconds), change.Number("9223372036855"), "9999-12-31"),
		badCase("from days that overflow", from(table.FromDays), change.Int64(math.MaxInt64), "9999-12-31"),
		badCase("from micros, PostgreSQL's infinity", from(table.FromMicros), change.Number("9223372036825200000"), "9999-12-31"),
		badCase("from micros beyond int64", from(table.FromMicros), change.Number("-1e30"), "0001-01-01"),
		badCase("from micros, year 10000", from(table.FromMicros), change.Number("253402300800000000"), "9999-12-31"),
		badCase("from micros, true", from(table.FromMicros), change.Bool(true), "takes no BOOL"),
		{name: "from seconds, whole float", column: from(table.FromSeconds), value: change.Float64(1.5), want: int64(1500000)},

		{name: "clamped", column: clamp, value: change.Number("9223372036825200000"), want: int64(253402300799999999), adjusted: 1},
		{name: "clamped -infinity", column: clamp, value: change.Text("-infinity"), want: int64(-62135596800000000), adjusted: 1},
		{name: "NULL instead", column: table.Column{Type: table.Timestamp, BadValues: table.PolicyNull}, value: change.Text("infinity"), adjusted: 1},
	})
}

func TestDateTime(t *testing.T) {
	plain := table.Column{Type: table.DateTime}
	micros := table.Column{Type: table.DateTime, From: table.FromMicros}
	runCases(t, []valueCase{
		{name: "typed", column: plain, value: change.DateTime(1741507626005004), want: "2025-03-09T08:07:06.005004"},
		{name: "no fraction", column: plain, value: change.DateTime(1741507626000000), want: "2025-03-09T08:07:06"},
		{name: "before 1970", column: plain, value: change.DateTime(-1), want: "1969-12-31T23:59:59.999999"},
		{name: "first", column: plain, value: change.DateTime(-62135596800000000), want: "0001-01-01T00:00:00"},
		{name: "last", column: plain, value: change.DateTime(253402300799999999), want: "9999-12-31T23:59:59.999999"},
		badCase("before the first", plain, change.DateTime(-62135596800000001), "0001-01-01"),
		badCase("after the last", plain, change.DateTime(253402300800000000), "9999-12-31"),
		{name: "a date is midnight", column: plain, value: change.Date(20156), want: "2025-03-09T00:00:00"},
		badCase("a date beyond", plain, change.Date(math.MaxInt64), "9999-12-31"),
		{name: "text", column: plain, value: change.Text("2025-03-09 08:07:06.005"), want: "2025-03-09T08:07:06.005000"},
		{name: "text with Z keeps its digits", column: plain, value: change.Text("2025-03-09T08:07:06.005004Z"), want: "2025-03-09T08:07:06.005004"},
		{name: "text with an offset of zero", column: plain, value: change.Text("2025-03-09T08:07:06+00:00"), want: "2025-03-09T08:07:06"},
		badCase("text with an offset", plain, change.Text("2025-03-09T08:07:06+05:30"), "offset"),
		{name: "text of a date", column: plain, value: change.Text("2025-03-09"), want: "2025-03-09T00:00:00"},
		{name: "local time in a gap", column: plain, value: change.Text("2025-03-09 02:30"), want: "2025-03-09T02:30:00"},
		badCase("zero date", plain, change.Text("0000-00-00 00:00:00"), "zero date"),
		badCase("number", plain, change.Number("1741507626005004"), "`from: seconds`"),
		{name: "instant in UTC", column: plain, value: change.Timestamp(0), want: "1970-01-01T00:00:00"},
		{name: "from micros", column: micros, value: change.Number("1741507626005004"), want: "2025-03-09T08:07:06.005004"},
		{name: "from takes an instant's UTC", column: micros, value: change.Timestamp(-1), want: "1969-12-31T23:59:59.999999"},
		{name: "structured", column: plain, value: change.Raw(`{"year":2025,"month":3,"day":9,"hour":8,"minute":7,"second":6,"nanos":5004999,"precision":6,"specialValue":null}`), want: "2025-03-09T08:07:06.005004"},
		{name: "structured in picoseconds", column: plain, value: change.Struct([]change.Column{
			{Name: "year", Value: change.Int64(2025)},
			{Name: "month", Value: change.Int64(3)},
			{Name: "day", Value: change.Int64(9)},
			{Name: "hour", Value: change.Int64(8)},
			{Name: "picoseconds", Value: change.Int64(5004999999)},
		}), want: "2025-03-09T08:00:00.005004"},
		badCase("structured, no such time", plain, change.Raw(`{"year":2025,"month":3,"day":9,"hour":24}`), "no such time"),
		badCase("structured, no such day", plain, change.Raw(`{"year":2025,"month":2,"day":29,"hour":0}`), "no such day"),
		{name: "clamped", column: table.Column{Type: table.DateTime, BadValues: table.PolicyClamp}, value: change.Text("12025-01-01 00:00:00"), want: "9999-12-31T23:59:59.999999", adjusted: 1},
	})
}

func TestTime(t *testing.T) {
	plain := table.Column{Type: table.Time}
	from := func(f table.From) table.Column { return table.Column{Type: table.Time, From: f} }
	clamp := table.Column{Type: table.Time, BadValues: table.PolicyClamp}
	runCases(t, []valueCase{
		{name: "typed", column: plain, value: change.Time(29226005004), want: "08:07:06.005004"},
		{name: "midnight is not NULL", column: plain, value: change.Time(0), want: "00:00:00"},
		{name: "last", column: plain, value: change.Time(86399999999), want: "23:59:59.999999"},
		badCase("24 hours", plain, change.Time(86400000000), "23:59:59.999999"),
		badCase("negative", plain, change.Time(-1), "00:00:00"),
		{name: "text", column: plain, value: change.Text("08:07:06.5"), want: "08:07:06.500000"},
		{name: "text with Z", column: plain, value: change.Text("08:07:06.5Z"), want: "08:07:06.500000"},
		badCase("text with an offset", plain, change.Text("08:07:06+02"), "offset"),
		{name: "no seconds", column: plain, value: change.Text("08:07"), want: "08:07:00"},
		badCase("24:00:00", plain, change.Text("24:00:00"), "23:59:59.999999"),
		badCase("MySQL's long time", plain, change.Text("838:59:59"), "23:59:59.999999"),
		badCase("MySQL's negative time", plain, change.Text("-01:00:00"), "00:00:00"),
		badCase("date and time", plain, change.Text("2025-03-09 08:07:06"), "no time of day"),
		badCase("infinity", plain, change.Text("infinity"), "no time of day"),
		badCase("civil", plain, change.DateTime(0), "takes no date and time"),
		badCase("number", plain, change.Number("29226005"), "`from: seconds`"),
		{name: "from millis", column: from(table.FromMillis), value: change.Number("29226005"), want: "08:07:06.005000"},
		{name: "from micros", column: from(table.FromMicros), value: change.Number("29226005004"), want: "08:07:06.005004"},
		{name: "from nanos", column: from(table.FromNanos), value: change.Number("29226005004999"), want: "08:07:06.005004"},
		{name: "structured", column: plain, value: change.Raw(`{"hour":8,"minute":7,"second":6,"nanos":null}`), want: "08:07:06"},
		{name: "clamped down", column: clamp, value: change.Text("838:59:59"), want: "23:59:59.999999", adjusted: 1},
		{name: "clamped up", column: clamp, value: change.Text("-01:00:00"), want: "00:00:00", adjusted: 1},
	})
}
