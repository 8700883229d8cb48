package rowproto

import (
	stdcmp "cmp"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// valueCase is one value for one column.
type valueCase struct {
	name     string
	column   table.Column
	value    change.Value
	want     any    // what a reader finds; nil: NULL
	reason   string // of the ValueError; "": none
	at       string // the column that it names; "" means "c"
	says     string // part of the error's text
	adjusted int
}

func runCases(t *testing.T, cases []valueCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Helper()
			column := c.column
			column.Name = "c"
			p := compile(t, column)
			var adjusted []Adjustment
			data, err := p.AppendUpsert(nil, row(change.Column{Name: "c", Value: c.value}), someSequence, RowOptions{Adjusted: &adjusted})
			if c.reason != "" {
				checkRefused(t, err, c.reason, stdcmp.Or(c.at, "c"), c.says)
				if len(adjusted) != 0 {
					t.Errorf("a refused row tells of %v", adjusted)
				}
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			got := read(t, messageType(t, p), data)["c"]
			if diff := cmp.Diff(c.want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if len(adjusted) != c.adjusted {
				t.Errorf("%d adjusted values, want %d", len(adjusted), c.adjusted)
			}
			for _, a := range adjusted {
				if a.Column != "c" && !strings.HasPrefix(a.Column, "c.") || a.Policy == table.PolicyReject || a.Policy == "" {
					t.Errorf("adjustment %+v", a)
				}
			}
		})
	}
}

func checkRefused(t *testing.T, err error, reason, column, says string) {
	t.Helper()
	var wrong *ValueError
	if !errors.As(err, &wrong) {
		t.Fatalf("not refused as %s: %v", reason, err)
	}
	if wrong.Reason != reason || wrong.Column != column || wrong.Table != "p.d.t" {
		t.Errorf("refused as %s of column %q of %s, want %s of %q: %v", wrong.Reason, wrong.Column, wrong.Table, reason, column, err)
	}
	if !strings.Contains(err.Error(), says) {
		t.Errorf("the error doesn't say %q: %v", says, err)
	}
}

// badCase returns the case of a value that the column can't hold.
func badCase(name string, column table.Column, v change.Value, says string) valueCase {
	return valueCase{name: name, column: column, value: v, reason: ReasonBadValue, says: says}
}
