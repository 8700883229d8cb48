// Package envelope decodes the envelopes in which change events travel: a
// Pub/Sub message in, change events out. Each format has a package of its own.
package envelope

import (
	"errors"
	"fmt"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/debezium"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
)

// DefaultUnavailablePlaceholder is what Debezium writes for a value that its
// source left out, unless unavailable.value.placeholder says otherwise.
const DefaultUnavailablePlaceholder = "__debezium_unavailable_value"

// Options configures a Decoder.
type Options struct {
	// Format is the envelope's name: "auto", "debezium" or "datastream"; "" means "auto".
	Format string
	// Epoch is the first section of every sequence.
	Epoch uint64
	// UnavailablePlaceholder is the text that stands for a value that the source
	// left out; "" means DefaultUnavailablePlaceholder.
	UnavailablePlaceholder string
}

// Control says which kind of message without a row change a message is; "" means
// that it holds changes.
type Control = outcome.Control

// The kinds of control messages.
const (
	Heartbeat      = outcome.Heartbeat
	Transaction    = outcome.Transaction
	SchemaChange   = outcome.SchemaChange
	Tombstone      = outcome.Tombstone
	LogicalMessage = outcome.LogicalMessage
	Notification   = outcome.Notification
)

// Error says why a message can't be decoded.
type Error = outcome.Error

// Decoder decodes messages one after the other. It is for one goroutine.
type Decoder struct {
	debezium *debezium.Decoder
}

// New returns a Decoder for a format.
func New(o Options) (*Decoder, error) {
	switch o.Format {
	case "", "auto", "debezium":
	default:
		return nil, fmt.Errorf("format %q is not supported yet; the formats are auto, debezium", o.Format)
	}
	s, a := new(scan.Scanner), new(slab.Arena)
	return &Decoder{debezium: debezium.New(debezium.Options{Epoch: o.Epoch}, s, a)}, nil
}

// Decode appends the message's changes to dst, or says which control message it
// is. The error is always an *Error.
func (d *Decoder) Decode(m change.Message, dst []change.Event) ([]change.Event, Control, error) {
	if text := strings.TrimSpace(m.Text()); text == "" || text == "null" {
		return dst, Tombstone, nil
	}
	dst, control, err := d.debezium.Decode(&m, dst)
	if err != nil {
		return dst, "", failure("debezium", err)
	}
	return dst, control, nil
}

// failure gives an error its path.
func failure(format string, err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Reason: outcome.BadEnvelope, Err: err}
	}
	return &Error{Reason: e.Reason, Table: e.Table, Err: fmt.Errorf("decoding %s envelope: %w", format, e.Err)}
}
