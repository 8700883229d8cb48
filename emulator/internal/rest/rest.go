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
	s.handler = s.mux()
	o.Executor.Exporter = s.export
	return s
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the jobs that run, and waits for them.
func (s *Service) Close() { s.runner.close() }

// handler answers one REST method with a JSON value, nil for no content.
type handler func(r *http.Request) (any, error)

// Parts of the routes' paths.
const (
	projectPath = "/projects/{project}"
	datasetPath = projectPath + "/datasets/{dataset}"
	tablePath   = datasetPath + "/tables/{table}"
)

// routes are the REST API: what follows /bigquery/v2 in BigQuery's own paths.
var routes = []struct {
	pattern string
	method  string // REST's name of it, "" for what isn't BigQuery's
	handler func(*Service, *http.Request) (any, error)
}{
	{"GET /projects", "projects.list", (*Service).listProjects},
	{"GET " + projectPath + "/serviceAccount", "projects.getServiceAccount", (*Service).getServiceAccount},
	{"POST " + projectPath + "/datasets", "datasets.insert", (*Service).createDataset},
	{"GET " + projectPath + "/datasets", "datasets.list", (*Service).listDatasets},
	{"GET " + datasetPath, "datasets.get", (*Service).getDataset},
	{"PATCH " + datasetPath, "datasets.patch", (*Service).patchDataset},
	{"PUT " + datasetPath, "datasets.update", (*Service).updateDataset},
	{"DELETE " + datasetPath, "datasets.delete", (*Service).deleteDataset},
	{"POST " + datasetPath + "/tables", "tables.insert", (*Service).createTable},
	{"GET " + datasetPath + "/tables", "tables.list", (*Service).listTables},
	{"GET " + tablePath, "tables.get", (*Service).getTable},
	{"PATCH " + tablePath, "tables.patch", (*Service).patchTable},
	{"PUT " + tablePath, "tables.update", (*Service).updateTable},
	{"DELETE " + tablePath, "tables.delete", (*Service).deleteTable},
	{"POST " + tablePath, "tables.testIamPermissions", (*Service).testTablePermissions},
	{"GET " + tablePath + "/data", "tabledata.list", (*Service).listTableData},
	{"POST " + tablePath + "/insertAll", "tabledata.insertAll", (*Service).insertAll},
	{"POST " + projectPath + "/queries", "jobs.query", (*Service).query},
	{"GET " + projectPath + "/queries/{job}", "jobs.getQueryResults", (*Service).getQueryResults},
	{"POST " + projectPath + "/jobs", "jobs.insert", (*Service).insertJob},
	{"GET " + projectPath + "/jobs", "jobs.list", (*Service).listJobs},
	{"GET " + projectPath + "/jobs/{job}", "jobs.get", (*Service).getJob},
	{"POST " + projectPath + "/jobs/{job}/cancel", "jobs.cancel", (*Service).cancelJob},
	{"DELETE " + projectPath + "/jobs/{job}/delete", "jobs.delete", (*Service).deleteJob},
	{"GET /emulator/v1" + tablePath + "/rows", "", (*Service).adminRows},
	{"GET /emulator/v1/stats", "", (*Service).adminStats},
}

// Methods returns the names of REST's methods, as faults name them.
func Methods() []string {
	var names []string
	for _, route := range routes {
		if route.method != "" {
			names = append(names, route.method)
		}
	}
	return names
}

// mux is the routes, and what has no place in them. Go's client leaves /bigquery/v2
// out where an endpoint is given, others keep it.
func (s *Service) mux() http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes {
		serve := func(w http.ResponseWriter, r *http.Request) {
			s.answer(w, r, func(r *http.Request) (any, error) { return route.handler(s, r) })
		}
		if route.method == "" {
			mux.HandleFunc(route.pattern, serve)
			continue
		}
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { s.faulty(w, r, route.method, serve) })
	}
	for _, prefix := range []string{"/upload", "/resumable/upload"} {
		for _, method := range []string{"POST ", "PUT "} {
			mux.HandleFunc(method+prefix+"/bigquery/v2"+projectPath+"/jobs", func(w http.ResponseWriter, r *http.Request) { s.faulty(w, r, "jobs.insert", s.upload) })
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
