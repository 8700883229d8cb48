package emulator

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
)

// load loads a text with Google's client.
func (e *env) load(table, text string, set func(*bigquery.Loader, *bigquery.ReaderSource)) (*bigquery.Job, error) {
	e.t.Helper()
	source := bigquery.NewReaderSource(strings.NewReader(text))
	loader := e.bq.Dataset("d").Table(table).LoaderFrom(source)
	set(loader, source)
	return loader.Run(e.t.Context())
}

// loadFails loads a text, and the job must fail.
func (e *env) loadFails(table, text, want string, set func(*bigquery.Loader, *bigquery.ReaderSource)) {
	e.t.Helper()
	job, err := e.load(table, text, set)
	if err != nil {
		e.t.Fatal(err)
	}
	status, err := job.Wait(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	if status.Err() == nil || !strings.Contains(status.Err().Error(), want) {
		e.t.Errorf("loading %q: %v, want %q", text, status.Err(), want)
	}
}

func TestLoad_CSV(t *testing.T) {
	e := newEnv(t, Options{})
	const columns = "id INTEGER REQUIRED, v STRING, at TIMESTAMP, n NUMERIC"
	csv := func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema, s.SkipLeadingRows = bigquery.CSV, parseTestSchema(columns), 1
	}
	status := e.wait(e.load("t", "\uFEFFid,v,at,n\n1,\"a, \"\"b\"\"\",2026-01-02 03:04:05 UTC,1.5\n2,,,\n", csv))
	if s := status.Statistics.Details.(*bigquery.LoadStatistics); s.OutputRows != 2 || s.InputFiles != 1 || s.InputFileBytes == 0 {
		t.Errorf("statistics %+v", s)
	}
	e.want("t", `{"id":"1","v":"a, \"b\"","at":"2026-01-02T03:04:05.000000Z","n":"1.5"}`, `{"id":"2","v":null,"at":null,"n":null}`)
	for _, test := range []struct {
		text, want string
		set        func(*bigquery.ReaderSource)
	}{
		{"x,a,,\n", "row 1: Cannot convert value to integer", nil},
		{"1,a\n", "row 1: too few values: 2, for 4 columns", nil},
		{"1,a,,,\n", "too many values: 5", nil},
		{"1,\"a\nb\",,\n", "which needs allowQuotedNewlines", nil},
		{",a,,\n", "Missing required field: id.", nil},
		{"1,a\"b,,\n", "non-quoted-field", nil},
		{"1,a,,\n2,b,x,y\n", "row 2", nil},
		{"1,,,\n", "Cannot convert value to timestamp", func(s *bigquery.ReaderSource) { s.NullMarker = "N" }},
		{"1,a,,\n", "must be one character", func(s *bigquery.ReaderSource) { s.FieldDelimiter = "||" }},
	} {
		e.loadFails("t", test.text, test.want, func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
			s.SourceFormat, s.Schema = bigquery.CSV, parseTestSchema(columns)
			if test.set != nil {
				test.set(s)
			}
		})
	}
	e.wait(e.load("t", "1|a\n2|\"b\nc\"|N|N|more\nx|y\n", func(l *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.FieldDelimiter, s.NullMarker = bigquery.CSV, "|", "N"
		s.AllowJaggedRows, s.AllowQuotedNewlines, s.IgnoreUnknownValues, s.MaxBadRecords = true, true, true, 1
		l.WriteDisposition = bigquery.WriteTruncate
	}))
	e.want("t", `{"id":"1","v":"a","at":null,"n":null}`, `{"id":"2","v":"b\nc","at":null,"n":null}`)
	// The columns in another order, one of them, appended.
	e.wait(e.load("t", "z\t9\n", func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.FieldDelimiter, s.Schema = bigquery.CSV, "\t", parseTestSchema("v STRING, id INTEGER")
	}))
	e.want("t", `{"id":"1","v":"a","at":null,"n":null}`, `{"id":"2","v":"b\nc","at":null,"n":null}`, `{"id":"9","v":"z","at":null,"n":null}`)
	e.loadFails("t", "1\n", "Cannot add fields (field: more)", func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema = bigquery.CSV, parseTestSchema("more STRING")
	})
	e.loadFails("t", "1\n", "changed type from STRING to INTEGER", func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema = bigquery.CSV, parseTestSchema("v INTEGER")
	})
	e.loadFails("t", "1,a,,\n", "Already Exists: Table p:d.t", func(l *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, l.WriteDisposition = bigquery.CSV, bigquery.WriteEmpty
	})
	e.loadFails("absent", "1\n", "Not found: Table p:d.absent", func(l *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema, l.CreateDisposition = bigquery.CSV, parseTestSchema("a INTEGER"), bigquery.CreateNever
	})
	e.loadFails("absent", "1\n", "No schema specified", func(_ *bigquery.Loader, s *bigquery.ReaderSource) { s.SourceFormat = bigquery.CSV })
	e.loadFails("absent", "1\n", "CSV can't hold", func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema = bigquery.CSV, parseTestSchema("a INTEGER REPEATED")
	})
}

