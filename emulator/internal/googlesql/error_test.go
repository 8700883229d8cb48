package googlesql

import "testing"

var errorTests = []struct{ sql, want string }{
	{"SELECT FROM", "Syntax error: Unexpected keyword FROM at [1:8]"},
	{"SELECT 1 1", `Syntax error: Expected end of input but got integer literal "1" at [1:10]`},
	{"SELECT 'a\nb'", "Syntax error: unclosed string literal: newline appears in non triple-quoted at [1:8]"},
	{"SELECT (1", `Syntax error: Expected ")" but got end of script at [1:10]`},
	{"SELECT 1\nFROM t\nWHERE ä", "Syntax error: illegal input character: 'Ã' at [3:7]"},
	{"SELEC 1", `Syntax error: Unexpected identifier "SELEC" at [1:1]`},
	{"SELECT foo(1)", "Function not found: FOO at [1:8]"},
	{"SELECT 1 + FARM_FINGERPRINT('a')", "Not supported: function FARM_FINGERPRINT at [1:12]"},
	{"SELECT NET.HOST('a')", "Not supported: function NET.HOST at [1:8]"},
	{"SELECT nope FROM ds.t", "Unrecognized name: nope at [1:8]"},
	{"SELECT t.nope FROM ds.t AS t", "Name nope not found inside t at [1:10]"},
	{"SELECT * FROM nope.t", "Not found: Table nope.t at [1:15]"},
	{"SELECT id FROM ds.t AS a, ds.t AS b", "Column name id is ambiguous at [1:8]"},
	{"SELECT 1 FROM ds.t AS a, ds.t AS a", "Duplicate table alias a in the same FROM clause at [1:26]"},
	{"SELECT 1 AS a, 2 AS A", "Duplicate column names in the result are not supported. Found duplicate(s): A at [1:1]"},
	{"SELECT 1 = 'a'", "No matching signature for operator = for argument types: INT64, STRING at [1:10]"},
	{"SELECT UPPER(1)", "No matching signature for function UPPER for argument types: INT64 at [1:8]"},
	{"SELECT 'a' + 1", "No matching signature for operator + for argument types: STRING, INT64 at [1:12]"},
	{"SELECT id FROM ds.t WHERE ts > '2025-13-01'", `Could not cast literal "2025-13-01" to type TIMESTAMP at [1:32]`},
	{"SELECT CAST(TRUE AS DATE)", "Invalid cast from BOOL to DATE at [1:8]"},
	{"SELECT CAST(1 AS FOO)", "Type not found: FOO at [1:18]"},
	{"SELECT DATE '2025-02-30'", "Invalid DATE literal at [1:8]"},
	{"SELECT TIMESTAMP 'x'", "Invalid TIMESTAMP literal at [1:8]"},
	{"SELECT 9223372036854775808", "Invalid integer literal: 9223372036854775808 at [1:8]"},
	{"SELECT 1 WHERE 1", "WHERE clause should return type BOOL, but returns INT64 at [1:16]"},
	{"SELECT @p", "Query parameter 'p' not found at [1:8]"},
	{"SELECT ?", "Query parameter number 1 is not defined (0 provided) at [1:8]"},
	{"SELECT @@row_count", "Not supported: system variable @@row_count at [1:8]"},
	{"SELECT * FROM ds.t TABLESAMPLE SYSTEM (1 PERCENT)", "Not supported: TABLESAMPLE at [1:20]"},
	{"SELECT * FROM ds.t PIVOT(SUM(id) FOR name IN ('a'))", "Not supported: PIVOT at [1:20]"},
	{"SELECT * FROM ds.t |> WHERE TRUE", "Not supported: |> at [1:20]"},
	{"SELECT * FROM ds.f(1)", "Table-valued function not found: ds.f at [1:15]"},
	{"DECLARE x INT64", "Not supported: DECLARE at [1:1]"},
	{"SELECT 1; BEGIN SELECT 2; END", "Not supported: BEGIN at [1:11]"},
	{"CREATE MATERIALIZED VIEW v AS SELECT 1", "Not supported: CREATE MATERIALIZED VIEW at [1:1]"},
	{"CREATE TABLE t (id INT64 PRIMARY KEY)", "Primary keys must be NOT ENFORCED: enforcement is not supported at [1:37]"},
	{"CREATE TABLE t", `Syntax error: Expected "(" or keyword AS but got end of script at [1:15]`},
	{"DELETE FROM t", "Syntax error: Expected keyword WHERE but got end of script at [1:14]"},
	{"SELECT 1 UNION SELECT 2", `Syntax error: Expected keyword ALL or keyword DISTINCT but got "SELECT" at [1:16]`},
	{"SELECT 1 UNION ALL SELECT 'a'", "Column 1 in UNION ALL has incompatible types: INT64, STRING at [1:20]"},
	{"SELECT 1 UNION ALL SELECT 1, 2", "Queries in UNION ALL have mismatched column count; query 1 has 1 columns, query 2 has 2 columns at [1:20]"},
	{"SELECT 1 < 2 < 3", `Syntax error: Unexpected "<" at [1:14]`},
	{"SELECT [[1]]", "Cannot construct array with element type ARRAY because nested arrays are not supported at [1:9]"},
	{"SELECT DATE_ADD(DATE '2025-01-01', INTERVAL 1 HOUR)", "DATE_ADD does not support the HOUR date part at [1:36]"},
	{"SELECT EXTRACT(HOUR FROM DATE '2025-01-01')", "EXTRACT from DATE does not support the HOUR date part at [1:16]"},
	{"SELECT UNIX_DATE('never')", `Could not cast literal "never" to type DATE at [1:18]`},
	{"SELECT DATETIME('never')", `Could not cast literal "never" to type TIMESTAMP at [1:17]`},
	{"SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), CURRENT_TIMESTAMP(), MONTH)", "TIMESTAMP_DIFF does not support the MONTH date part at [1:65]"},
	{"SELECT ROW_NUMBER()", "Analytic function ROW_NUMBER cannot be called without an OVER clause at [1:8]"},
	{"SELECT SUM(id) OVER w FROM ds.t", "Unrecognized window alias w at [1:21]"},
	{"SELECT id FROM ds.t ORDER BY 2", "ORDER BY column number 2 is out of range: the query has 1 columns at [1:30]"},
	{"SELECT tags FROM ds.t ORDER BY tags", "ORDER BY does not support expressions of type ARRAY<STRING> at [1:32]"},
	{"SELECT id FROM ds.t LIMIT -1", "LIMIT expects a non-negative integer literal or parameter at [1:27]"},
	{"INSERT ds.t (id) VALUES (1, 2)", "Inserted row has wrong column count; Has 2, expected 1 at [1:13]"},
	{"INSERT ds.t (nope) VALUES (1)", "Column nope is not present in table ds.t at [1:14]"},
	{"UPDATE ds.t SET id = 'x' WHERE TRUE", "Value has type STRING which cannot be inserted into column id, which has type INT64 at [1:22]"},
	{"UPDATE ds.t SET id = 1, id = 2 WHERE TRUE", "Update item id assigned more than once at [1:25]"},
	{"MERGE ds.t USING ds.t AS u ON TRUE WHEN NOT MATCHED THEN DELETE", "Syntax error: DELETE is not allowed for WHEN NOT MATCHED BY TARGET at [1:58]"},
	// Those that only the run shows.
	{"SELECT 1 AS `a\x00b`", `Syntax error: illegal input character: '\x00' at [1:13]`},
	{"SELECT `a\\000b`", `Syntax error: illegal input character: '\x00' at [1:8]`},
	{"SELECT 1/0", "division by zero: 1 / 0"},
	{"SELECT 1.5/0", "division by zero: 1.5 / 0"},
	{"SELECT DIV(id, 0) FROM ds.t WHERE id = 1", "division by zero: 1 / 0"},
	{"SELECT 9223372036854775807 + 1", "int64 overflow: 9223372036854775807 + 1"},
	{"SELECT SUM(v) FROM UNNEST([9223372036854775807, 1]) AS v", "int64 overflow: 9223372036854775808"},
	{"SELECT SUM(v) FROM (SELECT NUMERIC '-99999999999999999999999999999.999999999' AS v FROM UNNEST([1, 2, 3]))", "numeric overflow"},
	{"SELECT 1e308 * 10", "floating point overflow: 1e+308 * 10"},
	{"SELECT CAST('x' AS INT64)", "Bad int64 value: x"},
	{"SELECT CAST('1.5' AS INT64)", "Bad int64 value: 1.5"},
	{"SELECT CAST('2025-13-01' AS DATE)", "Invalid date: '2025-13-01'"},
	{"SELECT [1][OFFSET(1)]", "Array index 1 is out of bounds"},
	{"SELECT ERROR('as told')", "as told"},
	{"SELECT (SELECT id FROM ds.t)", "Scalar subquery produced more than one element"},
	{"SELECT name, id FROM ds.t GROUP BY name", "SELECT list expression references column id which is neither grouped nor aggregated"},
	{"SELECT id FROM ds.t WHERE SUM(id) > 1", "Aggregate function SUM not allowed in WHERE clause at [1:27]"},
	{"SELECT id FROM ds.t WHERE ROW_NUMBER() OVER () = 1", "Analytic function not allowed in WHERE clause at [1:27]"},
	{"SELECT 1 FROM ds.t GROUP BY MAX(id)", "Aggregate function MAX not allowed in GROUP BY at [1:29]"},
	{"SELECT SUM(MAX(id)) FROM ds.t", "Aggregations of aggregations are not allowed at [1:12]"},
	{"DELETE ds.t WHERE COUNT(*) > 1", "Aggregate function COUNT not allowed in WHERE clause at [1:19]"},
	{"UPDATE ds.t AS t SET name = u.n FROM (SELECT 1 AS id, 'x' AS n UNION ALL SELECT 1, 'y') AS u WHERE t.id = u.id", "UPDATE/MERGE must match at most one source row for each target row"},
}

