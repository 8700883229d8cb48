package engine

import (
	"fmt"
	"net/http"
	"strings"
)

// Error is an error as BigQuery's REST API answers it.
type Error struct {
	Code     int    // HTTP
	Reason   string // BigQuery's: invalid, notFound, duplicate, conditionNotMet, …
	Status   string // google.rpc.Code's name
	Message  string
	Location string // "" or what is at fault: a header, a parameter
	cause    error
}

func (e *Error) Error() string { return e.Message }

// Unwrap is the error that DuckDB gave, if it was one.
func (e *Error) Unwrap() error { return e.cause }

// Invalid is the error for a request that BigQuery refuses: 400.
func Invalid(format string, args ...any) error {
	return &Error{Code: http.StatusBadRequest, Reason: "invalid", Status: "INVALID_ARGUMENT", Message: fmt.Sprintf(format, args...)}
}

// NotFound is the error for what isn't there: 404.
func NotFound(format string, args ...any) error {
	return &Error{Code: http.StatusNotFound, Reason: "notFound", Status: "NOT_FOUND", Message: fmt.Sprintf(format, args...)}
}

// Duplicate is the error for what is there already: 409.
func Duplicate(format string, args ...any) error {
	return &Error{Code: http.StatusConflict, Reason: "duplicate", Status: "ALREADY_EXISTS", Message: fmt.Sprintf(format, args...)}
}

// Unimplemented is the error for what this emulator lacks: 501.
func Unimplemented(format string, args ...any) error {
	return &Error{Code: http.StatusNotImplemented, Reason: "notImplemented", Status: "UNIMPLEMENTED", Message: fmt.Sprintf(format, args...)}
}

// Clip bounds what a stranger's text adds to a message.
func Clip(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
