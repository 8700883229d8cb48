package query

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
	"beamcdc/emulator/internal/timeline"
)

// env is an executor with an engine in memory, on a clock that stands still.
type env struct {
	t *testing.T
	*Executor
	engine  *engine.Engine
	now     time.Time
	request Request
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	var err error
	clock := func() time.Time { return e.now }
	e.engine, err = engine.Open(t.Context(), engine.Options{Now: clock, Logger: slog.New(slog.DiscardHandler), Prepare: googlesql.Register})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.engine.Close() })
	e.Executor = New(e.engine, clock, NewJobs(), &timeline.Timeline{}, &timeline.Timeline{})
	e.request = Request{Project: "p", Dataset: &engine.DatasetRef{Project: "p", Dataset: "d"}, User: "me@example.com"}
	if _, err := e.engine.CreateDataset(t.Context(), engine.DatasetRef{Project: "p", Dataset: "d"}, &bq.Dataset{}); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *env) run(sql string) (*Result, error) {
	e.t.Helper()
	r := e.request
	r.SQL = sql
	return e.Run(e.t.Context(), r)
}

func (e *env) must(statements ...string) *Result {
	e.t.Helper()
	var result *Result
	for _, sql := range statements {
		var err error
		if result, err = e.run(sql); err != nil {
			e.t.Fatalf("%s\n%v", sql, err)
		}
	}
	return result
}

// want runs a SELECT and compares its rows, each as a JSON array.
func (e *env) want(sql string, rows ...string) {
	e.t.Helper()
	result := e.must(sql)
	var got []string
	for _, row := range result.Rows {
		line := []byte("[")
		for i, c := range result.Columns {
			if i > 0 {
				line = append(line, ',')
			}
			line = engine.AppendValue(line, c, row[i])
		}
		got = append(got, string(append(line, ']')))
	}
	if strings.Join(got, "\n") != strings.Join(rows, "\n") {
		e.t.Errorf("%s\ngot:\n%s\nwant:\n%s", sql, strings.Join(got, "\n"), strings.Join(rows, "\n"))
	}
}

func (e *env) refuses(sql, want string) {
	e.t.Helper()
	if result, err := e.run(sql); err == nil || !strings.Contains(err.Error(), want) {
		e.t.Errorf("%s\nerror %v (%+v), want one with %q", sql, err, result, want)
	}
}

func TestSelect(t *testing.T) {
	e := newEnv(t)
	e.must(`CREATE TABLE d.t (id INT64 NOT NULL, name STRING, tags ARRAY<STRING>, made TIMESTAMP, n NUMERIC(10,2), b BIGNUMERIC, doc JSON, s STRUCT<a INT64, b STRING>)`,
		`INSERT INTO d.t (id, name, tags, made, n, b, doc, s) VALUES
			(1, 'a', ['x','y'], TIMESTAMP '2026-01-02 03:04:05.678901+00', 1.25, BIGNUMERIC '123456789012345678901234567890.5', JSON '{"z": 1.0}', STRUCT(1, 'q')),
			(2, NULL, [], NULL, NULL, NULL, NULL, NULL)`)
	e.want("SELECT * FROM `p.d.t` ORDER BY id",
		`["1","a",["x","y"],"2026-01-02T03:04:05.678901Z","1.25","123456789012345678901234567890.5","{\"z\": 1.0}",{"a":"1","b":"q"}]`,
		`["2",null,[],null,null,null,null,null]`)
	e.want("SELECT count(*), sum(id) FROM t", `["2","3"]`)
	e.want("SELECT * EXCEPT (doc, b, n, made, tags, s), ROW_NUMBER() OVER (ORDER BY id DESC) AS rn FROM d.t QUALIFY rn = 1", `["2",null,"1"]`)
	e.want("SELECT id, tag FROM d.t, UNNEST(tags) AS tag ORDER BY tag", `["1","x"]`, `["1","y"]`)
	e.want("SELECT CURRENT_TIMESTAMP(), SESSION_USER()", `["2026-11-30T12:00:00.000000Z","me@example.com"]`)
	e.request.Named = map[string]googlesql.Parameter{"id": {Type: googlesql.Of(googlesql.Int64), Value: "2"}}
	e.want("SELECT id FROM d.t WHERE id = @id", `["2"]`)
	e.refuses("SELECT * FROM d.absent", "Not found: Table p:d.absent")
	e.refuses("SELECT nothing FROM d.t", "nothing")
	e.refuses("SELECT _CHANGE_TYPE FROM d.t", "_CHANGE_TYPE")
	e.refuses("SELECT 1/0", "division by zero")
	e.refuses("SELECT 1; SELECT 2", "scripts are not implemented")
	e.refuses("", "")
	e.refuses("SELECT FROBNICATE(1)", "FROBNICATE")
}

