package query

import (
	"strings"
	"testing"

	"beamcdc/emulator/internal/engine"
)

// bytes compares what a statement, and its dry run, say that it processed.
func (e *env) bytes(sql string, want int64) {
	e.t.Helper()
	before := e.request
	e.request.DryRun = true
	if got := e.must(sql).Bytes; got != want {
		e.t.Errorf("%s\na dry run says %d bytes, want %d", sql, got, want)
	}
	e.request = before
	if got := e.must(sql).Bytes; got != want {
		e.t.Errorf("%s\n%d bytes, want %d", sql, got, want)
	}
}

func TestBytes(t *testing.T) {
	e := newEnv(t)
	// A row has 8 bytes of id, 8 of the time, and 2 and its letters of v.
	e.must(`CREATE TABLE d.day (id INT64, ts TIMESTAMP, v STRING) PARTITION BY DATE(ts)`,
		`CREATE TABLE d.plain (id INT64, ts TIMESTAMP, v STRING)`,
		`CREATE TABLE d.month (id INT64, ts DATE, v STRING) PARTITION BY DATE_TRUNC(ts, MONTH)`,
		`CREATE TABLE d.range (id INT64, v STRING) PARTITION BY RANGE_BUCKET(id, GENERATE_ARRAY(-100, 100, 10))`,
		`CREATE VIEW d.v AS SELECT id AS n, ts AS t, v FROM d.day`)
	for _, table := range []string{"day", "plain"} {
		e.must(`INSERT INTO d.` + table + ` (id, ts, v) VALUES (1, '2026-11-01 10:00:00', 'abcdefgh'), (2, '2026-11-01 20:00:00', 'abcdefgh'), (3, '2026-11-02 10:00:00', 'abcdefgh'), (4, NULL, 'abcdefgh')`)
	}
	e.must(`INSERT INTO d.month (id, ts, v) VALUES (1, '2026-10-31', ''), (2, '2026-11-01', ''), (3, '2026-11-30', '')`,
		`INSERT INTO d.range (id, v) VALUES (-100, ''), (-91, ''), (-90, ''), (5, ''), (1000, ''), (NULL, '')`)
	for _, test := range []struct {
		sql  string
		want int64
	}{
		{"SELECT COUNT(*) FROM d.day", 0},
		{"SELECT 1", 0},
		{"SELECT * FROM d.day", 4*18 + 3*8},
		{"SELECT id FROM d.day", 4 * 8},
		{"SELECT a.id FROM d.day AS a, d.day AS b", 4 * 8},
		{"SELECT a.id FROM d.day AS a, d.plain AS b WHERE a.id = b.id", 8 * 8},
		{"SELECT n FROM d.v", 4 * 8},
		{"SELECT table_name FROM d.INFORMATION_SCHEMA.TABLES", 0},

		// All rows of the partitions that match.
		{"SELECT id, ts FROM d.day WHERE DATE(ts) = '2026-11-01'", 2 * 16},
		{"SELECT id, ts FROM d.day WHERE ts > '2026-11-01 15:00:00' AND ts < '2026-11-02'", 2 * 16},
		{"SELECT id, ts FROM d.day WHERE ts = '2026-11-02'", 16},
		{"SELECT id, ts FROM d.day WHERE ts >= '2026-11-02'", 16},
		{"SELECT id, ts FROM d.day WHERE ts IS NULL", 8},
		{"SELECT id, ts FROM d.day WHERE DATE(ts) = '2026-11-01' OR id = 3", 4*8 + 3*8},
		{"SELECT id, ts FROM d.plain WHERE DATE(ts) = '2026-11-01'", 4*8 + 3*8},
		{"SELECT n, t FROM d.v WHERE DATE(t) = '2026-11-01'", 2 * 16},
		{"SELECT id, ts FROM d.month WHERE ts = '2026-11-30'", 2 * 16},
		{"SELECT id, ts FROM d.month WHERE ts < '2026-11-01'", 16},
		{"SELECT id FROM d.range WHERE id = -91", 2 * 8},
		{"SELECT id FROM d.range WHERE id BETWEEN -95 AND 9", 4 * 8},
		{"SELECT id FROM d.range WHERE id = 1000", 8}, // with NULL's, outside of all partitions
		{"SELECT id FROM (SELECT id FROM d.range LIMIT 100) WHERE id = -91", 5 * 8},

		{"CREATE OR REPLACE TABLE d.made AS SELECT id FROM d.day", 4 * 8},
		{"INSERT INTO d.made (id) SELECT id FROM d.day WHERE DATE(ts) = '2026-11-01'", 2 * 16},
		{"INSERT INTO d.made (id) VALUES (1)", 0},
		// What it refers to, and all columns of what it changes.
		{"UPDATE d.day SET v = 'ABCDEFGH' WHERE DATE(ts) = '2026-11-01'", 2*8 + 2*26},
		{"DELETE FROM d.plain WHERE id = 77", 4*8 + 4*18 + 3*8},
	} {
		e.bytes(test.sql, test.want)
	}
	e.request.Destination = &engine.TableRef{Project: "p", Dataset: "d", Table: "into"}
	e.request.WriteDisposition = "WRITE_TRUNCATE"
	e.bytes("SELECT id FROM d.day", 4*8)
	e.request.WriteDisposition = "WRITE_APPEND"
	e.bytes("SELECT id FROM d.day", 4*8)
}

