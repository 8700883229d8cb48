package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"
)

// query runs a statement with Google's client and returns its rows, each as fmt prints it.
func (e *env) query(sql string, parameters ...bigquery.QueryParameter) []string {
	e.t.Helper()
	q := e.bq.Query(sql)
	q.Parameters = parameters
	q.DefaultDatasetID = "d"
	it, err := q.Read(e.t.Context())
	if err != nil {
		e.t.Fatalf("%s: %v", sql, err)
	}
	return e.rows(it)
}

func (e *env) rows(it *bigquery.RowIterator) []string {
	e.t.Helper()
	rows := []string{}
	for {
		var row []bigquery.Value
		if err := it.Next(&row); errors.Is(err, iterator.Done) {
			return rows
		} else if err != nil {
			e.t.Fatal(err)
		}
		rows = append(rows, fmt.Sprint(row))
	}
}

func wantStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// wait waits for a job that must succeed.
func (e *env) wait(job *bigquery.Job, err error) *bigquery.JobStatus {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
	status, err := job.Wait(e.t.Context())
	if err == nil {
		err = status.Err()
	}
	if err != nil {
		e.t.Fatalf("job %s: %v", job.ID(), err)
	}
	return status
}

func TestJobs_Query(t *testing.T) {
	e := newEnv(t, Options{})
	wantStrings(t, e.query("SELECT 1 AS a, 'x' b, [1, 2] c, STRUCT(1 AS q) d, CAST(NULL AS STRING) e, 1.5 f, NUMERIC '1.50' g"), "[1 x [1 2] [1] <nil> 1.5 3/2]")
	wantStrings(t, e.query("CREATE TABLE t (id INT64, v STRING, tags ARRAY<STRING>)"))
	wantStrings(t, e.query("INSERT INTO t VALUES (1, 'a', ['x']), (2, NULL, []), (3, 'c', NULL)"))
	wantStrings(t, e.query("SELECT * FROM d.t ORDER BY id"), "[1 a [x]]", "[2 <nil> []]", "[3 c []]")
	_, err := e.bq.Query("SELECT nope FROM d.t").Read(t.Context())
	wantAPIError(t, err, 400, "invalidQuery", "nope")
	_, err = e.bq.Query("SELECT * FROM d.nope").Read(t.Context())
	wantAPIError(t, err, 404, "notFound", "Not found: Table p:d.nope")
}

