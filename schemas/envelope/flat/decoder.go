package flat

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/debezium"
	"beamcdc/schemas/envelope/internal/captured"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/unavailable"
)

// Options configures a Decoder.
type Options struct {
	Epoch       uint64                   // the first section of every sequence
	Placeholder *unavailable.Placeholder // never nil
	Names       Names                    // from ParseNames
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	captured.Reader
	names     Names
	attribute scan.Scanner // of what headers hold

	// Of the message at hand.
	row         captured.Image
	deleted     string // the text of __deleted
	connector   string // which the fields tell
	hasMetadata bool
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{Reader: captured.New(o.Epoch, o.Placeholder, s), names: o.Names}
}

// Is reports whether a message is a flattened one, by its outline: whether it
// tells what happened to its row. Of control messages it knows nothing: they are
// Debezium's.
func Is(o *scan.Outline) bool {
	n := o.Change().Names
	return n.Any(scan.FlatOp|scan.FlatDeleted) && !n.Has(scan.Op|scan.Source)
}

// Decode appends the message's change to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m); err != nil {
		return dst, "", err
	}
	if d.Fault != nil {
		return dst, "", outcome.InTable(d.Fault, d.Table())
	}
	if c := d.control(); c != "" {
		return dst, c, nil
	}
	if err := d.settleOp(); err != nil {
		return dst, "", outcome.InTable(err, d.Table())
	}
	n := len(dst)
	dst, err := d.Append(m, dst)
	if err == nil && dst[n].Op == change.OpUpdate && d.Source.IsMongo() {
		dst[n].AbsentUnavailable = true
	}
	return dst, "", err
}

// Tombstone returns the delete that an empty message stands for: of the row that
// the ordering key names, in the table that the transformation's headers name,
// if they do. Its error is an *outcome.Error.
func (d *Decoder) Tombstone(m *change.Message) (change.Event, error) {
	d.row, d.deleted, d.connector, d.hasMetadata = captured.Image{}, "", "", false
	d.Reset()
	d.headers(m)
	if d.Source.Connector == "" {
		d.Source.Connector = d.connector
	}
	return d.Reader.Tombstone(m)
}

// control returns what a message without a row is. A row with metadata is one,
// whatever its columns are called.
func (d *Decoder) control() outcome.Control {
	if d.hasMetadata {
		if d.Op == "m" {
			return outcome.LogicalMessage
		}
		return ""
	}
	c := debezium.Control(&d.Scan.Outline)
	if c == outcome.Transaction && !d.isMarker() {
		return "" // a table's columns may be so called
	}
	return c
}

// isMarker reports whether a row with a status and an event_count begins or ends
// a transaction.
func (d *Decoder) isMarker() bool {
	status := d.Text(d.row, "status")
	return (status == "BEGIN" || status == "END") && d.Text(d.row, "id") != ""
}

// settleOp decides what happened, by __op and __deleted, which must agree.
func (d *Decoder) settleOp() error {
	switch {
	case d.Op == "" && d.deleted == "true":
		d.Op = "d"
	case d.Op == "" && d.Source.IsSnapshot():
		d.Op = "r"
	case d.Op == "":
		d.Op = "u" // the row as it is now
	case d.deleted == "true" && d.Op != "d", d.deleted == "false" && d.Op == "d":
		return outcome.Errorf(outcome.ConflictingOps, "the op and __deleted contradict each other")
	}
	if d.deleted != "" && d.deleted != "true" && d.deleted != "false" {
		return outcome.Errorf(outcome.UnknownOp, "__deleted is neither true nor false")
	}
	if d.Op == "d" {
		d.Before = d.row
	} else {
		d.After = d.row
	}
	if d.Source.Connector == "" {
		d.Source.Connector = d.connector
	}
	d.Hint = hint(d.Source.Connector)
	return nil
}