func TestLoad_JSON(t *testing.T) {
	e := newEnv(t, Options{})
	schema := append(parseTestSchema("id INTEGER, tags STRING REPEATED"), &bigquery.FieldSchema{Name: "s", Type: bigquery.RecordFieldType, Schema: parseTestSchema("a INTEGER")})
	lines := func(_ *bigquery.Loader, s *bigquery.ReaderSource) { s.SourceFormat, s.Schema = bigquery.JSON, schema }
	e.wait(e.load("t", `{"id":1,"tags":["x"],"s":{"a":"2"}}`+"\r\n\n"+`{"ID":"2"}`, lines))
	want := []string{`{"id":"1","tags":["x"],"s":{"a":"2"}}`, `{"id":"2","tags":[],"s":null}`}
	e.want("t", want...)
	e.loadFails("t", `{"id":3}`+"\n"+`{"id":4,"nope":1}`, "row 2: no such field: nope.", lines)
	e.loadFails("t", `[{"id":3}]`, "row 1: A row must be a JSON object", lines)
	e.want("t", want...)
	// A schema that grows, and one that replaces.
	grown := slices.Concat(schema, bigquery.Schema{&bigquery.FieldSchema{Name: "more", Type: bigquery.BooleanFieldType}})
	e.wait(e.load("t", `{"id":3,"more":true}`, func(l *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema, l.SchemaUpdateOptions = bigquery.JSON, grown, []string{"ALLOW_FIELD_ADDITION"}
	}))
	e.want("t", `{"id":"1","tags":["x"],"s":{"a":"2"},"more":null}`, `{"id":"2","tags":[],"s":null,"more":null}`, `{"id":"3","tags":[],"s":null,"more":true}`)
	e.wait(e.load("t", `{"only":"x"}`, func(l *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema, l.WriteDisposition = bigquery.JSON, parseTestSchema("only STRING"), bigquery.WriteTruncate
	}))
	e.want("t", `{"only":"x"}`)
}

