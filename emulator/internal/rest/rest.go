// Package rest serves an engine by BigQuery's REST API. A file that is named after a
// collection tells its behavior on top.
package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/faults"
	"beamcdc/emulator/internal/query"
	"beamcdc/emulator/internal/timeline"
)

// maxRESTBody bounds a REST request's body, in bytes.
const maxRESTBody = 32 << 20

// Options says how the REST API is served. All are required but Effect and Buckets.
type Options struct {
	Logger *slog.Logger
	// Project is the one that projects.list shows.
	Project string
	// BaseURL is where it is served, as http://host:port: resources link to themselves.
	BaseURL string
	// Stats returns what GET /emulator/v1/stats answers with, as JSON.
	Stats func() any
	// Now is the clock that jobs and duplicates of rows go by.
	Now func() time.Time
	// Executor runs queries, and Jobs keeps all jobs.
	Executor *query.Executor
	Jobs     *query.Jobs
	// Streams counts the requests of tabledata.insertAll.
	Streams *timeline.Timeline
	// Effect says what goes wrong with a call, nil for nothing ever.
	Effect func(faults.Call) faults.Effect
	// Buckets is the folder that stands for Cloud Storage: gs://bucket/path is the file
	// bucket/path in it. "" is for none.
	Buckets string
}

// Service is the REST API, a handler. Close ends its jobs.
type Service struct {
	engine   *engine.Engine
	options  Options
	handler  http.Handler
	runner   *runner
	requests requests
	inserted inserted
	uploads  uploads
}

