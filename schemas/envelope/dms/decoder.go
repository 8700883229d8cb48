package dms

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// Options configures a Decoder.
type Options struct {
	Epoch uint64 // the first section of every sequence
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	options Options
	scan    *scan.Scanner
	rows    rows.Rows
	msg     message
}

// message is what was read of the message at hand. Members come in any order, so
// nothing is judged before the end.
type message struct {
	data, before           rows.Image
	recordType, operation  string
	schema, table          string
	commit, streamPosition string
	record, transaction    string
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{options: o, scan: s, rows: rows.New(s)}
}

// Is reports whether a message is one of DMS's, by its outline.
func Is(o *scan.Outline) bool {
	return o.Top.Names.Has(scan.Metadata) && o.Metadata.Names.Has(scan.RecordType)
}

// Decode appends the message's change to dst, or says which control message it is.
// Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	op, control, err := d.kind()
	if control != "" {
		return dst, control, nil
	}
	if err == nil {
		err = d.rows.Fault()
	}
	if err == nil && op != change.OpTruncate && !d.msg.data.Present {
		err = outcome.Errorf(outcome.MissingImage, "operation %s has no data", d.msg.operation)
	}
	if err != nil {
		return dst, "", outcome.InTable(err, d.table())
	}
	d.rows.Keep()
	e := change.Event{Message: *m, Parts: 1, Table: d.table(), Op: op, Transaction: d.msg.transaction}
	if d.msg.commit != "" {
		e.CommitTime = rows.Time(d.msg.commit)
	}
	e.Sequence, e.Position = d.sequence(&e)
	switch op {
	case change.OpTruncate:
	case change.OpDelete:
		e.Before = d.rows.Of(d.msg.data)
	default:
		e.Before, e.After = d.rows.Of(d.msg.before), d.rows.Of(d.msg.data)
	}
	return append(dst, e), "", nil
}

// read reads the message.
func (d *Decoder) read(text string) error {
	d.msg = message{}
	d.rows.Reset()
	s := d.scan
	if err := s.Open(text); err != nil {
		return err
	}
	for {
		name, more := s.NextMember()
		if !more {
			return nil
		}
		switch name {
		case "data":
			d.msg.data = d.rows.Object(name)
		case "before-image":
			d.msg.before = d.rows.Object(name)
		case "metadata":
			d.rows.Metadata(&d.msg)
		default:
			s.Pass(name)
		}
	}
}

// Field returns where metadata's member of this name goes, nil for nowhere.
func (m *message) Field(name string) *string {
	switch name {
	case "record-type":
		return &m.recordType
	case "operation":
		return &m.operation
	case "schema-name":
		return &m.schema
	case "table-name":
		return &m.table
	case "commit-timestamp":
		return &m.commit
	case "stream-position":
		return &m.streamPosition
	case "transaction-record-id":
		return &m.record
	case "transaction-id":
		return &m.transaction
	}
	return nil
}

// kind returns what happened.
func (d *Decoder) kind() (change.Op, outcome.Control, error) {
	switch d.msg.recordType {
	case "control":
		if d.msg.operation == "truncate-table" {
			return change.OpTruncate, "", nil
		}
		return 0, outcome.SchemaChange, nil
	case "data":
	case "":
		return 0, "", outcome.Errorf(outcome.BadEnvelope, "metadata has no record-type")
	default:
		return 0, "", outcome.Errorf(outcome.UnknownOp, "metadata.record-type is neither data nor control")
	}
	switch d.msg.operation {
	case "load":
		return change.OpSnapshot, "", nil
	case "insert":
		return change.OpCreate, "", nil
	case "update":
		return change.OpUpdate, "", nil
	case "delete":
		return change.OpDelete, "", nil
	}
	return 0, "", outcome.Errorf(outcome.UnknownOp, "metadata.operation is none of load, insert, update and delete")
}

// sequence returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(e *change.Event) (change.Sequence, string) {
	m := &d.msg
	if e.Op == change.OpSnapshot {
		return position.Lowest(d.options.Epoch), "none in a full load"
	}
	record, ok := position.ParseUint(m.record)
	if m.record != "" && (!ok || record >= position.MaxRow) {
		return change.Sequence{}, "metadata.transaction-record-id is no number"
	}
	if s, ok := position.DMS(d.options.Epoch, m.streamPosition, record, e.Op); ok {
		return s, m.streamPosition
	}
	if micros := e.CommitTime.UnixMicro(); !e.CommitTime.IsZero() && micros > 0 {
		if m.streamPosition == "" {
			return position.DMSCommit(d.options.Epoch, uint64(micros), record, e.Op), m.commit
		}
		return position.DMSCommit(d.options.Epoch, uint64(micros), record, e.Op), m.streamPosition
	}
	if m.streamPosition == "" && m.commit == "" {
		return change.Sequence{}, "metadata has neither a stream-position nor a commit-timestamp: set the endpoint's IncludeTransactionDetails"
	}
	return change.Sequence{}, "neither metadata.stream-position nor commit-timestamp can be read"
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	if d.msg.table == "" || d.msg.schema == "" {
		return d.msg.table
	}
	return d.scan.Arena.Table(d.msg.schema, d.msg.table)
}
