package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// apiError is an error as BigQuery's REST API answers it.
type apiError struct {
	code     int    // HTTP
	reason   string // BigQuery's: invalid, notFound, duplicate, conditionNotMet, …
	status   string // google.rpc.Code's name
	message  string
	location string // "" or what is at fault: a header, a parameter
}

func (e *apiError) Error() string { return e.message }

func invalid(format string, args ...any) error {
	return &apiError{code: http.StatusBadRequest, reason: "invalid", status: "INVALID_ARGUMENT", message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &apiError{code: http.StatusNotFound, reason: "notFound", status: "NOT_FOUND", message: fmt.Sprintf(format, args...)}
}

func duplicate(format string, args ...any) error {
	return &apiError{code: http.StatusConflict, reason: "duplicate", status: "ALREADY_EXISTS", message: fmt.Sprintf(format, args...)}
}

func unimplemented(format string, args ...any) error {
	return &apiError{code: http.StatusNotImplemented, reason: "notImplemented", status: "UNIMPLEMENTED", message: fmt.Sprintf(format, args...)}
}

// errorBody is Google's JSON form of an error.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Errors  []errorItem `json:"errors"`
	Status  string      `json:"status"`
}

type errorItem struct {
	Message      string `json:"message"`
	Domain       string `json:"domain"`
	Reason       string `json:"reason"`
	Location     string `json:"location,omitempty"`
	LocationType string `json:"locationType,omitempty"`
}

// writeError answers a REST request with an error; one that is no apiError is
// the emulator's own fault.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		s.log.Error("answering a REST request", "method", r.Method, "path", r.URL.Path, "error", err)
		e = &apiError{code: http.StatusInternalServerError, reason: "internalError", status: "INTERNAL", message: err.Error()}
	}
	item := errorItem{Message: e.message, Domain: "global", Reason: e.reason, Location: e.location}
	if e.location != "" {
		item.LocationType = "header"
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(e.code)
	// The client is gone when this fails: there is nobody to tell.
	_ = json.NewEncoder(w).Encode(errorBody{errorDetail{Code: e.code, Message: e.message, Errors: []errorItem{item}, Status: e.status}})
}