// A runtime merge reads the whole table, and what is pending.
func TestBytes_runtimeMerge(t *testing.T) {
	e := newEnv(t)
	e.must(`CREATE TABLE d.t (id INT64, v STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITION BY RANGE_BUCKET(id, GENERATE_ARRAY(0, 100, 10))`,
		`INSERT INTO d.t (id) VALUES (1), (20)`)
	const sql = "SELECT id FROM d.t WHERE id = 1"
	e.bytes(sql, 8)
	e.change("t", "UPSERT 30 x")
	e.bytes(sql, 3*8)
	e.refuses("SELECT id FROM `d.t*`", "active CDC")
}

func TestBytes_wildcard(t *testing.T) {
	e := newEnv(t)
	e.must("CREATE TABLE d.w1 (id INT64)", "INSERT INTO d.w1 VALUES (1), (2)", "CREATE TABLE d.w2 (id INT64)", "INSERT INTO d.w2 VALUES (3)")
	e.bytes("SELECT id FROM `d.w*`", 3*8)
}

func TestRequirePartitionFilter(t *testing.T) {
	e := newEnv(t)
	e.must(`CREATE TABLE d.t (id INT64, day DATE) PARTITION BY day OPTIONS (require_partition_filter = true)`,
		`CREATE TABLE d.n (id INT64) PARTITION BY _PARTITIONDATE OPTIONS (require_partition_filter = true)`,
		`INSERT INTO d.t (id, day) VALUES (1, '2026-11-01')`,
		`INSERT INTO d.n (id) VALUES (1)`,
		`CREATE VIEW d.v AS SELECT * FROM d.t`)
	const want = "Cannot query over table 'd.t' without a filter over column(s) 'day' that can be used for partition elimination"
	for _, sql := range []string{
		"SELECT id FROM {t}", "SELECT COUNT(*) FROM {t}", "SELECT id FROM {t} WHERE id = 1", "SELECT id FROM {t} WHERE day = '2026-11-01' OR id = 1",
		"SELECT id FROM {t} WHERE day = (SELECT MAX(day) FROM {t} WHERE day > '2026-01-01')",
		"SELECT a.id FROM {t} AS a JOIN {t} AS b ON a.id = b.id WHERE a.day = '2026-11-01'",
		"CREATE OR REPLACE TABLE d.copied AS SELECT * FROM {t}",
	} {
		e.refuses(strings.ReplaceAll(sql, "{t}", "d.t"), want)
		e.refuses(strings.ReplaceAll(sql, "{t}", "d.v"), want)
	}
	e.refuses("UPDATE d.t SET id = 2 WHERE id = 1", want)
	e.refuses("DELETE FROM d.t WHERE true", want)
	e.refuses("SELECT id FROM d.n", "Cannot query over table 'd.n' without a filter over column(s) '_PARTITION_LOAD_TIME', '_PARTITIONDATE', '_PARTITIONTIME' that")
	for _, sql := range []string{
		"SELECT id FROM d.t WHERE day >= '2026-01-01' AND id = 1", "SELECT id FROM d.v WHERE day IS NOT NULL",
		"SELECT a.id FROM d.t AS a JOIN d.t AS b ON a.id = b.id AND b.day IS NOT NULL WHERE a.day = '2026-11-01'",
		"SELECT id FROM d.n WHERE _PARTITIONTIME > '2026-11-01'", "SELECT id FROM d.n WHERE _PARTITIONDATE = '2026-11-01'",
		"UPDATE d.t SET id = 2 WHERE day = '2026-11-01'", "MERGE d.t USING (SELECT 2 AS n) ON id = n AND day IS NOT NULL WHEN MATCHED THEN DELETE",
	} {
		e.must(sql)
	}
}

func TestPartitionTime(t *testing.T) {
	e := newEnv(t)
	e.must(`CREATE TABLE d.t (id INT64) PARTITION BY _PARTITIONDATE`, `INSERT INTO d.t (id) VALUES (1)`)
	e.want("SELECT * FROM d.t", `["1"]`)
	e.want("SELECT id, _PARTITIONTIME AS pt, _partitiondate AS pd FROM d.t", `["1","2026-11-30T00:00:00.000000Z","2026-11-30"]`)
	e.bytes("SELECT id FROM d.t WHERE _PARTITIONDATE = '2026-11-30'", 8)
	e.bytes("SELECT id FROM d.t WHERE _PARTITIONTIME < '2026-11-30'", 0)
	e.must(`CREATE TABLE d.copied COPY d.t`, `UPDATE d.t SET id = 2 WHERE _PARTITIONDATE = '2026-11-30'`)
	e.want("SELECT id FROM d.t", `["2"]`)
	e.want("SELECT * FROM d.copied", `["1"]`)
	e.must(`CREATE TABLE d.other (id INT64)`)
	e.refuses("SELECT _PARTITIONTIME FROM d.other", "Unrecognized name: _PARTITIONTIME")
}
