package googlesql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// referenceStatements are those that BigQuery's documents on change data capture quote, as
// they stand there.
var referenceStatements = []string{
	"ALTER TABLE `DATASET_NAME.TABLE_NAME`\nSET OPTIONS (\n  max_staleness = INTERVAL 15 MINUTE);",
	staleness,
	`CREATE TABLE employees (
  id INT64 PRIMARY KEY NOT ENFORCED,
  name STRING)
  CLUSTER BY
    id
  OPTIONS (
    max_staleness = INTERVAL 10 MINUTE);`,
	"ALTER TABLE employees\nSET OPTIONS (\n  max_staleness = INTERVAL 15 MINUTE);",
	`SELECT
  option_name,
  option_value
FROM
  DATASET_NAME.INFORMATION_SCHEMA.TABLE_OPTIONS
WHERE
  option_name = 'max_staleness'
  AND table_name = 'TABLE_NAME';`,
	"SELECT upsert_stream_apply_watermark\nFROM DATASET_NAME.INFORMATION_SCHEMA.TABLES\nWHERE table_name = 'TABLE_NAME';",
	"CREATE ASSIGNMENT\n  `ADMIN_PROJECT_ID.region-REGION.RESERVATION_NAME.ASSIGNMENT_ID`\nOPTIONS (\n  assignee = 'projects/PROJECT_ID',\n  job_type = 'BACKGROUND');",
	timeline,
	`CREATE TABLE mydataset.customers (
  customer_id INT64,
  name STRING,
  credit_limit INT64,
  PRIMARY KEY (customer_id) NOT ENFORCED
)
OPTIONS (max_staleness = INTERVAL 15 MINUTE);`,
	`-- Rows added to the table in the last hour
SELECT *
FROM APPENDS(TABLE mydataset.orders, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR), NULL);`,
	`-- Every row inserted, updated or deleted in the last hour
SELECT *
FROM CHANGES(TABLE mydataset.orders, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR), NULL);`,
	`CREATE TABLE shop.orders (
  order_id INT64 PRIMARY KEY NOT ENFORCED,
  status STRING,
  updated_at TIMESTAMP
)
CLUSTER BY order_id
OPTIONS (max_staleness = INTERVAL 15 MINUTE);`,
	`CREATE TABLE analytics.customers (
  customer_id STRING NOT NULL,
  email       STRING,
  tier        STRING,
  updated_at  TIMESTAMP,
  PRIMARY KEY (customer_id) NOT ENFORCED
)
OPTIONS (max_staleness = INTERVAL 15 MINUTE);`,
	`CREATE OR REPLACE TABLE billing.events_dedup_20261003 AS
SELECT * EXCEPT (rn) FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY event_id ORDER BY ingest_time) AS rn
  FROM analytics.events
  WHERE event_date = '2026-10-03'
)
WHERE rn = 1;`,
	"SELECT start_timestamp, error_code, SUM(total_input_bytes) AS bytes\nFROM `region-us`.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT\nWHERE start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)\nGROUP BY 1, 2\nORDER BY 1 DESC;",
}

const staleness = `SELECT
  project_id,
  destination_table.dataset_id,
  destination_table.table_id,
  APPROX_QUANTILES((TIMESTAMP_DIFF(end_time, creation_time,MILLISECOND)/1000), 100)[OFFSET(95)] AS p95_background_apply_duration_in_seconds,
  CEILING(APPROX_QUANTILES((TIMESTAMP_DIFF(end_time, creation_time,MILLISECOND)/1000), 100)[OFFSET(95)]*2/60)+7 AS recommended_max_staleness_with_buffer_in_minutes
FROM ` + "`region-REGION`" + `.INFORMATION_SCHEMA.JOBS AS job
WHERE
  project_id = 'PROJECT_ID'
  AND DATE(creation_time) BETWEEN DATE_SUB(CURRENT_DATE(), INTERVAL 7 DAY) AND CURRENT_DATE()
  AND job_id LIKE "%cdc_background%"
GROUP BY 1,2,3;`

