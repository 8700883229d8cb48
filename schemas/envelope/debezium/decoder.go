// Package debezium decodes Debezium's change events in JSON, as Debezium
// Server's Pub/Sub sink publishes them, with their schema or without.
//
// The shape of a message is that of io.debezium.data.Envelope: before, after,
// source, op, ts_ms. With schemas enabled it is the payload of
// {"schema": …, "payload": …}. The row's key is the message's ordering key,
// which has a schema or not on its own account.
//
// Positions are read of PostgreSQL, MySQL and MariaDB; a change of any other
// connector has no sequence.
package debezium

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
	"beamcdc/schemas/envelope/internal/unavailable"
)

// Options configures a Decoder.
type Options struct {
	Epoch       uint64                   // the first section of every sequence
	Placeholder *unavailable.Placeholder // never nil
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	options Options
	scan    *scan.Scanner
	schemas connect.Cache // of messages
	keys    connect.Cache // of ordering keys

	// Of the message at hand.
	columns []change.Column // in the arena's room
	usual   int             // how many columns the message before had, to ask room for
	doubts  []doubt
	msg     message
}

// message is what was read of the message at hand. Members come in any order,
// so nothing is judged before the end.
type message struct {
	fault         error // the first thing that is wrong with it
	op            string
	before, after image
	source        source
}

// New returns a Decoder that reads with s.
func New(o Options, s *scan.Scanner) *Decoder { return &Decoder{options: o, scan: s} }

// Is reports whether a message is one of Debezium's, by its outline.
func Is(o *scan.Outline) bool {
	m := o.Change()
	return m.Names.Has(scan.Op|scan.Source) || control(o) != ""
}

// control returns what a message without an op is, "" when it is no control
// message of Debezium's.
func control(o *scan.Outline) outcome.Control {
	m := o.Change()
	switch n := m.Names; {
	case o.Top.Names.Has(scan.Schema|scan.NullPayload) && o.Top.Count == 2:
		return outcome.Tombstone
	case n.Has(scan.Op):
		return ""
	case n.Has(scan.Status | scan.EventCount):
		return outcome.Transaction
	case n.Has(scan.TSMillis) && m.Count == 1:
		return outcome.Heartbeat
	case n&(scan.DDL|scan.TableChanges) != 0 && n&(scan.Source|scan.DatabaseName) != 0:
		return outcome.SchemaChange
	case n.Has(scan.AggregateType | scan.AdditionalData): // an outbox's rows have the first one too
		return outcome.Notification
	}
	return ""
}

// Decode appends the message's change to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	if !d.readWrapped(m.Text()) {
		if err := d.read(m.Text()); err != nil {
			return dst, "", err
		}
	}
	if d.msg.fault != nil {
		return dst, "", outcome.InTable(d.msg.fault, d.table())
	}
	if c := control(&d.scan.Outline); c != "" {
		return dst, c, nil
	}
	if d.msg.op == "m" {
		return dst, outcome.LogicalMessage, nil
	}
	n := len(dst)
	dst = append(dst, change.Event{Message: *m, Parts: 1})
	if err := d.fill(&dst[n]); err != nil {
		return dst[:n], "", outcome.InTable(err, d.table())
	}
	return dst, "", nil
}

// fill makes the change of what was read.
func (d *Decoder) fill(e *change.Event) error {
	msg := &d.msg
	e.Table, e.CommitTime = d.table(), msg.source.commitTime()
	switch msg.op {
	case "c":
		e.Op = change.OpCreate
		if msg.source.isSnapshot() { // as connectors write it that make inserts of a snapshot
			e.Op = change.OpSnapshot
		}
	case "r":
		e.Op = change.OpSnapshot
	case "u":
		e.Op = change.OpUpdate
	case "d":
		e.Op = change.OpDelete
	case "t":
		e.Op = change.OpTruncate
	case "":
		return outcome.Errorf(outcome.BadEnvelope, "the message has no op")
	default:
		return outcome.Errorf(outcome.UnknownOp, "the op is none of c, r, u, d, t and m")
	}
	e.Sequence, e.Position = d.sequence(e.Op)
	if e.Op == change.OpTruncate {
		return nil
	}
	if e.Op != change.OpDelete && !msg.after.present {
		return outcome.Errorf(outcome.MissingImage, "op %s has no after image (position: %s)", msg.op, e.Position)
	}
	key := d.key(e.Message.OrderingKey)
	if err := d.settle(e, key); err != nil {
		return err
	}
	d.scan.Arena.KeepColumns(d.columns)
	e.Key, e.Before = key.of(d.columns), msg.before.of(d.columns)
	if e.Op != change.OpDelete {
		e.After = msg.after.of(d.columns)
	}
	d.usual = min(len(d.columns), slab.Usual)
	return nil
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	s := &d.msg.source
	space := s.schema
	if space == "" || s.isBinlog() {
		space = s.db
	}
	if s.table == "" || space == "" {
		return s.table
	}
	return d.scan.Arena.Join(space, ".", s.table)
}
