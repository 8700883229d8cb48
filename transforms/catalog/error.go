package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/api/googleapi"

	"beamcdc/schemas/table"
)

// Error is why a destination can't be had. Its text names the table.
type Error struct {
	Table table.Name // its zero value when it is about no single table
	// Permanent says that the table or its rule has to change, so that its rows
	// are dead letters. Otherwise it is the world's fault, not theirs (invariant 7):
	// BigQuery is out of reach, asks for time, or refuses the pipeline's account.
	Permanent bool
	Err       error
}

// Error returns Err's text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// IsPermanent reports whether err comes from a catalog and no repetition will
// help. An error that is not a catalog's is not permanent.
func IsPermanent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Permanent
}

// permanently returns an Error that no repetition helps.
func permanently(name table.Name, format string, args ...any) *Error {
	return &Error{Table: name, Permanent: true, Err: fmt.Errorf(format, args...)}
}

// ErrUnknownSchema is what [Catalog.Plan] returns for a fingerprint that no known
// version of the table's schema has.
var ErrUnknownSchema = errors.New("no known version of the table has this schema")

// errMissing is tables.get's answer for a table or dataset that does not exist.
var errMissing = errors.New("it does not exist")

// classify tells what an error of BigQuery's REST API means, and is the only
// place that looks at its codes.
func classify(name table.Name, doing string, err error) *Error {
	doing = fmt.Sprintf("table %v: %s", name, doing)
	e := &Error{Table: name, Err: fmt.Errorf("%s: %w", doing, err)}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return e
	}
	var api *googleapi.Error
	if !errors.As(err, &api) {
		return e // the network
	}
	switch api.Code {
	case http.StatusNotFound:
		e.Permanent = true
		e.Err = fmt.Errorf("%s: %w", doing, errMissing)
	case http.StatusForbidden:
		for _, item := range api.Errors {
			if item.Reason == "rateLimitExceeded" || item.Reason == "quotaExceeded" {
				return e
			}
		}
		e.Err = fmt.Errorf("%s: permission denied; the pipeline's account needs bigquery.tables.get and bigquery.tables.updateData, "+
			"to create what is missing bigquery.tables.create and bigquery.datasets.create, "+
			"and to alter what follows its source bigquery.tables.update and, for types, bigquery.jobs.create: %w", doing, err)
	case http.StatusBadRequest:
		e.Permanent = true
	}
	return e
}
