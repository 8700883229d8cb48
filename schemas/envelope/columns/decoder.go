package columns

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// BigQuery's columns.
const (
	changeType     = "_CHANGE_TYPE"
	sequenceNumber = "_CHANGE_SEQUENCE_NUMBER"
)

// TableAttribute is the message attribute that names the source's table.
const TableAttribute = "cdc_table"

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	scan  *scan.Scanner
	rows  rows.Rows
	types *connect.Schema // of the row, from outside the message; nil for none

	// Of the message at hand.
	kind, sequence string // as they are written, with their quotes; "" where they are not there
	row            rows.Image
}

// New returns a Decoder that reads with s.
func New(s *scan.Scanner) *Decoder { return &Decoder{scan: s, rows: rows.New(s)} }

// Typed sets what types the rows; nil is nothing.
func (d *Decoder) Typed(types *connect.Schema) { d.types = types }

// Is reports whether a message is a row with BigQuery's columns, by its outline. A
// row that a connector has flattened may have a column of one of these names, which
// then is the user's and says nothing.
func Is(o *scan.Outline) bool {
	n := o.Top.Names
	return n.Has(scan.ChangeType) && !n.Any(scan.FlatOp|scan.FlatDeleted) && (n.Has(scan.ChangeSequence) || !n.Any(scan.FlatPrefix))
}

// Decode appends the message's change to dst. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	e := change.Event{Message: *m, Parts: 1, Table: m.Attributes[TableAttribute]}
	var err error
	if e.Op, err = d.op(); err != nil {
		return dst, "", err
	}
	if e.Sequence, e.Position, err = d.position(); err != nil {
		return dst, "", err
	}
	if err := d.rows.Fault(); err != nil {
		return dst, "", err
	}
	d.rows.Keep()
	if e.Op == change.OpDelete {
		e.Before = d.rows.Of(d.row)
	} else {
		e.After = d.rows.Of(d.row)
	}
	return append(dst, e), "", nil
}

// read reads the message.
func (d *Decoder) read(text string) error {
	d.kind, d.sequence = "", ""
	d.rows.Reset()
	s := d.scan
	if err := s.Open(text); err != nil {
		return err
	}
	d.row = d.rows.Begin()
	for {
		name, more := s.NextMember()
		if !more {
			d.row = d.rows.End(d.row)
			return nil
		}
		switch raw := s.Pass(name); name {
		case changeType:
			d.kind = raw
		case sequenceNumber:
			d.sequence = raw
		default:
			d.rows.AddTyped(name, raw, d.types.Field(name, d.rows.Begun(d.row)))
		}
	}
}

// op returns what happened.
func (d *Decoder) op() (change.Op, error) {
	if d.kind == "" {
		return 0, outcome.Errorf(outcome.BadEnvelope, "the message has no %s", changeType)
	}
	if d.kind[0] == '"' {
		switch kind := d.rows.Text(d.kind); {
		case strings.EqualFold(kind, "UPSERT"):
			return change.OpUpdate, nil
		case strings.EqualFold(kind, "DELETE"):
			return change.OpDelete, nil
		}
	}
	return 0, outcome.Errorf(outcome.UnknownOp, "%s is neither UPSERT nor DELETE", changeType)
}

// position returns the sequence, and its text for people to read. Without one the
// sequence is zero, and the text says why.
func (d *Decoder) position() (change.Sequence, string, error) {
	if d.sequence == "" || d.sequence == "null" {
		return change.Sequence{}, "the message has no " + sequenceNumber, nil
	}
	if d.sequence[0] != '"' {
		return change.Sequence{}, "", outcome.Errorf(outcome.BadEnvelope, "%s is no text", sequenceNumber)
	}
	text := d.rows.Text(d.sequence)
	sequence, err := change.ParseSequence(text)
	if err != nil {
		return change.Sequence{}, "", outcome.Errorf(outcome.BadEnvelope, "%s: %w", sequenceNumber, err)
	}
	return sequence, text, nil
}