func TestLoad_Autodetect(t *testing.T) {
	e := newEnv(t, Options{})
	for i, test := range []struct {
		format bigquery.DataFormat
		text   string
		fields string
		rows   int
	}{
		{bigquery.CSV, "id,name,when,ok\n1,a,2026-01-02,true\n2,b,,false\n", "id INTEGER, name STRING, when DATE, ok BOOLEAN", 2},
		{bigquery.CSV, "1,a\n2.5,b\n", "double_field_0 FLOAT, string_field_1 STRING", 2},
		{bigquery.CSV, "a b,1st\n2026-01-02 03:04:05+00,12:13:14\n", "a_b TIMESTAMP, _1st TIME", 1},
		{bigquery.CSV, "x,y\nz,w\n", "string_field_0 STRING, string_field_1 STRING", 2},
		{
			bigquery.JSON, `{"b":1,"a":"1","c":[1,2.5],"d":{"e":true},"n":null}` + "\n" + `{"b":2,"f":"2026-01-02T03:04:05Z"}`,
			"b INTEGER, a STRING, c FLOAT REPEATED, d RECORD, n STRING, f TIMESTAMP", 2,
		},
	} {
		table := fmt.Sprint("t", i)
		e.wait(e.load(table, test.text, func(_ *bigquery.Loader, s *bigquery.ReaderSource) { s.SourceFormat, s.AutoDetect = test.format, true }))
		metadata, err := e.bq.Dataset("d").Table(table).Metadata(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, f := range metadata.Schema {
			text := f.Name + " " + string(f.Type)
			if f.Repeated {
				text += " REPEATED"
			}
			fields = append(fields, text)
		}
		rows, err := e.Rows(t.Context(), "d", table)
		if err != nil || strings.Join(fields, ", ") != test.fields || len(rows) != test.rows {
			t.Errorf("%q: %v, %d rows, error %v; want %s, %d rows", test.text, fields, len(rows), err, test.fields, test.rows)
		}
	}
	e.loadFails("none", "", "Schema has no fields", func(_ *bigquery.Loader, s *bigquery.ReaderSource) { s.SourceFormat, s.AutoDetect = bigquery.JSON, true })
}

// A file that is larger than one chunk goes by the resumable protocol.
func TestLoad_Chunks(t *testing.T) {
	e := newEnv(t, Options{})
	var text strings.Builder
	const rows = 400_000
	for i := range rows {
		fmt.Fprintf(&text, "%d,%040d\n", i, i)
	}
	if text.Len() < 17<<20 {
		t.Fatal("one chunk is enough for this file")
	}
	e.wait(e.load("t", text.String(), func(_ *bigquery.Loader, s *bigquery.ReaderSource) {
		s.SourceFormat, s.Schema = bigquery.CSV, parseTestSchema("id INTEGER, v STRING")
	}))
	wantStrings(t, e.query("SELECT COUNT(*), SUM(id) FROM d.t"), fmt.Sprintf("[%d %d]", rows, rows*(rows-1)/2))
}

// The two protocols as other clients speak them.
func TestLoad_Protocols(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER")
	const job = `{"configuration":{"load":{"sourceFormat":"CSV","skipLeadingRows":"1","destinationTable":{"projectId":"p","datasetId":"d","tableId":"t"}}}}`
	send := func(method, url, body string, header ...string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
	base := e.RESTAddr() + "/upload/bigquery/v2/projects/p/jobs?uploadType="
	answer, text := send("POST", base+"multipart",
		"--==x==\r\ncontent-type: application/json\r\n\r\n"+job+"\r\n--==x==\r\ncontent-type: */*\r\n\r\nid\n1\n\r\n--==x==--", "Content-Type", `multipart/related; boundary="==x=="`)
	if answer.StatusCode != 200 || !strings.Contains(text, `"jobType":"LOAD"`) {
		t.Fatalf("multipart: %d %s", answer.StatusCode, text)
	}
	answer, text = send("POST", e.RESTAddr()+"/resumable/upload/bigquery/v2/projects/p/jobs?uploadType=resumable", job, "X-Upload-Content-Type", "*/*")
	where := answer.Header.Get("Location")
	if answer.StatusCode != 200 || where == "" {
		t.Fatalf("resumable: %d %s", answer.StatusCode, text)
	}
	for _, step := range []struct {
		content, span string
		status        int
		come          string
	}{
		{"", "bytes */*", 308, ""},
		{"id\n", "bytes 0-2/*", 308, "bytes=0-2"},
		{"id\n2", "bytes 0-3/*", 308, "bytes=0-3"}, // sent again, with more
		{"x", "bytes 9-9/*", 400, ""},
		{"x", "bytes x", 400, ""},
		{"", "bytes */6", 308, "bytes=0-3"},
		{"2\n", "bytes 4-5/6", 200, ""},
		{"", "bytes */6", 200, ""}, // the answer was lost
	} {
		answer, text = send("PUT", where, step.content, "Content-Range", step.span)
		if answer.StatusCode != step.status || answer.Header.Get("Range") != step.come {
			t.Fatalf("%s: %d %q %s, want %d %q", step.span, answer.StatusCode, answer.Header.Get("Range"), text, step.status, step.come)
		}
	}
	if !strings.Contains(text, `"jobType":"LOAD"`) {
		t.Errorf("the job: %s", text)
	}
	for it := e.bq.Jobs(t.Context()); ; {
		j, err := it.Next()
		if err != nil {
			break
		}
		e.wait(j, nil)
	}
	e.want("t", `{"id":"1"}`, `{"id":"22"}`)
	for url, want := range map[string]int{base + "media": 400, base + "multipart": 400, base + "resumable&upload_id=nope": 404} {
		if answer, text := send("POST", url, job, "Content-Type", "application/json"); answer.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", url, answer.StatusCode, text, want)
		}
	}
	if answer, text := send("POST", base+"multipart", "--x\r\n\r\n{\"configuration\":{\"query\":{\"query\":\"SELECT 1\"}}}\r\n--x\r\n\r\n1\r\n--x--", "Content-Type", "multipart/related; boundary=x"); answer.StatusCode != 400 {
		t.Errorf("a query with a file: %d %s", answer.StatusCode, text)
	}
}

// A folder stands for Cloud Storage: what is extracted is what was applied.
func TestExtract(t *testing.T) {
	buckets := t.TempDir()
	e := newEnv(t, Options{Buckets: buckets})
	ctx := t.Context()
	if err := os.Mkdir(filepath.Join(buckets, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	e.table("t", "id INTEGER, v STRING, f FLOAT", "id")
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"a,b","f":1.5,"_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t")
	w.append(`{"id":2,"v":"pending","_CHANGE_TYPE":"UPSERT"}`, `{"id":1,"_CHANGE_TYPE":"DELETE"}`)
	extract := func(uri string, set func(*bigquery.GCSReference)) (*bigquery.Job, error) {
		ref := bigquery.NewGCSReference(uri)
		set(ref)
		return e.bq.Dataset("d").Table("t").ExtractorTo(ref).Run(ctx)
	}
	e.wait(extract("gs://b/out/t-*.csv", func(*bigquery.GCSReference) {}))
	e.wait(extract("gs://b/t.json.gz", func(r *bigquery.GCSReference) { r.DestinationFormat, r.Compression = bigquery.JSON, bigquery.Gzip }))
	text, err := os.ReadFile(filepath.Join(buckets, "b", "out", "t-000000000000.csv"))
	if err != nil || string(text) != "id,v,f\n1,\"a,b\",1.5\n" {
		t.Errorf("%q, error %v", text, err)
	}
	for _, source := range []*bigquery.GCSReference{bigquery.NewGCSReference("gs://b/*.json.gz"), bigquery.NewGCSReference("gs://b/out/*")} {
		source.SourceFormat, source.Schema, source.SkipLeadingRows = bigquery.CSV, parseTestSchema("id INTEGER, v STRING, f FLOAT"), 1
		if strings.HasSuffix(source.URIs[0], "gz") {
			source.SourceFormat = bigquery.JSON
		}
		loader := e.bq.Dataset("d").Table("again").LoaderFrom(source)
		loader.WriteDisposition = bigquery.WriteTruncate
		e.wait(loader.Run(ctx))
		e.want("again", `{"id":"1","v":"a,b","f":1.5}`)
	}
	for _, uri := range []string{"gs://nope/x", "gs://b/../../x", "s3://b/x", "gs://b"} {
		job, err := extract(uri, func(*bigquery.GCSReference) {})
		if err == nil {
			var status *bigquery.JobStatus
			if status, err = job.Wait(ctx); err == nil {
				err = status.Err()
			}
		}
		if err == nil {
			t.Errorf("%s was written", uri)
		}
	}
}

// EXPORT DATA exports the current state.
func TestExportData(t *testing.T) {
	buckets := t.TempDir()
	e := newEnv(t, Options{Buckets: buckets})
	if err := os.Mkdir(filepath.Join(buckets, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	e.query("CREATE TABLE d.t (id INT64, v STRING, PRIMARY KEY (id) NOT ENFORCED) OPTIONS (max_staleness = INTERVAL 1 HOUR)")
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t")
	w.append(`{"id":2,"v":"pending","_CHANGE_TYPE":"UPSERT"}`)
	wantStrings(t, e.query("SELECT id FROM d.t"), "[1]")
	for _, test := range []struct{ options, file, want string }{
		{"format = 'CSV', header = true", "t-000000000000.csv", "id,v\n1,a\n2,pending\n"},
		{"format = 'CSV', overwrite = true, field_delimiter = '|'", "t-000000000000.csv", "1|a\n2|pending\n"},
		{"format = 'JSON'", "t-000000000000.json", `{"id":"1","v":"a"}` + "\n" + `{"id":"2","v":"pending"}` + "\n"},
	} {
		uri := "gs://b/" + strings.Replace(test.file, "000000000000", "*", 1)
		e.query("EXPORT DATA OPTIONS (uri = '" + uri + "', " + test.options + ") AS SELECT * FROM d.t ORDER BY id")
		if text, err := os.ReadFile(filepath.Join(buckets, "b", test.file)); err != nil || string(text) != test.want {
			t.Errorf("%s: %q, error %v, want %q", test.options, text, err, test.want)
		}
	}
	for _, options := range []string{
		"uri = 'gs://b/t-*.csv', format = 'CSV'", "uri = 'gs://b/t.csv', format = 'CSV'", "uri = 'gs://b/*.csv'", "uri = 'gs://b/*.x', format = 'AVRO'",
		"uri = 'gs://b/*.csv', format = 'CSV', header = 1", "uri = 'gs://b/*.csv', format = 'CSV', nope = 1", "uri = 'gs://no/*.csv', format = 'CSV'",
	} {
		if _, err := e.bq.Query("EXPORT DATA OPTIONS (" + options + ") AS SELECT 1 AS id").Read(t.Context()); err == nil {
			t.Errorf("%s: no error", options)
		}
	}
}

func TestCopy(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	e.table("a", "id INTEGER")
	e.table("b", "id INTEGER")
	e.insert("a", "", `{"id":1}`)
	e.insert("b", "", `{"id":2}`)
	d := e.bq.Dataset("d")
	run := func(write bigquery.TableWriteDisposition, to string, from ...string) error {
		var sources []*bigquery.Table
		for _, name := range from {
			sources = append(sources, d.Table(name))
		}
		copier := d.Table(to).CopierFrom(sources...)
		copier.WriteDisposition = write
		job, err := copier.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		status, err := job.Wait(ctx)
		return errors.Join(err, status.Err())
	}
	if err := run("", "c", "a", "b"); err != nil {
		t.Error(err)
	}
	e.want("c", `{"id":"1"}`, `{"id":"2"}`)
	if err := run("", "c", "a"); err == nil || !strings.Contains(err.Error(), "Already Exists: Table p:d.c") {
		t.Errorf("WRITE_EMPTY: %v", err)
	}
	if err := run(bigquery.WriteAppend, "c", "b"); err != nil {
		t.Error(err)
	}
	e.want("c", `{"id":"1"}`, `{"id":"2"}`, `{"id":"2"}`)
	if err := run(bigquery.WriteTruncate, "c", "a"); err != nil {
		t.Error(err)
	}
	e.want("c", `{"id":"1"}`)
	if err := run("", "e", "nope"); err == nil || !strings.Contains(err.Error(), "Not found: Table p:d.nope") {
		t.Errorf("an absent source: %v", err)
	}
	for _, kind := range []bigquery.TableCopyOperationType{bigquery.SnapshotOperation, bigquery.CloneOperation} {
		copier := d.Table("copy_" + string(kind)).CopierFrom(d.Table("a"))
		copier.OperationType = kind
		e.wait(copier.Run(ctx))
		wantStrings(t, e.query("SELECT * FROM `d.copy_"+string(kind)+"`"), "[1]")
	}
	e.table("cdc", "id INTEGER", "id")
	e.writer("cdc", true).append(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	for _, write := range []bigquery.TableWriteDisposition{"", bigquery.WriteAppend} {
		if err := run(write, "c", "cdc"); err == nil {
			t.Error("a table with pending changes was copied")
		}
	}
}
