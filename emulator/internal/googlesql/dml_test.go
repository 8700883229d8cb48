package googlesql

import "testing"

func TestDML(t *testing.T) {
	d := newDatabase(t)
	d.table("ds.t", "id INT64, name STRING DEFAULT 'none', day DATE, s STRUCT<a INT64, b STRUCT<c STRING>>",
		"1, 'a', '2025-01-01', {'a': 1, 'b': {'c': 'x'}}", "2, 'b', NULL, NULL", "3, 'c', NULL, NULL")
	d.table("ds.u", "id INT64, name STRING", "1, 'new'", "7, 'seven'")
	d.table("ds.twice", "id INT64", "1", "1")
	for _, test := range []struct{ name, sql, want string }{
		{"INSERT", "INSERT INTO ds.t (id, day) VALUES (9, '2025-02-03'), (10, NULL)", "INSERT|NULL|9|none|2025-02-03|NULL;INSERT|NULL|10|none|NULL|NULL"},
		{"INSERT all", "INSERT ds.t VALUES (9, DEFAULT, CURRENT_DATE(), (1, STRUCT('y')))", "INSERT|NULL|9|none|2025-03-09|{a:1,b:{c:y}}"},
		{"INSERT SELECT", "INSERT ds.t (name, id) SELECT UPPER(name), id + 10 FROM ds.u ORDER BY id", "INSERT|NULL|11|NEW|NULL|NULL;INSERT|NULL|17|SEVEN|NULL|NULL"},
		{"UPDATE", "UPDATE ds.t SET name = CONCAT(name, '!'), day = DEFAULT WHERE id = 1", "UPDATE|0|1|a!|NULL|{a:1,b:{c:x}}"},
		{"UPDATE a field", "UPDATE ds.t AS t SET t.s.b.c = 'z', s.a = s.a + 1 WHERE t.id = 1", "UPDATE|0|1|a|2025-01-01|{a:2,b:{c:z}}"},
		{"UPDATE FROM", "UPDATE ds.t SET name = u.name FROM ds.u AS u WHERE t.id = u.id", "UPDATE|0|1|new|2025-01-01|{a:1,b:{c:x}}"},
		{"UPDATE sees the row before", "UPDATE ds.t SET id = id + 1, name = CAST(id AS STRING) WHERE id = 2", "UPDATE|1|3|2|NULL|NULL"},
		{"DELETE", "DELETE FROM ds.t WHERE id IN (SELECT id FROM ds.u)", "DELETE|0|NULL|NULL|NULL|NULL"},
		{"DELETE nothing", "DELETE ds.t AS x WHERE x.day > '2030-01-01'", ""},
		{"MERGE", `MERGE INTO ds.t AS t USING ds.u AS u ON t.id = u.id
			WHEN MATCHED AND u.name = 'no' THEN DELETE
			WHEN MATCHED THEN UPDATE SET name = u.name
			WHEN NOT MATCHED THEN INSERT (id, name) VALUES (u.id, u.name)
			WHEN NOT MATCHED BY SOURCE AND t.id = 3 THEN DELETE`, "DELETE|2|NULL|NULL|NULL|NULL;INSERT|NULL|7|seven|NULL|NULL;UPDATE|0|1|new|2025-01-01|{a:1,b:{c:x}}"},
		{"MERGE ON FALSE", "MERGE ds.u AS t USING (SELECT 5 AS id, 'five' AS name) AS s ON FALSE WHEN NOT MATCHED THEN INSERT ROW WHEN NOT MATCHED BY SOURCE THEN DELETE", "DELETE|0|NULL|NULL;DELETE|1|NULL|NULL;INSERT|NULL|5|five"},
		{"MERGE without a match", "MERGE ds.t USING ds.u AS u ON t.id = u.id WHEN MATCHED AND FALSE THEN DELETE", ""},
		{"MERGE from two rows that do nothing", "MERGE ds.t USING ds.twice AS u ON t.id = u.id WHEN MATCHED AND t.id = 2 THEN DELETE", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := *d
			d.t = t
			statements, err := Parse(test.sql)
			if err != nil {
				t.Fatal(err)
			}
			translation, err := statements[0].(*DML).Translate(d.options())
			if err != nil {
				t.Fatal(err)
			}
			translation.SQL = "SELECT * FROM (" + translation.SQL + ") ORDER BY _action, id, _row" // MERGE has no order
			if got, failure := d.run(translation); got != test.want || failure != "" {
				t.Errorf("got  %s%s\nwant %s", got, failure, test.want)
			}
		})
	}
	const twice = "UPDATE/MERGE must match at most one source row for each target row"
	for _, sql := range []string{
		"MERGE ds.t USING ds.twice AS u ON t.id = u.id WHEN MATCHED THEN DELETE",
		"UPDATE ds.t SET name = 'x' FROM ds.twice AS u WHERE t.id = u.id",
	} {
		if rows, failure, _ := d.query(sql, d.options()); failure != twice {
			t.Errorf("%s: %s %s", sql, rows, failure)
		}
	}
}

func TestManyRowsInsert(t *testing.T) {
	d := newDatabase(t)
	d.table("ds.u", "id INT64, name STRING")
	sql := "INSERT ds.u VALUES (0, 'x')" + repeat(", (1, 'y')", 5000)
	statements, err := Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	translation, err := statements[0].(*DML).Translate(d.options())
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := d.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM ("+translation.SQL+")").Scan(&n); err != nil || n != 5001 {
		t.Errorf("%d rows, error %v", n, err)
	}
}

// Long chains of operators, which BigQuery takes, stay within DuckDB's depth.
func TestLongChains(t *testing.T) {
	d := newTestTable(t)
	for _, sql := range []string{
		"SELECT COUNT(*) FROM ds.t WHERE id = 1" + repeat(" OR id = 2", 800), "SELECT COUNT(*) FROM ds.t WHERE id > 1" + repeat(" AND id < 9", 800),
		"SELECT 2" + repeat(" + 0", 100), "SELECT LENGTH('ab'" + repeat(" || ''", 100) + ")",
	} {
		if got, failure, _ := d.query(sql, d.options()); got != "2" {
			t.Errorf("%.60s…: %s %.200s", sql, got, failure)
		}
	}
}
