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

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
)

// maxRESTBody bounds a REST request's body, in bytes.
const maxRESTBody = 32 << 20

// Options says how the REST API is served. All are required.
type Options struct {
	Logger *slog.Logger
	// BaseURL is where it is served, as http://host:port: resources link to themselves.
	BaseURL string
	// Stats returns what GET /emulator/v1/stats answers with, as JSON.
	Stats func() any
}

// Service is the REST API.
type Service struct {
	engine  *engine.Engine
	options Options
}

// New returns the API's handler.
func New(e *engine.Engine, o Options) http.Handler {
	s := &Service{engine: e, options: o}
	return s.routes()
}

// handler answers one REST method with a JSON value, nil for no content.
type handler func(r *http.Request) (any, error)

// routes is the REST API: what follows /bigquery/v2 in BigQuery's own paths. Go's
// client leaves that prefix out where an endpoint is given, others keep it.
func (s *Service) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"POST /projects/{project}/datasets":                                          s.createDataset,
		"GET /projects/{project}/datasets":                                           s.listDatasets,
		"GET /projects/{project}/datasets/{dataset}":                                 s.getDataset,
		"PATCH /projects/{project}/datasets/{dataset}":                               s.patchDataset,
		"PUT /projects/{project}/datasets/{dataset}":                                 s.updateDataset,
		"DELETE /projects/{project}/datasets/{dataset}":                              s.deleteDataset,
		"POST /projects/{project}/datasets/{dataset}/tables":                         s.createTable,
		"GET /projects/{project}/datasets/{dataset}/tables":                          s.listTables,
		"GET /projects/{project}/datasets/{dataset}/tables/{table}":                  s.getTable,
		"PATCH /projects/{project}/datasets/{dataset}/tables/{table}":                s.patchTable,
		"PUT /projects/{project}/datasets/{dataset}/tables/{table}":                  s.updateTable,
		"DELETE /projects/{project}/datasets/{dataset}/tables/{table}":               s.deleteTable,
		"GET /projects/{project}/datasets/{dataset}/tables/{table}/data":             s.listTableData,
		"GET /emulator/v1/projects/{project}/datasets/{dataset}/tables/{table}/rows": s.adminRows,
		"GET /emulator/v1/stats":                                                     s.adminStats,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, h) })
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, r, engine.Unimplemented("%s %s is not implemented by this emulator", r.Method, engine.Clip(r.URL.Path)))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxRESTBody)
		unzip(r)
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

// decodeBody reads a request's JSON.
func decodeBody(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &engine.Error{Code: http.StatusRequestEntityTooLarge, Reason: "uploadTooLarge", Status: "INVALID_ARGUMENT", Message: "Request payload size exceeds the limit."}
		}
		return fmt.Errorf("reading the request: %w", err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return engine.Invalid("Invalid JSON payload received: %v", err)
	}
	return nil
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
	if err := json.Unmarshal(text, result); err != nil {
		return engine.Invalid("Invalid JSON payload received: %v", err)
	}
	return nil
}
