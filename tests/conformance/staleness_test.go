package conformance

import (
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
)

const tenMinutes = 10 * time.Minute

// staleTable is the reference's example: max_staleness is ten minutes, the most
// recent apply job occurred just now (T20), and changes have come since.
func (r *run) staleTable() *writer {
	r.createStale("t", orderColumns, tenMinutes, "id")
	w := r.cdc("t", orderColumns)
	w.append(`{"id":1,"v":"T20","_CHANGE_TYPE":"UPSERT"}`, `{"id":2,"v":"T20","_CHANGE_TYPE":"UPSERT"}`)
	r.apply()
	r.hold(true)
	r.closers = append(r.closers, func() { r.hold(false) })
	w.append(`{"id":1,"v":"T21","_CHANGE_TYPE":"UPSERT"}`, `{"id":2,"_CHANGE_TYPE":"DELETE"}`, `{"id":3,"v":"T21","_CHANGE_TYPE":"UPSERT"}`)
	return w
}

// stalenessCases are about what a query sees of a table with max_staleness.
var stalenessCases = []testCase{
	{
		name: "within max_staleness a query reads the baseline",
		cites: []string{
			"If you query the table at T25, then the current version of the table is 5 minutes stale, which is less than the max_staleness interval of 10 minutes.",
			"In this case, BigQuery returns the baseline version of the table at T20, meaning the data returned is also 5 minutes stale.",
			"If the time since the last background apply job is within the table's max_staleness interval, BigQuery reads directly from the baseline table.",
			"When you query a table with the max_staleness option set, BigQuery returns the result based on the value of max_staleness and the time at which the last apply job occurred, which is represented by the table's upsert_stream_apply_watermark timestamp.",
			"With max_staleness = INTERVAL 15 MINUTE, a query returns the table as of the last background apply, as long as that was less than 15 minutes ago.",
			"If a query asks for data while unapplied changes are still within the staleness window, it can read the last applied state.",
			"Changes are not applied to the table's stored data the moment they arrive.",
			"Streamed changes aren't merged into the table immediately.",
			"The table option max_staleness lets BigQuery apply changes in the background at least once within that interval, so queries can read a slightly stale but cheaply merged table.",
			"A staleness setting, max_staleness on the table, tells BigQuery how out of date query results may be, which controls when changes are applied.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.staleTable()
			r.want("t", "1 T20", "2 T20")
			r.advance(5 * time.Minute) // T25
			r.want("t", "1 T20", "2 T20")
		},
	},
	{
		name: "beyond max_staleness a query merges",
		cites: []string{
			"For example, if you query the table at T35, and the process of applying pending row modifications has not completed, then the current version of the table is 15 minutes stale, which is greater than the max_staleness interval of 10 minutes.",
			"Runtime merge jobs: jobs that are triggered by ad hoc GoogleSQL queries that run outside the max_staleness window.",
			"In this case, at query run time, BigQuery applies all row modifications between T20 and T35 for the current query, meaning the queried data is completely up to date, at the cost of some additional query latency.",
			"In some cases, however, BigQuery might not complete the process of applying these pending row modifications within the interval.",
			"If max_staleness isn't set, is set to 0, or the baseline table is older than the max_staleness interval, BigQuery performs a runtime merge of the baseline table and recently streamed row modifications.",
			"If they are older than the window, BigQuery merges them at query time, which returns current data but adds latency and cost.",
			"If the background work has fallen further behind, the query merges the pending changes itself (a runtime merge) and returns current data at the higher cost.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			w := r.staleTable()
			r.advance(15 * time.Minute) // T35
			r.want("t", "1 T21", "3 T21")
			w.append(`{"id":3,"v":"T35","_CHANGE_TYPE":"UPSERT"}`)
			r.want("t", "1 T21", "3 T35")
		},
	},
	{
		name: "a runtime merge doesn't advance the watermark",
		cites: []string{
			"This type of job does not advance the upsert_stream_apply_watermark timestamp.",
			"These jobs must perform an on-the-fly merge of the baseline of a table with active CDC and the recently streamed row modifications at query runtime.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.staleTable()
			before := r.watermark("t")
			r.advance(15 * time.Minute)
			r.want("t", "1 T21", "3 T21")
			if after := r.watermark("t"); after != before || before == "NULL" {
				r.errorf("the watermark is %s after a runtime merge, and was %s", after, before)
			}
		},
	},
	{
		name: "without max_staleness a query merges",
		cites: []string{
			"If max_staleness isn't set, is set to 0, or the baseline table is older than the max_staleness interval, BigQuery performs a runtime merge of the baseline table and recently streamed row modifications.",
			"By default, every time you run a query, BigQuery returns the most up-to-date results.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.create("unset", orderColumns, "id")
			r.createStale("zero", orderColumns, 0, "id")
			r.hold(true)
			defer r.hold(false)
			for _, table := range []string{"unset", "zero"} {
				w := r.cdc(table, orderColumns)
				w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
				r.apply()
				w.append(`{"id":1,"v":"b","_CHANGE_TYPE":"UPSERT"}`)
				r.want(table, "1 b")
			}
		},
	},
	{
		name: "a changed max_staleness counts for the next query",
		cites: []string{
			"When this option is set, BigQuery applies row modifications at least once within the interval defined by the max_staleness value, letting you run queries without waiting for updates to be applied, at the cost of some data staleness.",
			"To add or modify a max_staleness limit in an existing table, use the ALTER TABLE statement.",
			"If your queries can tolerate slight data staleness, you can enable partition pruning and avoid full table scans by setting the max_staleness option on the table, for example, to 15 minutes, so that background apply jobs merge changes before queries run:",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.staleTable()
			r.advance(12 * time.Minute)
			r.want("t", "1 T21", "3 T21")
			r.query("ALTER TABLE {t} SET OPTIONS (max_staleness = INTERVAL 15 MINUTE)")
			r.want("t", "1 T20", "2 T20")
			r.query("ALTER TABLE {t} SET OPTIONS (max_staleness = INTERVAL 0 MINUTE)")
			r.want("t", "1 T21", "3 T21")
		},
	},
	{
		name: "a query of the baseline scans the partitions that match",
		cites: []string{
			"Partition pruning and cluster pruning work as expected, and BigQuery scans only the partitions that match your WHERE clause filter.",
			"Only query jobs take advantage of BigQuery partitioning.",
			"To allow partition pruning for queries that can tolerate slight data staleness, configure the table's max_staleness option.",
			"Query jobs: GoogleSQL queries that run within the max_staleness window and only read from the baseline of a table with active CDC.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			r.partitioned()
			all, one := r.processed("SELECT MAX(v) FROM {t}"), r.processed("SELECT MAX(v) FROM {t} WHERE day = '2026-11-01'")
			if one <= 0 || one >= all {
				r.errorf("a query of one partition of ten processed %d bytes, of all %d", one, all)
			}
		},
	},
	{
		name: "a runtime merge scans the whole table",
		cites: []string{
			"During a runtime merge, partition pruning is bypassed because BigQuery can't determine in advance which partitions are affected by unapplied streamed changes.",
			"As a result, the query scans the entire table even when you filter on the partitioning column.",
			"If your query triggers a runtime merge on a partitioned table, then partition pruning is bypassed and the entire table is scanned whether or not the query is restricted to a subset of the partitions.",
			"In other words, the full baseline table is read during background apply jobs and runtime merge jobs.",
			"A runtime merge on a partitioned table scans the whole table, whatever partitions the query asks for, so a max_staleness that is too low makes queries both slower and more expensive.",
			"For the same reason, only query jobs can benefit from filters on BigQuery clustering columns.",
			"Clustering on the key helps queries, though the documentation notes that background and runtime merges read the full table; see partitioning and clustering in BigQuery.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			w := r.partitioned()
			r.hold(true)
			defer r.hold(false)
			w.append(`{"id":99,"day":20000,"v":"late","_CHANGE_TYPE":"UPSERT"}`)
			r.advance(15 * time.Minute)
			all, one := r.processed("SELECT MAX(v) FROM {t}"), r.processed("SELECT MAX(v) FROM {t} WHERE day = '2026-11-01'")
			if one < all || all <= 0 {
				r.errorf("a runtime merge for one partition processed %d bytes, for all %d", one, all)
			}
		},
	},
}

