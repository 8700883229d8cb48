package rest

import (
	"encoding/json"
	"errors"
	"net/http"

	"beamcdc/emulator/internal/engine"
)

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

// writeError answers a REST request with an error; one that is no engine.Error is
// the emulator's own fault.
func (s *Service) writeError(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		s.options.Logger.Error("answering a REST request", "method", r.Method, "path", r.URL.Path, "error", err)
		e = &engine.Error{Code: http.StatusInternalServerError, Reason: "internalError", Status: "INTERNAL", Message: err.Error()}
	}
	item := errorItem{Message: e.Message, Domain: "global", Reason: e.Reason, Location: e.Location}
	switch e.Location {
	case "":
	case "If-Match":
		item.LocationType = "header"
	default:
		item.LocationType = "parameter"
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(e.Code)
	// The client is gone when this fails: there is nobody to tell.
	_ = json.NewEncoder(w).Encode(errorBody{errorDetail{Code: e.Code, Message: e.Message, Errors: []errorItem{item}, Status: e.Status}})
}
