package follow

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beamcdc/internal/cdctest"
	"beamcdc/schemas/table"
)

// INTERVALs keep their signs, in arrays and STRUCTs too: Google's client, which parses
// them, loses some.
func TestFollower_intervals(t *testing.T) {
	begin := time.Date(2026, 3, 9, 9, 0, 0, 0, time.UTC)
	w := cdctest.Start(t, begin, "d")
	w.Run(`CREATE TABLE d.waits (id INT64, i INTERVAL, a ARRAY<INTERVAL>, s STRUCT<i INTERVAL, n INT64, a ARRAY<STRUCT<i INTERVAL>>>, PRIMARY KEY (id) NOT ENFORCED)
		OPTIONS (enable_change_history = TRUE)`)
	w.Clock.Freeze(begin.Add(time.Minute))
	w.Run(`INSERT INTO d.waits VALUES
		(1, CAST('-0-1 0 0:0:0' AS INTERVAL), [CAST('-0-2 3 -4:5:6.7' AS INTERVAL), CAST('1-2 -3 -0:0:1' AS INTERVAL)],
			STRUCT(CAST('-0-1 0 -4:5:6.7' AS INTERVAL) AS i, 7 AS n, [STRUCT(CAST('0-0 0 -0:0:1' AS INTERVAL) AS i)] AS a)),
		(2, NULL, [], NULL)`)
	w.Clock.Freeze(begin.Add(time.Hour))
	var got []string
	name := table.Name{Project: cdctest.Project, Dataset: "d", Table: "waits"}
	position, err := LoadPosition(filepath.Join(t.TempDir(), "position"), name, Changes, begin)
	if err != nil {
		t.Fatal(err)
	}
	f := Follower{
		Client: w.SQL, Table: name, Function: Changes, Range: time.Hour, Lag: Changes.Lag(), Position: position,
		Write: func(_ context.Context, rows [][]byte) error {
			for _, row := range rows {
				got = append(got, string(row))
			}
			return nil
		},
	}
	if _, _, err := f.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		`"id":"1","i":"-0-1 0 0:0:0","a":["-0-2 3 -4:5:6.700","1-2 -3 -0:0:1"],"s":{"i":"-0-1 0 -4:5:6.700","n":"7","a":[{"i":"0-0 0 -0:0:1"}]}}`,
		`"id":"2","i":null,"a":[],"s":null}`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
}