func TestDML(t *testing.T) {
	e := newEnv(t)
	e.must(`CREATE TABLE d.t (id INT64, v STRING DEFAULT 'new')`, `CREATE TABLE d.s AS SELECT * FROM UNNEST([STRUCT(2 AS id, 'b' AS v), (3, 'c')])`)
	counts := func(sql string, inserted, updated, deleted int64) {
		t.Helper()
		if got := e.must(sql).Changed; got == nil || *got != (engine.Changed{Inserted: inserted, Updated: updated, Deleted: deleted}) {
			t.Errorf("%s: %+v", sql, got)
		}
	}
	counts("INSERT d.t (id) VALUES (1), (2)", 2, 0, 0)
	counts("UPDATE d.t SET v = CONCAT(v, '!') WHERE id = 2", 0, 1, 0)
	e.want("SELECT * FROM d.t ORDER BY id", `["1","new"]`, `["2","new!"]`)
	counts("MERGE d.t AS t USING d.s AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, v)", 1, 1, 0)
	e.want("SELECT * FROM d.t ORDER BY id", `["1","new"]`, `["2","b"]`, `["3","c"]`)
	counts("DELETE FROM d.t WHERE id < 3", 0, 0, 2)
	counts("TRUNCATE TABLE d.t", 0, 0, 1)
	e.want("SELECT count(*) FROM d.t", `["0"]`)
	e.refuses("UPDATE d.t SET v = 1 WHERE true", "STRING")
}

// Views that read each other twice, level by level, are more than can be planned.
func TestViews_tooMany(t *testing.T) {
	e := newEnv(t)
	e.must("CREATE VIEW d.v0 AS SELECT 1 AS x")
	for i := range 8 {
		e.must(fmt.Sprintf("CREATE VIEW d.v%d AS SELECT * FROM d.v%d UNION ALL SELECT * FROM d.v%d", i+1, i, i))
	}
	e.want("SELECT COUNT(*) FROM d.v8", `["256"]`)
	var err error
	for i := 8; i < 12 && err == nil; i++ {
		_, err = e.run(fmt.Sprintf("CREATE VIEW d.v%d AS SELECT * FROM d.v%d UNION ALL SELECT * FROM d.v%d", i+1, i, i))
	}
	if err == nil || !strings.Contains(err.Error(), "too many tables and views") {
		t.Errorf("error %v", err)
	}
}

func TestDDL(t *testing.T) {
	e := newEnv(t)
	e.must("CREATE SCHEMA s OPTIONS (description = 'x', location = 'EU')",
		"CREATE TABLE s.t (id INT64 NOT NULL, made TIMESTAMP, PRIMARY KEY (id) NOT ENFORCED) PARTITION BY DATE(made) CLUSTER BY id OPTIONS (max_staleness = INTERVAL 15 MINUTE, labels = [('team', 'a')])",
		"CREATE TABLE IF NOT EXISTS s.t (other INT64)",
		"ALTER TABLE s.t ADD COLUMN color STRING OPTIONS (description = 'c'), ADD COLUMN IF NOT EXISTS id INT64",
		"INSERT s.t (id, color) VALUES (1, 'red')",
		"ALTER TABLE s.t RENAME COLUMN color TO colour",
		"ALTER TABLE s.t ALTER COLUMN id DROP NOT NULL",
		"ALTER TABLE s.t SET OPTIONS (max_staleness = INTERVAL 10 MINUTE, description = 'orders')")
	e.want("SELECT * FROM s.t", `["1",null,"red"]`)
	e.want("SELECT column_name, data_type, is_nullable, is_partitioning_column, clustering_ordinal_position FROM s.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 't' ORDER BY ordinal_position",
		`["id","INT64","YES","NO","1"]`, `["made","TIMESTAMP","YES","YES",null]`, `["colour","STRING","YES","NO",null]`)
	e.want("SELECT option_name, option_value FROM s.INFORMATION_SCHEMA.TABLE_OPTIONS",
		`["description","\"orders\""]`, `["labels","[STRUCT(\"team\", \"a\")]"]`, `["max_staleness","0-0 0 0:10:0"]`)
	e.want("SELECT constraint_name, constraint_type, enforced FROM s.INFORMATION_SCHEMA.TABLE_CONSTRAINTS", `["t.pk$","PRIMARY KEY","NO"]`)
	e.want("SELECT column_name, ordinal_position FROM s.INFORMATION_SCHEMA.KEY_COLUMN_USAGE", `["id","1"]`)
	e.want("SELECT schema_name, location FROM `region-eu`.INFORMATION_SCHEMA.SCHEMATA", `["d","us"]`, `["s","eu"]`)
	ddl := e.must("SELECT ddl FROM s.INFORMATION_SCHEMA.TABLES").Rows[0][0].(string)
	e.must("DROP TABLE s.t", ddl) // it creates the table anew
	e.want("SELECT option_value FROM s.INFORMATION_SCHEMA.TABLE_OPTIONS WHERE option_name = 'max_staleness'", `["0-0 0 0:10:0"]`)
	e.must("ALTER TABLE s.t DROP COLUMN colour", "ALTER TABLE s.t RENAME TO u", "CREATE VIEW s.v AS SELECT id + 1 AS next FROM s.u", "INSERT s.u (id) VALUES (41)",
		"CREATE OR REPLACE TABLE s.c AS SELECT * FROM s.v")
	e.want("SELECT next FROM s.v", `["42"]`)
	e.want("SELECT * FROM s.c", `["42"]`)
	e.want("SELECT table_name, table_type FROM s.INFORMATION_SCHEMA.TABLES", `["c","BASE TABLE"]`, `["u","BASE TABLE"]`, `["v","VIEW"]`)
	e.refuses("CREATE OR REPLACE VIEW s.v AS SELECT * FROM s.v", "View p:s.v refers to itself")
	e.must("CREATE VIEW s.outer_view AS SELECT * FROM s.v")
	e.refuses("CREATE OR REPLACE VIEW s.v AS SELECT * FROM s.outer_view", "View p:s.v refers to itself")
	e.want("SELECT next FROM s.outer_view", `["42"]`)
	e.must("DROP VIEW s.outer_view")
	e.refuses("DROP TABLE s.v", "not a TABLE")
	e.refuses("CREATE TABLE s.c (id INT64)", "Already Exists")
	e.refuses("ALTER TABLE s.u SET OPTIONS (frobnicate = 1)", "Unknown option: frobnicate")
	e.refuses("ALTER TABLE s.u ALTER COLUMN id SET DATA TYPE STRING", "changed type")
	e.must("DROP VIEW s.v", "DROP TABLE IF EXISTS s.absent", "DROP SCHEMA s CASCADE")
	e.refuses("SELECT * FROM s.u", "Not found")
}

