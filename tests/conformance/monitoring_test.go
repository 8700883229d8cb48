package conformance

// monitoringCases read the timelines of ingestion.
var monitoringCases = []testCase{
	{
		name: "the timeline of the Storage Write API",
		cites: []string{
			"BigQuery exposes ingestion history in INFORMATION_SCHEMA.",
			"The WRITE_API_TIMELINE views cover the gRPC API and the STREAMING_TIMELINE views cover the REST method, aggregated into one-minute intervals with byte totals broken down by error code (OK for successful requests).",
		},
		emulatorOnly: true, // BigQuery's own shows a request after some minutes
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.cdc("t", orderColumns)
			w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
			w.refuse(`{"id":1,"v":"a","_CHANGE_TYPE":"REPLACE"}`)
			r.wantRowWith(r.query("SELECT error_code, SUM(total_input_bytes) > 0 AS has_bytes FROM {region}.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT"+
				" WHERE table_id = {'t'} GROUP BY 1 ORDER BY 1"), "OK true")
			r.wantQuery("SELECT COUNT(*) > 0 FROM {region}.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT WHERE table_id = {'t'} AND error_code = 'INVALID_ARGUMENT'", "true")
			r.wantQuery("SELECT COUNT(*) FROM {region}.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT WHERE EXTRACT(SECOND FROM start_timestamp) != 0", "0")
		},
	},
	{
		name: "the query of the timeline",
		cites: []string{
			"BigQuery exposes ingestion history in INFORMATION_SCHEMA.",
			"Alert on non-OK error codes and on bytes written falling below the expected rate; the second catches a writer that is healthy but disconnected from its source.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			r.plain("t", orderColumns).append(`{"id":1,"v":"a"}`)
			r.query("SELECT start_timestamp, error_code, SUM(total_input_bytes) AS bytes\n" +
				"FROM {region}.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT\n" +
				"WHERE start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)\n" +
				"GROUP BY 1, 2\n" +
				"ORDER BY 1 DESC")
		},
	},
	{
		name: "the timeline of the REST method",
		cites: []string{
			"The WRITE_API_TIMELINE views cover the gRPC API and the STREAMING_TIMELINE views cover the REST method, aggregated into one-minute intervals with byte totals broken down by error code (OK for successful requests).",
		},
		emulatorOnly: true, // BigQuery's own shows a request after some minutes
		run: func(r *run) {
			r.create("t", orderColumns)
			r.put("t", order("a", 1, "a"))
			rows := r.query("SELECT error_code, SUM(total_rows), SUM(total_requests) FROM {region}.INFORMATION_SCHEMA.STREAMING_TIMELINE_BY_PROJECT" +
				" WHERE table_id = {'t'} GROUP BY 1")
			if len(rows) != 1 || (rows[0] != "NULL 1 1" && rows[0] != "OK 1 1") {
				r.errorf("the timeline has %q, want one row of one request", rows)
			}
		},
	},
}
