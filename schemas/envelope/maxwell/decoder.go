package maxwell

import (
	"cmp"
	"time"

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
	keys    []string // the key columns' names
	msg     message
}

// message is what was read of the message at hand. Members come in any order, so
// nothing is judged before the end.
type message struct {
	database, table, kind string
	ts, xoffset, commit   string
	position, gtid, xid   string
	data, old             rows.Image
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{options: o, scan: s, rows: rows.New(s)}
}

// Is reports whether a message is one of Maxwell's, by its outline.
func Is(o *scan.Outline) bool {
	n := o.Top.Names
	return n.Has(scan.Database|scan.Type|scan.TS) && n.Any(scan.Data|scan.SQL) && !n.Any(scan.IsDDL|scan.MySQLType)
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
	if err == nil && !d.msg.data.Present {
		err = outcome.Errorf(outcome.MissingImage, "type %s has no data", d.msg.kind)
	}
	if err != nil {
		return dst, "", outcome.InTable(err, d.table())
	}
	key := d.rows.Pick(d.msg.data, d.keys)
	d.rows.Keep()
	e := change.Event{
		Message: *m, Parts: 1, Table: d.table(), Op: op,
		Key: d.rows.Of(key), CommitTime: rows.Unix(d.msg.ts, time.Second), Transaction: cmp.Or(d.msg.gtid, d.msg.xid),
	}
	e.Sequence, e.Position = d.sequence(op)
	if op == change.OpDelete {
		e.Before, e.BeforeComplete = d.rows.Of(d.msg.data), true
	} else {
		e.Before, e.After = d.rows.Of(d.msg.old), d.rows.Of(d.msg.data)
	}
	return append(dst, e), "", nil
}

// read reads the message.
func (d *Decoder) read(text string) error {
	d.msg, d.keys = message{}, d.keys[:0]
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
		case "database":
			d.msg.database = s.Scalar()
		case "table":
			d.msg.table = s.Scalar()
		case "type":
			d.msg.kind = s.Scalar()
		case "ts":
			d.msg.ts = s.Scalar()
		case "xoffset":
			d.msg.xoffset = s.Scalar()
		case "commit":
			d.msg.commit = s.Scalar()
		case "position":
			d.msg.position = s.Scalar()
		case "gtid":
			d.msg.gtid = s.Scalar()
		case "xid":
			d.msg.xid = s.Scalar()
		case "primary_key_columns":
			d.keys = d.rows.Names(d.keys, s.Value())
		case "data":
			d.msg.data = d.rows.Object("data")
		case "old":
			d.msg.old = d.rows.Object("old")
		default:
			s.Pass(name)
		}
	}
}

// kind returns what happened.
func (d *Decoder) kind() (change.Op, outcome.Control, error) {
	switch d.msg.kind {
	case "insert":
		return change.OpCreate, "", nil
	case "update":
		return change.OpUpdate, "", nil
	case "delete":
		return change.OpDelete, "", nil
	case "bootstrap-insert":
		return change.OpSnapshot, "", nil
	case "bootstrap-start", "bootstrap-complete":
		return 0, outcome.Notification, nil
	case "table-create", "table-alter", "table-drop", "database-create", "database-alter", "database-drop":
		return 0, outcome.SchemaChange, nil
	case "":
		return 0, "", outcome.Errorf(outcome.BadEnvelope, "the message has no type")
	}
	return 0, "", outcome.Errorf(outcome.UnknownOp, "the type is none of insert, update, delete and bootstrap-insert, no other bootstrap-… and no DDL's")
}

// sequence returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(op change.Op) (change.Sequence, string) {
	m := &d.msg
	if m.position == "" {
		switch {
		case op == change.OpSnapshot:
			return position.Lowest(d.options.Epoch), "none in a bootstrap"
		case m.gtid != "":
			return change.Sequence{}, "the message has a gtid, which is no order, and no position: set Maxwell's output_binlog_position"
		}
		return change.Sequence{}, "the message has no position: set Maxwell's output_binlog_position"
	}
	file, pos, ok := position.ParseFilePos(m.position)
	if !ok {
		return change.Sequence{}, "the position is no file of the binary log and place in it"
	}
	offset, ok := position.ParseUint(m.xoffset)
	switch {
	case m.xoffset != "" && (!ok || offset >= position.MaxRow):
		return change.Sequence{}, "the xoffset is no number"
	case m.xoffset == "" && m.commit == "true":
		return position.Maxwell(d.options.Epoch, file, pos, 0, true, op), m.position
	}
	return position.Maxwell(d.options.Epoch, file, pos, offset, false, op), m.position
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	if d.msg.table == "" || d.msg.database == "" {
		return d.msg.table
	}
	return d.scan.Arena.Table(d.msg.database, d.msg.table)
}