func TestErrors(t *testing.T) {
	d := newTestTable(t)
	for _, test := range errorTests {
		if rows, got, _ := d.query(test.sql, d.options()); got != test.want {
			t.Errorf("%s\ngot  %s%s\nwant %s", test.sql, got, rows, test.want)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"parentheses": "SELECT " + repeat("(", 100_000), "brackets": "SELECT " + repeat("[", 100_000), "NOT": "SELECT " + repeat("NOT ", 100_000) + "TRUE",
		"signs": "SELECT " + repeat("- ", 100_000) + "1", "sums": "SELECT 1" + repeat("+1", 300), "fields": "SELECT (a)" + repeat(".a", 100_000),
		"types": "SELECT CAST(1 AS " + repeat("ARRAY<", 100_000), "queries": repeat("(", 100_000) + "SELECT 1", "unions": "SELECT 1" + repeat(" UNION ALL SELECT 1", 10_000),
		"joins": "SELECT 1 FROM a" + repeat(" CROSS JOIN a", 50_000), "CASE": "SELECT " + repeat("CASE WHEN ", 100_000), "calls": "SELECT " + repeat("GREATEST(", 100_000),
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s nest without a bound", name)
		}
	}
	// Operators that name their operand twice in DuckDB double the text at each level.
	statements, err := Parse("SELECT " + repeat("GREATEST(x, ", 100) + "1" + repeat(")", 100) + " FROM (SELECT 1 AS x)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := statements[0].(*Query).Translate(Options{}); err == nil {
		t.Error("the translation's text has no bound")
	}
}
