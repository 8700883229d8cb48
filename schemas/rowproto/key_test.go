package rowproto

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// TestKey_Spellings gives each type of a key spellings of one value, and one of another.
func TestKey_Spellings(t *testing.T) {
	for _, c := range []struct {
		column table.Column
		same   []change.Value
		other  change.Value
	}{
		{table.Column{Type: table.Int64}, []change.Value{change.Int64(1), change.Number("1"), change.Number("1.0"), change.Text("1"), change.Text("+01"), change.Decimal("1.00"), change.Uint64(1), change.Bool(true)}, change.Int64(2)},
		{table.Column{Type: table.Bool}, []change.Value{change.Bool(false), change.Number("0"), change.Text("false")}, change.Bool(true)},
		{table.Column{Type: table.Numeric}, []change.Value{change.Number("1.50"), change.Text("1.5"), change.Decimal("15e-1")}, change.Number("1.05")},
		{table.Column{Type: table.Numeric, From: table.FromDecimal, FromScale: 2}, []change.Value{change.Text("MDk="), change.Number("123.450"), change.Decimal("123.45")}, change.Text("z8c=")},
		{table.Column{Type: table.String}, []change.Value{change.Text("1"), change.Number("1"), change.String("1"), change.Int64(1)}, change.Number("1.0")},
		{table.Column{Type: table.Bytes}, []change.Value{change.Text("AA=="), change.Bytes("\x00")}, change.Bytes("")},
		{table.Column{Type: table.Date}, []change.Value{change.Date(-1), change.Number("-1"), change.Text("1969-12-31")}, change.Date(0)},
		{table.Column{Type: table.Timestamp}, []change.Value{change.Timestamp(0), change.Text("1970-01-01"), change.Text("1970-01-01T02:00:00+02")}, change.Timestamp(1)},
		{table.Column{Type: table.DateTime}, []change.Value{change.DateTime(0), change.Text("1970-01-01"), change.Date(0)}, change.DateTime(-1)},
		{table.Column{Type: table.Time}, []change.Value{change.Time(0), change.Text("00:00"), change.Text("00:00:00Z")}, change.Time(1)},
	} {
		t.Run(string(c.column.Type), func(t *testing.T) {
			c.column.Name = "k"
			tab := tableOf(c.column)
			tab.PrimaryKey = []string{"k"}
			p, err := Compile(tab)
			if err != nil {
				t.Fatal(err)
			}
			key := func(v change.Value) []byte {
				data, err := p.AppendKey([]byte("dst"), []change.Column{column("K", v)})
				if err != nil {
					t.Fatalf("%v: %v", v.Kind(), err)
				}
				return data[3:]
			}
			first := key(c.same[0])
			if _, err := change.Key(first).Values(); err != nil {
				t.Errorf("the key can't be read back: %v", err)
			}
			for _, v := range c.same[1:] {
				if !bytes.Equal(key(v), first) {
					t.Errorf("%v %q has another key", v.Kind(), v.Text())
				}
			}
			if bytes.Equal(key(c.other), first) {
				t.Errorf("%v %q has the same key", c.other.Kind(), c.other.Text())
			}
		})
	}
}

// TestKey_Columns: the key's columns are found by name, in any order, among any others.
func TestKey_Columns(t *testing.T) {
	p, err := Compile(ordersTable())
	if err != nil {
		t.Fatal(err)
	}
	a, b := column("line_id", change.Int64(7)), column("tenant", change.String("t"))
	want, err := p.AppendKey(nil, []change.Column{a, b})
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range [][]change.Column{{b, a}, {column("qty", change.Int64(1)), b, column("unknown", change.Unavailable()), a}} {
		got, err := p.AppendKey(nil, columns)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("key (-want +got):\n%s", diff)
		}
	}
	values, err := change.Key(want).Values()
	if err != nil || len(values) != 2 || values[0].Int() != 7 || values[1].Text() != "t" {
		t.Errorf("the key is not in the constraint's order: %v, %v", values, err)
	}
	for _, c := range []struct {
		name, reason, column string
		key                  []change.Column
	}{
		{"absent", ReasonMissingKey, "Line_ID", []change.Column{b}},
		{"NULL", ReasonMissingKey, "tenant", []change.Column{a, column("tenant", change.Null())}},
		{"unavailable", ReasonUnavailable, "tenant", []change.Column{a, column("tenant", change.Unavailable())}},
		{"bad", ReasonBadValue, "Line_ID", []change.Column{column("line_id", change.Text("x")), b}},
		{"twice", ReasonAmbiguous, "tenant", []change.Column{a, b, column("TENANT", change.Null())}},
		{"invalid", ReasonBadValue, "tenant", []change.Column{a, column("tenant", change.Value{})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.AppendKey([]byte("dst"), c.key)
			checkRefused(t, err, c.reason, c.column, "")
			if string(got) != "dst" {
				t.Errorf("dst is %q after an error", got)
			}
		})
	}
}

// TestKey_NoPolicy: clamping a key would make two rows one, and NULL is no key.
func TestKey_NoPolicy(t *testing.T) {
	for _, policy := range []table.Policy{table.PolicyClamp, table.PolicyNull} {
		tab := tableOf()
		tab.Columns[0].BadValues = policy
		p, err := Compile(tab)
		if err != nil {
			t.Fatal(err)
		}
		bad := []change.Column{column("id", change.Number("1e30"))}
		_, err = p.AppendKey(nil, bad)
		checkRefused(t, err, ReasonBadValue, "id", "range")
		_, err = p.AppendUpsert(nil, bad, someSequence, RowOptions{})
		checkRefused(t, err, ReasonBadValue, "id", "range")
	}
}
