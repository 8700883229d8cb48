package enrichment

import (
	"errors"
	"fmt"

	"beamcdc/schemas/rowproto"
)

// The reasons of dead letters. They are stable: metrics and dead letters carry them.
const (
	ReasonExpression  = "expression_failed" // an expression gives no value
	ReasonLookupMiss  = "lookup_miss"       // the reference has no row with the key, and the rule rejects that
	ReasonUnavailable = "unavailable_value" // a step needs a value that the source left out
	ReasonBadValue    = "bad_value"         // a step can't take the value
	ReasonAmbiguous   = "ambiguous_column"  // two columns have the name that a step means
)

// Error says why a row can't be enriched. Its text holds no value.
type Error struct {
	Step   int    // the step's place in the rule, from 0
	Kind   string // the step's key: "set"
	Column string // the column that it was about; "" for a condition
	Reason string
	Err    error
}

// Error returns the step, as the configuration's keys are written, the column and
// what is wrong.
func (e *Error) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("enrich[%d].%s: %s: %v", e.Step, e.Kind, e.Reason, e.Err)
	}
	return fmt.Sprintf("enrich[%d].%s, column %.300s: %s: %v", e.Step, e.Kind, e.Column, e.Reason, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Problem is what is wrong with a step of the configuration.
type Problem struct {
	Key string // below the rule's: "enrich[2].set.total"
	Err error
}

// Error returns Err's text.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns Err.
func (p *Problem) Unwrap() error { return p.Err }

var errLeftOut = errors.New("the source left its value out")

// columnError is what is wrong with a column's value.
type columnError struct {
	column string
	err    error
}

func (e *columnError) Error() string { return fmt.Sprintf("column %.300s: %v", e.column, e.err) }
func (e *columnError) Unwrap() error { return e.err }

// valueError returns what is wrong with a value without the table, which is made up
// where a key is compared.
func valueError(err error) error {
	var e *rowproto.ValueError
	if errors.As(err, &e) && e.Err != nil {
		return e.Err
	}
	return err
}

// unwrapped returns the error without the made-up table's name before it.
func unwrapped(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// reasonOf returns the reason of an error about a value.
func reasonOf(err error, otherwise string) string {
	var e *rowproto.ValueError
	switch {
	case errors.Is(err, errLeftOut), errors.As(err, &e) && e.Reason == rowproto.ReasonUnavailable:
		return ReasonUnavailable
	case errors.Is(err, errAmbiguous):
		return ReasonAmbiguous
	}
	return otherwise
}

var errAmbiguous = errors.New("two columns of the row match it: BigQuery's names know no case")