const timeline = `SELECT
  period_start,
  SUM(period_slot_ms) / (1000 * 60) AS slots_used
FROM
  region-REGION.INFORMATION_SCHEMA.JOBS_TIMELINE_BY_PROJECT
WHERE
  DATE(job_creation_time) BETWEEN DATE_SUB(CURRENT_DATE(), INTERVAL 7 DAY)
  AND CURRENT_DATE()
  AND job_id LIKE '%cdc_background%'
GROUP BY
  period_start
ORDER BY
  period_start DESC;`

func TestReferenceStatementsParse(t *testing.T) {
	for _, text := range referenceStatements {
		if statements, err := Parse(text); err != nil || len(statements) != 1 {
			t.Errorf("%s\n%d statements, error %v", text, len(statements), err)
		}
	}
}

// The queries run, too, and give what a reader of the documents expects.
func TestReferenceQueriesRun(t *testing.T) {
	d := newDatabase(t)
	job := "project_id STRING, destination_table STRUCT<dataset_id STRING, table_id STRING>, creation_time TIMESTAMP, end_time TIMESTAMP, job_id STRING"
	var jobs []string
	for i := range []int{0, 1, 2} {
		end := []string{"10", "30", "20"}[i]
		jobs = append(jobs, "'PROJECT_ID', {'dataset_id': 'ds', 'table_id': 't'}, '2025-03-08 10:00:00+00', '2025-03-08 10:00:"+end+"+00', 'x_cdc_background_1'")
	}
	jobs = append(jobs, "'PROJECT_ID', {'dataset_id': 'ds', 'table_id': 't'}, '2025-03-08 10:00:00+00', '2025-03-08 11:00:00+00', 'another'",
		"'PROJECT_ID', {'dataset_id': 'ds', 'table_id': 't'}, '2025-03-01 10:00:00+00', '2025-03-01 11:00:00+00', 'x_cdc_background_1'")
	d.table("region-REGION.INFORMATION_SCHEMA.JOBS", job, jobs...)
	d.table("region-REGION.INFORMATION_SCHEMA.JOBS_TIMELINE_BY_PROJECT", "period_start TIMESTAMP, period_slot_ms INT64, job_creation_time TIMESTAMP, job_id STRING",
		"'2025-03-08 10:00:00+00', 30000, '2025-03-08 10:00:00+00', 'a_cdc_background_b'", "'2025-03-08 10:00:01+00', 60000, '2025-03-08 10:00:00+00', 'a_cdc_background_b'",
		"'2025-03-08 10:00:01+00', 60000, '2025-03-08 10:00:00+00', 'none'")
	d.table("region-us.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT", "start_timestamp TIMESTAMP, error_code STRING, total_input_bytes INT64",
		"'2025-03-09 08:00:00+00', 'OK', 5", "'2025-03-09 08:00:00+00', 'OK', 7", "'2025-03-09 08:01:00+00', 'ABORTED', 1", "'2025-03-09 07:00:00+00', 'OK', 7")
	d.table("DATASET_NAME.INFORMATION_SCHEMA.TABLE_OPTIONS", "table_name STRING, option_name STRING, option_value STRING",
		"'TABLE_NAME', 'max_staleness', '0-0 0 0:10:0'", "'TABLE_NAME', 'description', 'x'")
	d.table("DATASET_NAME.INFORMATION_SCHEMA.TABLES", "table_name STRING, upsert_stream_apply_watermark TIMESTAMP", "'TABLE_NAME', '2022-09-15 04:17:19.909+00'")
	d.table("mydataset.orders", "id INT64", "1")
	want := map[int]string{
		1:  "PROJECT_ID|ds|t|20|8", // CEILING before the buffer
		4:  "max_staleness|0-0 0 0:10:0",
		5:  "2022-09-15 04:17:19.909+00",
		7:  "2025-03-08 10:00:01+00|1;2025-03-08 10:00:00+00|0.5",
		9:  "1",
		10: "1",
		14: "2025-03-09 08:01:00+00|ABORTED|1;2025-03-09 08:00:00+00|OK|12",
	}
	for i, rows := range want {
		got, failure, _ := d.query(referenceStatements[i], d.options())
		if failure != "" || got != rows {
			t.Errorf("%s\ngot %s %s\nwant %s", referenceStatements[i], got, failure, rows)
		}
	}
}

