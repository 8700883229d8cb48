package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// INTERVALs are read with the signs that they have, wherever in a row they are. Google's
// client would lose that of -0-1 and -0:0:1 and double that of -4:5:6.7.
func TestRows_intervals(t *testing.T) {
	interval := func(name string, mode table.Mode) table.Column {
		return table.Column{Name: name, Type: table.Interval, Mode: mode}
	}
	of := &table.Table{
		Name: table.Name{Project: "p", Dataset: "shop", Table: "t"}, PrimaryKey: []string{"id"},
		Columns: []table.Column{
			{Name: "id", Type: table.Int64, Mode: table.Required},
			interval("single", ""),
			interval("list", table.Repeated),
			{Name: "inside", Type: table.Struct, Fields: []table.Column{
				{Name: "name", Type: table.String}, interval("one", ""), interval("more", table.Repeated),
			}},
			{Name: "deep", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{
				{Name: "level", Type: table.Struct, Fields: []table.Column{interval("i", table.Repeated)}},
			}},
			{Name: "other", Type: table.String},
		},
	}
	s := newServer(t)
	c := s.open(t)
	s.create(t, "t", toMetadata(of))
	const list = "[CAST('0-0 0 -0:0:1' AS INTERVAL), CAST('1-2 -3 -4:5:6.7' AS INTERVAL), CAST('-0-1 0 0:0:0' AS INTERVAL)]"
	insert := s.client.Query("INSERT INTO p.shop.t (id, single, list, inside, deep, other) VALUES (1, CAST('-0-1 0 0:0:0' AS INTERVAL), " + list +
		", STRUCT('x' AS name, CAST('-0-11 4 0:0:0' AS INTERVAL) AS one, " + list + " AS more)" +
		", [STRUCT(STRUCT(" + list + " AS i) AS level)], 'y'), (2, NULL, NULL, NULL, NULL, NULL)")
	if _, err := insert.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := c.Rows(t.Context(), of, [][]change.Value{{change.Int64(1)}, {change.Int64(2)}})
	if err != nil {
		t.Fatal(err)
	}
	i := change.Interval
	wantList := change.Array([]change.Column{{Value: i("0-0 0 -0:0:1")}, {Value: i("1-2 -3 -4:5:6.700")}, {Value: i("-0-1 0 0:0:0")}})
	want := map[int64][]change.Column{
		1: {
			{Name: "id", Value: change.Int64(1)},
			{Name: "single", Value: i("-0-1 0 0:0:0")},
			{Name: "list", Value: wantList},
			{Name: "inside", Value: change.Struct([]change.Column{
				{Name: "name", Value: change.String("x")}, {Name: "one", Value: i("-0-11 4 0:0:0")}, {Name: "more", Value: wantList},
			})},
			{Name: "deep", Value: change.Array([]change.Column{
				{Value: change.Struct([]change.Column{{Name: "level", Value: change.Struct([]change.Column{{Name: "i", Value: wantList}})}})},
			})},
			{Name: "other", Value: change.String("y")},
		},
		2: {
			{Name: "id", Value: change.Int64(2)},
			{Name: "single", Value: change.Null()},
			{Name: "list", Value: change.Array([]change.Column{})},
			{Name: "inside", Value: change.Null()},
			{Name: "deep", Value: change.Array([]change.Column{})},
			{Name: "other", Value: change.Null()},
		},
	}
	got := map[int64][]change.Column{}
	for _, row := range rows {
		got[row[0].Value.Int()] = row
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b change.Value) bool {
		return string(change.AppendValue(nil, &a)) == string(change.AppendValue(nil, &b))
	})); diff != "" {
		t.Errorf("the rows differ (-want +got):\n%s", diff)
	}
}