// hint says which fields the transformation must add.
func hint(connector string) string {
	switch connector {
	case "postgresql":
		return "add.fields must hold op,table,source.lsn,source.sequence"
	case "mysql", "mariadb":
		return "add.fields must hold op,table,source.file,source.pos,source.row"
	case "sqlserver":
		return "add.fields must hold op,table,source.commit_lsn,source.change_lsn,source.event_serial_no"
	case "oracle":
		return "add.fields must hold op,table,source.commit_scn,source.scn,source.txSeq, or source.rs_id,source.ssn instead of the last"
	case "mongodb":
		return "add.fields must hold op,collection,source.ts_ms,source.ord"
	case "spanner":
		return "add.fields must hold op,table,source.ts_ns,source.sequence,source.mod_number,source.value_capture_type"
	}
	return "add.fields must hold the source's position, such as op,table,source.lsn,source.sequence of PostgreSQL or op,table,source.file,source.pos,source.row of MySQL"
}

// read reads the message. The error is that it is no JSON; whatever else is
// wrong with it is d.Fault.
func (d *Decoder) read(m *change.Message) error {
	d.row, d.deleted, d.connector, d.hasMetadata = captured.Image{}, "", "", false
	text := m.Text()
	if schema, ok := d.Unwrap(text); ok {
		d.headers(m)
		d.object(schema, true)
		return nil
	}
	d.Reset()
	d.headers(m)
	s := d.Scan
	if err := s.Reset(text); err != nil {
		return err
	}
	raw, payload, isWrapped := captured.Halves(text)
	if isWrapped {
		s.Outline.Top.Note("schema", raw[0])
		s.Outline.Top.Note("payload", payload[0])
	}
	switch {
	case isWrapped && payload[0] == '{':
		schema, err := d.Schema(raw)
		if err != nil {
			d.Fail(outcome.Errorf(outcome.BadSchema, "%w", err))
		}
		s.Walk(payload)
		d.object(schema, true)
	case isWrapped: // a tombstone
	case s.Peek() == '{':
		d.object(d.Types(), false)
	default:
		d.Fail(outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object"))
	}
	return nil
}

// object reads the row and what is among its columns.
func (d *Decoder) object(schema *connect.Schema, isWrapped bool) {
	s := d.Scan
	s.Object()
	d.row = d.Open(schema)
	for {
		name, more := s.Member()
		if !more {
			d.row = d.Close(d.row)
			return
		}
		if isWrapped {
			s.Outline.Payload.Note(name, s.Peek())
		} else {
			s.Note(name)
		}
		if field, ok := d.names.field(name); ok {
			d.hasMetadata = true
			d.metadata(name, field)
			continue
		}
		if !isWrapped && (name == "payload" || name == "metadata") {
			at := s.Cursor
			s.Pass(name) // for the outline
			s.Cursor = at
		}
		d.Column(&d.row, name)
	}
}

// metadata reads a member that holds a field of Debezium's.
func (d *Decoder) metadata(name, field string) {
	raw := d.Scan.Value()
	switch raw[0] {
	case '"':
		d.set(name, field, d.Scan.Unquote(raw))
	case 'n':
		d.set(name, field, "")
	default:
		d.set(name, field, raw)
	}
}

// set keeps what a field of Debezium's holds; null is "".
func (d *Decoder) set(name, field, value string) {
	switch {
	case name == deletedName:
		d.deleted = value
		return
	case field == "op":
		d.Op = value
		return
	case field == "transaction_total_order", field == "total_order":
		d.Source.TotalOrder = value
		return
	case field == "transaction_id":
		d.Source.TransactionOf = value
		return
	case field == "ts_ms", field == "ts_us", field == "ts_ns": // when it was processed; the source's are source_ts_ms, …
		return
	}
	field = strings.TrimPrefix(field, "source_")
	to := d.Source.Field(field)
	if to == nil {
		return
	}
	*to = value
	switch of := connectorOf(field); {
	case of == "":
	case field != "sequence":
		d.connector = of
	case value != "" && d.connector == "": // Spanner has one too, and the others a null
		d.connector = of
	}
}

// connectorOf returns the connector whose source block alone has a field.
func connectorOf(field string) string {
	switch field {
	case "lsn", "sequence":
		return "postgresql"
	case "file", "pos":
		return "mysql"
	case "commit_lsn", "change_lsn":
		return "sqlserver"
	case "scn", "commit_scn":
		return "oracle"
	case "ord", "collection":
		return "mongodb"
	case "record_sequence", "mod_number":
		return "spanner"
	}
	return ""
}
