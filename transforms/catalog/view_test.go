package catalog

import (
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestBehind(t *testing.T) {
	for want, s := range map[string]change.Sequence{
		"p.d.t_g0":                 {},
		"p.d.t_g_0":                change.NewSequence(0),
		"p.d.t_g_0_a_10_1":         change.NewSequence(0, 10, 36, 1),
		"p.d.t_g_3w5e11264sgsf_0":  change.NewSequence(1<<64-1, 0),
		"p.d.t_g_0_0_0_zzzzzzzzzz": change.NewSequence(0, 0, 0, 3656158440062975),
	} {
		if got := Behind("p.d.t", s); got != want {
			t.Errorf("Behind(%v) = %s, want %s", s, got, want)
		}
	}
}

// A table behind a view must take the hidden row of a delete, and be read back.
func TestCheckHidden(t *testing.T) {
	good := []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "v", Type: table.String, Mode: table.Nullable},
		{Name: table.SequenceColumn, Type: table.String, Mode: table.Nullable},
		{Name: table.DeletedColumn, Type: table.Bool, Mode: table.Nullable},
	}
	for want, change := range map[string]func([]table.Column){
		"":                           func([]table.Column) {},
		"column v is REQUIRED":       func(c []table.Column) { c[1].Mode = table.Required },
		"column v is a RANGE":        func(c []table.Column) { c[1].Type = table.Range },
		"no column beamcdc_deleted":  func(c []table.Column) { c[3].Type = table.String },
		"no column beamcdc_sequence": func(c []table.Column) { c[2].Name = "other" },
	} {
		columns := append([]table.Column(nil), good...)
		change(columns)
		got := ""
		if err := checkHidden(&table.Table{Columns: columns, PrimaryKey: []string{"ID"}}); err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
