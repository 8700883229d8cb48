package wal2json

import (
	"slices"
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
	keys    []string // the names of the key columns of the change at hand
	changes []row
	msg     message
}

// message is what was read of the message at hand. Members come in any order, so
// nothing is judged before the end.
type message struct {
	isFirst        bool // it is of the first format: it has a change array
	lsn, timestamp string
	xid            string
	changes        string // the first format's array, as it is written

	action, schema, table string // the second format's
	columns, identity     rows.Image
}

// row is a change of one row, or of a whole table.
type row struct {
	op                 change.Op
	index              uint64 // among its transaction's changes
	table              string
	after, before, key rows.Image
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder {
	return &Decoder{options: o, scan: s, rows: rows.New(s)}
}

// Is reports whether a message is one of wal2json's, by its outline.
func Is(o *scan.Outline) bool {
	n := o.Top.Names
	if !n.Has(scan.ActionLetter) {
		known := n & (scan.ChangeArray | scan.XID | scan.NextLSN | scan.Timestamp | scan.Origin)
		return n.Has(scan.ChangeArray) && o.Top.Count == known.Count()
	}
	known := n & (scan.ActionLetter | scan.XID | scan.LSN | scan.NextLSN | scan.Timestamp | scan.Origin | scan.Table)
	if n.Has(scan.Prefix | scan.Content) { // a logical message
		known |= n & (scan.Prefix | scan.Content | scan.Transactional)
	}
	if o.Top.Count == known.Count() { // or a transaction's begin or end, or a truncate
		return true
	}
	return n.Has(scan.Table) && n.Any(scan.ColumnArray|scan.IdentityArray|scan.SchemaText)
}

// Decode appends the message's changes to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if err := d.read(m.Text()); err != nil {
		return dst, "", err
	}
	var control outcome.Control
	if d.msg.isFirst {
		control = d.transaction()
	} else {
		control = d.record()
	}
	switch err := d.rows.Fault(); {
	case err != nil:
		return dst, "", err
	case control != "":
		return dst, control, nil
	}
	d.rows.Keep()
	e := change.Event{Message: *m, Parts: uint32(len(d.changes)), CommitTime: commitTime(d.msg.timestamp), Transaction: d.msg.xid}
	dst = slices.Grow(dst, len(d.changes))
	for i := range d.changes {
		c := &d.changes[i]
		e.Part, e.Table, e.Op = uint32(i), c.table, c.op
		e.Key, e.Before, e.After = d.rows.Of(c.key), d.rows.Of(c.before), d.rows.Of(c.after)
		e.AbsentUnavailable = c.op == change.OpUpdate
		e.Sequence, e.Position = d.sequence(c)
		dst = append(dst, e)
	}
	return dst, "", nil
}

// read reads the message's own members.
func (d *Decoder) read(text string) error {
	d.msg, d.changes, d.keys = message{}, d.changes[:0], d.keys[:0]
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
		case "change":
			d.msg.isFirst, d.msg.changes = true, s.Value()
		case "nextlsn":
			if lsn := s.Scalar(); d.msg.lsn == "" {
				d.msg.lsn = lsn
			}
		case "lsn":
			d.msg.lsn = s.Scalar()
		case "timestamp":
			d.msg.timestamp = s.Scalar()
		case "xid":
			d.msg.xid = s.Scalar()
		case "action":
			d.msg.action = s.Scalar()
		case "schema":
			d.msg.schema = s.Scalar()
		case "table":
			d.msg.table = s.Scalar()
		case "columns":
			d.msg.columns = d.list(name)
		case "identity":
			d.msg.identity = d.list(name)
		case "pk":
			d.pk()
		default:
			s.Pass(name)
		}
	}
}

// sequence returns a change's sequence and its position for people to read.
// Where the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(c *row) (change.Sequence, string) {
	name := "lsn"
	if d.msg.isFirst {
		name = "nextlsn"
	}
	lsn, ok := position.ParseLSN(d.msg.lsn)
	switch {
	case d.msg.lsn == "":
		return change.Sequence{}, "the message has no " + name + ": set wal2json's include-lsn"
	case !ok:
		return change.Sequence{}, name + " is no LSN"
	case lsn == 0:
		return change.Sequence{}, name + " is 0, which is no position of a change"
	case d.msg.isFirst:
		return position.Wal2JSON(d.options.Epoch, lsn, c.index, c.op), position.FormatLSN(&d.scan.Arena, lsn)
	}
	return position.Wal2JSONRecord(d.options.Epoch, lsn, c.op), position.FormatLSN(&d.scan.Arena, lsn)
}

// tableName joins the source's name of a table, "" when it isn't given.
func (d *Decoder) tableName(schema, table string) string {
	if schema == "" || table == "" {
		return table
	}
	return d.scan.Arena.Table(schema, table)
}

// commitTime reads a timestamp of PostgreSQL's, "2025-03-09 08:07:06.005004+00";
// zero in any other DateStyle.
func commitTime(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	return rows.Time(text)
}
