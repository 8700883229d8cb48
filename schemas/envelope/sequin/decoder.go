package sequin

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// unchanged is what Sequin writes for a TOASTed value that did not change, and that
// it could not load.
const unchanged = "unchanged_toast"

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
	record, changes rows.Image
	action          string
	schema, table   string
	commitLSN       string
	commitIndex     string
	commitTime      string
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{options: o, scan: s, rows: rows.New(s)}
}

// Is reports whether a message is one of Sequin's, by its outline.
func Is(o *scan.Outline) bool {
	return o.Top.Names.Has(scan.ActionWord|scan.Record|scan.Metadata) && o.Metadata.Names.Any(scan.CommitLSN|scan.TableSchema)
}

// Decode appends the message's change to dst. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	op, err := d.op()
	if err == nil {
		err = d.rows.Fault()
	}
	if err == nil && !d.msg.record.Present {
		err = outcome.Errorf(outcome.MissingImage, "action %s has no record", d.msg.action)
	}
	if err != nil {
		return dst, "", outcome.InTable(err, d.table())
	}
	d.rows.Keep()
	e := change.Event{Message: *m, Parts: 1, Table: d.table(), Op: op, Partial: true}
	if d.msg.commitTime != "" {
		e.CommitTime = rows.Time(d.msg.commitTime)
	}
	e.Sequence, e.Position = d.sequence(op)
	switch op {
	case change.OpDelete:
		e.Before = d.rows.Of(d.msg.record)
	case change.OpUpdate:
		e.Before, e.After, e.AbsentUnavailable = d.rows.Of(d.msg.changes), d.rows.Of(d.msg.record), true
		for i := range e.After {
			if v := e.After[i].Value; v.Kind() == change.KindText && v.Text() == unchanged {
				e.After[i].Value = change.Unavailable()
			}
		}
	default:
		e.After = d.rows.Of(d.msg.record)
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
		case "record":
			d.msg.record = d.rows.Object(name)
		case "changes":
			d.msg.changes = d.rows.Object(name)
		case "action":
			d.msg.action = s.Scalar()
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
	case "table_schema":
		return &m.schema
	case "table_name":
		return &m.table
	case "commit_lsn":
		return &m.commitLSN
	case "commit_idx":
		return &m.commitIndex
	case "commit_timestamp":
		return &m.commitTime
	}
	return nil
}

// op returns what happened.
func (d *Decoder) op() (change.Op, error) {
	switch d.msg.action {
	case "insert":
		return change.OpCreate, nil
	case "update":
		return change.OpUpdate, nil
	case "delete":
		return change.OpDelete, nil
	case "read":
		return change.OpSnapshot, nil
	case "":
		return 0, outcome.Errorf(outcome.BadEnvelope, "the message has no action")
	}
	return 0, outcome.Errorf(outcome.UnknownOp, "the action is none of insert, update, delete and read")
}

// sequence returns the change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(op change.Op) (change.Sequence, string) {
	lsn, ok := position.ParseLSN(d.msg.commitLSN)
	index, indexOK := position.ParseUint(d.msg.commitIndex)
	switch {
	case op == change.OpSnapshot: // its commit_lsn, if any, is not that of the row's last change
		return position.Lowest(d.options.Epoch), "none in a backfill"
	case d.msg.commitLSN == "":
		return change.Sequence{}, "metadata has no commit_lsn"
	case !ok:
		return change.Sequence{}, "metadata.commit_lsn is no LSN"
	case lsn == 0:
		return change.Sequence{}, "metadata.commit_lsn is 0, which is no position of a change"
	case d.msg.commitIndex == "":
		return change.Sequence{}, "metadata has no commit_idx"
	case !indexOK || index > position.MaxIndex:
		return change.Sequence{}, "metadata.commit_idx is no number"
	}
	return position.Wal2JSON(d.options.Epoch, lsn, index, op), position.FormatLSN(&d.scan.Arena, lsn)
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	if d.msg.table == "" || d.msg.schema == "" {
		return d.msg.table
	}
	return d.scan.Arena.Table(d.msg.schema, d.msg.table)
}
