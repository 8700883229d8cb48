package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// wantRowWith says if no row has the text.
func (r *run) wantRowWith(rows []string, text string) {
	for _, row := range rows {
		if strings.Contains(row, text) {
			return
		}
	}
	r.errorf("no row of %q has %q", rows, text)
}

// active is table t with active CDC and runtime merges: a pending change and no max_staleness.
func (r *run) active() *writer {
	r.create("t", orderColumns, "id")
	w := r.cdc("t", orderColumns)
	w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
	return w
}

// mutating are the statements that a table with active CDC doesn't take.
var mutating = []string{
	"UPDATE {t} SET v = 'x' WHERE id = 1",
	"DELETE FROM {t} WHERE id = 1",
	"MERGE {t} AS target USING (SELECT 1 AS id, 'x' AS v) AS s ON target.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",
}

// limitCases are what a table with active CDC can't do.
var limitCases = []testCase{
	{
		name: "mutating DML is blocked",
		cites: []string{
			"Mutating DML statements are blocked while a table is actively receiving CDC streams or while unmerged changes remain on the table.",
			"Mutating data manipulation language (DML) statements such as DELETE, UPDATE, and MERGE.",
			"No DML on CDC tables: UPDATE, DELETE and MERGE statements are not supported, so corrections must also flow through the stream.",
			"UPDATE, DELETE and MERGE statements on it aren't allowed.",
			"The limitations matter for design: a table with active CDC cannot take mutating DML such as UPDATE, DELETE or MERGE, and background merge jobs block copies, clones, snapshots and the Storage Read API.",
			"max_staleness trades freshness for cost, keys aren't enforced, and CDC tables reject UPDATE, DELETE and MERGE.",
			"All changes come through the stream.",
		},
		run: func(r *run) {
			r.active()
			for _, statement := range mutating {
				r.refuseQuery(statement)
			}
			r.want("t", "1 a")
		},
	},
	{
		name: "mutating DML is blocked by an active stream alone, and by pending changes alone",
		cites: []string{
			"Mutating DML statements are blocked while a table is actively receiving CDC streams or while unmerged changes remain on the table.",
			"A table is considered active with CDC while the Storage Write API (gRPC) is streaming row modifications to the table in this manner or while pending row modifications are being applied.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			w := r.active()
			r.hold(true)
			defer r.hold(false)
			r.apply()
			r.refuseQuery(mutating[0]) // the connection is open
			w.append(`{"id":1,"v":"b","_CHANGE_TYPE":"UPSERT"}`)
			w.close()
			r.refuseQuery(mutating[0]) // the change is pending
			r.want("t", "1 b")
		},
	},
	{
		name: "DML after the stream has ended and all is merged",
		cites: []string{
			"When there are no active upsert streams and all pending changes are merged into the baseline table, mutating DML statements are supported.",
		},
		emulatorOnly: true,
		run: func(r *run) {
			w := r.active()
			w.append(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`)
			w.close()
			r.apply()
			r.advance(time.Hour) // however long a stream counts as active
			r.query("UPDATE {t} SET v = 'updated' WHERE id = 1")
			r.query("DELETE FROM {t} WHERE id = 2")
			r.want("t", "1 updated")
			r.query("MERGE {t} AS target USING (SELECT 3 AS id, 'merged' AS v) AS s ON target.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)")
			r.want("t", "1 updated", "3 merged")
		},
	},
	{
		name: "no wildcard tables",
		cites: []string{
			"Querying wildcard tables",
			"It can't be queried through a wildcard table and can't have a search index.",
		},
		run: func(r *run) {
			r.active()
			r.refuseQuery("SELECT * FROM {t*} WHERE _TABLE_SUFFIX = '" + r.suffix + "'")
		},
	},
	{
		name: "a wildcard of tables without CDC",
		cites: []string{
			"Querying wildcard tables",
		},
		run: func(r *run) {
			r.create("w", orderColumns)
			r.plain("w", orderColumns).append(`{"id":1,"v":"a"}`)
			r.wantQuery("SELECT id, v, _TABLE_SUFFIX FROM {w*} WHERE _TABLE_SUFFIX = '"+r.suffix+"'", "1 a "+r.suffix)
		},
	},
	{
		name: "no search index",
		cites: []string{
			"Search indexes",
			"It can't be queried through a wildcard table and can't have a search index.",
		},
		run: func(r *run) {
			r.active()
			r.refuseQuery("CREATE SEARCH INDEX an_index ON {t}(ALL COLUMNS)")
		},
	},
	{
		name:  "no copy while queries merge",
		cites: []string{"Table copy operations", runtimeMergeLimits, readLimits},
		run: func(r *run) {
			r.active()
			r.refuseCopy(bigquery.CopyOperation)
		},
	},
	{
		name:  "no clone while queries merge",
		cites: []string{"Table clone operations", runtimeMergeLimits, readLimits},
		run: func(r *run) {
			r.active()
			r.refuseQuery("CREATE TABLE {clone} CLONE {t}")
		},
	},
	{
		name:  "no snapshot while queries merge",
		cites: []string{"Table snapshot operations", runtimeMergeLimits, readLimits},
		run: func(r *run) {
			r.active()
			r.refuseQuery("CREATE SNAPSHOT TABLE {snapshot} CLONE {t}")
		},
	},
	{
		name:  "no clone and snapshot jobs while queries merge",
		cites: []string{"Table clone operations", "Table snapshot operations", runtimeMergeLimits},
		run: func(r *run) {
			r.active()
			r.refuseCopy(bigquery.CloneOperation)
			r.refuseCopy(bigquery.SnapshotOperation)
		},
	},
	{
		name:         "copy, clone and snapshot while queries read the baseline",
		cites:        []string{runtimeMergeLimits},
		emulatorOnly: true,
		run: func(r *run) {
			r.staleTable()
			r.query("CREATE TABLE {copied} COPY {t}")
			r.query("CREATE TABLE {cloned} CLONE {t}")
			r.query("CREATE SNAPSHOT TABLE {snapshot} CLONE {t}")
			for _, table := range []string{"copied", "cloned", "snapshot"} {
				r.want(table, "1 T20", "2 T20")
			}
		},
	},
	{
		name:  "no Storage Read API while queries merge",
		cites: []string{"The BigQuery Storage Read API", runtimeMergeLimits, readLimits},
		run: func(r *run) {
			r.active()
			_, err := storagepb.NewBigQueryReadClient(r.conn).CreateReadSession(r.ctx, &storagepb.CreateReadSessionRequest{
				Parent:         "projects/" + r.project,
				ReadSession:    &storagepb.ReadSession{Table: r.parent("t"), DataFormat: storagepb.DataFormat_AVRO},
				MaxStreamCount: 1,
			})
			if err == nil {
				r.errorf("a read session was created")
			} else if notThere(err) {
				r.fatalf("creating a read session: %v", err)
			}
		},
	},
	{
		name:  "no requirePartitionFilter while queries merge",
		cites: []string{"The requirePartitionFilter table option", runtimeMergeLimits, readLimits},
		run: func(r *run) {
			columns := "id INTEGER, day DATE"
			r.createWith("t", columns, &bigquery.TableMetadata{
				TimePartitioning:       &bigquery.TimePartitioning{Field: "day", Type: bigquery.DayPartitioningType},
				RequirePartitionFilter: true,
			}, "id")
			w := r.cdc("t", columns)
			if _, err := w.try(-1, `{"id":1,"day":20000,"_CHANGE_TYPE":"UPSERT"}`); err != nil {
				return // the change is refused
			}
			r.refuseQuery("SELECT * FROM {t} WHERE day = '2024-10-04'") // or the query that would merge
		},
	},
	{
		name: "an extract job exports what is applied",
		cites: []string{
			"BigQuery export operations on tables with active CDC don't export recently streamed row modifications that have yet to be applied by a background job.",
			"An extract job exports only the changes already applied.",
		},
		emulatorOnly: true, // it needs a bucket, and applies that are held back
		run: func(r *run) {
			r.pendingChange()
			extractor := r.handle("t").ExtractorTo(&bigquery.GCSReference{URIs: []string{"gs://bucket/t.csv"}})
			job, err := extractor.Run(r.ctx)
			r.must(err, "running an extract job")
			state, err := job.Wait(r.ctx)
			r.must(err, "waiting for an extract job")
			r.must(state.Err(), "extracting")
			r.wantExport("t.csv", "id,v\n1,a\n")
		},
	},
	{
		name: "EXPORT DATA exports the current state",
		cites: []string{
			"To export the full table, use an EXPORT DATA statement.",
			"Use EXPORT DATA to export the current state.",
		},
		emulatorOnly: true, // it needs a bucket, and applies that are held back
		run: func(r *run) {
			r.pendingChange()
			r.query("EXPORT DATA OPTIONS (uri = 'gs://bucket/t-*.csv', format = 'CSV', header = true) AS SELECT * FROM {t} ORDER BY id")
			r.wantExport("t-000000000000.csv", "id,v\n1,a\n2,pending\n")
		},
	},
}

// pendingChange is table t with row 1 in its baseline and row 2 pending.
func (r *run) pendingChange() {
	w := r.active()
	r.apply()
	r.hold(true)
	w.append(`{"id":2,"v":"pending","_CHANGE_TYPE":"UPSERT"}`)
	r.must(os.MkdirAll(filepath.Join(r.buckets, "bucket"), 0o700), "making a bucket")
}

func (r *run) wantExport(name, want string) {
	got, err := os.ReadFile(filepath.Join(r.buckets, "bucket", name))
	r.must(err, "reading what was exported")
	if string(got) != want {
		r.errorf("%s has %q, want %q", name, got, want)
	}
}

const (
	runtimeMergeLimits = "Tables with active CDC that perform runtime merge jobs because the table's max_staleness value is too low cannot support the following:"
	readLimits         = "If queries are doing runtime merges, table copies, clones, snapshots, the Storage Read API and require_partition_filter stop working on it."
)

// refuseCopy starts a copy job of table t, which must fail.
func (r *run) refuseCopy(operation bigquery.TableCopyOperationType) {
	r.tables = append(r.tables, "copied")
	copier := r.handle("copied").CopierFrom(r.handle("t"))
	copier.OperationType = operation
	job, err := copier.Run(r.ctx)
	if err == nil {
		var state *bigquery.JobStatus
		if state, err = job.Wait(r.ctx); err == nil {
			err = state.Err()
		}
	}
	switch {
	case err == nil:
		r.errorf("a %s job succeeded", operation)
	case notThere(err):
		r.fatalf("a %s job: %v", operation, err)
	}
}
