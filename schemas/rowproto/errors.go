package rowproto

import (
	"fmt"
	"strings"

	"beamcdc/internal/printable"
	"beamcdc/schemas/table"
)

// The reasons of a ValueError. They are stable: dead letters and metrics carry them.
const (
	ReasonBadValue        = "bad_value"         // the column can't hold the value exactly
	ReasonUnknownColumn   = "unknown_column"    // the table has no such column
	ReasonUnavailable     = "unavailable_value" // the source left the value out
	ReasonMissingKey      = "missing_key"       // a key column is absent or NULL
	ReasonNullRequired    = "null_required"     // a REQUIRED column is absent or NULL
	ReasonAmbiguous       = "ambiguous_column"  // two source columns match one of the table's
	ReasonMissingSequence = "missing_sequence"  // the row has no change sequence number
)

// ValueError says why a change can't become a row of the table. Its text never
// holds the value.
type ValueError struct {
	Table  string // "project.dataset.table"
	Column string // the column, "address.city" or "tags[3]" below one; "" when it is about the whole row
	Reason string // one of the Reason constants
	Err    error  // what is wrong, and where there is one, the setting that would decide

	// Policies are those of the column that would make something of a bad value.
	Policies []table.Policy
	tried    bool // whether Policies is known
}

// Error returns the table, the column, the reason and what is wrong.
func (e *ValueError) Error() string {
	var b strings.Builder
	b.WriteString("encoding a row of ")
	b.WriteString(e.Table)
	if e.Column != "" {
		b.WriteString(", column ")
		b.WriteString(clip(e.Column))
	}
	b.WriteString(": ")
	b.WriteString(e.Reason)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	for i, p := range e.Policies {
		if i == 0 {
			b.WriteString("; to store something else, set the column's `bad_values` to ")
		} else {
			b.WriteString(" or ")
		}
		b.WriteString(string(p))
	}
	return b.String()
}

// Unwrap returns Err.
func (e *ValueError) Unwrap() error { return e.Err }

// bad returns a ValueError that a policy of the column may still turn into a
// value. The column's name is set where it is known.
func bad(format string, args ...any) *ValueError {
	return &ValueError{Reason: ReasonBadValue, Err: fmt.Errorf(format, args...)}
}

// refused returns a ValueError that no policy applies to.
func refused(reason, format string, args ...any) *ValueError {
	return &ValueError{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// under returns the error with the column's name put before the path it has.
func (e *ValueError) under(name string) *ValueError {
	switch {
	case e.Column == "":
		e.Column = name
	case strings.HasPrefix(e.Column, "["):
		e.Column = name + e.Column
	default:
		e.Column = name + "." + e.Column
	}
	return e
}

// clip bounds what a hostile message's column name can put into an error.
func clip(name string) string { return printable.Clip(name, 200) }
