package table

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

// Cases 79, 81, 82: names that BigQuery keeps for itself, or doesn't take.
func TestLegalName(t *testing.T) {
	for name, want := range map[string]string{
		"NewCol":                  "NewCol",
		"current":                 "current", // a reserved word is a name, quoted
		"größe in cm":             "größe in cm",
		"_CHANGE_TYPE":            "c_CHANGE_TYPE",
		"_change_sequence_Number": "c_change_sequence_Number",
		"_TABLE_x":                "c_TABLE_x",
		"_partition_day":          "c_partition_day",
		"__root__a":               "c__root__a",
		"a.b":                     "a_b_2e7336dc",
		"a;b":                     "a_b_5719af18",
		"x`; DROP TABLE t; --":    "",
		"":                        "_e3b0c442",
		"a\nb":                    "",
		"\xff":                    "",
		strings.Repeat("é", 301):  "",
	} {
		got := LegalName(name)
		if want != "" && got != want {
			t.Errorf("LegalName(%q) = %q, want %q", name, got, want)
		}
	}
}

// Whatever a source calls its columns, BigQuery takes the names, they are told apart,
// and a name that it takes stays.
func TestLegalName_isLegal(t *testing.T) {
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"_CHANGE_TYPE", "_Table_", "a`", "a;", "a,", "\xff", "\u2028", strings.Repeat("x", 400)}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		legal := LegalName(a)
		if err := checkColumnName(legal); err != nil || reservedPrefix(legal) != "" || utf8.RuneCountInString(legal) > maxColumnName {
			t.Fatalf("%q becomes %q: %v", a, legal, err)
		}
		if again := LegalName(legal); again != legal {
			t.Fatalf("%q becomes %q, and that %q", a, legal, again)
		}
		if a != b && legal == LegalName(b) && a != "c"+b && b != "c"+a {
			t.Fatalf("%q and %q both become %q", a, b, legal)
		}
		alteration := Alteration{Kind: AddColumn, Path: []string{legal}, Column: Column{Name: legal, Type: String}}
		ddl := alteration.DDL(Name{Project: "p", Dataset: "d", Table: "t"}, nil)
		if strings.Count(ddl, "`") != 4 || strings.ContainsAny(ddl, "\n\r") {
			t.Fatalf("%q makes the statement %q", a, ddl)
		}
	})
}

func TestRenamer(t *testing.T) {
	tableOf := func(names ...string) *Table {
		tab := new(Table)
		for _, name := range names {
			tab.Columns = append(tab.Columns, Column{Name: name, Type: String})
		}
		return tab
	}
	low := withHash("total", "total")
	for _, test := range []struct {
		table     *Table
		row, want string
	}{
		{tableOf("id", "total"), "id total", "id total"},
		{tableOf("id", "total"), "ID Total", "ID Total"}, // as BigQuery matches names
		{tableOf("id"), "id Total", "id Total"},
		{tableOf("id"), "id _CHANGE_TYPE", "id c_CHANGE_TYPE"},
		// Two that differ by case: of a table that has neither, the first in bytes' order.
		{tableOf("id"), "id total Total", "id " + low + " Total"},
		{tableOf("id", "Total"), "total Total", low + " Total"},
		{tableOf("id", "total"), "total Total", "total " + withHash("Total", "Total")},
		{tableOf("id", "TOTAL"), "total Total", low + " Total"},
		// And one alone goes where it went before.
		{tableOf("id", "Total", low), "total", low},
		{tableOf("id", "Total", low), "Total", "Total"},
	} {
		var row []change.Column
		for name := range strings.FieldsSeq(test.row) {
			row = append(row, change.Column{Name: name, Value: change.String(name)})
		}
		var r Renamer
		for range 2 { // learned and remembered
			var got []string
			for i, c := range r.Rename(test.table, row) {
				got = append(got, c.Name)
				if c.Value.Text() != row[i].Name {
					t.Errorf("%s: the value of %s is another's", test.row, c.Name)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s in %v (-want +got):\n%s", test.row, test.table.Columns, diff)
			}
		}
		if row[0].Name != strings.Fields(test.row)[0] {
			t.Errorf("the row itself was changed: %v", row)
		}
	}
}

func TestAlterations(t *testing.T) {
	columns := []Column{
		{Name: "id", Type: Int64, Mode: Required},
		{Name: "price", Type: Numeric, Precision: 10, Scale: 2},
		{Name: "s", Type: Struct, Fields: []Column{{Name: "a", Type: Int64, Mode: Required}}},
	}
	wanted := []Alteration{
		{AddColumn, []string{"x"}, Column{Name: "x", Type: Int64}},
		{AddColumn, []string{"X"}, Column{Name: "X", Type: String}}, // there now, whatever its type
		{AddColumn, []string{"ID"}, Column{Name: "ID", Type: String}},
		{RelaxColumn, []string{"id"}, Column{}},
		{RelaxColumn, []string{"S", "A"}, Column{}},
		{RelaxColumn, []string{"price"}, Column{}},
		{RelaxColumn, []string{"gone"}, Column{}},
		{WidenColumn, []string{"price"}, Column{Name: "price", Type: Numeric}},
		{AddColumn, []string{"s", "b"}, Column{Name: "b", Type: Date}},
		{AddColumn, []string{"gone", "b"}, Column{Name: "b", Type: Date}},
	}
	var got []string
	for _, a := range Pending(columns, wanted) {
		got = append(got, fmt.Sprintf("%d%v", a.Kind, a.Path))
	}
	want := []string{"1[x]", "2[id]", "2[S A]", "3[price]", "1[s b]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	if left := Pending(Altered(columns, wanted), wanted); len(left) > 0 {
		t.Errorf("%v is still pending once it is done", left)
	}
	if columns[0].Mode != Required || len(columns) != 3 || len(columns[2].Fields) != 1 {
		t.Errorf("what was given was changed: %v", columns)
	}
	if a := (Alteration{WidenColumn, []string{"price"}, Column{Name: "price", Type: Numeric}}); len(Pending([]Column{{Name: "price", Type: BigNumeric}}, []Alteration{a})) > 0 {
		t.Error("a BIGNUMERIC is to become a NUMERIC")
	}
}

// What a table may have been before is what it is, with one step of it made again.
func TestUndone(t *testing.T) {
	columns := []Column{
		{Name: "id", Type: Int64},
		{Name: "n", Type: Numeric, Precision: 5},
		{Name: "x", Type: Float64},
		{Name: "s", Type: Struct, Fields: []Column{{Name: "a", Type: BigNumeric}, {Name: "b", Type: String}, {Name: "c", Type: String}}},
	}
	var got []string
	for undone := range Undone(columns) {
		whole := Column{Type: Struct, Fields: undone}
		got = append(got, strings.ReplaceAll(whole.SQLType(), "`", ""))
	}
	want := []string{
		"STRUCT<id INT64, n INT64, x FLOAT64, s STRUCT<a BIGNUMERIC, b STRING, c STRING>>",
		"STRUCT<id INT64, n NUMERIC(5), x FLOAT64, s STRUCT<a BIGNUMERIC, b STRING>>",
		"STRUCT<id INT64, n NUMERIC(5), x FLOAT64, s STRUCT<a BIGNUMERIC>>",
		"STRUCT<id INT64, n NUMERIC(5), x FLOAT64, s STRUCT<a INT64, b STRING, c STRING>>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
