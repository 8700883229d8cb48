package googlesql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// selectTests are about clauses, joins, subqueries, aggregates and windows.
var selectTests = []struct{ name, sql, want string }{
	{"star", "SELECT * EXCEPT (x, ts, tags, s, n, j) REPLACE (id + 1 AS id) FROM ds.t ORDER BY id", "2|a;3|NULL;4|c"},
	{"star of an item", "SELECT a.*, 9 AS z FROM (SELECT 1 AS p, 2 AS q) AS a", "1|2|9"},
	{"star of a STRUCT", "SELECT s.* FROM ds.t WHERE id = 1", "1|p"},
	{"a row as a value", "SELECT t.name, t FROM (SELECT id, name FROM ds.t WHERE id = 1) AS t", "a|{id:1,name:a}"},
	{"fields", "SELECT s.a, t.s.b, (s).a AS c FROM ds.t AS t WHERE id = 1", "1|p|1"},
	{"WHERE sees no alias", "SELECT id + 1 AS id FROM ds.t WHERE id = 1", "2"},
	{"HAVING sees aliases", "SELECT name AS n, COUNT(*) AS c FROM ds.t GROUP BY n HAVING c > 0 AND n IS NOT NULL ORDER BY c DESC, n", "a|1;c|1"},
	{"an aggregate's argument is no alias", "SELECT SUM(id) AS id FROM ds.t HAVING SUM(id) > 1", "6"},
	{"GROUP BY positions", "SELECT name, id > 1, COUNT(*) FROM ds.t GROUP BY 1, 2 ORDER BY 1", "NULL|true|1;a|false|1;c|true|1"},
	{"GROUP BY an expression", "SELECT DATE(ts), COUNT(*) FROM ds.t GROUP BY DATE(ts) ORDER BY 1", "NULL|1;2025-01-02|1;2025-03-09|1"},
	{"GROUP BY ALL", "SELECT name FROM ds.t GROUP BY ALL ORDER BY 1", "NULL;a;c"},
	{"ROLLUP", "SELECT id, COUNT(*) FROM ds.t GROUP BY ROLLUP (id) ORDER BY id", "NULL|3;1|1;2|1;3|1"},
	{"QUALIFY", "SELECT id FROM ds.t QUALIFY ROW_NUMBER() OVER (ORDER BY id DESC) = 1", "3"},
	{"QUALIFY by an alias", "SELECT id, RANK() OVER (ORDER BY id) AS r FROM ds.t QUALIFY r > 2", "3|3"},
	{"LIMIT", "SELECT id FROM ds.t ORDER BY id LIMIT 1 OFFSET 1", "2"},
	{"DISTINCT", "SELECT DISTINCT id > 1 AS more FROM ds.t ORDER BY more", "false;true"},
	{"UNION", "SELECT 1 UNION ALL SELECT 2.5 UNION ALL SELECT NULL ORDER BY 1", "NULL;1;2.5"},
	{"other set operations", "(SELECT id FROM ds.t EXCEPT DISTINCT SELECT 1) UNION DISTINCT (SELECT 3 INTERSECT DISTINCT SELECT 3) ORDER BY id DESC", "3;2"},
	{"WITH", "WITH a AS (SELECT id FROM ds.t), b AS (SELECT id * 2 AS d FROM a) SELECT a.id, b.d FROM a JOIN b ON a.id = b.d", "2|2"},
	{"WITH hides a table and is hidden", "WITH t AS (SELECT 1 AS a) SELECT (WITH t AS (SELECT 2 AS a) SELECT a FROM t), a FROM t", "2|1"},
	{"WITH RECURSIVE", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT SUM(n), MAX(n) FROM r", "15|5"},
	{"joins", "SELECT a.id, b.id AS b, c.id AS c FROM ds.t AS a LEFT JOIN ds.t AS b ON a.id = b.id + 1 RIGHT JOIN ds.t AS c ON b.id = c.id ORDER BY c.id", "2|1|1;3|2|2;NULL|NULL|3"},
	{"USING", "SELECT * FROM (SELECT 1 AS a, 2 AS b) JOIN (SELECT 1 AS a, 3 AS c) USING (a) LEFT JOIN (SELECT 1 AS a, 4 AS d) USING (a)", "1|2|3|4"},
	{"FULL JOIN USING", "SELECT a, x, y FROM (SELECT 1 AS a, 'l' AS x) FULL JOIN (SELECT 2 AS a, 'r' AS y) USING (a) ORDER BY a", "1|l|NULL;2|NULL|r"},
	{"a comma and a join", "SELECT a.id, c.v FROM ds.t AS a, (SELECT 1 AS k) AS b JOIN (SELECT 1 AS k, 'v' AS v) AS c ON b.k = c.k WHERE a.id = 2", "2|v"},
	{"UNNEST", "SELECT id, tag, o FROM ds.t, UNNEST(tags) AS tag WITH OFFSET AS o ORDER BY id, o", "1|x|0;1|y|1;3|y|0"},
	{"LEFT JOIN UNNEST", "SELECT id, tag FROM ds.t LEFT JOIN UNNEST(tags) AS tag ORDER BY 1, 2", "1|x;1|y;2|NULL;3|y"},
	{"an array in FROM", "SELECT id, tag FROM ds.t AS t, t.tags AS tag ORDER BY 1, 2", "1|x;1|y;3|y"},
	{"UNNEST of STRUCTs", "SELECT x.a, b, i FROM UNNEST([STRUCT(1 AS a, 'p' AS b), (2, 'q')]) AS x WITH OFFSET AS i ORDER BY i", "1|p|0;2|q|1"},
	{"UNNEST of nothing", "SELECT COUNT(*) FROM UNNEST(CAST(NULL AS ARRAY<INT64>))", "0"},
	{"correlated subqueries", "SELECT id, (SELECT MAX(v) FROM UNNEST(tags) AS v), EXISTS(SELECT 1 FROM ds.t AS u WHERE u.id > t.id) FROM ds.t AS t ORDER BY id", "1|y|true;2|NULL|true;3|y|false"},
	{"ARRAY subqueries", "SELECT id, ARRAY(SELECT UPPER(v) FROM UNNEST(tags) AS v WITH OFFSET AS o ORDER BY o DESC) FROM ds.t ORDER BY id", "1|[Y,X];2|[];3|[Y]"},
	{"ARRAY of STRUCTs", "SELECT ARRAY(SELECT AS STRUCT id, name FROM ds.t WHERE id < 3 ORDER BY id)", "[{id:1,name:a},{id:2,name:NULL}]"},
	{"SELECT AS VALUE", "SELECT v.a FROM (SELECT AS VALUE STRUCT(1 AS a)) AS v", "1"},
	{"the latest row of each key", "SELECT AS VALUE ARRAY_AGG(t ORDER BY id DESC LIMIT 1)[OFFSET(0)] FROM (SELECT id, 1 AS k FROM ds.t) AS t GROUP BY k", "3|1"},

	{"aggregates", "SELECT COUNT(*), COUNT(name), COUNT(DISTINCT name), COUNTIF(id > 1), SUM(id), AVG(id), MIN(name), MAX(id) FROM ds.t", "3|2|2|2|6|2|a|3"},
	{"aggregates of nothing", "SELECT COUNT(*), SUM(id), AVG(n), STRING_AGG(name), ARRAY_AGG(id), APPROX_QUANTILES(id, 2) FROM ds.t WHERE FALSE", "0|NULL|NULL|NULL|NULL|NULL"},
	{"lists", "SELECT ARRAY_AGG(name IGNORE NULLS ORDER BY id DESC LIMIT 1), ARRAY_AGG(DISTINCT id ORDER BY id), ARRAY_AGG(name ORDER BY name), STRING_AGG(name, '-' ORDER BY id DESC), STRING_AGG(DISTINCT name ORDER BY name), STRING_AGG(name ORDER BY id LIMIT 1), ARRAY_CONCAT_AGG(tags) FROM ds.t", "[c]|[1,2,3]|[NULL,a,c]|c-a|a,c|a|[x,y,y]"},
	{"APPROX_QUANTILES", "SELECT APPROX_QUANTILES(x, 2), APPROX_QUANTILES(x, 100)[OFFSET(90)], APPROX_QUANTILES(DISTINCT x, 2) FROM UNNEST([1, 1, 1, 4, 5, 6, 7, 8, 9, 10, NULL]) AS x", "[1,5,10]|9|[1,6,10]"},
	{"statistics of one pair", "SELECT CORR(x, x), COVAR_SAMP(x, x), COVAR_POP(x, x), STDDEV(x), (SELECT CORR(y, y) OVER () FROM UNNEST([1]) AS y) FROM UNNEST([1, NULL]) AS x", "NULL|NULL|0|NULL|NULL"},
	{"statistics", "SELECT STDDEV(id), VAR_POP(id), CORR(id, id), COVAR_POP(id, id), APPROX_COUNT_DISTINCT(name) FROM ds.t", "1|0.6666666666666666|1|0.6666666666666666|2"},
	{"by another column", "SELECT MAX_BY(name, id), MIN_BY(name, id), ANY_VALUE(name HAVING MAX id) FROM ds.t", "c|a|c"},
	{"logic and bits", "SELECT LOGICAL_AND(id > 0), LOGICAL_OR(id > 2), BIT_AND(id), BIT_OR(id), BIT_XOR(id) FROM ds.t", "true|true|0|3|0"},
	{"a window over aggregates", "SELECT name, SUM(SUM(id)) OVER (ORDER BY name) FROM ds.t GROUP BY name ORDER BY name", "NULL|2;a|3;c|6"},
	{"an aggregate in a subquery of WHERE", "SELECT id FROM ds.t WHERE id = (SELECT MAX(id) FROM ds.t)", "3"},
	{"windows", "SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC), SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), LAG(id, 1, 0) OVER w, LEAD(name) OVER w, COUNT(*) OVER (PARTITION BY name), AVG(n) OVER () FROM ds.t WINDOW w AS (ORDER BY id) ORDER BY id", "1|3|1|0|NULL|1|-0.375;2|2|3|1|c|1|-0.375;3|1|5|2|NULL|1|-0.375"},
	{"NULL is first in windows", "SELECT id, RANK() OVER (ORDER BY name), DENSE_RANK() OVER (ORDER BY name DESC) FROM ds.t ORDER BY id", "1|2|2;2|1|3;3|3|1"},
	{"more windows", "SELECT FIRST_VALUE(name IGNORE NULLS) OVER (ORDER BY id DESC), LAST_VALUE(id) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), NTH_VALUE(id, 2) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), NTILE(2) OVER (ORDER BY id), PERCENTILE_CONT(id, 0.5) OVER (), CUME_DIST() OVER (ORDER BY id) = 1 FROM ds.t ORDER BY id", "c|3|2|1|2|false;c|3|2|1|2|false;c|3|2|2|2|true"},
}

func TestSelect(t *testing.T) {
	d := newTestTable(t)
	for _, test := range selectTests {
		t.Run(test.name, func(t *testing.T) {
			d := *d
			d.t = t
			if got, failure, _ := d.query(test.sql, d.options()); got != test.want || failure != "" {
				t.Errorf("%s\ngot  %s%s\nwant %s", test.sql, got, failure, test.want)
			}
		})
	}
}

func TestResultColumns(t *testing.T) {
	d := newTestTable(t)
	_, _, columns := d.query("SELECT id, 1, name AS n, 'x', s.a, NULL, [NULL], JSON '1', BIGNUMERIC '1' AS b FROM ds.t", d.options())
	var got []string
	for _, c := range columns {
		got = append(got, c.Name+" "+c.Type.String())
	}
	want := []string{"id INT64", "f0_ INT64", "n STRING", "f1_ STRING", "a INT64", "f2_ INT64", "f3_ ARRAY<INT64>", "f4_ JSON", "b BIGNUMERIC"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParameters(t *testing.T) {
	d := newTestTable(t)
	options := d.options()
	structure := &Type{Kind: Struct, Fields: []Field{{Name: "a", Type: Of(Int64)}, {Name: "b", Type: Of(String)}}}
	options.Named = map[string]Parameter{
		"id": {Of(Int64), "3"}, "name": {Of(String), "it's"}, "none": {Of(Date), nil}, "list": {ArrayOf(Of(Int64)), []any{"1", "3"}},
		"s": {structure, []any{"1", nil}}, "bytes": {Of(Bytes), "YWI="}, "at": {Of(Timestamp), "2025-01-01 00:00:00.5+00:00"}, "f": {Of(Float64), "NaN"},
		"day": {Of(String), "2025-03-09"}, "n": {Of(Int64), "1"}, "bad": {Of(Int64), "x"},
	}
	for sql, want := range map[string]string{
		"SELECT @ID, @name, @none, @list, @s, @s.a, @bytes, @at, @f": "3|it's|NULL|[1,3]|{a:1,b:NULL}|1|YWI=|2025-01-01 00:00:00.500+00|nan",
		"SELECT id FROM ds.t WHERE id IN UNNEST(@list) ORDER BY id":  "1;3",
		"SELECT id FROM ds.t WHERE DATE(ts) = @day":                  "3",
		"SELECT id FROM ds.t ORDER BY id LIMIT @n":                   "1",
	} {
		if got, failure, _ := d.query(sql, options); got != want || failure != "" {
			t.Errorf("%s\ngot  %s%s\nwant %s", sql, got, failure, want)
		}
	}
	if _, failure, _ := d.query("SELECT @bad", options); failure != "Invalid value of a query parameter of type INT64 at [1:8]" {
		t.Error(failure)
	}
	options.Positional = []Parameter{{Of(Int64), "1"}, {Of(String), "a"}}
	if got, failure, _ := d.query("SELECT id FROM ds.t WHERE id = ? AND name = ?", options); got != "1" {
		t.Error(got, failure)
	}
}

func TestTables(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 1": nil,
		"WITH a AS (SELECT * FROM x.a) SELECT * FROM a, b JOIN `p.d.c` USING (id), UNNEST([1]) WHERE EXISTS(SELECT 1 FROM d.e)": {"x.a", "b", "p.d.c", "d.e"},
		"SELECT (SELECT MAX(v) FROM t.arr AS v) FROM d.t AS t, t.tags AS tag":                                                   {"d.t"},
		"SELECT * FROM shop.shop, APPENDS(TABLE d.t, NULL, NULL), `d.events_*`":                                                 {"shop.shop", "d.t", "d.events_"},
		"MERGE d.t USING d.u ON TRUE WHEN NOT MATCHED THEN INSERT (a) VALUES ((SELECT 1 FROM d.v))":                             {"d.t", "d.u", "d.v"},
		"INSERT d.t SELECT * FROM d.u":                                            {"d.t", "d.u"},
		"UPDATE d.t SET a = 1 FROM d.u WHERE a IN (SELECT 1 FROM d.w, t.arr)":     {"d.t", "d.u", "d.w"},
		"DELETE d.t WHERE a IN (SELECT a FROM region-us.INFORMATION_SCHEMA.JOBS)": {"d.t", "region-us.INFORMATION_SCHEMA.JOBS"},
	} {
		statements, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ref := range statements[0].(interface{ Tables() []*TableRef }).Tables() {
			name := ""
			for i, part := range ref.Path {
				name += map[bool]string{true: "."}[i > 0] + part
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}
