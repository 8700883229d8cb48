package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		column Column
		key    bool
		want   string // part of what is wrong; "": nothing
	}{
		{Column{Type: Int64}, true, ""},
		{Column{Type: Int64, BadValues: PolicyReject, Mode: Required}, true, ""},
		{Column{Type: Int64, BadValues: PolicyClamp}, true, "column of the primary key"},
		{Column{Type: Int64, BadValues: PolicyNull}, true, "column of the primary key"},
		{Column{Type: Int64, BadValues: PolicyClamp, Mode: Required}, false, ""},
		{Column{Type: Int64, BadValues: PolicyNull, Mode: Required}, false, "REQUIRED"},
		{Column{BadValues: PolicyNull, Mode: Required}, false, "REQUIRED"},
		{Column{BadValues: PolicyClamp}, false, ""}, // a hint to a column of BigQuery's
		{Column{Type: Int64, BadValues: PolicyNull, Mode: Repeated}, false, ""},
		{Column{Type: Int64, BadValues: PolicyString}, false, "means nothing for a column of type INT64; it takes reject, null, clamp"},
		{Column{Type: String, MaxLength: 3, BadValues: PolicyClamp}, false, "means nothing for a column of type STRING(3); it takes reject, null, string"},
		{Column{Type: String, BadValues: PolicyClamp, Mode: Repeated}, false, ""}, // leaves NULLs out
		{Column{Type: String, BadValues: PolicyString}, false, ""},
		{Column{Type: JSON, BadValues: PolicyString}, false, ""},
		{Column{Type: JSON, BadValues: PolicyClamp}, false, "it takes reject, null, string"},
		{Column{Type: Bool, BadValues: PolicyClamp, Mode: Required}, false, "it takes reject"},
		{Column{Type: Struct, BadValues: PolicyClamp}, false, ""}, // of its fields
	} {
		err := CheckPolicy(&test.column, test.key)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v, key %v: got %v, want %q", test.column, test.key, err, test.want)
		}
	}
}

// A rule's policy goes to the columns that it means something for, a STRUCT's to
// its fields.
func TestWithPolicy(t *testing.T) {
	t.Parallel()
	columns := func() []Column {
		return []Column{
			{Name: "n", Type: Int64},
			{Name: "r", Type: Int64, Mode: Required},
			{Name: "own", Type: Int64, BadValues: PolicyReject},
			{Name: "s", Type: String},
			{Name: "a", Type: String, Mode: Repeated},
			{Name: "j", Type: JSON},
			{Name: "t", Type: Struct, Fields: []Column{{Name: "n", Type: Numeric}, {Name: "s", Type: String}}},
			{Name: "u", Type: Struct, BadValues: PolicyString, Fields: []Column{{Name: "n", Type: Numeric}, {Name: "s", Type: String}}},
		}
	}
	for policy, want := range map[Policy]string{
		"":           "n: r: own:reject s: a: j: t: t.n: t.s: u:string u.n: u.s:string",
		PolicyReject: "n: r: own:reject s: a: j: t: t.n: t.s: u:string u.n: u.s:string",
		PolicyNull:   "n:null r: own:reject s:null a:null j:null t:null t.n:null t.s:null u:string u.n: u.s:string",
		PolicyClamp:  "n:clamp r:clamp own:reject s: a:clamp j: t: t.n:clamp t.s: u:string u.n: u.s:string",
		PolicyString: "n: r: own:reject s:string a:string j:string t: t.n: t.s:string u:string u.n: u.s:string",
	} {
		if diff := cmp.Diff(want, policiesOf(withPolicy(columns(), policy), "")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", policy, diff)
		}
	}
}

func policiesOf(columns []Column, path string) string {
	var found []string
	for _, c := range columns {
		found = append(found, path+c.Name+":"+string(c.BadValues))
		if len(c.Fields) > 0 {
			found = append(found, policiesOf(c.Fields, c.Name+"."))
		}
	}
	return strings.Join(found, " ")
}
