package rest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
	"beamcdc/emulator/internal/query"
	"beamcdc/emulator/internal/timeline"
)

// newService is a service in memory, with a dataset d of project p and a table t of
// all types.
func newService(t testing.TB) *Service {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler), Prepare: googlesql.Register})
	if err != nil {
		t.Fatal(err)
	}
	jobs, streams := query.NewJobs(), &timeline.Timeline{}
	s := New(e, Options{
		Logger: slog.New(slog.DiscardHandler), Project: "p", Stats: func() any { return nil }, Now: time.Now, Jobs: jobs, Streams: streams,
		Executor: query.New(e, time.Now, jobs, &timeline.Timeline{}, streams),
	})
	t.Cleanup(func() {
		s.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	fields := []*bq.TableFieldSchema{
		{Name: "r", Type: "RANGE", RangeElementType: &bq.TableFieldSchemaRangeElementType{Type: "TIMESTAMP"}},
		{Name: "s", Type: "RECORD", Mode: "REPEATED", Fields: []*bq.TableFieldSchema{{Name: "a", Type: "INTEGER", Mode: "REQUIRED"}, {Name: "b", Type: "JSON", Mode: "REPEATED"}}},
	}
	for _, kind := range []string{"BOOL", "INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "TIME", "DATETIME", "TIMESTAMP", "JSON", "GEOGRAPHY", "INTERVAL"} {
		fields = append(fields, &bq.TableFieldSchema{Name: "c_" + strings.ToLower(kind), Type: kind})
	}
	ref := engine.TableRef{Project: "p", Dataset: "d", Table: "t"}
	if _, err := e.CreateDataset(t.Context(), ref.In(), &bq.Dataset{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.CreateTable(t.Context(), ref, &bq.Table{Schema: &bq.TableSchema{Fields: fields}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// post sends a request, and checks that what answers it is JSON and not the
// emulator's own fault.
func post(t *testing.T, s *Service, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if !json.Valid(w.Body.Bytes()) || w.Code == http.StatusInternalServerError {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w
}

// Invariant: any rows are read, or refused with an error; what was read is the same
// once it was written as Server.Rows does and read again.
func FuzzInsertAll(f *testing.F) {
	for _, body := range []string{
		`{"rows":[{"insertId":"a","json":{"c_int64":1,"c_string":"x"}}]}`,
		`{"skipInvalidRows":true,"ignoreUnknownValues":true,"rows":[{"json":{"c_int64":"x"}},{"json":{"s":[{"a":1,"b":[{},"1"]}],"q":0}}]}`,
		`{"rows":[{"json":{"c_bool":true,"c_float64":"NaN","c_numeric":1.5,"c_bignumeric":"1e-38","c_bytes":"AA==","c_date":"2026-01-02","c_time":"1:2:3"}}]}`,
		`{"rows":[{"json":{"c_datetime":"2026-01-02T03:04:05","c_timestamp":1.5,"c_json":[1],"c_interval":"1-2 3 4:5:6","r":"[2026-01-02 03:04:05+02, UNBOUNDED)"}}]}`,
		`{"rows":[{"json":{"r":{"start":"2026-01-02 03:04:05 Europe/Berlin"},"c_timestamp":"2026-01-02"}},{}]}`,
		`{"rows":[null,{"json":[]},{"json":{"s":null}}],"templateSuffix":""}`,
	} {
		f.Add(body)
	}
	s := newService(f)
	t, err := s.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: "t"})
	if err != nil {
		f.Fatal(err)
	}
	columns := t.Schema().Columns
	written := func(values []any) string {
		row := []byte("{")
		for i, c := range columns {
			if i > 0 {
				row = append(row, ',')
			}
			row = append(row, `"`+c.Name+`":`...)
			row = engine.AppendValue(row, c, values[i])
		}
		return string(append(row, '}'))
	}
	f.Fuzz(func(t *testing.T, body string) {
		var request insertRequest
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			return
		}
		r := &rowReader{columns: columns, ignoreUnknown: request.IgnoreUnknownValues}
		for _, row := range request.Rows {
			values, _, err := r.row(row.JSON)
			if err != nil {
				continue
			}
			text := written(values)
			if values, _, err = r.row([]byte(text)); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if again := written(values); again != text {
				t.Fatalf("%s, read again: %s", text, again)
			}
		}
	})
}

// Invariant: any body is answered. The statement is always the same: what statements
// do is package query's.
func FuzzQuery(f *testing.F) {
	for _, body := range []string{
		`{"query":"SELECT 1","useLegacySql":false,"maxResults":"1","timeoutMs":1000,"formatOptions":{"useInt64Timestamp":true}}`,
		`{"parameterMode":"NAMED","queryParameters":[{"name":"p","parameterType":{"type":"INT64"},"parameterValue":{"value":"1"}}]}`,
		`{"queryParameters":[{"parameterType":{"type":"ARRAY","arrayType":{"type":"STRING"}},"parameterValue":{"arrayValues":[{"value":"a"},{"value":null}]}}]}`,
		`{"queryParameters":[{"name":"p","parameterType":{"type":"STRUCT","structTypes":[{"name":"a","type":{"type":"TIMESTAMP"}}]},"parameterValue":{"structValues":{"a":{"value":"2026-01-02 03:04:05+00"}}}}]}`,
		`{"queryParameters":[{"name":"p","parameterType":{"type":"RANGE","rangeElementType":{"type":"DATE"}},"parameterValue":{"rangeValue":{"start":{"value":"2026-01-02"}}}}]}`,
		`{"dryRun":"true","labels":{"a":"b"},"requestId":"r","defaultDataset":{"datasetId":"d"},"location":"EU"}`,
	} {
		f.Add(body)
	}
	s := newService(f)
	f.Fuzz(func(t *testing.T, body string) {
		var request map[string]any
		if json.Unmarshal([]byte(body), &request) == nil && request != nil {
			request["query"] = "SELECT 1"
			for text, sql := range map[string]string{`"name":"p"`: "SELECT @p", `"name":`: "SELECT @q", `"parameterType"`: "SELECT ?"} {
				if strings.Contains(body, text) {
					request["query"] = sql
					break
				}
			}
			text, err := json.Marshal(request)
			if err != nil {
				return
			}
			body = string(text)
		}
		post(t, s, "/projects/p/queries", body)
	})
}

// Invariant: any file is read, or refused with an error; rows have a value for each
// column.
func FuzzLoad(f *testing.F) {
	f.Add("a,b\n1,2026-01-02\n", false, int64(0), "")
	f.Add("1|\"x\ny\"|\n", false, int64(1), "|")
	f.Add(`{"a":1,"b":[{"c":"x"}],"d":{"e":[1.5]}}`+"\n"+`{"a":null}`, true, int64(0), "")
	f.Fuzz(func(t *testing.T, content string, isJSON bool, skip int64, delimiter string) {
		if skip < 0 {
			return
		}
		c := &bq.JobConfigurationLoad{
			SkipLeadingRows: skip, FieldDelimiter: delimiter, MaxBadRecords: 3, AllowJaggedRows: true, AllowQuotedNewlines: true, IgnoreUnknownValues: true,
		}
		if isJSON {
			c.SourceFormat = "NEWLINE_DELIMITED_JSON"
		}
		l := load{c: c, contents: [][]byte{[]byte(content)}}
		schema, skip, err := l.detect()
		if err != nil {
			return
		}
		table, err := engine.NewSchema(&bq.Table{Schema: schema}, nil, nil)
		if err != nil {
			return // the file's names are no columns'
		}
		rows, err := l.read(table.Columns, skip)
		if err != nil {
			return
		}
		for _, row := range rows.values {
			if len(row) != len(table.Columns) {
				t.Fatalf("%d values for %d columns", len(row), len(table.Columns))
			}
		}
	})
}
