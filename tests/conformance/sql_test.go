package conformance

import "time"

const twoHours = 2 * time.Hour

// sqlCases run the references' own statements.
var sqlCases = []testCase{
	{
		name: "a table with max_staleness",
		cites: []string{
			"To create a table with the max_staleness option, use the CREATE TABLE statement.",
			"The following example creates the table employees with a max_staleness limit of 10 minutes:",
			"To determine the current max_staleness value of a table, query the INFORMATION_SCHEMA.TABLE_OPTIONS view.",
			"The results show that the max_staleness value is 10 minutes:",
			"The following example changes the max_staleness limit of the employees table to 15 minutes:",
		},
		run: func(r *run) {
			r.query(`CREATE TABLE {employees} (
  id INT64 PRIMARY KEY NOT ENFORCED,
  name STRING)
  CLUSTER BY
    id
  OPTIONS (
    max_staleness = INTERVAL 10 MINUTE)`)
			const options = `SELECT
  option_name,
  option_value
FROM
  {dataset}.INFORMATION_SCHEMA.TABLE_OPTIONS
WHERE
  option_name = 'max_staleness'
  AND table_name = {'employees'}`
			r.wantQuery(options, "max_staleness 0-0 0 0:10:0")
			r.query(`ALTER TABLE {employees}
SET OPTIONS (
  max_staleness = INTERVAL 15 MINUTE)`)
			r.wantQuery(options, "max_staleness 0-0 0 0:15:0")
			w := r.cdc("employees", "id INTEGER, name STRING")
			w.append(`{"id":1,"name":"a","_CHANGE_TYPE":"UPSERT"}`)
		},
	},
	{
		name: "the guide's table",
		cites: []string{
			"The table must have a primary key, declared NOT ENFORCED.",
			"The table definition looks like this:",
		},
		run: func(r *run) {
			r.query(`CREATE TABLE {orders} (
  order_id INT64 PRIMARY KEY NOT ENFORCED,
  status STRING,
  updated_at TIMESTAMP
)
CLUSTER BY order_id
OPTIONS (max_staleness = INTERVAL 15 MINUTE)`)
			metadata, err := r.handle("orders").Metadata(r.ctx)
			r.must(err, "getting the table")
			if key := metadata.TableConstraints; key == nil || key.PrimaryKey == nil || len(key.PrimaryKey.Columns) != 1 || key.PrimaryKey.Columns[0] != "order_id" {
				r.errorf("the table's constraints are %v, want the key order_id", key)
			}
			if clustering := metadata.Clustering; clustering == nil || len(clustering.Fields) != 1 {
				r.errorf("the table's clustering is %v, want order_id", clustering)
			}
			if s := metadata.MaxStaleness; s == nil || s.ToDuration().Minutes() != 15 {
				r.errorf("the table's max_staleness is %v, want 15 minutes", s)
			}
		},
	},
	{
		name: "the overview's and the in-depth guide's tables",
		cites: []string{
			"The destination table needs a primary key, which tells BigQuery which row a change applies to:",
			"The documented requirements are strict.",
		},
		run: func(r *run) {
			r.query(`CREATE TABLE {customers} (
  customer_id INT64,
  name STRING,
  credit_limit INT64,
  PRIMARY KEY (customer_id) NOT ENFORCED
)
OPTIONS (max_staleness = INTERVAL 15 MINUTE)`)
			r.query(`CREATE TABLE {typed} (
  customer_id STRING NOT NULL,
  email       STRING,
  tier        STRING,
  updated_at  TIMESTAMP,
  PRIMARY KEY (customer_id) NOT ENFORCED
)
OPTIONS (max_staleness = INTERVAL 15 MINUTE)`)
			r.cdc("typed", "customer_id STRING, email STRING").append(
				`{"customer_id":"c1","email":"a@example.com","_CHANGE_TYPE":"UPSERT"}`, `{"customer_id":"c1","_CHANGE_TYPE":"DELETE"}`)
			r.cdc("customers", "customer_id INTEGER, credit_limit INTEGER").append(`{"customer_id":1,"credit_limit":5,"_CHANGE_TYPE":"UPSERT"}`)
		},
	},
	{
		name: "duplicates are removed by a query",
		cites: []string{
			"Billing reads a deduplicated view, materialized nightly once the day has closed:",
			"Making the BigQuery write exactly-once would not remove them; only a stable event ID can.",
		},
		run: func(r *run) {
			columns := "event_id STRING, event_date DATE, ingest_time TIMESTAMP"
			r.create("events", columns)
			w := r.plain("events", columns)
			w.append(
				`{"event_id":"a","event_date":20729,"ingest_time":2000000}`, `{"event_id":"a","event_date":20729,"ingest_time":1000000}`,
				`{"event_id":"b","event_date":20729,"ingest_time":3000000}`, `{"event_id":"c","event_date":20730,"ingest_time":4000000}`)
			r.query(`CREATE OR REPLACE TABLE {dedup} AS
SELECT * EXCEPT (rn) FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY event_id ORDER BY ingest_time) AS rn
  FROM {events}
  WHERE event_date = '2026-10-03'
)
WHERE rn = 1`)
			r.want("dedup", "a 2026-10-03 1970-01-01T00:00:01Z", "b 2026-10-03 1970-01-01T00:00:03Z")
		},
	},
}