// New returns the API for an engine's tables. It makes it the Executor's Exporter.
func New(e *engine.Engine, o Options) *Service {
	if o.Effect == nil {
		o.Effect = func(faults.Call) faults.Effect { return faults.Effect{} }
	}
	s := &Service{engine: e, options: o, runner: newRunner()}
	s.handler = s.routes()
	o.Executor.Exporter = s.export
	return s
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the jobs that run, and waits for them.
func (s *Service) Close() { s.runner.close() }

// handler answers one REST method with a JSON value, nil for no content.
type handler func(r *http.Request) (any, error)

// routes is the REST API: what follows /bigquery/v2 in BigQuery's own paths. Go's
// client leaves that prefix out where an endpoint is given, others keep it.
func (s *Service) routes() http.Handler {
	mux := http.NewServeMux()
	const (
		project = "/projects/{project}"
		dataset = project + "/datasets/{dataset}"
		table   = dataset + "/tables/{table}"
	)
	for _, route := range []struct {
		pattern string
		method  string // REST's name of it, "" for what isn't BigQuery's
		handler handler
	}{
		{"GET /projects", "projects.list", s.listProjects},
		{"GET " + project + "/serviceAccount", "projects.getServiceAccount", s.getServiceAccount},
		{"POST " + project + "/datasets", "datasets.insert", s.createDataset},
		{"GET " + project + "/datasets", "datasets.list", s.listDatasets},
		{"GET " + dataset, "datasets.get", s.getDataset},
		{"PATCH " + dataset, "datasets.patch", s.patchDataset},
		{"PUT " + dataset, "datasets.update", s.updateDataset},
		{"DELETE " + dataset, "datasets.delete", s.deleteDataset},
		{"POST " + dataset + "/tables", "tables.insert", s.createTable},
		{"GET " + dataset + "/tables", "tables.list", s.listTables},
		{"GET " + table, "tables.get", s.getTable},
		{"PATCH " + table, "tables.patch", s.patchTable},
		{"PUT " + table, "tables.update", s.updateTable},
		{"DELETE " + table, "tables.delete", s.deleteTable},
		{"GET " + table + "/data", "tabledata.list", s.listTableData},
		{"POST " + table + "/insertAll", "tabledata.insertAll", s.insertAll},
		{"POST " + project + "/queries", "jobs.query", s.query},
		{"GET " + project + "/queries/{job}", "jobs.getQueryResults", s.getQueryResults},
		{"POST " + project + "/jobs", "jobs.insert", s.insertJob},
		{"GET " + project + "/jobs", "jobs.list", s.listJobs},
		{"GET " + project + "/jobs/{job}", "jobs.get", s.getJob},
		{"POST " + project + "/jobs/{job}/cancel", "jobs.cancel", s.cancelJob},
		{"DELETE " + project + "/jobs/{job}/delete", "jobs.delete", s.deleteJob},
		{"GET /emulator/v1" + table + "/rows", "", s.adminRows},
		{"GET /emulator/v1/stats", "", s.adminStats},
	} {
		serve := func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, route.handler) }
		if route.method == "" {
			mux.HandleFunc(route.pattern, serve)
			continue
		}
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { s.faulty(w, r, route.method, serve) })
	}
	for _, prefix := range []string{"/upload", "/resumable/upload"} {
		for _, method := range []string{"POST ", "PUT "} {
			mux.HandleFunc(method+prefix+"/bigquery/v2"+project+"/jobs", func(w http.ResponseWriter, r *http.Request) { s.faulty(w, r, "jobs.insert", s.upload) })
		}
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, r, engine.Unimplemented("%s %s is not implemented by this emulator", r.Method, engine.Clip(r.URL.Path)))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit := int64(maxRESTBody)
		if strings.Contains(r.URL.Path, "/upload/") {
			limit = maxUpload + maxRESTBody
		}
		if method := r.Header.Get("X-HTTP-Method-Override"); method != "" && r.Method == http.MethodPost {
			r.Method = method // Java's clients send no PATCH
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		unzip(r, limit)
		if path, ok := strings.CutPrefix(r.URL.Path, "/bigquery/v2/"); ok {
			r.URL.Path, r.URL.RawPath = "/"+path, ""
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Service) answer(w http.ResponseWriter, r *http.Request, h handler) {
	result, err := h(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if result == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	switch resource := result.(type) {
	case *bq.Dataset:
		w.Header().Set("ETag", resource.Etag)
		linked := *resource
		linked.SelfLink = s.options.BaseURL + fmt.Sprintf("/bigquery/v2/projects/%s/datasets/%s", linked.DatasetReference.ProjectId, linked.DatasetReference.DatasetId)
		result = &linked
	case *bq.Table:
		w.Header().Set("ETag", resource.Etag)
		linked, ref := *resource, resource.TableReference
		linked.SelfLink = s.options.BaseURL + fmt.Sprintf("/bigquery/v2/projects/%s/datasets/%s/tables/%s", ref.ProjectId, ref.DatasetId, ref.TableId)
		if linked.View != nil {
			view := *linked.View
			view.ForceSendFields = []string{"UseLegacySql"} // clients take a missing one for true
			linked.View = &view
		}
		result = &linked
	}
	body, err := json.Marshal(result)
	if err != nil {
		s.writeError(w, r, fmt.Errorf("marshaling the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	// The client is gone when this fails.
	_, _ = w.Write(body)
}

// readBody reads a request's body.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, &engine.Error{Code: http.StatusRequestEntityTooLarge, Reason: "uploadTooLarge", Status: "INVALID_ARGUMENT", Message: "Request payload size exceeds the limit."}
		}
		if _, ok := errors.AsType[*engine.Error](err); ok {
			return nil, err
		}
		return nil, engine.Invalid("Reading the request: %v", err)
	}
	return body, nil
}

// decodeBody reads a request's JSON.
func decodeBody(r *http.Request, into any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	_, err = unmarshal(body, into)
	return err
}

// checkETag refuses a change to something that isn't as its client knows it.
func checkETag(r *http.Request, current string) error {
	if want := r.Header.Get("If-Match"); want != "" && want != "*" && want != current {
		return &engine.Error{
			Code: http.StatusPreconditionFailed, Reason: "conditionNotMet", Status: "FAILED_PRECONDITION",
			Message: "Precondition check failed.", Location: "If-Match",
		}
	}
	return nil
}

// mergePatch applies a patch to a resource's JSON: objects field by field, null
// removes, all else replaces. Labels too are merged, as BigQuery does.
func mergePatch(target, patch map[string]any) map[string]any {
	if target == nil {
		target = map[string]any{}
	}
	for name, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(target, name)
		case map[string]any:
			inner, _ := target[name].(map[string]any)
			target[name] = mergePatch(inner, v)
		default:
			target[name] = value
		}
	}
	return target
}

// patched decodes into result what the resource is after a patch.
func patched(resource any, patch map[string]any, result any) error {
	text, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("marshaling a resource: %w", err)
	}
	var current map[string]any
	if err := json.Unmarshal(text, &current); err != nil {
		return fmt.Errorf("reading a resource: %w", err)
	}
	if text, err = json.Marshal(mergePatch(current, patch)); err != nil {
		return fmt.Errorf("marshaling a patched resource: %w", err)
	}
	_, err = unmarshal(text, result)
	return err
}
