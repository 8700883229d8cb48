package rowproto

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestInterval(t *testing.T) {
	plain := table.Column{Type: table.Interval}
	from := func(f table.From) table.Column { return table.Column{Type: table.Interval, From: f} }
	runCases(t, []valueCase{
		{name: "typed", column: plain, value: change.Interval("1-2 3 4:5:6.78"), want: "1-2 3 4:5:6.780"},
		{name: "negative parts", column: plain, value: change.Interval("-1-2 -3 -4:5:6.000789"), want: "-1-2 -3 -4:5:6.000789"},
		{name: "mixed signs", column: plain, value: change.Interval("1-2 -3 +4:5:6"), want: "1-2 -3 4:5:6"},
		{name: "months that make years", column: plain, value: change.Interval("0-14 0 0:0:0"), want: "1-2 0 0:0:0"},
		{name: "zero is not NULL", column: plain, value: change.Interval("0-0 0 0:0:0"), want: "0-0 0 0:0:0"},
		{name: "hours stay hours", column: plain, value: change.Interval("0-0 0 100:0:0"), want: "0-0 0 100:0:0"},
		{name: "ISO 8601", column: plain, value: change.Text("P1Y2M3DT4H5M6.78S"), want: "1-2 3 4:5:6.780"},
		{name: "ISO 8601, weeks", column: plain, value: change.Text("P2W"), want: "0-0 14 0:0:0"},
		{name: "ISO 8601, time alone", column: plain, value: change.Text("PT0S"), want: "0-0 0 0:0:0"},
		{name: "ISO 8601, inner signs", column: plain, value: change.Text("P-1Y-2M3DT-4H-5M-6.5S"), want: "-1-2 3 -4:5:6.500"},
		{name: "ISO 8601, outer sign", column: plain, value: change.Text("-P1Y2M3DT4H"), want: "-1-2 -3 -4:0:0"},
		{name: "ISO 8601, many hours", column: plain, value: change.Text("PT87840000H"), want: "0-0 0 87840000:0:0"},
		{name: "ISO 8601, nanoseconds cut downwards", column: plain, value: change.Text("PT0.000001999S"), want: "0-0 0 0:0:0.000001"},
		{name: "ISO 8601, negative nanoseconds cut downwards", column: plain, value: change.Text("-PT0.000000001S"), want: "0-0 0 -0:0:0.000001"},
		badCase("ISO 8601, nothing", plain, change.Text("P"), "no interval"),
		badCase("ISO 8601, no time", plain, change.Text("P1DT"), "no interval"),
		badCase("ISO 8601, order", plain, change.Text("P1D1Y"), "no interval"),
		badCase("ISO 8601, fraction of a month", plain, change.Text("P1.5M"), "no interval"),
		badCase("ISO 8601, number without a unit", plain, change.Text("P1Y2"), "no interval"),
		{name: "PostgreSQL's text", column: plain, value: change.Text("1 year 2 mons 3 days 04:05:06.78"), want: "1-2 3 4:5:6.780"},
		{name: "PostgreSQL's negative text", column: plain, value: change.Text("-1 years -2 mons +3 days -04:05:06"), want: "-1-2 3 -4:5:6"},
		{name: "PostgreSQL's days", column: plain, value: change.Text("1 day"), want: "0-0 1 0:0:0"},
		badCase("words", plain, change.Text("a while ago"), "no interval"),
		badCase("unknown unit", plain, change.Text("1 century"), "no interval"),
		{name: "MySQL's time", column: plain, value: change.Text("-838:59:59.5"), want: "0-0 0 -838:59:59.500"},
		{name: "typed time", column: plain, value: change.Time(-3600000000), want: "0-0 0 -1:0:0"},
		badCase("minute 60", plain, change.Text("1:60:00"), "no interval"),
		badCase("empty", plain, change.Text(""), "no interval"),
		{name: "structured", column: plain, value: change.Raw(`{"years":-1,"months":-2,"days":3,"hours":-4,"minutes":0,"seconds":0,"picoseconds":-1,"precision":12}`), want: "-1-2 3 -4:0:0.000001"},
		{name: "structured, typed", column: plain, value: change.Struct([]change.Column{{Name: "days", Value: change.Int64(3)}, {Name: "hours", Value: change.Null()}}), want: "0-0 3 0:0:0"},
		badCase("structured beyond", plain, change.Raw(`{"hours":999999999999,"minutes":999999999999,"seconds":999999999999}`), "10,000 years"),
		badCase("structured with more", plain, change.Raw(`{"days":1,"weeks":2}`), "no structured duration"),
		badCase("structured without a part", plain, change.Raw(`{"days":null}`), "no structured duration"),
		badCase("number", plain, change.Number("86400000000"), "`from: seconds`"),
		{name: "from micros", column: from(table.FromMicros), value: change.Number("86400000000"), want: "0-0 0 24:0:0"},
		{name: "from micros, negative", column: from(table.FromMicros), value: change.Int64(-1), want: "0-0 0 -0:0:0.000001"},
		{name: "from days", column: from(table.FromDays), value: change.Number("-7"), want: "0-0 -7 0:0:0"},
		{name: "from seconds takes texts still", column: from(table.FromSeconds), value: change.Text("PT1S"), want: "0-0 0 0:0:1"},
		{name: "10,000 years", column: plain, value: change.Text("P10000Y3660000DT87840000H"), want: "10000-0 3660000 87840000:0:0"},
		badCase("more months", plain, change.Text("P10000Y1M"), "10,000 years"),
		badCase("more days", plain, change.Text("P-3660001D"), "10,000 years"),
		badCase("more hours", plain, change.Text("PT87840000H0.000001S"), "10,000 years"),
		{name: "10,000 years in minutes", column: plain, value: change.Text("PT5270400000M"), want: "0-0 0 87840000:0:0"},
		{name: "10,000 years in seconds", column: plain, value: change.Text("PT316224000000S"), want: "0-0 0 87840000:0:0"},
		badCase("hours that overflow", plain, change.Interval("0-0 0 2562047788:0:0"), "10,000 years"),
		badCase("years that overflow", plain, change.Text("-P99999999999999999999Y"), "10,000 years"),
		badCase("years that overflow int64 when counted", plain, change.Text("P9223372036854775807Y9223372036854775807M"), "10,000 years"),
		badCase("clock that overflows", plain, change.Text("-99999999999999999999:59:59.999999999"), "10,000 years"),
		badCase("more micros", from(table.FromMicros), change.Number("1e40"), "10,000 years"),
		{name: "clamped", column: table.Column{Type: table.Interval, BadValues: table.PolicyClamp}, value: change.Text("P-10001YT1H"), want: "-10000-0 0 1:0:0", adjusted: 1},
		badCase("date", plain, change.Date(1), "takes no date"),
	})
}