func TestReferenceDedup(t *testing.T) {
	d := newDatabase(t)
	d.table("analytics.events", "event_id STRING, ingest_time TIMESTAMP, event_date DATE, v INT64",
		"'a', '2026-10-03 01:00:00+00', '2026-10-03', 2", "'a', '2026-10-03 00:00:00+00', '2026-10-03', 1", "'b', '2026-10-03 00:00:00+00', '2026-10-03', 3", "'c', '2026-10-03 00:00:00+00', '2026-10-04', 4")
	statements, err := Parse(referenceStatements[13])
	if err != nil {
		t.Fatal(err)
	}
	create := statements[0].(*CreateTable)
	if !create.OrReplace || create.Type() != "CREATE_TABLE_AS_SELECT" || !cmp.Equal(create.Table.Path, []string{"billing", "events_dedup_20261003"}) {
		t.Errorf("parsed as %+v", create)
	}
	translation, err := create.As.Translate(d.options())
	if err != nil {
		t.Fatal(err)
	}
	translation.SQL += " ORDER BY 1"
	got, failure := d.run(translation)
	if want := "a|2026-10-03 00:00:00+00|2026-10-03|1;b|2026-10-03 00:00:00+00|2026-10-03|3"; got != want || failure != "" {
		t.Errorf("got %s %s, want %s", got, failure, want)
	}
	if names := []string{translation.Columns[0].Name, translation.Columns[3].Name}; !cmp.Equal(names, []string{"event_id", "v"}) {
		t.Errorf("columns %v", names)
	}
}

func TestReferenceChangeFunctions(t *testing.T) {
	d := newDatabase(t)
	d.table("mydataset.orders", "id INT64", "1")
	if _, failure, _ := d.query(referenceStatements[10], d.options()); failure != "" {
		t.Fatal(failure)
	}
	ref := d.asked[0]
	if ref.Function != "CHANGES" || ref.End == "" {
		t.Errorf("asked for %+v", ref)
	}
	var start string
	if err := d.conn.QueryRowContext(t.Context(), "SELECT bq_timestamp_text("+ref.Start+", 'UTC')").Scan(&start); err != nil || start != "2025-03-09 07:07:06.005004+00" {
		t.Errorf("start %s, error %v", start, err)
	}
}

func TestReferenceOptions(t *testing.T) {
	statements, err := Parse(referenceStatements[2])
	if err != nil {
		t.Fatal(err)
	}
	create := statements[0].(*CreateTable)
	staleness, ok := create.Options[0].Constant()
	if !ok || staleness != (IntervalValue{Micros: 600_000_000}) || create.Options[0].Name != "max_staleness" {
		t.Errorf("max_staleness is %v", staleness)
	}
	if diff := cmp.Diff(&PrimaryKey{[]string{"id"}}, create.PrimaryKey); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"id"}, create.ClusterBy); diff != "" {
		t.Error(diff)
	}
	statements, err = Parse(referenceStatements[6])
	if err != nil {
		t.Fatal(err)
	}
	assignment := statements[0].(*CreateReservation)
	job, _ := assignment.Options[1].Constant()
	if assignment.Type() != "CREATE_ASSIGNMENT" || job != "BACKGROUND" || !cmp.Equal(assignment.Name.Path, []string{"ADMIN_PROJECT_ID", "region-REGION", "RESERVATION_NAME", "ASSIGNMENT_ID"}) {
		t.Errorf("parsed as %+v", assignment)
	}
}