// change ingests CDC rows: "UPSERT 1 a" or "DELETE 1" for each.
func (e *env) change(table string, changes ...string) {
	e.t.Helper()
	tab, err := e.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: table})
	if err != nil {
		e.t.Fatal(err)
	}
	b := e.engine.NewBatch(tab, tab.Schema(), true, len(changes))
	for _, c := range changes {
		words := append(strings.Fields(c), "")
		var id int64
		if err := json.Unmarshal([]byte(words[1]), &id); err != nil {
			e.t.Fatal(err)
		}
		if err := b.Add([]any{id, words[2]}, engine.Sequence{}, words[0] == "DELETE"); err != nil {
			e.t.Fatal(err)
		}
	}
	if err := e.engine.Append(e.t.Context(), b); err != nil {
		e.t.Fatal(err)
	}
	if err := b.Wait(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// "If you query the table at T25 ... BigQuery returns the baseline version of the table
// at T20"; "If you query the table at T35 ... BigQuery applies all row modifications
// between T20 and T35 for the current query".
func TestStaleness(t *testing.T) {
	e := newEnv(t)
	start := e.now
	at := func(minutes int) { e.now = start.Add(time.Duration(minutes) * time.Minute) }
	e.must("CREATE TABLE d.t (id INT64, v STRING, PRIMARY KEY (id) NOT ENFORCED) OPTIONS (max_staleness = INTERVAL 10 MINUTE)")
	at(20)
	e.change("t", "UPSERT 1 old")
	tab, err := e.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.engine.Apply(t.Context(), tab); err != nil {
		t.Fatal(err)
	}
	e.engine.HoldApplies(true)
	watermark := `["2026-11-30T12:20:00.000000Z"]`
	const watermarkOf = "SELECT upsert_stream_apply_watermark FROM d.INFORMATION_SCHEMA.TABLES WHERE table_name = 't'"
	e.want(watermarkOf, watermark)
	at(21)
	e.change("t", "UPSERT 1 new", "UPSERT 2 two")
	at(25)
	e.want("SELECT * FROM d.t ORDER BY id", `["1","old"]`)
	e.refuses("UPDATE d.t SET v = 'x' WHERE true", "UPDATE")
	e.must("CREATE TABLE d.copied COPY d.t") // no runtime merge is needed
	e.want("SELECT * FROM d.copied", `["1","old"]`)
	at(35)
	e.want("SELECT * FROM d.t ORDER BY id", `["1","new"]`, `["2","two"]`)
	if result := e.must("SELECT id FROM d.t"); !result.RuntimeMerge {
		t.Error("it was no runtime merge")
	}
	e.want(watermarkOf, watermark) // "This type of job does not advance the watermark"
	for what, sql := range map[string]string{
		"copy": "CREATE TABLE d.x COPY d.t", "clone": "CREATE TABLE d.x CLONE d.t", "snapshot": "CREATE SNAPSHOT TABLE d.x CLONE d.t",
	} {
		e.refuses(sql, "A table "+what+" of p:d.t is not supported")
	}
	e.refuses("SELECT * FROM `d.t*`", "wildcard tables is not supported for tables with active CDC")
	e.refuses("CREATE SEARCH INDEX i ON d.t (ALL COLUMNS)", "earch index")
	e.engine.HoldApplies(false)
	if err := e.engine.ApplyDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.want(watermarkOf, `["2026-11-30T12:35:00.000000Z"]`)
	e.must("UPDATE d.t SET v = 'dml' WHERE id = 2") // "mutating DML statements are supported" again
	e.want("SELECT * FROM d.t ORDER BY id", `["1","new"]`, `["2","dml"]`)
	e.want("SELECT count(*) > 0, ANY_VALUE(user_email) FROM `region-us`.INFORMATION_SCHEMA.JOBS WHERE job_id LIKE '%cdc_background%'",
		`[true,"bigquery-adminbot@system.gserviceaccount.com"]`)
}

// "APPENDS returns rows added by inserts, loads, streaming"; "CHANGES ... needs the table
// option enable_change_history = TRUE set before the changes happen".
func TestHistory(t *testing.T) {
	e := newEnv(t)
	e.must("CREATE TABLE d.t (id INT64, v STRING) OPTIONS (enable_change_history = TRUE)", "INSERT d.t VALUES (1, 'a')")
	e.now = e.now.Add(time.Minute)
	e.must("UPDATE d.t SET v = 'b' WHERE id = 1", "INSERT d.t VALUES (2, 'c')", "DELETE FROM d.t WHERE id = 2")
	e.now = e.now.Add(time.Minute)
	e.want("SELECT id, v, _CHANGE_TYPE, _CHANGE_TIMESTAMP FROM APPENDS(TABLE d.t, NULL, NULL) ORDER BY id",
		`["1","a","INSERT","2026-11-30T12:00:00.000000Z"]`, `["2","c","INSERT","2026-11-30T12:01:00.000000Z"]`)
	e.want("SELECT id, v, _CHANGE_TYPE FROM CHANGES(TABLE d.t, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 SECOND), NULL) ORDER BY id, _CHANGE_TYPE",
		`["1","b","UPDATE"]`, `["2","c","DELETE"]`, `["2","c","INSERT"]`)
	e.must("CREATE TABLE d.plain (id INT64)")
	e.refuses("SELECT * FROM CHANGES(TABLE d.plain, NULL, NULL)", "enable_change_history")
	e.want("SELECT * FROM d.t FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 SECOND)", `["1","a"]`)
}

func TestTimelines(t *testing.T) {
	e := newEnv(t)
	e.writes.Add(e.now, timeline.Key{Project: "p", Dataset: "d", Table: "t", StreamType: "DEFAULT", ErrorCode: "OK"}, 2, 20)
	e.streams.Add(e.now, timeline.Key{Project: "p", Dataset: "d", Table: "t", ErrorCode: "OK"}, 1, 10)
	e.writes.Add(e.now, timeline.Key{Project: "other"}, 9, 90)
	e.want("SELECT table_id, stream_type, error_code, total_rows FROM `region-us`.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT", `["t","DEFAULT","OK","2"]`)
	e.want("SELECT table_id, error_code, total_input_bytes FROM `region-us`.INFORMATION_SCHEMA.STREAMING_TIMELINE", `["t","OK","10"]`)
	e.refuses("SELECT * FROM d.INFORMATION_SCHEMA.FROBNICATIONS", "INFORMATION_SCHEMA.FROBNICATIONS is not implemented")
}

// Every statement of BigQuery's documents and of the guide that the emulator is built
// by runs as it stands.
func TestQuotedStatements(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "quoted.sql"))
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t)
	for _, dataset := range []string{"DATASET_NAME", "mydataset", "shop", "analytics", "billing"} {
		e.must("CREATE SCHEMA " + dataset)
	}
	e.must("CREATE TABLE DATASET_NAME.TABLE_NAME (id INT64 PRIMARY KEY NOT ENFORCED)", "CREATE TABLE mydataset.orders (id INT64) OPTIONS (enable_change_history = TRUE)",
		"CREATE TABLE analytics.events (event_id STRING, ingest_time TIMESTAMP, event_date DATE)", "INSERT analytics.events VALUES ('a', CURRENT_TIMESTAMP(), '2026-10-03')")
	n := 0
	for _, statement := range regexp.MustCompile(`(?m);[ \t]*$`).Split(string(text), -1) {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		n++
		if _, err := e.run(statement + ";"); err != nil {
			t.Errorf("%s\n%v", statement, err)
		}
	}
	if n < 14 {
		t.Errorf("%d statements ran", n)
	}
}
