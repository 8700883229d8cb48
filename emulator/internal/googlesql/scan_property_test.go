package googlesql

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scanning resolves tables that are partitioned by all their columns. With scans it
// leaves them only what those say is read: other columns are NULL, other rows are gone.
type scanning struct {
	*database
	scans []*Scan
	asked int
}

func (s *scanning) Table(ref *TableRef) (Relation, error) {
	r, err := s.database.Table(ref)
	if err != nil {
		return r, err
	}
	for _, c := range r.Columns {
		r.Partitioning = append(r.Partitioning, c.Name)
	}
	if s.scans == nil {
		return r, nil
	}
	scan := s.scans[s.asked]
	s.asked++
	where := ""
	for i, f := range scan.Filters {
		where += map[bool]string{true: " WHERE ", false: " AND "}[i == 0] + f
	}
	var unread []string
	for _, c := range r.Columns {
		if !scan.columns[c.Name] {
			unread = append(unread, fmt.Sprintf("CAST(NULL AS %s) AS %s", c.Type.DuckDB(), quoteName(c.Name)))
		}
	}
	replace := ""
	if len(unread) > 0 {
		replace = " REPLACE (" + strings.Join(unread, ", ") + ")"
	}
	r.SQL = fmt.Sprintf("(SELECT *%s FROM %s%s)", replace, r.SQL, where)
	return r, nil
}

// What a query doesn't scan doesn't matter for what it returns.
func TestScans_suffice(t *testing.T) {
	filtered, spared := 0, 0
	check := func(d *database, sql string) {
		t.Helper()
		statements, err := Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		q := statements[0].(*Query)
		options := d.options()
		options.Resolver = &scanning{database: d}
		translation, err := q.Translate(options)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		scans := translation.Reads()
		if len(scans) == 0 {
			return
		}
		for _, s := range scans {
			filtered += len(s.Filters)
			spared += len(d.tables[strings.Join(s.Table.Path, ".")].Columns) - len(s.columns)
		}
		want, failure := d.run(translation)
		if failure != "" {
			t.Fatalf("%s: %s", sql, failure)
		}
		options.Resolver = &scanning{database: d, scans: scans}
		if translation, err = q.Translate(options); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if got, failure := d.run(translation); got != want || failure != "" {
			t.Errorf("%s\ngot  %s%s\nwant %s", sql, got, failure, want)
		}
	}
	d := newTestTable(t)
	d.table("ds.u", "id INT64, name STRING, day DATE", "1, 'a', NULL", "3, NULL, '2025-01-01'", "NULL, 'u', '2025-01-02'")
	for _, test := range slices.Concat(queryTests, selectTests) {
		check(d, test.sql)
	}
	for _, sql := range []string{
		"SELECT t.id, u.name FROM ds.t JOIN ds.u ON t.id = u.id AND u.day IS NULL WHERE t.name = 'a' ORDER BY t.id",
		"SELECT t.id, u.id AS k FROM ds.t LEFT JOIN ds.u ON t.id = u.id AND u.day IS NULL AND t.name = 'a' ORDER BY t.id",
		"SELECT t.id, u.id AS k FROM ds.t LEFT JOIN ds.u ON t.id = u.id WHERE u.id IS NULL ORDER BY t.id",
		"SELECT t.id, u.id AS k FROM ds.t LEFT JOIN ds.u ON t.id = u.id WHERE u.id > 1 AND NOT u.day IS NULL ORDER BY t.id",
		"SELECT t.id, u.id AS k FROM ds.t RIGHT JOIN ds.u ON t.id = u.id AND t.name IS NULL WHERE t.name IS NULL ORDER BY k",
		"SELECT t.id, u.id AS k FROM ds.t FULL JOIN ds.u ON t.id = u.id AND t.id > 1 WHERE t.name IS NULL AND COALESCE(u.day, '2025-01-03') > '2025-01-01' ORDER BY t.id, k",
		"SELECT id, x FROM ds.t LEFT JOIN ds.u USING (id) WHERE id = 2 AND day IS NULL",
		"SELECT id, day FROM ds.t RIGHT JOIN ds.u USING (id) WHERE id IS NULL AND x IS NULL",
		"SELECT id FROM ds.t FULL JOIN ds.u USING (id) WHERE id IS NULL AND x IS NULL",
		"SELECT i FROM (SELECT t.id AS i, u.id AS k FROM ds.t LEFT JOIN ds.u ON t.id = u.id) WHERE k IS NULL",
		"SELECT i, q2.k FROM (SELECT t.id AS i, u.* FROM ds.t LEFT JOIN ds.u ON t.id = u.id) AS q JOIN (SELECT 2 AS k) AS q2 ON TRUE WHERE q.id IS NULL",
		"SELECT a.id FROM ds.t AS a LEFT JOIN ds.u AS b ON a.id = b.id JOIN ds.u AS c ON b.id IS NULL AND c.day IS NULL ORDER BY 1",
		"SELECT n, COUNT(*) FROM (SELECT name AS n, COUNT(*) AS c FROM ds.u GROUP BY name) WHERE n IS NOT NULL GROUP BY n ORDER BY n",
		"SELECT id FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS r FROM ds.t) WHERE id > 1 AND r = 2",
		"SELECT id FROM (SELECT id FROM ds.t ORDER BY id LIMIT 2) WHERE id > 1",
		"SELECT id FROM (SELECT DISTINCT id FROM ds.t) WHERE id > 1 ORDER BY id",
		"SELECT id FROM (SELECT id FROM ds.t UNION ALL SELECT id FROM ds.u) WHERE id = 3",
		"SELECT id FROM (SELECT id FROM ds.t EXCEPT DISTINCT SELECT id FROM ds.u) WHERE id = 2",
		"WITH a AS (SELECT * FROM ds.t WHERE id > 1), b AS (SELECT * FROM a) SELECT a.id, b.id AS k FROM a, b WHERE a.id = 3 ORDER BY 2",
		"WITH RECURSIVE r AS (SELECT id FROM ds.t WHERE id = 1 UNION ALL SELECT id + 1 FROM r WHERE id < 4) SELECT id FROM r WHERE id > 2 ORDER BY id",
		"SELECT (SELECT MAX(u.day) FROM ds.u WHERE u.id = t.id) AS d FROM ds.t WHERE EXISTS (SELECT name FROM ds.u WHERE u.id = t.id AND u.id > 0) ORDER BY d",
		"SELECT q.s.a, q FROM (SELECT AS STRUCT id, s FROM ds.t) AS q WHERE q.id = 1",
		"SELECT t FROM ds.t WHERE id = 2",
		"SELECT * EXCEPT (j) REPLACE (id + 1 AS x) FROM ds.t WHERE id = 2",
		"SELECT tag FROM ds.t, t.tags AS tag WHERE tag = 'y' AND id > 1",
		"SELECT MAX(id) FROM ds.t HAVING MAX(n) > 0",
		"SELECT id AS k FROM ds.t QUALIFY RANK() OVER (ORDER BY n DESC) = 1 ORDER BY k",
	} {
		check(d, sql)
	}
	if filtered < 10 || spared < 50 {
		t.Errorf("%d filters, and %d columns that weren't read: the test shows nothing", filtered, spared)
	}
}