// historyCases read tables' own change history.
var historyCases = []testCase{
	{
		name: "APPENDS",
		cites: []string{
			"APPENDS returns rows added by inserts, loads, streaming and the insert part of MERGE.",
			"It works on any table, within the time travel window.",
			"Both add pseudocolumns describing the change, such as _CHANGE_TYPE and _CHANGE_TIMESTAMP.",
			"In the other direction, the APPENDS and CHANGES table functions return what changed in a BigQuery table during a time range.",
			"APPENDS and CHANGES read a table's own change history.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			r.query("INSERT INTO {t} (id, v) VALUES (1, 'inserted')")
			r.plain("t", orderColumns).append(`{"id":2,"v":"streamed"}`)
			r.query("MERGE {t} AS target USING (SELECT 3 AS id, 'merged' AS v) AS s ON target.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)")
			r.wantQuery("SELECT id, v, _CHANGE_TYPE FROM APPENDS(TABLE {t}, NULL, NULL) ORDER BY id",
				"1 inserted INSERT", "2 streamed INSERT", "3 merged INSERT")
			r.wantQuery("SELECT COUNT(*) FROM APPENDS(TABLE {t}, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR), NULL) WHERE _CHANGE_TIMESTAMP <= CURRENT_TIMESTAMP()", "3")
		},
	},
	{
		name: "APPENDS of a time range",
		cites: []string{
			"In the other direction, the APPENDS and CHANGES table functions return what changed in a BigQuery table during a time range.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.create("t", orderColumns)
			r.query("INSERT INTO {t} (id, v) VALUES (1, 'old')")
			r.advance(twoHours)
			r.query("INSERT INTO {t} (id, v) VALUES (2, 'new')")
			r.wantQuery("SELECT id, v FROM APPENDS(TABLE {t}, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR), NULL)", "2 new")
		},
	},
	{
		name: "CHANGES",
		cites: []string{
			"CHANGES also returns updated and deleted rows, and changes from TRUNCATE, overwrite loads and dropped partitions.",
			"It needs the table option enable_change_history = TRUE set before the changes happen, and that option stores extra change metadata, which is billed.",
			"Both add pseudocolumns describing the change, such as _CHANGE_TYPE and _CHANGE_TIMESTAMP.",
		},
		emulatorOnly: true, // the end must be ten minutes ago
		run: func(r *run) {
			r.query("CREATE TABLE {t} (id INT64, v STRING) OPTIONS (enable_change_history = TRUE)")
			r.query("INSERT INTO {t} (id, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')")
			r.advance(time.Minute)
			r.query("UPDATE {t} SET v = 'updated' WHERE id = 1")
			r.advance(time.Minute)
			r.query("DELETE FROM {t} WHERE id = 2")
			r.advance(time.Minute)
			r.query("TRUNCATE TABLE {t}")
			r.advance(twoHours)
			r.wantQuery("SELECT id, v, _CHANGE_TYPE FROM CHANGES(TABLE {t}, NULL, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)) ORDER BY _CHANGE_TIMESTAMP, id",
				"1 a INSERT", "2 b INSERT", "3 c INSERT", "1 updated UPDATE", "2 b DELETE", "1 updated DELETE", "3 c DELETE")
		},
	},
	{
		name: "CHANGES needs the table's option",
		cites: []string{
			"It needs the table option enable_change_history = TRUE set before the changes happen, and that option stores extra change metadata, which is billed.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			r.query("INSERT INTO {t} (id, v) VALUES (1, 'a')")
			r.refuseQuery("SELECT * FROM CHANGES(TABLE {t}, NULL, TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 10 MINUTE))")
		},
	},
}