// partitioned is table t with ten days of rows, applied, and max_staleness.
func (r *run) partitioned() *writer {
	columns := "id INTEGER, day DATE, v STRING"
	r.createWith("t", columns, &bigquery.TableMetadata{
		MaxStaleness:     &bigquery.IntervalValue{Minutes: 10},
		TimePartitioning: &bigquery.TimePartitioning{Field: "day", Type: bigquery.DayPartitioningType},
	}, "id")
	w := r.cdc("t", columns)
	first := int(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	for i := range 10 {
		w.append(fmt.Sprintf(`{"id":%d,"day":%d,"v":%q,"_CHANGE_TYPE":"UPSERT"}`, i, first+i, strings.Repeat("x", 100)))
	}
	r.apply()
	return w
}

// processed is how many bytes a query says that it processed.
func (r *run) processed(sql string) int64 {
	query := r.bq.Query(r.expand(sql))
	query.DisableQueryCache = true
	job, err := query.Run(r.ctx)
	r.must(err, "running "+sql)
	state, err := job.Wait(r.ctx)
	r.must(err, "waiting for "+sql)
	r.must(state.Err(), "running "+sql)
	return state.Statistics.TotalBytesProcessed
}

// watermark is a table's upsert_stream_apply_watermark, NULL before the first apply.
func (r *run) watermark(table string) string {
	rows := r.query("SELECT upsert_stream_apply_watermark FROM {dataset}.INFORMATION_SCHEMA.TABLES WHERE table_name = {'" + table + "'}")
	if len(rows) != 1 {
		r.fatalf("INFORMATION_SCHEMA.TABLES has %d rows of table %s", len(rows), table)
	}
	return rows[0]
}
