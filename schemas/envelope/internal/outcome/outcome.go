// Package outcome holds what decoding a message can come to besides change
// events: a control message, or an error with a reason. Its types are the
// envelope package's; they live here so that a format's package can return them.
package outcome

import (
	"errors"
	"fmt"

	"beamcdc/internal/printable"
)

// Control says which kind of message without a row change a message is. Its
// zero value means that the message holds changes.
type Control string

// The kinds of control messages.
const (
	Heartbeat      Control = "heartbeat"       // the source is alive
	Transaction    Control = "transaction"     // a transaction began or ended
	SchemaChange   Control = "schema_change"   // a table's definition changed
	Tombstone      Control = "tombstone"       // an empty message, as Kafka's log compaction wants it after a delete
	LogicalMessage Control = "logical_message" // a message that an application wrote into the source's log
	Notification   Control = "notification"    // the connector reports on itself: a snapshot began, ended, …
)

// The reasons of an Error. They are stable: metrics and dead letters carry them.
const (
	BadJSON        = "bad_json"        // the message is no single JSON value, or repeats a name, or isn't UTF-8
	UnknownFormat  = "unknown_format"  // no format known by its members
	BadEnvelope    = "bad_envelope"    // the format's members are missing or of the wrong kind
	UnknownOp      = "unknown_op"      // the change's operation is missing or none that the format has
	BadAvro        = "bad_avro"        // the message's Avro isn't what its schema says
	UnknownSchema  = "unknown_schema"  // the Avro schema that the message refers to is nowhere to be found
	BadSchema      = "bad_schema"      // the message's schema can't be read
	BadValue       = "bad_value"       // a column's value doesn't fit the type that the message's schema gives it
	MissingImage   = "missing_image"   // the change lacks the image of the row that its operation needs
	ConflictingOps = "conflicting_ops" // the message says in two places what happened, and they differ
	MissingKey     = "missing_key"     // the change is a delete of nothing but its key, and the message tells none
	BadCompression = "bad_compression" // the message can't be unpacked, or is too large then
)

// Error says why a message can't be decoded. The message will fail again
// whenever it is tried: it belongs to the dead letters.
type Error struct {
	Reason string // one of the reasons above
	Table  string // the source's name of the table; "" when unknown
	Err    error  // never nil; names column and position, holds no value of a row
}

// Error returns the text of Err, in which names that come from the message move no
// cursor and begin no line of a log.
func (e *Error) Error() string { return printable.Text(e.Err.Error()) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with the given reason.
func Errorf(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// InTable names the table in an Error that names none yet; other errors it
// returns as they are.
func InTable(err error, table string) error {
	var e *Error
	if table == "" || !errors.As(err, &e) || e.Table != "" {
		return err
	}
	return &Error{Reason: e.Reason, Table: table, Err: fmt.Errorf("table %s: %w", clip(table), e.Err)}
}

// clip bounds what a hostile message can put into an error.
func clip(text string) string { return printable.Clip(text, 200) }
