package keyed

import (
	"errors"
	"fmt"

	"beamcdc/schemas/rowproto"
)

// The reasons of this package's dead letters, besides those of rowproto's
// ValueErrors. They are stable: metrics and dead letters carry them.
const (
	ReasonUnlistedTable = "unlisted_table"  // no rule lists the event's table
	ReasonUnnamedTable  = "unnamed_table"   // the message names no table, and there is not just one
	ReasonBadTable      = "bad_destination" // the destination can't take rows, and no repetition will help
	ReasonTruncate      = "truncate"        // the source's table was truncated
	ReasonNoPosition    = "no_position"     // the message gives no position that can be read
	ReasonBadSequence   = "bad_sequence"    // the rule's sequence expression gives none
	ReasonRowTooLarge   = "row_too_large"   // no request to BigQuery can hold the row; the writer's too
	ReasonBadOperation  = "bad_operation"   // the event has no valid operation
)

// refusal says why an event becomes a dead letter.
type refusal struct {
	stage, reason string
	err           error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(stage, reason, format string, args ...any) *refusal {
	return &refusal{stage, reason, fmt.Errorf(format, args...)}
}

// refuseOf puts the table's name before what an order refuses.
func refuseOf(table string, err error) error {
	r, refused := errors.AsType[*refusal](err)
	if !refused {
		return err
	}
	return &refusal{r.stage, r.reason, fmt.Errorf("ordering a change of %s: %w", table, r.err)}
}

// refuseValue gives rowproto's error its stage. Other errors stay as they are.
func refuseValue(stage string, err error) error {
	e, bad := errors.AsType[*rowproto.ValueError](err)
	if !bad {
		return err
	}
	return &refusal{stage, e.Reason, err}
}
