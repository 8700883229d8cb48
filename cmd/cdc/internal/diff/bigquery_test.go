package diff

import (
	"testing"
	"time"

	"beamcdc/internal/cdctest"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// BigQuery's INTERVALs are compared with their signs, in arrays and STRUCTs too: Google's
// client, which parses them, loses some.
func TestBigQuery_intervals(t *testing.T) {
	w := cdctest.Start(t, time.Date(2026, 3, 9, 9, 0, 0, 0, time.UTC), "d")
	w.Run(`CREATE TABLE d.waits (id INT64, i INTERVAL, a ARRAY<INTERVAL>, s STRUCT<i INTERVAL, n INT64>, PRIMARY KEY (id) NOT ENFORCED)`)
	w.Run(`INSERT INTO d.waits VALUES (1, CAST('-0-1 0 0:0:0' AS INTERVAL),
		[CAST('-0-2 3 -4:5:6.7' AS INTERVAL), CAST('1-2 -3 -0:0:1' AS INTERVAL)], STRUCT(CAST('-0-1 0 -4:5:6.7' AS INTERVAL) AS i, 7 AS n))`)
	interval := table.Column{Name: "i", Type: table.Interval}
	compared, err := NewTable("public.waits", &table.Table{
		Name: table.Name{Project: cdctest.Project, Dataset: "d", Table: "waits"}, PrimaryKey: []string{"id"},
		Columns: []table.Column{
			{Name: "id", Type: table.Int64, Mode: table.Required},
			interval,
			{Name: "a", Type: table.Interval, Mode: table.Repeated},
			{Name: "s", Type: table.Struct, Fields: []table.Column{interval, {Name: "n", Type: table.Int64}}},
		},
	}, []string{"id", "i", "a", "s"})
	if err != nil {
		t.Fatal(err)
	}
	source := func(i, first, second, inner string) Row {
		row, err := compared.SourceRow([]change.Column{
			{Name: "id", Value: change.Int64(1)},
			{Name: "i", Value: change.String(i)},
			{Name: "a", Value: change.Array([]change.Column{{Value: change.String(first)}, {Value: change.String(second)}})},
			{Name: "s", Value: change.Struct([]change.Column{{Name: "i", Value: change.String(inner)}, {Name: "n", Value: change.Int64(7)}})},
		})
		if err != nil || row.Refused != nil {
			t.Fatal(err, row.Refused)
		}
		return row
	}
	equal := source("-0-1 0 0:0:0", "-0-2 3 -4:5:6.7", "1-2 -3 -0:0:1", "-0-1 0 -4:5:6.7")
	other := source("0-1 0 0:0:0", "-0-2 3 -4:5:6.7", "1-2 -3 0:0:1", "-0-1 0 -4:5:6.7")
	rows := 0
	err = NewBigQuery(w.SQL, compared).Rows(t.Context(), Range{}, func(row Row) error {
		rows++
		if names := compared.Differing(&equal, &row); len(names) > 0 {
			t.Errorf("%v differ", names)
		}
		if names := compared.Differing(&other, &row); len(names) != 2 {
			t.Errorf("%v differ, want i and a", names)
		}
		return nil
	})
	if err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
