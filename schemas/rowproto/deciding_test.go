package rowproto

import (
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// A refused value's error ends with the policies that would take it: those that mean
// something for the type and help with this value.
func TestValueError_policies(t *testing.T) {
	const words = "; to store something else, set the column's `bad_values` to "
	lines := table.Column{Name: "c", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{
		{Name: "day", Type: table.Date, Mode: table.Required},
		{Name: "n", Type: table.Int64},
	}}
	for _, test := range []struct {
		column table.Column
		value  change.Value
		want   string
	}{
		{table.Column{Type: table.Int64}, change.Number("1e30"), words + "null or clamp"},
		{table.Column{Type: table.Int64, Mode: table.Required}, change.Number("1e30"), words + "clamp"},
		{table.Column{Type: table.Int64}, change.Text("x"), words + "null"},
		{table.Column{Type: table.Int64, Mode: table.Required}, change.Text("x"), ""},
		{table.Column{Type: table.Numeric, Precision: 5, Scale: 2}, change.Number("1.005"), words + "null or clamp"},
		{table.Column{Type: table.Date}, change.Text("0000-00-00"), words + "null"},
		{table.Column{Type: table.JSON}, change.Text("{x"), words + "null or string"},
		{table.Column{Type: table.Int64, Mode: table.Repeated}, change.Raw(`[1,null]`), words + "null or clamp"},
		{table.Column{Type: table.Range, Element: table.Date}, change.Text("[0000-01-01,2020-01-01)"), words + "null or clamp"},
		{lines, change.Raw(`[{"day":"x","n":1}]`), ""},
		{lines, change.Raw(`[{"day":"2020-01-01","n":1e30}]`), words + "null or clamp"},
	} {
		test.column.Name = "c"
		p := compile(t, test.column)
		var adjusted []Adjustment
		_, err := p.AppendUpsert(nil, row(column("c", test.value)), someSequence, RowOptions{Adjusted: &adjusted})
		if err == nil {
			t.Errorf("%s: the value is taken", typeName(&test.column))
			continue
		}
		_, got, _ := strings.Cut(err.Error(), words)
		if got != strings.TrimPrefix(test.want, words) || len(adjusted) > 0 {
			t.Errorf("%s: %v\nwant …%s; adjusted %v", typeName(&test.column), err, test.want, adjusted)
		}
		for _, policy := range table.Policies[1:] { // what it says is so
			c := test.column
			if c.Type == table.Struct || policy.Effect(&c) == "" {
				continue
			}
			c.BadValues = policy
			_, err := compile(t, c).AppendUpsert(nil, row(column("c", test.value)), someSequence, RowOptions{})
			if says := strings.Contains(test.want, string(policy)); (err == nil) != says {
				t.Errorf("%s with bad_values %s: %v", typeName(&c), policy, err)
			}
		}
	}
}

// All unknown columns of a row are named, as far as an error can hold them.
func TestValueError_unknownColumns(t *testing.T) {
	p := compile(t, table.Column{Name: "c", Type: table.Int64})
	columns := row(column("d", change.Number("1")))
	for i := range 12 {
		columns = append(columns, column(fmt.Sprintf("e%d", i), change.Number("1")))
	}
	_, err := p.AppendUpsert(nil, columns[:len(columns)-10], someSequence, RowOptions{})
	checkRefused(t, err, ReasonUnknownColumn, "d", "the table doesn't have it, nor e0, e1; add them")
	_, err = p.AppendUpsert(nil, columns, someSequence, RowOptions{})
	checkRefused(t, err, ReasonUnknownColumn, "d", "e8, e9 and 2 more; add them")
}

func TestValueError_unknownColumn(t *testing.T) {
	p := compile(t, table.Column{Name: "c", Type: table.Int64})
	_, err := p.AppendUpsert(nil, row(column("d", change.Number("1"))), someSequence, RowOptions{})
	checkRefused(t, err, ReasonUnknownColumn, "d", "add it to the table, or set `unknown_columns` to ignore or add")
}