// Parameters of every shape that Google's client sends.
func TestJobs_Parameters(t *testing.T) {
	e := newEnv(t, Options{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	type pair struct {
		A int64
		B string
	}
	for _, test := range []struct {
		value any
		sql   string
		want  string
	}{
		{2, "@p + 1", "[3]"},
		{"it's", "@p", "[it's]"},
		{"", "@p = ''", "[true]"},
		{bigquery.NullString{}, "@p IS NULL", "[true]"},
		{1.5, "@p", "[1.5]"},
		{true, "NOT @p", "[false]"},
		{[]byte{0, 1}, "TO_HEX(@p)", "[0001]"},
		{at, "@p", "[2026-01-02 03:04:05.000006 +0000 UTC]"},
		{[]int64{1, 2}, "ARRAY_LENGTH(@p)", "[2]"},
		{[]string{}, "ARRAY_LENGTH(@p)", "[0]"},
		{pair{1, "b"}, "CONCAT(@p.B, CAST(@p.A AS STRING))", "[b1]"},
		{[]pair{{1, "b"}, {2, "c"}}, "(SELECT STRING_AGG(x.B) FROM UNNEST(@p) x)", "[b,c]"},
	} {
		t.Run(test.sql, func(t *testing.T) {
			e := &env{Server: e.Server, t: t, bq: e.bq}
			wantStrings(t, e.query("SELECT "+test.sql, bigquery.QueryParameter{Name: "p", Value: test.value}), test.want)
		})
	}
	wantStrings(t, e.query("SELECT ?, ?", bigquery.QueryParameter{Value: 1}, bigquery.QueryParameter{Value: "b"}), "[1 b]")

	const queries = "/bigquery/v2/projects/p/queries"
	for body, want := range map[string]string{
		`{"query":"SELECT @p","useLegacySql":true}`:                                                                                                         "legacy SQL",
		`{"query":"SELECT @p","queryParameters":[{"name":"p","parameterType":{"type":"NOPE"}}]}`:                                                            "Invalid query parameter type: NOPE",
		`{"query":"SELECT @p","queryParameters":[{"name":"p"}]}`:                                                                                            "it is missing",
		`{"query":"SELECT @p","queryParameters":[{"name":"p","parameterType":{"type":"INT64"}},{"parameterType":{"type":"INT64"}}]}`:                        "can't be mixed",
		`{"query":"SELECT @p","queryParameters":[{"name":"p","parameterType":{"type":"INT64"}},{"name":"P","parameterType":{"type":"INT64"}}]}`:             "Duplicate query parameter",
		`{"query":"SELECT @p","parameterMode":"X"}`:                                                                                                         "Invalid value for parameterMode",
		`{"query":"SELECT @p","queryParameters":[{"name":"p","parameterType":{"type":"INT64"},"parameterValue":{"value":"x"}}]}`:                            "Invalid value of a query parameter of type INT64",
		`{"query":"SELECT @p","queryParameters":[{"name":"p","parameterType":{"type":"ARRAY","arrayType":{"type":"ARRAY","arrayType":{"type":"INT64"}}}}]}`: "an ARRAY of ARRAYs",
		`{"query":"SELECT @p","queryParameters":[{"name":"p","parameterType":{"type":"STRUCT"}}]}`:                                                          "a STRUCT without fields",
		`{"query":""}`:                                           "Syntax error",
		`{"query":"SELECT 1; SELECT 2"}`:                         "scripts are not implemented",
		`{"query":"SELECT 1","timeoutMs":"x"}`:                   "Invalid JSON payload",
		`{"query":"SELECT 1","defaultDataset":{"datasetId":"d"}`: "Invalid JSON payload",
		`{"query":"SELECT 1"} {}`:                                "Invalid JSON payload",
	} {
		code, answer := e.do("POST", queries, body)
		detail, _ := answer["error"].(map[string]any)
		if message, _ := detail["message"].(string); code/100 == 2 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %q, want %q", body, code, message, want)
		}
	}
	// A number where a string is documented, and one the other way round; a parameter's value that is no string.
	code, answer := e.do("POST", queries, `{"query":"SELECT @p","maxResults":"1","timeoutMs":"10000","maximumBytesBilled":5,
		"queryParameters":[{"name":"p","parameterType":{"type":"INT64"},"parameterValue":{"value":7}}]}`)
	if code != 200 || fmt.Sprint(answer["rows"]) != "[map[f:[map[v:7]]]]" {
		t.Errorf("%d %v", code, answer)
	}
}

// Pages of a result: of the first answer, by token, by index, of the anonymous table.
func TestJobs_Pages(t *testing.T) {
	e := newEnv(t, Options{})
	q := e.bq.Query("SELECT n FROM UNNEST(GENERATE_ARRAY(1, 7)) n ORDER BY n")
	it, err := q.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	it.PageInfo().MaxSize = 3
	if got := e.rows(it); len(got) != 7 || it.TotalRows != 7 {
		t.Errorf("%d rows of %d", len(got), it.TotalRows)
	}
	const queries = "/bigquery/v2/projects/p/queries"
	code, answer := e.do("POST", queries, `{"query":"SELECT n FROM UNNEST(GENERATE_ARRAY(1, 7)) n ORDER BY n","maxResults":3}`)
	if code != 200 || len(answer["rows"].([]any)) != 3 || answer["totalRows"] != "7" || answer["jobComplete"] != true || answer["pageToken"] != "3" || answer["cacheHit"] != false {
		t.Fatalf("%d %v", code, answer)
	}
	id := answer["jobReference"].(map[string]any)["jobId"].(string)
	var rows []string
	for path := queries + "/" + id + "?maxResults=2&pageToken=3"; path != ""; {
		_, page := e.do("GET", path, "")
		for _, row := range page["rows"].([]any) {
			rows = append(rows, row.(map[string]any)["f"].([]any)[0].(map[string]any)["v"].(string))
		}
		path = ""
		if token, ok := page["pageToken"].(string); ok {
			path = queries + "/" + id + "?maxResults=2&pageToken=" + token
		}
	}
	wantStrings(t, rows, "4", "5", "6", "7")
	if _, page := e.do("GET", queries+"/"+id+"?startIndex=6", ""); len(page["rows"].([]any)) != 1 || page["pageToken"] != nil {
		t.Errorf("startIndex: %v", page)
	}
	if _, page := e.do("GET", queries+"/"+id+"?maxResults=0", ""); page["rows"] != nil || page["totalRows"] != "7" || page["schema"] == nil {
		t.Errorf("maxResults=0: %v", page)
	}
	if code, _ := e.do("GET", queries+"/"+id+"?timeoutMs=x", ""); code != 400 {
		t.Errorf("timeoutMs=x: %d", code)
	}
	if code, _ := e.do("GET", queries+"/nope", ""); code != 404 {
		t.Errorf("an absent job: %d", code)
	}
	_, job := e.do("GET", "/projects/p/jobs/"+id, "")
	destination := job["configuration"].(map[string]any)["query"].(map[string]any)["destinationTable"].(map[string]any)
	table := fmt.Sprintf("/projects/p/datasets/%s/tables/%s", destination["datasetId"], destination["tableId"])
	if _, data := e.do("GET", table+"/data?startIndex=5", ""); data["totalRows"] != "7" || len(data["rows"].([]any)) != 2 {
		t.Errorf("tabledata.list of the anonymous table: %v", data)
	}
	if _, resource := e.do("GET", table, ""); resource["numRows"] != "7" || resource["schema"] == nil {
		t.Errorf("tables.get of the anonymous table: %v", resource)
	}
	if code, _ := e.do("GET", "/projects/p/datasets/_anonymous/tables/anon_nope", ""); code != 404 {
		t.Errorf("an absent anonymous table: %d", code)
	}
}

// The forms of a TIMESTAMP, as each client asks for one.
func TestJobs_Timestamps(t *testing.T) {
	e := newEnv(t, Options{})
	const body = `{"query":"SELECT TIMESTAMP '2026-01-02 03:04:05.5' AS t","formatOptions":{%s}}`
	id := ""
	for options, want := range map[string]string{
		``: "1767323045.500000", `"useInt64Timestamp":true`: "1767323045500000", `"timestampOutputFormat":"INT64"`: "1767323045500000",
		`"timestampOutputFormat":"FLOAT64","useInt64Timestamp":true`: "1767323045.500000", `"timestampOutputFormat":"ISO8601_STRING"`: "2026-01-02T03:04:05.500000Z",
	} {
		_, answer := e.do("POST", "/projects/p/queries", fmt.Sprintf(body, options))
		if got := fmt.Sprint(answer["rows"]); got != "[map[f:[map[v:"+want+"]]]]" {
			t.Errorf("%s: %s, want %s", options, got, want)
		}
		id = answer["jobReference"].(map[string]any)["jobId"].(string)
	}
	if code, _ := e.do("POST", "/projects/p/queries", fmt.Sprintf(body, `"timestampOutputFormat":"X"`)); code != 400 {
		t.Errorf("timestampOutputFormat X: %d", code)
	}
	// Python's client writes True.
	if _, answer := e.do("GET", "/projects/p/queries/"+id+"?formatOptions.useInt64Timestamp=True", ""); fmt.Sprint(answer["rows"]) != "[map[f:[map[v:1767323045500000]]]]" {
		t.Errorf("%v", answer["rows"])
	}
	if code, _ := e.do("GET", "/projects/p/queries/"+id+"?formatOptions.timestampOutputFormat=X", ""); code != 400 {
		t.Errorf("timestampOutputFormat X of getQueryResults: %d", code)
	}
}

// A job's resource, and DML's and DDL's statistics.
func TestJobs_Statistics(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	run := func(sql string) *bigquery.QueryStatistics {
		t.Helper()
		status := e.wait(e.bq.Query(sql).Run(ctx))
		return status.Statistics.Details.(*bigquery.QueryStatistics)
	}
	if s := run("CREATE TABLE d.t (id INT64)"); s.StatementType != "CREATE_TABLE" || s.DDLOperationPerformed != "CREATE" || s.DDLTargetTable.TableID != "t" {
		t.Errorf("CREATE TABLE: %+v", s)
	}
	if s := run("INSERT d.t VALUES (1), (2), (3)"); s.StatementType != "INSERT" || s.NumDMLAffectedRows != 3 || s.DMLStats.InsertedRowCount != 3 {
		t.Errorf("INSERT: %+v", s)
	}
	if s := run("UPDATE d.t SET id = 4 WHERE id > 1"); s.NumDMLAffectedRows != 2 || s.DMLStats.UpdatedRowCount != 2 {
		t.Errorf("UPDATE: %+v", s)
	}
	if s := run("DELETE FROM d.t WHERE id = 9"); s.NumDMLAffectedRows != 0 || s.DMLStats == nil {
		t.Errorf("DELETE: %+v", s)
	}
	if s := run("SELECT * FROM d.t"); s.StatementType != "SELECT" || len(s.ReferencedTables) != 1 || s.ReferencedTables[0].TableID != "t" || len(s.Schema) != 1 || s.CacheHit {
		t.Errorf("SELECT: %+v", s)
	}
	q := e.bq.Query("SELECT * FROM d.t")
	q.DryRun = true
	job, err := q.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s := job.LastStatus(); !s.Done() || len(s.Statistics.Details.(*bigquery.QueryStatistics).Schema) != 1 {
		t.Errorf("dry run: %+v", s)
	}
	q = e.bq.Query("SELECT nope")
	q.DryRun = true
	_, err = q.Run(ctx)
	wantAPIError(t, err, 400, "invalidQuery", "nope")
	if _, answer := e.do("POST", "/projects/p/queries", `{"query":"SELECT id FROM d.t","dryRun":true}`); answer["jobComplete"] != true || answer["schema"] == nil || answer["rows"] != nil {
		t.Errorf("dry run of jobs.query: %v", answer)
	}
	_, answer := e.do("POST", "/projects/p/queries", `{"query":"DELETE FROM d.t WHERE id = 9"}`)
	if answer["numDmlAffectedRows"] != "0" || answer["totalRows"] != nil || answer["schema"] != nil || answer["statementType"] != "DELETE" {
		t.Errorf("jobs.query of DML: %v", answer)
	}
}

// What fails in a job is its errorResult; what makes no job is an error of HTTP.
func TestJobs_Insert(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	q := e.bq.Query("SELECT 1/0")
	q.JobID = "mine"
	job, err := q.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = job.Wait(ctx)
	wantAPIError(t, err, 400, "invalidQuery", "division by zero")
	status, err := job.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var failed *bigquery.Error
	if !errors.As(status.Err(), &failed) || failed.Reason != "invalidQuery" || !strings.Contains(failed.Message, "division by zero") {
		t.Errorf("status %v", status.Err())
	}
	_, err = job.Read(ctx)
	wantAPIError(t, err, 400, "invalidQuery", "division by zero")
	_, err = q.Run(ctx)
	// Google's client takes a job that is there for its own, lost and sent again.
	if err != nil {
		wantAPIError(t, err, 409, "duplicate", "Already Exists: Job p:US.mine")
	}
	const jobs = "/bigquery/v2/projects/p/jobs"
	for body, want := range map[string]int{
		`{"jobReference":{"jobId":"mine"},"configuration":{"query":{"query":"SELECT 1","useLegacySql":false}}}`: 409,
		`{"jobReference":{"jobId":"a b"},"configuration":{"query":{"query":"SELECT 1"}}}`:                       400,
		`{"jobReference":{"projectId":"q"},"configuration":{"query":{"query":"SELECT 1"}}}`:                     400,
		`{"configuration":{}}`: 400,
		`{}`:                   400,
		`{"configuration":{"query":{},"load":{}}}`:                                                                                                                400,
		`{"configuration":{"query":{"query":"SELECT 1","useLegacySql":true}}}`:                                                                                    501,
		`{"configuration":{"query":{"query":"SELECT 1","writeDisposition":"X"}}}`:                                                                                 400,
		`{"configuration":{"load":{"destinationTable":{"datasetId":"d","tableId":"t"}}}}`:                                                                         400,
		`{"configuration":{"load":{"sourceUris":["gs://b/o"],"destinationTable":{"datasetId":"d","tableId":"t"}}}}`:                                               501,
		`{"configuration":{"load":{"sourceFormat":"AVRO","sourceUris":["gs://b/o"],"destinationTable":{"datasetId":"d","tableId":"t"}}}}`:                         501,
		`{"configuration":{"dryRun":true,"copy":{}}}`:                                                                                                             400,
		`{"configuration":{"copy":{"destinationTable":{"datasetId":"d","tableId":"t"}}}}`:                                                                         400,
		`{"configuration":{"copy":{"operationType":"NOPE","destinationTable":{"datasetId":"d","tableId":"t"}}}}`:                                                  400,
		"{\"configuration\":{\"copy\":{\"sourceTable\":{\"datasetId\":\"d\",\"tableId\":\"a`b\"},\"destinationTable\":{\"datasetId\":\"d\",\"tableId\":\"t\"}}}}": 400,
		`{"configuration":{"extract":{"sourceTable":{"datasetId":"d","tableId":"t"},"destinationUris":["gs://b/o"]}}}`:                                            501,
	} {
		if code, answer := e.do("POST", jobs, body); code != want {
			t.Errorf("%s: %d %v, want %d", body, code, answer, want)
		}
	}
	if code, _ := e.do("GET", jobs+"/nope", ""); code != 404 {
		t.Errorf("jobs.get of an absent job: %d", code)
	}
	if code, _ := e.do("POST", jobs+"/nope/cancel", ""); code != 404 {
		t.Errorf("jobs.cancel of an absent job: %d", code)
	}
	// skipLeadingRows is a number, and Python's client sends a string; unknown settings stay.
	code, answer := e.do("POST", jobs, `{"configuration":{"query":{"query":"SELECT 1","useLegacySql":false,"unheardOf":[1]},"labels":{"a":"b"}}}`)
	configuration, _ := answer["configuration"].(map[string]any)
	if code != 200 || answer["kind"] != "bigquery#job" || fmt.Sprint(configuration["labels"]) != "map[a:b]" || configuration["query"].(map[string]any)["unheardOf"] == nil ||
		configuration["jobType"] != "QUERY" || answer["user_email"] == "" || !strings.HasPrefix(answer["selfLink"].(string), e.RESTAddr()) {
		t.Errorf("%d %v", code, answer)
	}
}

func TestJobs_Destination(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	into := func(sql string, write bigquery.TableWriteDisposition) (*bigquery.Job, error) {
		q := e.bq.Query(sql)
		q.Dst, q.WriteDisposition = e.bq.Dataset("d").Table("out"), write
		return q.Run(ctx)
	}
	job, err := into("SELECT 1 AS id, 'a' AS v", "")
	e.wait(job, err)
	it, err := job.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantStrings(t, e.rows(it), "[1 a]")
	job, err = into("SELECT 2 AS id, 'b' AS v", bigquery.WriteEmpty)
	if err != nil {
		t.Fatal(err)
	}
	_, err = job.Wait(ctx)
	wantAPIError(t, err, 409, "duplicate", "Already Exists: Table p:d.out")
	e.wait(into("SELECT 2 AS id, 'b' AS v", bigquery.WriteAppend))
	e.want("out", `{"id":"1","v":"a"}`, `{"id":"2","v":"b"}`)
	e.wait(into("SELECT 'new' AS only", bigquery.WriteTruncate))
	e.want("out", `{"only":"new"}`)
}

// A request that is sent again with its ID gets the job of the first.
func TestJobs_RequestID(t *testing.T) {
	clock := &Clock{}
	e := newEnv(t, Options{Clock: clock})
	e.query("CREATE TABLE t (id INT64)")
	insert := func() string {
		code, answer := e.do("POST", "/projects/p/queries", `{"query":"INSERT d.t VALUES (1)","requestId":"r"}`)
		if code != 200 || answer["numDmlAffectedRows"] != "1" {
			t.Fatalf("%d %v", code, answer)
		}
		return answer["jobReference"].(map[string]any)["jobId"].(string)
	}
	if first, second := insert(), insert(); first != second {
		t.Errorf("jobs %s and %s", first, second)
	}
	e.want("t", `{"id":"1"}`)
	clock.Advance(16 * time.Minute)
	insert()
	e.want("t", `{"id":"1"}`, `{"id":"1"}`)
}

func TestJobs_List(t *testing.T) {
	clock := &Clock{}
	e := newEnv(t, Options{Clock: clock})
	clock.Freeze(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range 5 {
		q := e.bq.Query("SELECT 1")
		q.JobID = fmt.Sprint("job", i)
		e.wait(q.Run(t.Context()))
		clock.Advance(time.Hour)
	}
	list := func(set func(*bigquery.JobIterator)) (ids []string) {
		it := e.bq.Jobs(t.Context())
		set(it)
		for {
			job, err := it.Next()
			if errors.Is(err, iterator.Done) {
				return ids
			}
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, job.ID())
		}
	}
	wantStrings(t, list(func(it *bigquery.JobIterator) { it.PageInfo().MaxSize = 2 }), "job4", "job3", "job2", "job1", "job0")
	wantStrings(t, list(func(it *bigquery.JobIterator) { it.State = bigquery.Running }))
	from, to := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	wantStrings(t, list(func(it *bigquery.JobIterator) { it.MinCreationTime, it.MaxCreationTime = from, to }), "job2", "job1")
	for _, query := range []string{"?stateFilter=x", "?minCreationTime=x", "?maxResults=x"} {
		if code, _ := e.do("GET", "/projects/p/jobs"+query, ""); code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, code)
		}
	}
	if _, answer := e.do("GET", "/projects/p/jobs?stateFilter=done&maxResults=1", ""); answer["nextPageToken"] != "1" || answer["jobs"].([]any)[0].(map[string]any)["state"] != "DONE" {
		t.Errorf("%v", answer)
	}
}

