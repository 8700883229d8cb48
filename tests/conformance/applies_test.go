package conformance

import "time"

// applyCases are about background applies and the watermark.
var applyCases = []testCase{
	{
		name: "changes are applied within max_staleness",
		cites: []string{
			"When this option is set, BigQuery applies row modifications at least once within the interval defined by the max_staleness value, letting you run queries without waiting for updates to be applied, at the cost of some data staleness.",
			"When you set the max_staleness option on your table, BigQuery applies pending row modifications at least once within the max_staleness interval.",
			"Background apply jobs: jobs that run in the background at regular intervals that are defined by the table's max_staleness value.",
			"These jobs apply recently streamed row modifications into tables with active CDC.",
			"Background apply jobs run at intervals set by max_staleness.",
			"BigQuery applies them with background jobs.",
			"BigQuery CDC applies streamed UPSERT and DELETE rows to a table by primary key, in the background.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.createStale("t", orderColumns, tenMinutes, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.apply()
			before := r.watermark("t")
			w.append(`{"id":1,"v":"b","_CHANGE_TYPE":"UPSERT"}`)
			r.want("t", "1 a")
			for range 10 { // time passes, as it does
				r.advance(time.Minute)
			}
			r.want("t", "1 b")
			if after := r.watermark("t"); after <= before {
				r.errorf("ten minutes later the watermark is %s, and was %s", after, before)
			}
		},
	},
	{
		name: "the watermark says when changes were last applied",
		cites: []string{
			"To monitor the state of a table and to check when row modifications were last applied, query the INFORMATION_SCHEMA.TABLES view to get the upsert_stream_apply_watermark timestamp.",
			"The following example checks the upsert_stream_apply_watermark value of the table mytable:",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.createStale("t", orderColumns, tenMinutes, "id")
			w := r.cdc("t", orderColumns)
			var marks []string
			for range 3 {
				w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
				r.apply()
				marks = append(marks, r.watermark("t"))
				r.advance(time.Minute)
			}
			if marks[0] == "NULL" || marks[0] >= marks[1] || marks[1] >= marks[2] {
				r.errorf("the watermark after three applies, a minute apart, is %q", marks)
			}
		},
	},
	{
		name: "a delete is applied when the watermark has passed it",
		cites: []string{
			"A CDC DELETE operation is considered to be applied only when the upsert_stream_apply_watermark timestamp has passed the timestamp at which the Storage Write API (gRPC) streamed the operation.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.createStale("t", orderColumns, tenMinutes, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`, `{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`)
			r.apply()
			r.hold(true)
			defer r.hold(false)
			r.advance(time.Minute)
			streamed := r.query("SELECT CURRENT_TIMESTAMP()")[0]
			w.append(`{"id":1,"_CHANGE_TYPE":"DELETE"}`)
			if mark := r.watermark("t"); mark >= streamed {
				r.errorf("the watermark %s has passed a DELETE of %s that isn't applied", mark, streamed)
			}
			r.want("t", "1 a", "2 b")
			r.apply()
			if mark := r.watermark("t"); mark < streamed {
				r.errorf("the watermark %s hasn't passed an applied DELETE of %s", mark, streamed)
			}
			r.want("t", "2 b")
		},
	},
	{
		name: "applies are in the job history",
		cites: []string{
			"Upsert operations are performed by the bigquery-adminbot@system.gserviceaccount.com service account and appear within the job history of the project containing the table with active CDC.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.createStale("t", orderColumns, tenMinutes, "id")
			r.cdc("t", orderColumns).append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.apply()
			r.wantQuery("SELECT DISTINCT user_email FROM {region}.INFORMATION_SCHEMA.JOBS"+
				" WHERE job_id LIKE '%cdc_background%' AND destination_table.table_id = {'t'}", "bigquery-adminbot@system.gserviceaccount.com")
		},
	},
	{
		name: "the recommended max_staleness is computed from the jobs",
		cites: []string{
			"To calculate the time it takes to apply upserted changes to an existing table, use the following SQL query to determine the 95th percentile duration of background apply jobs, plus a seven-minute buffer to allow for the BigQuery write-optimized storage (streaming buffer) conversion.",
			"The documentation's guidance is to set max_staleness to at least twice the 95th-percentile apply duration plus a buffer, and it gives a query to calculate that.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.createStale("t", orderColumns, tenMinutes, "id")
			r.cdc("t", orderColumns).append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.apply()
			rows := r.query(`SELECT
  project_id,
  destination_table.dataset_id,
  destination_table.table_id,
  APPROX_QUANTILES((TIMESTAMP_DIFF(end_time, creation_time,MILLISECOND)/1000), 100)[OFFSET(95)] AS p95_background_apply_duration_in_seconds,
  CEILING(APPROX_QUANTILES((TIMESTAMP_DIFF(end_time, creation_time,MILLISECOND)/1000), 100)[OFFSET(95)]*2/60)+7 AS recommended_max_staleness_with_buffer_in_minutes
FROM {region}.INFORMATION_SCHEMA.JOBS AS job
WHERE
  project_id = '` + r.project + `'
  AND DATE(creation_time) BETWEEN DATE_SUB(CURRENT_DATE(), INTERVAL 7 DAY) AND CURRENT_DATE()
  AND job_id LIKE "%cdc_background%"
GROUP BY 1,2,3`)
			r.wantRowWith(rows, r.id("t"))
		},
	},
	{
		name: "the slots of applies are in the jobs' timeline",
		cites: []string{
			"To size a reservation accurately, monitor historical slot consumption for the project that performs the CDC operations by querying the INFORMATION_SCHEMA.JOBS_TIMELINE view:",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.createStale("t", orderColumns, tenMinutes, "id")
			r.cdc("t", orderColumns).append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			r.apply()
			rows := r.query(`SELECT
  period_start,
  SUM(period_slot_ms) / (1000 * 60) AS slots_used
FROM {region}.INFORMATION_SCHEMA.JOBS_TIMELINE_BY_PROJECT
WHERE
  DATE(job_creation_time) BETWEEN DATE_SUB(CURRENT_DATE(), INTERVAL 7 DAY)
  AND CURRENT_DATE()
  AND job_id LIKE '%cdc_background%'
GROUP BY
  period_start
ORDER BY
  period_start DESC`)
			if len(rows) == 0 {
				r.errorf("the timeline has no period with a background apply")
			}
		},
	},
}

var deleteCases = []testCase{
	{
		name: "an older change of a deleted row is late for two days",
		cites: []string{
			"To apply CDC DELETE operations that arrive out of order, BigQuery maintains a delete retention window of two days.",
			"Table DELETE operations are stored for this period before the standard Google Cloud data deletion process begins.",
			"Deletes are kept for two days to handle late, out-of-order changes, and that data is billed as storage meanwhile.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`)
			w.append(`{"id":1,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"3"}`)
			late := `{"id":1,"v":"late","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"2"}`
			w.append(late)
			r.want("t")
			r.apply()
			r.advance(47 * time.Hour)
			w.append(late)
			r.want("t")
			r.apply()
			r.want("t")
			r.advance(2 * time.Hour)
			w.append(late)
			r.want("t", "1 late")
		},
	},
	{
		name: "a delete that comes first",
		cites: []string{
			"To apply CDC DELETE operations that arrive out of order, BigQuery maintains a delete retention window of two days.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"5"}`)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"4"}`)
			r.want("t")
			w.append(`{"id":1,"v":"b","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"6"}`)
			r.want("t", "1 b")
		},
	},
}
