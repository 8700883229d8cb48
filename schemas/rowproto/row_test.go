package rowproto

import (
	"bytes"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// ordersTable has a key of two columns, in another order than the table's.
func ordersTable() *table.Table {
	return &table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: "t"},
		Columns: []table.Column{
			{Name: "note", Type: table.String},
			{Name: "tenant", Type: table.String, Mode: table.Required},
			{Name: "Line_ID", Type: table.Int64, Mode: table.Required},
			{Name: "qty", Type: table.Int64, Mode: table.Required},
			{Name: "tags", Type: table.String, Mode: table.Repeated},
		},
		PrimaryKey: []string{"line_id", "tenant"},
	}
}

func column(name string, v change.Value) change.Column { return change.Column{Name: name, Value: v} }

func TestUpsert_Columns(t *testing.T) {
	p, err := Compile(ordersTable())
	if err != nil {
		t.Fatal(err)
	}
	key := []change.Column{column("tenant", change.Text("t1")), column("line_id", change.Number("7"))}
	with := func(columns ...change.Column) []change.Column {
		return append(append([]change.Column(nil), key...), columns...)
	}
	qty := column("qty", change.Number("0"))
	for _, c := range []struct {
		name           string
		row            []change.Column
		options        RowOptions
		want           map[string]any
		reason, column string
	}{
		{name: "absent is NULL", row: with(qty), want: map[string]any{"qty": int64(0)}},
		{name: "names of another case", row: with(column("QTY", change.Number("3")), column("Note", change.Text(""))), want: map[string]any{"qty": int64(3), "note": ""}},
		{name: "absent is unavailable", row: with(qty), options: RowOptions{AbsentUnavailable: true}, reason: ReasonUnavailable, column: "note"},
		{name: "nothing absent", row: with(qty, column("note", change.Null()), column("tags", change.Null())), options: RowOptions{AbsentUnavailable: true}, want: map[string]any{"qty": int64(0)}},
		{name: "unavailable", row: with(qty, column("note", change.Unavailable())), reason: ReasonUnavailable, column: "note"},
		{name: "unavailable array", row: with(qty, column("tags", change.Unavailable())), reason: ReasonUnavailable, column: "tags"},
		{name: "REQUIRED is absent", row: with(), reason: ReasonNullRequired, column: "qty"},
		{name: "REQUIRED is NULL", row: with(column("qty", change.Null())), reason: ReasonNullRequired, column: "qty"},
		{name: "unknown", row: with(qty, column("color", change.Text("red"))), reason: ReasonUnknownColumn, column: "color"},
		{name: "unknown and ignored", row: with(qty, column("color", change.Text("red"))), options: RowOptions{IgnoreUnknown: true}, want: map[string]any{"qty": int64(0)}},
		{name: "a user's _CHANGE_TYPE is a column like any", row: with(qty, column("_change_type", change.Text("DELETE"))), reason: ReasonUnknownColumn, column: "_change_type"},
		{name: "differ by case alone", row: with(qty, column("note", change.Text("a")), column("NOTE", change.Text("b"))), reason: ReasonAmbiguous, column: "note"},
		{name: "key column twice", row: with(qty, column("Tenant", change.Text("t2"))), reason: ReasonAmbiguous, column: "tenant"},
		{name: "key is absent", row: []change.Column{key[1], qty}, reason: ReasonMissingKey, column: "tenant"},
		{name: "key is absent where absent is unavailable", row: []change.Column{key[1], qty}, options: RowOptions{AbsentUnavailable: true, IgnoreUnknown: true}, reason: ReasonUnavailable, column: "note"},
		{name: "key is NULL", row: []change.Column{key[0], column("line_id", change.Null()), qty}, reason: ReasonMissingKey, column: "Line_ID"},
		{name: "key is unavailable", row: []change.Column{key[0], column("line_id", change.Unavailable()), qty}, reason: ReasonUnavailable, column: "Line_ID"},
		{name: "no value at all", row: with(column("qty", change.Value{})), reason: ReasonBadValue, column: "qty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := []byte("dst")
			data, err := p.AppendUpsert(dst, c.row, someSequence, c.options)
			if c.reason != "" {
				checkRefused(t, err, c.reason, c.column, "")
				if string(data) != "dst" {
					t.Errorf("dst is %q after an error", data)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(c.want, map[string]any{"tenant": "t1", "Line_ID": int64(7), "_CHANGE_TYPE": "UPSERT", "_CHANGE_SEQUENCE_NUMBER": "1/2/3/4"})
			if diff := cmp.Diff(c.want, read(t, messageType(t, p), data[len(dst):])); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEncoder_Layouts runs rows of changing shapes through one encoder: what it
// remembers of one must not leak into the next.
func TestEncoder_Layouts(t *testing.T) {
	p, err := Compile(ordersTable())
	if err != nil {
		t.Fatal(err)
	}
	e, md := p.NewEncoder(), messageType(t, p)
	columns := []change.Column{
		column("tenant", change.Text("t1")), column("line_id", change.Number("7")), column("qty", change.Number("1")), column("note", change.Text("n")),
		column("NOTE", change.Text("m")), column("color", change.Text("c")), column("tags", change.Raw(`["x"]`)),
	}
	for n := range 1 << len(columns) {
		var row []change.Column
		for i := range columns {
			if n>>i&1 == 1 {
				row = append(row, columns[i])
			}
		}
		for range 2 {
			got, err1 := e.AppendUpsert(nil, row, someSequence, RowOptions{})
			want, err2 := p.NewEncoder().AppendUpsert(nil, row, someSequence, RowOptions{})
			if (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() || !bytes.Equal(got, want) {
				t.Fatalf("row %b: %v %x, a new encoder gives %v %x", n, err1, got, err2, want)
			}
			if err1 == nil {
				read(t, md, got)
			}
		}
	}
}

func TestUpsert_Sequence(t *testing.T) {
	p := compile(t)
	_, err := p.AppendUpsert(nil, row(), change.Sequence{}, RowOptions{})
	checkRefused(t, err, ReasonMissingSequence, "", "orders it")
	_, err = p.AppendDelete(nil, row(), change.Sequence{})
	checkRefused(t, err, ReasonMissingSequence, "", "orders it")
	for _, seq := range []change.Sequence{change.NewSequence(0), change.NewSequence(math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64)} {
		data, err := p.AppendUpsert(nil, row(), seq, RowOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, messageType(t, p), data)[SequenceNumberColumn]; got != seq.String() {
			t.Errorf("sequence %v, want %v", got, seq)
		}
	}
}

func TestDelete(t *testing.T) {
	p, err := Compile(ordersTable())
	if err != nil {
		t.Fatal(err)
	}
	key := []change.Column{column("LINE_ID", change.Text("7")), column("tenant", change.Text("")), column("qty", change.Text("not read")), column("what", change.Null())}
	data, err := p.AppendDelete(nil, key, change.NewSequence(255))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"tenant": "", "Line_ID": int64(7), "_CHANGE_TYPE": "DELETE", "_CHANGE_SEQUENCE_NUMBER": "FF"}
	if diff := cmp.Diff(want, read(t, messageType(t, p), data)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		name, reason, column string
		key                  []change.Column
	}{
		{"nothing", ReasonMissingKey, "tenant", nil},
		{"one column", ReasonMissingKey, "tenant", key[:1]},
		{"NULL", ReasonMissingKey, "Line_ID", []change.Column{column("line_id", change.Null()), key[1]}},
		{"unavailable", ReasonUnavailable, "tenant", []change.Column{key[0], column("tenant", change.Unavailable())}},
		{"bad", ReasonBadValue, "Line_ID", []change.Column{column("line_id", change.Number("7.5")), key[1]}},
		{"twice", ReasonAmbiguous, "tenant", append(key, column("TENANT", change.Text("")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.AppendDelete(nil, c.key, someSequence)
			checkRefused(t, err, c.reason, c.column, "")
		})
	}
}

// TestError_HoldsNoValue makes every type refuse texts that can be recognized.
func TestError_HoldsNoValue(t *testing.T) {
	const secret = "s3cr3t"
	values := []change.Value{
		change.Text(secret), change.String(secret), change.Bytes(secret + "\xFF"), change.Decimal(secret), change.Raw(`{"` + secret), change.Raw("[" + secret),
		change.JSON(secret), change.Interval(secret), change.Number("9" + secret), change.Text("[" + secret + "," + secret + ")"), change.Text("2025-03-09 " + secret),
		change.Raw(`{"wkb":"` + secret + `"}`), change.Raw(`{"year":"` + secret + `"}`), change.Raw(`{"scale":"` + secret + `","value":""}`), change.Text(`["` + secret + `"]`),
		change.Raw(`["` + secret + `"]`), change.Array([]change.Column{{Value: change.String(secret)}}), change.Struct([]change.Column{{Name: "n", Value: change.String(secret)}}),
	}
	for of := range kinds {
		for _, mode := range []table.Mode{table.Nullable, table.Repeated} {
			for _, policy := range []table.Policy{table.PolicyReject, table.PolicyClamp} {
				c := table.Column{Name: "c", Type: of, Mode: mode, BadValues: policy, MaxLength: 1}
				switch of {
				case table.Struct:
					c.Fields = []table.Column{{Name: "n", Type: table.Int64}}
				case table.Range:
					c.Element = table.Date
				default:
				}
				p, refused := compile(t, c), 0
				for _, v := range values {
					_, err := p.AppendUpsert(nil, row(column("c", v)), someSequence, RowOptions{IgnoreUnknown: true})
					if err == nil {
						continue
					}
					refused++
					if strings.Contains(err.Error(), secret) {
						t.Errorf("%s %s given a %v shows it: %v", mode, of, v.Kind(), err)
					}
				}
				if refused == 0 {
					t.Errorf("%s %s refuses nothing", mode, of)
				}
			}
		}
	}
}

// TestPlan_Concurrent is for the race detector.
func TestPlan_Concurrent(t *testing.T) {
	p, err := Compile(ordersTable())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := range 100 {
				key := []change.Column{column("line_id", change.Int64(int64(n))), column("tenant", change.String(strings.Repeat("t", i)))}
				if _, err := p.AppendKey(nil, key); err != nil {
					t.Error(err)
				}
				if _, err := p.AppendDelete(nil, key, someSequence); err != nil {
					t.Error(err)
				}
				if _, err := p.AppendUpsert(nil, append(key, column("qty", change.Int64(1))), someSequence, RowOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
