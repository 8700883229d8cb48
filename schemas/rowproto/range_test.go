package rowproto

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestRange(t *testing.T) {
	days := table.Column{Type: table.Range, Element: table.Date}
	instants := table.Column{Type: table.Range, Element: table.Timestamp}
	civil := table.Column{Type: table.Range, Element: table.DateTime}
	clamp := table.Column{Type: table.Range, Element: table.Date, BadValues: table.PolicyClamp}
	between := func(start, end any) map[string]any { return map[string]any{"start": start, "end": end} }
	runCases(t, []valueCase{
		{name: "PostgreSQL's text", column: days, value: change.Text("[2025-01-01,2025-02-01)"), want: between(int32(20089), int32(20120))},
		{name: "BigQuery's text", column: days, value: change.String("[2025-01-01, 2025-02-01)"), want: between(int32(20089), int32(20120))},
		{name: "start left out", column: days, value: change.Text("(2024-12-31,2025-02-01)"), want: between(int32(20089), int32(20120))},
		{name: "end kept in", column: days, value: change.Text("[2025-01-01,2025-01-31]"), want: between(int32(20089), int32(20120))},
		{name: "one day", column: days, value: change.Text("[2025-01-01,2025-01-01]"), want: between(int32(20089), int32(20090))},
		{name: "no start", column: days, value: change.Text("(,2025-02-01)"), want: map[string]any{"end": int32(20120)}},
		{name: "no end", column: days, value: change.Text("[2025-01-01,)"), want: map[string]any{"start": int32(20089)}},
		{name: "unbounded in words", column: days, value: change.Text("[UNBOUNDED, unbounded)"), want: map[string]any{}},
		{name: "unbounded", column: days, value: change.Text("(,)"), want: map[string]any{}},
		badCase("empty", days, change.Text("empty"), "empty"),
		badCase("empty by its bounds", days, change.Text("[2025-01-01,2025-01-01)"), "empty"),
		badCase("backwards", days, change.Text("[2025-01-02,2025-01-01)"), "empty"),
		badCase("infinity is no bound", days, change.Text("[2025-01-01,infinity)"), "9999-12-31"),
		badCase("end after the last day", days, change.Text("[2025-01-01,9999-12-31]"), "9999-12-31"),
		badCase("no brackets", days, change.Text("2025-01-01,2025-02-01"), "no range"),
		badCase("one bound", days, change.Text("[2025-01-01)"), "no range"),
		badCase("nothing", days, change.Text(""), "no range"),
		badCase("no date", days, change.Text("[a,b)"), "no date"),
		badCase("number", days, change.Number("1"), "takes no JSON number"),
		{name: "quoted instants", column: instants, value: change.Text(`["2025-03-09 08:07:06+00","2025-03-09 10:07:07+02:00")`), want: between(int64(1741507626000000), int64(1741507627000000))},
		badCase("instants with another bracket", instants, change.Text(`["2025-03-09 08:07:06+00","2025-03-09 08:07:07+00"]`), "brackets"),
		{name: "instants without a bound need no bracket", column: instants, value: change.Text(`("-infinity",]`), reason: ReasonBadValue, says: "0001-01-01"},
		{name: "unbounded instants", column: instants, value: change.Text(`(,"2025-03-09 08:07:06"]`), reason: ReasonBadValue, says: "brackets"},
		{name: "civil", column: civil, value: change.Text(`["2025-03-09 08:07:06",)`), want: map[string]any{"start": "2025-03-09T08:07:06"}},
		{name: "object", column: days, value: change.Raw(`{"start":"2025-01-01","end":null}`), want: map[string]any{"start": int32(20089)}},
		{name: "object in a text", column: days, value: change.Text(`{"end":"2025-01-01"}`), want: map[string]any{"end": int32(20089)}},
		{name: "struct", column: instants, value: change.Struct([]change.Column{{Name: "Start", Value: change.Timestamp(1)}, {Name: "end", Value: change.Timestamp(2)}}), want: between(int64(1), int64(2))},
		{name: "numbers with a unit", column: table.Column{Type: table.Range, Element: table.Timestamp, From: table.FromMillis}, value: change.Raw(`{"start":1,"end":2}`), want: between(int64(1000), int64(2000))},
		badCase("numbers without a unit", instants, change.Raw(`{"start":1,"end":2}`), "`from: seconds`"),
		badCase("object with more", days, change.Raw(`{"start":"2025-01-01","bounds":"[)"}`), "nothing else"),
		badCase("bound twice", days, change.Raw(`{"start":"2025-01-01","START":"2025-01-01"}`), "twice"),
		{name: "unavailable bound", column: days, value: change.Struct([]change.Column{{Name: "start", Value: change.Unavailable()}}), reason: ReasonUnavailable},
		{name: "clamped", column: clamp, value: change.Text("[-infinity,2025-01-01)"), want: between(int32(-719162), int32(20089)), adjusted: 1},
		{name: "clamped twice is one value", column: clamp, value: change.Text("[-infinity,infinity]"), want: between(int32(-719162), int32(2932896)), adjusted: 1},
		badCase("clamped to nothing", clamp, change.Text("[infinity,infinity)"), "empty"),
		{name: "elements", column: table.Column{Type: table.Range, Element: table.Date, Mode: table.Repeated}, value: change.Raw(`["[2025-01-01,)","(,)"]`), want: []any{map[string]any{"start": int32(20089)}, map[string]any{}}},
	})
}
