package googlesql

import (
	"fmt"
	"strings"
	"testing"
)

// scanned shows what a statement scans: each table's columns and filters.
func scanned(t *testing.T, d *database, statement string) string {
	t.Helper()
	statements, err := Parse(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	var translation Translation
	switch s := statements[0].(type) {
	case *Query:
		translation, err = s.Translate(Options{Resolver: d})
	case *DML:
		translation, err = s.Translate(Options{Resolver: d})
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	var scans []string
	for _, s := range translation.Reads() {
		columns := strings.Join(s.Columns(), ",")
		if s.All {
			columns = "*"
		}
		text := fmt.Sprintf("%s(%s)", strings.Join(s.Table.Path, "."), columns)
		if len(s.Filters) > 0 {
			text += " " + strings.Join(s.Filters, " & ")
		}
		scans = append(scans, text)
	}
	return strings.Join(scans, "; ")
}

func TestScans(t *testing.T) {
	d := newDatabase(t)
	d.table("d.t", "id INT64, day DATE, v STRING, s STRUCT<x INT64>, l ARRAY<INT64>")
	d.table("d.u", "id INT64, day DATE, w STRING")
	for name, r := range d.tables {
		r.Partitioning = []string{"day"}
		d.tables[name] = r
	}
	view, err := Parse("SELECT id AS n, day AS dd, v, 1 AS one FROM d.t WHERE id > 0")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ statement, want string }{
		{"SELECT COUNT(*) FROM d.t", "d.t()"},
		{"SELECT * FROM d.t", "d.t(day,id,l,s,v)"},
		{"SELECT * EXCEPT (l, s) REPLACE (1 AS v) FROM d.t", "d.t(day,id)"},
		{"SELECT t.* FROM d.t JOIN d.u USING (id)", "d.t(day,id,l,s,v); d.u(id)"},
		{"SELECT MAX(v) FROM d.t WHERE id = 1 GROUP BY day ORDER BY MAX(s.x)", "d.t(day,id,s,v)"},
		{"SELECT 1 FROM d.t, UNNEST(l) AS x WHERE x = 1", "d.t(l)"},
		{"SELECT TO_JSON(t) FROM d.u AS t", "d.u(day,id,w)"},
		// What nobody uses of a subquery isn't read.
		{"SELECT v FROM (SELECT * FROM d.t)", "d.t(v)"},
		{"WITH c AS (SELECT id + 1 AS n, v FROM d.t) SELECT n FROM c", "d.t(id)"},
		{"SELECT COUNT(*) FROM (SELECT DISTINCT v FROM d.t)", "d.t(v)"},
		{"SELECT COUNT(*) FROM (SELECT v, id FROM d.t ORDER BY 2 LIMIT 3)", "d.t(id)"},
		{"SELECT a FROM (SELECT v AS a, id FROM d.t UNION ALL SELECT w, id FROM d.u)", "d.t(v); d.u(w)"},
		{"SELECT a FROM (SELECT v AS a, id FROM d.t EXCEPT DISTINCT SELECT w, id FROM d.u)", "d.t(id,v); d.u(id,w)"},
		{"SELECT q.v FROM (SELECT AS STRUCT id, v FROM d.t) AS q", "d.t(id,v)"},
		{"SELECT id FROM d.t WHERE EXISTS (SELECT w FROM d.u WHERE u.id = t.id)", "d.t(id); d.u(id)"},
		{"SELECT id FROM d.t WHERE v IN (SELECT w FROM d.u)", "d.t(id,v); d.u(w)"},

		// Filters of the partitioning column, and of nothing else.
		{"SELECT v FROM d.t WHERE day = '2026-11-01' AND id = 1", `d.t(day,id,v) ("day" = CAST('2026-11-01' AS DATE))`},
		{"SELECT v FROM d.t AS x WHERE (x.day > '2026-11-01' AND v IS NULL) AND x.day IS NOT NULL", `d.t(day,v) ("day" > CAST('2026-11-01' AS DATE)) & ("day" IS NOT NULL)`},
		{"SELECT v FROM d.t WHERE day = '2026-11-01' OR id = 1", "d.t(day,id,v)"},
		{"SELECT v FROM d.t WHERE day = (SELECT MAX(day) FROM d.u)", "d.t(day,v); d.u(day)"},
		{"SELECT v FROM d.t WHERE TRUE", "d.t(v)"},
		{"SELECT t.v FROM d.t JOIN d.u ON t.id = u.id AND u.day = '2026-11-01' WHERE t.day = u.day AND t.day IS NULL", `d.t(day,id,v) ("day" IS NULL); d.u(day,id) ("day" = CAST('2026-11-01' AS DATE))`},
		{"SELECT t.v FROM d.t LEFT JOIN d.u ON t.day IS NULL AND u.day IS NULL", `d.t(day,v); d.u(day) ("day" IS NULL)`},
		{"SELECT v FROM d.t WHERE EXISTS (SELECT 1 FROM d.u WHERE t.day IS NULL AND u.day IS NULL)", `d.t(day,v); d.u(day) ("day" IS NULL)`},
		// A subquery's column is its table's if nothing stands between.
		{"SELECT x FROM (SELECT v AS x, day AS y FROM d.t) WHERE y IS NULL", `d.t(day,v) ("day" IS NULL)`},
		{"WITH c AS (SELECT * FROM d.t) SELECT v FROM c WHERE day IS NULL", `d.t(day,v) ("day" IS NULL)`},
		{"WITH c AS (SELECT * FROM d.t) SELECT v FROM c WHERE day IS NULL UNION ALL SELECT v FROM c", "d.t(day,v)"},
		{"SELECT t.v FROM d.t LEFT JOIN d.u USING (id) WHERE u.day IS NULL AND u.day IS NULL", "d.t(id,v); d.u(day,id)"},
		{"SELECT t.v FROM d.t LEFT JOIN d.u USING (id) WHERE DATE_TRUNC(u.day, MONTH) = '2026-11-01'", `d.t(id,v); d.u(day,id) (bq_date_trunc("day", 'MONTH') = CAST('2026-11-01' AS DATE))`},
		{"SELECT x FROM (SELECT v AS x, DATE_ADD(day, INTERVAL 1 DAY) AS y FROM d.t) WHERE y IS NULL", "d.t(day,v)"},
		{"SELECT v FROM (SELECT v, day FROM d.t LIMIT 5) WHERE day IS NULL", "d.t(day,v)"},
		{"SELECT v FROM ((SELECT v, day FROM d.t) LIMIT 5) WHERE day IS NULL", "d.t(day,v)"},
		{"SELECT v FROM (SELECT v, day, ROW_NUMBER() OVER (ORDER BY id) AS n FROM d.t) WHERE day IS NULL", "d.t(day,v)"},

		{"INSERT INTO d.u (id, w) SELECT id, v FROM d.t WHERE day IS NULL", `d.t(day,id,v) ("day" IS NULL)`},
		{"UPDATE d.u SET w = 'x' WHERE day IS NULL", `d.u(day) ("day" IS NULL); d.u(*) ("day" IS NULL)`},
		{"DELETE FROM d.u WHERE id = 1", "d.u(id); d.u(*)"},
		{"MERGE d.u USING d.t ON u.id = t.id AND u.day IS NULL WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id)", `d.u(day,id) ("day" IS NULL); d.t(id)`},
		{"MERGE d.u USING d.t ON u.id = t.id WHEN MATCHED THEN DELETE", "d.u(id); d.t(id); d.u(*)"},
	} {
		if got := scanned(t, d, test.statement); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.statement, got, test.want)
		}
	}

	// A view's scans learn what the query around it reads.
	inner, err := view[0].(*Query).Translate(Options{Resolver: d})
	if err != nil {
		t.Fatal(err)
	}
	d.tables["d.view"] = inner.Relation([]string{"a", "b", "c", "e"})
	scanned(t, d, "SELECT c, e FROM d.view WHERE b IS NULL")
	if s := inner.Scans[0]; strings.Join(s.Columns(), ",") != "day,id,v" || len(s.Filters) != 1 || s.Filters[0] != `("day" IS NULL)` {
		t.Errorf("a view's table: columns %v, filters %v", s.Columns(), s.Filters)
	}
}
