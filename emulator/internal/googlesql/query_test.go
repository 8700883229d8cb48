package googlesql

import (
	"strings"
	"testing"
)

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// newTestTable is a database with a table ds.t.
func newTestTable(t *testing.T) *database {
	t.Helper()
	d := newDatabase(t)
	d.table("ds.t", "id INT64, name STRING DEFAULT 'none', x FLOAT64, ts TIMESTAMP, tags ARRAY<STRING>, s STRUCT<a INT64, b STRING>, n NUMERIC, j JSON",
		`1, 'a', 1.5, '2025-01-02 03:04:05+00', ['x','y'], {'a':1,'b':'p'}, 1.25, '{"k":[1,2]}'`,
		"2, NULL, NULL, NULL, [], NULL, NULL, NULL",
		"3, 'c', 'nan', '2025-03-09 00:00:00+00', ['y'], {'a':3,'b':'q'}, -2, '1'")
	return d
}

// queryTests tell what queries return: values separated by |, rows by ;. The comment on a
// line says what DuckDB alone would do in another way.
var queryTests = []struct{ name, sql, want string }{
	{"numbers", "SELECT 1, -1, 0x1F, -9223372036854775808, 1.5, 1e3, .5", "1|-1|31|-9223372036854775808|1.5|1000|0.5"},
	{"strings", `SELECT "it's", 'tab\there', r'\d', """multi "quoted" text""", '\u00e4\x41'`, "it's|tab\there|\\d|multi \"quoted\" text|äA"},
	{"NUL", `SELECT TO_HEX(CAST('a\000b' AS BYTES))`, "610062"},
	{"bytes", `SELECT b'ab', rb'\d', b'\xff'`, "YWI=|XGQ=|/w=="},
	{
		"typed literals", "SELECT DATE '2020-1-2', TIMESTAMP '2020-01-02 03:04:05.123 UTC', DATETIME '2020-01-02T03:04:05', TIME '1:2:3', NUMERIC '1.50', BIGNUMERIC '1e30', JSON '{\"a\": 1}'",
		`2020-01-02|2020-01-02 03:04:05.123+00|2020-01-02 03:04:05|01:02:03|1.5|1000000000000000000000000000000|{"a": 1}`,
	},
	{"time zones", "SELECT TIMESTAMP '2025-07-01 00:00:00 Europe/Berlin', TIMESTAMP '2025-07-01 00:00:00+05:30', TIMESTAMP '2025-07-01'", "2025-06-30 22:00:00+00|2025-06-30 18:30:00+00|2025-07-01 00:00:00+00"},
	{"intervals", "SELECT INTERVAL 15 MINUTE, INTERVAL '1-2 3 4:5:6.5' YEAR TO SECOND, INTERVAL -1 WEEK", "0-0 0 0:15:0|1-2 3 4:5:6.500|0-0 -7 0:0:0"},
	{"arrays", "SELECT [1, 2.5], [], [NULL], ARRAY<STRING>[], ARRAY<STRUCT<x INT64, y STRING>>[(1, 'a'), (2, NULL)]", "[1,2.5]|[]|[NULL]|[]|[{x:1,y:a},{x:2,y:NULL}]"},
	{"structs", "SELECT STRUCT(1 AS a, 'b'), STRUCT<p INT64, q DATE>(1, '2025-01-01'), (1, 'x')", "{a:1,_field_2:b}|{p:1,q:2025-01-01}|{_field_1:1,_field_2:x}"},

	{"NULL is first", "SELECT id FROM ds.t ORDER BY name", "2;1;3"}, // NULLS LAST
	{"NULL is last when descending", "SELECT id FROM ds.t ORDER BY name DESC", "3;1;2"},
	{"NULLS FIRST", "SELECT id FROM ds.t ORDER BY name DESC NULLS FIRST", "2;3;1"},
	{"NaN is before numbers", "SELECT id FROM ds.t ORDER BY x", "2;3;1"}, // after them
	{"NaN in DISTINCT", "SELECT DISTINCT x FROM ds.t ORDER BY x", "NULL;nan;1.5"},
	{"NaN compares to nothing", "SELECT x = x, x != x, x > 1, x >= x, x < 9 FROM ds.t WHERE id = 3", "false|true|false|false|false"},
	{"NaN is the extreme", "SELECT MIN(x), MAX(x), LEAST(1, MAX(x)), GREATEST(1, MAX(x)) FROM ds.t", "nan|nan|nan|nan"},

	{"division", "SELECT 1/2, 7/2, NUMERIC '1'/3, DIV(7, 2), DIV(-7, 2), MOD(-7, 2), SAFE_DIVIDE(1, 0), IEEE_DIVIDE(1, 0)", "0.5|3.5|0.333333333|3|-3|-1|NULL|inf"},
	{"precedence", "SELECT 5 - 3 * 2, 2 + 3 << 1, 6 & 3 | 8, -2 * 3, NOT 1 = 2 AND TRUE", "-1|10|10|-6|true"},
	{"decimals", "SELECT NUMERIC '1.1' * 3, NUMERIC '1.5' + 1, NUMERIC '0.000000001' * NUMERIC '0.5', NUMERIC '1.5' * 1.5, AVG(n), SUM(n) FROM ds.t", "3.3|2.5|0.000000001|2.25|-0.375|-0.75"},
	{"BIGNUMERIC", "SELECT BIGNUMERIC '1.5' * 2, CAST(BIGNUMERIC '1.5' AS STRING), BIGNUMERIC '2' > BIGNUMERIC '-10', -BIGNUMERIC '3', CAST(BIGNUMERIC '7.5' AS INT64)", "3|1.5|true|-3|8"},
	{"the least BIGNUMERIC", "SELECT BIGNUMERIC '-578960446186580977117854925043439539266.34992332820282019728792003956564819968'", "-578960446186580977117854925043439539266.34992332820282019728792003956564819968"},
	{"bits", "SELECT ~1, 1 << 3, -1 >> 60, 5 & 4, 5 | 2, 5 ^ 1", "-2|8|15|4|7|4"},
	{"safe arithmetic", "SELECT SAFE_ADD(9223372036854775807, 1), SAFE_MULTIPLY(2, 3), SAFE_NEGATE(1)", "NULL|6|-1"},
	{"rounding", "SELECT ROUND(2.5), ROUND(-2.5), ROUND(1234.567, -2), ROUND(NUMERIC '2.345', 2), TRUNC(-1.7), CEIL(NUMERIC '1.1'), CEILING(5), FLOOR(-1.5)", "3|-3|1200|2.35|-1|2|5|-2"},
	{"mathematics", "SELECT POW(2, 10), SQRT(4), ABS(-3), SIGN(-2.5), LOG(8, 2), EXP(0), LN(1), GREATEST(1, NULL), LEAST(1, 2.5)", "1024|2|3|-1|3|1|0|NULL|1"}, // GREATEST skips NULL

	{
		"casts", "SELECT CAST('12' AS INT64), CAST('0x1A' AS INT64), CAST(2.5 AS INT64), CAST(-2.5 AS INT64), CAST(NUMERIC '2.5' AS INT64), SAFE_CAST('1.5' AS INT64), CAST('TRUE' AS BOOL), SAFE_CAST('t' AS BOOL)",
		"12|26|3|-3|3|NULL|true|NULL",
	}, // 2.5 is 2, '1.5' is 2, 't' is true
	{
		"casts to text", "SELECT CAST(1.0 AS STRING), CAST(1e20 AS STRING), CAST(1.5e-7 AS STRING), CAST(1/3 AS STRING), CAST(NUMERIC '1.50' AS STRING), CAST(TIMESTAMP '2020-01-01' AS STRING), CAST(DATETIME '2025-01-01 00:00:00.5' AS STRING)",
		"1|1e+20|1.5e-07|0.3333333333333333|1.5|2020-01-01 00:00:00+00|2025-01-01 00:00:00.500",
	},
	{"casts to RANGE", "SELECT CAST('[2025-01-01, 2025-02-01)' AS RANGE<DATE>), CAST('[UNBOUNDED, 2025-02-01T00:00:00)' AS RANGE<DATETIME>), SAFE_CAST('2025-01-01' AS RANGE<DATE>), CAST(NULL AS RANGE<DATE>)", "[2025-01-01, 2025-02-01)|[NULL, 2025-02-01 00:00:00)|NULL|NULL"},
	{"PARSE_JSON and GEOGRAPHY", "SELECT PARSE_JSON('[1.0]', wide_number_mode=>'round'), PARSE_JSON('1'), ST_GEOGFROM('POINT(1 2)')", "[1.0]|1|POINT(1 2)"},
	{"casts of parts", "SELECT CAST([1, 2] AS ARRAY<STRING>), CAST(STRUCT(1 AS a) AS STRUCT<b STRING>), CAST(b'a' AS STRING), CAST('ä' AS BYTES), CAST(1.005 AS NUMERIC(5, 2)), SAFE_CAST('abcd' AS STRING(3))", "[1,2]|{b:1}|a|w6Q=|1.01|NULL"},
	{
		"casts of times", "SELECT CAST('2025-01-01 10:00:00+02' AS TIMESTAMP), CAST(TIMESTAMP '2025-01-01 10:00:00' AS DATE), CAST(DATE '2025-01-01' AS DATETIME), CAST(DATETIME '2025-01-01 01:02:03' AS TIME), SAFE_CAST('2025-02-30' AS DATE)",
		"2025-01-01 08:00:00+00|2025-01-01|2025-01-01 00:00:00|01:02:03|NULL",
	},
	{"text takes a date's type", "SELECT id FROM ds.t WHERE DATE(ts) = '2025-03-09' OR ts < '2025-02-01 00:00:00+01'", "1;3"},
	{"SAFE", "SELECT SAFE.SUBSTR('a', 1, -1), SAFE.PARSE_DATE('%Y', 'x'), SAFE.DIV(1, 0)", "NULL|NULL|NULL"},

	{"conditions", "SELECT IF(1 > 2, 1, 2.5), IFNULL(NULL, 3), COALESCE(NULL, 'x'), NULLIF(1, 1), CASE 1 WHEN 1 THEN 'a' ELSE 'b' END, CASE WHEN FALSE THEN 1 END", "2.5|3|x|NULL|a|NULL"},
	{"logic of NULL", "SELECT TRUE AND NULL, TRUE OR NULL, NOT NULL, NULL = NULL, 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL, NULL IS NULL, (NULL AND TRUE) IS TRUE", "NULL|true|NULL|NULL|true|true|true|false"},
	{"a branch that isn't taken", "SELECT IF(id > 9, ERROR('never'), id), IF(id = 1, 0, 1 / (id - 1)) FROM ds.t ORDER BY id", "1|0;2|1;3|0.5"},
	{"LIKE", `SELECT 'a%b' LIKE 'a\\%b', 'axb' LIKE 'a\\%b', 'axb' LIKE 'a_b', 'A' LIKE 'a', 'b' LIKE ANY ('a%', 'b'), 'ab' LIKE ALL ('a%', '%b'), 'a' NOT LIKE 'b'`, "true|false|true|false|true|true|true"}, // no escapes
	{"IN", "SELECT 1 IN (1, NULL), 2 IN (1, NULL), 2 NOT IN (1, 3), 'a' IN UNNEST(['a']), 1 IN UNNEST([2, NULL]), 1 IN UNNEST([]), 5 IN (SELECT id FROM ds.t), (1, 'a') IN ((1, 'a'), (2, 'b'))", "true|NULL|true|true|NULL|false|false|true"},
	{"BETWEEN", "SELECT 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3, 1.5 BETWEEN 1 AND 2, DATE '2025-01-02' BETWEEN '2025-01-01' AND '2025-01-03'", "true|false|true|true"},

	{"strings by code points", "SELECT LENGTH('äb'), BYTE_LENGTH('äb'), LENGTH(b'\\xff\\x00'), STRPOS('äb', 'b'), SUBSTR('äöü', 2, 1), LEFT('äöü', 2), REVERSE('äb'), TO_CODE_POINTS('aä')", "2|3|2|2|ö|äö|bä|[97,228]"},
	{"SUBSTR", "SELECT SUBSTR('abc', 0, 2), SUBSTR('abc', -2), SUBSTR('abc', -5, 3), SUBSTR('abc', 9), SUBSTR(b'abc', 2)", "ab|bc|abc||YmM="}, // 'a' for position 0
	{"searches", "SELECT INSTR('banana', 'an', 1, 2), INSTR('banana', 'an', -1), STARTS_WITH('ab', 'a'), ENDS_WITH('ab', 'a'), CONTAINS_SUBSTR('Hello', 'ELL')", "4|4|true|false|true"},
	{"trims and pads", "SELECT TRIM('  a '), TRIM('xxaxx', 'x'), LTRIM('xxa', 'x'), RTRIM('a '), LPAD('a', 3, '0'), RPAD('ab', 5, 'xy'), LPAD('abc', 2), REPEAT('ab', 2)", "a|a|a|a|00a|abxyx|ab|abab"},
	{"replacements", "SELECT REPLACE('aXbX', 'X', '-'), REPLACE('ab', '', 'x'), TRANSLATE('abc', 'ab', 'x'), INITCAP('hello world-foo'), UPPER('ä'), CONCAT('a', 1, DATE '2025-01-01'), CONCAT('a', NULL), 'a' || 'b'", "a-b-|ab|xc|Hello World-Foo|Ä|a12025-01-01|NULL|ab"}, // concat skips NULL
	{"expressions", `SELECT REGEXP_CONTAINS('foo', r'^f'), REGEXP_EXTRACT('a1b22', r'[a-z](\d+)', 1, 2), REGEXP_EXTRACT('x', 'y'), REGEXP_EXTRACT_ALL('a1b22', r'\d+'), REGEXP_REPLACE('2025-01', r'(\d+)-(\d+)', r'\2/\1$')`, "true|22|NULL|[1,22]|01/2025$"},
	{"SPLIT", "SELECT SPLIT('a,b'), SPLIT('a--b', '--'), SPLIT('', ','), SPLIT('ab', '')", "[a,b]|[a,b]|[]|[a,b]"},
	{"encodings", "SELECT TO_HEX(b'\\x0a'), FROM_HEX('0aff'), TO_BASE64(b'abc'), FROM_BASE64('YWJj'), SAFE_CONVERT_BYTES_TO_STRING(b'a\\xff'), ASCII('a'), CHR(228), UNICODE('ä')", "0a|Cv8=|YWJj|YWJj|a\ufffd|97|ä|228"},
	{"hashes", "SELECT TO_HEX(MD5('a')), TO_HEX(SHA1('a')), TO_HEX(SHA256('')), LENGTH(SHA512(b''))", "0cc175b9c0f1b6a831c399e269772661|86f7e437faa5a7fce15d1ddcb9eaeaea377667b8|e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855|64"},
	{"FORMAT", `SELECT FORMAT('%05d|%s|%t|%.2f|%x|%e|%g|%%', 42, 'x', DATE '2020-01-01', 1.5, 255, 12345.678, 0.5), FORMAT("%'d %T %t %.1f", 1234567, 'q', 1.0, NUMERIC '2.25'), FORMAT('%d', NULL)`, `00042|x|2020-01-01|1.50|ff|1.234568e+04|0.5|%|1,234,567 "q" 1.0 2.3|NULL`},
	{"identities", "SELECT SESSION_USER(), LENGTH(GENERATE_UUID()), RAND() < 1", "someone@example.com|36|true"},

	{"JSON", `SELECT j.k, j['k'][1], JSON_VALUE(j.k[0]), JSON_QUERY(j, '$.k'), JSON_QUERY_ARRAY(j, '$.k'), JSON_VALUE_ARRAY(j, '$.k'), INT64(j.k[1]), JSON_TYPE(j) FROM ds.t WHERE id = 1`, "[1,2]|2|1|[1,2]|[1,2]|[1,2]|2|object"},
	{"JSON in text", `SELECT JSON_EXTRACT_SCALAR('{"a":{"b":"c"}}', "$.a['b']"), JSON_VALUE('{"a": null}', '$.a'), JSON_VALUE('no', '$'), JSON_QUERY('{"a": {"b": 1}}', '$.a'), JSON_VALUE('{"a.b":1}', '$."a.b"')`, `c|NULL|NULL|{"b":1}|1`},
	{
		"to JSON", "SELECT TO_JSON_STRING(STRUCT(1 AS i, 1.5 AS f, 'a\"b' AS s, TRUE AS b, TIMESTAMP '2025-01-01' AS t, [1,2] AS l, NULL AS n, b'ab' AS y, 9007199254740993 AS big)), TO_JSON([DATE '2025-01-01']), TO_JSON_STRING(NULL)",
		`{"i":1,"f":1.5,"s":"a\"b","b":true,"t":"2025-01-01T00:00:00Z","l":[1,2],"n":null,"y":"YWI=","big":"9007199254740993"}|["2025-01-01"]|null`,
	},

	{"array functions", "SELECT ARRAY_LENGTH([1, 2]), ARRAY_CONCAT([1], [], [2]), ARRAY_REVERSE([1, 2]), ARRAY_TO_STRING(['a', NULL, 'b'], ','), ARRAY_TO_STRING(['a', NULL], ',', '?'), CONCAT('<', ARRAY_TO_STRING(ARRAY<STRING>[], ','), '>')", "2|[1,2]|[2,1]|a,b|a,?|<>"},
	{"subscripts", "SELECT [5, 6][OFFSET(1)], [5, 6][ORDINAL(1)], [5, 6][SAFE_OFFSET(9)], [5, 6][0], tags[SAFE_ORDINAL(2)] FROM ds.t WHERE id = 1", "6|5|NULL|5|y"},
	{
		"sequences", "SELECT GENERATE_ARRAY(1, 5, 2), GENERATE_ARRAY(3, 1, -1), GENERATE_ARRAY(1, 2, 0.5), GENERATE_DATE_ARRAY('2025-01-30', '2025-03-31', INTERVAL 1 MONTH), GENERATE_TIMESTAMP_ARRAY('2025-01-01', '2025-01-01 02:00:00', INTERVAL 1 HOUR)",
		"[1,3,5]|[3,2,1]|[1,1.5,2]|[2025-01-30,2025-02-28,2025-03-30]|[2025-01-01 00:00:00+00,2025-01-01 01:00:00+00,2025-01-01 02:00:00+00]",
	},
}

func TestQueries(t *testing.T) {
	d := newTestTable(t)
	for _, test := range queryTests {
		t.Run(test.name, func(t *testing.T) {
			d := *d
			d.t = t
			if got, failure, _ := d.query(test.sql, d.options()); got != test.want || failure != "" {
				t.Errorf("%s\ngot  %s%s\nwant %s", test.sql, got, failure, test.want)
			}
		})
	}
}