// A query that takes long: jobComplete is false, cancel ends it, and so does Close.
func TestJobs_Cancel(t *testing.T) {
	e := newEnv(t, Options{})
	const long = "SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 100000)) a, UNNEST(GENERATE_ARRAY(1, 100000)) b, UNNEST(GENERATE_ARRAY(1, 1000)) c WHERE MOD(a * b, c) = 7"
	_, answer := e.do("POST", "/projects/p/queries", `{"query":"`+long+`","timeoutMs":1}`)
	if answer["jobComplete"] != false || answer["rows"] != nil {
		t.Fatalf("%v", answer)
	}
	id := answer["jobReference"].(map[string]any)["jobId"].(string)
	job, err := e.bq.JobFromID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if state := job.LastStatus().State; state != bigquery.Running {
		t.Errorf("state %v", state)
	}
	if err := job.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := job.Wait(ctx); err == nil {
		t.Error("the job succeeded")
	}
	status, err := job.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var failed *bigquery.Error
	if !errors.As(status.Err(), &failed) || failed.Reason != "stopped" {
		t.Errorf("status %v", status.Err())
	}
	if err := job.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = e.bq.JobFromID(t.Context(), id)
	wantAPIError(t, err, 404, "notFound", "Not found: Job p:"+id)
	_, answer = e.do("POST", "/projects/p/queries", `{"query":"`+long+`","timeoutMs":1}`)
	if answer["jobComplete"] != false {
		t.Errorf("%v", answer)
	}
	if code, _ := e.do("DELETE", "/projects/p/jobs/"+answer["jobReference"].(map[string]any)["jobId"].(string)+"/delete", ""); code != 400 {
		t.Errorf("jobs.delete of a job that runs: %d", code)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// What DML changes is its job's destination in INFORMATION_SCHEMA; a query's is a
// table of its own.
func TestJobs_destinations(t *testing.T) {
	e := newEnv(t, Options{})
	for _, statement := range []string{
		"CREATE TABLE d.t (id INT64)", "INSERT INTO d.t (id) VALUES (1)", "UPDATE d.t SET id = 2 WHERE TRUE", "SELECT * FROM d.t",
	} {
		job, err := e.bq.Query(statement).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status, err := job.Wait(t.Context()); err != nil || status.Err() != nil {
			t.Fatalf("%s: %v, %v", statement, err, status)
		}
	}
	rows, err := e.bq.Query("SELECT statement_type, destination_table.table_id = 't' FROM `region-us`.INFORMATION_SCHEMA.JOBS WHERE statement_type IS NOT NULL ORDER BY creation_time").Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		var row []bigquery.Value
		if err := rows.Next(&row); errors.Is(err, iterator.Done) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(row[0], " ", row[1]))
	}
	if want := []string{"CREATE_TABLE true", "INSERT true", "UPDATE true", "SELECT false"}; !slices.Equal(got, want) {
		t.Errorf("destinations %q, want %q", got, want)
	}
}

// A view that is given another query while it is read shows the one table or the other.
func TestJobs_movingView(t *testing.T) {
	e := newEnv(t, Options{})
	run := func(statement string) error {
		job, err := e.bq.Query(statement).Run(t.Context())
		if err != nil {
			return err
		}
		status, err := job.Wait(t.Context())
		if err != nil {
			return err
		}
		return status.Err()
	}
	for _, statement := range []string{"CREATE TABLE d.a AS SELECT 1 AS x", "CREATE TABLE d.b AS SELECT 2 AS x", "CREATE VIEW d.v AS SELECT x FROM d.a"} {
		if err := run(statement); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			view := bigquery.TableMetadataToUpdate{ViewQuery: fmt.Sprintf("SELECT x FROM d.%c", "ab"[i%2])}
			if _, err := e.bq.Dataset("d").Table("v").Update(t.Context(), view, ""); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			if err := run("SELECT x FROM d.v"); err != nil {
				t.Error(err)
			}
		}
	}
}
