// Package debezium decodes Debezium's change events in JSON, as Debezium
// Server's Pub/Sub sink publishes them.
//
// The shape of a message is that of io.debezium.data.Envelope: before, after,
// source, op, ts_ms; the key is the ordering key.
package debezium

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
)

// Options configures a Decoder.
type Options struct {
	Epoch uint64 // the first section of every sequence
}

// Decoder decodes messages one after the other; it is for one goroutine.
type Decoder struct {
	options Options
	scan    *scan.Scanner
	arena   *slab.Arena

	columns []change.Column // of the message at hand; the events get copies
	msg     message
}

// message is what was read of the message at hand. Its members may come in any
// order, so nothing is judged before the end.
type message struct {
	members int // how many the envelope has
	op      string
	hasOp   bool
	before  image
	after   image
	source  source

	hasTime, hasStatus, hasDDL, hasNotification bool
}

// image is a row in Decoder.columns.
type image struct {
	present    bool // there, and not null
	start, end int
}

// New returns a Decoder that reads with s and takes its events' memory from a.
func New(o Options, s *scan.Scanner, a *slab.Arena) *Decoder {
	return &Decoder{options: o, scan: s, arena: a}
}

// Decode appends the message's change to dst, or says which control message it
// is. Errors are *outcome.Error.
func (d *Decoder) Decode(m *change.Message, dst []change.Event) ([]change.Event, outcome.Control, error) {
	d.msg = message{}
	d.columns = d.columns[:0]
	d.scan.Reset(m.Text())
	if err := d.envelope(); err != nil {
		return dst, "", err
	}
	if err := d.scan.End(); err != nil {
		return dst, "", err
	}
	if !d.msg.hasOp {
		control, err := d.control()
		return dst, control, err
	}
	if d.msg.op == "m" {
		return dst, outcome.LogicalMessage, nil
	}
	e, err := d.event(m)
	if err != nil {
		return dst, "", err
	}
	return append(dst, e), "", nil
}

// envelope reads the object that holds the change.
func (d *Decoder) envelope() error {
	s := d.scan
	if s.Peek() != '{' {
		if err := s.Skip(); err != nil {
			return err
		}
		return outcome.Errorf(outcome.BadEnvelope, "the message is no JSON object")
	}
	if err := s.Token(); err != nil {
		return err
	}
	for s.Peek() == '"' {
		raw, err := s.Value()
		if err != nil {
			return err
		}
		name, err := d.arena.Unquote(raw)
		if err != nil {
			return err
		}
		if err := d.member(name); err != nil {
			return err
		}
	}
	return s.Token()
}

// member reads one member of the envelope.
func (d *Decoder) member(name string) (err error) {
	d.msg.members++
	switch name {
	case "op":
		d.msg.op, d.msg.hasOp, err = d.text()
		return err
	case "before":
		d.msg.before, err = d.image("before")
		return err
	case "after":
		d.msg.after, err = d.image("after")
		return err
	case "source":
		return d.readSource()
	case "ts_ms":
		d.msg.hasTime = true
	case "status":
		d.msg.hasStatus = true
	case "ddl", "tableChanges":
		d.msg.hasDDL = true
	case "aggregate_type":
		d.msg.hasNotification = true
	}
	return d.scan.Skip()
}

// text reads a string; anything else counts as not there.
func (d *Decoder) text() (string, bool, error) {
	raw, err := d.scan.Value()
	if err != nil || raw[0] != '"' {
		return "", false, err
	}
	text, err := d.arena.Unquote(raw)
	return text, err == nil, err
}

// image reads a row, or null.
func (d *Decoder) image(which string) (image, error) {
	s := d.scan
	switch s.Peek() {
	case 'n':
		return image{}, s.Skip()
	case '{':
	default:
		if err := s.Skip(); err != nil {
			return image{}, err
		}
		return image{}, outcome.Errorf(outcome.BadEnvelope, "%s is neither an object nor null", which)
	}
	if err := s.Token(); err != nil {
		return image{}, err
	}
	img := image{present: true, start: len(d.columns)}
	for s.Peek() == '"' {
		raw, err := s.Value()
		if err != nil {
			return image{}, err
		}
		name, err := d.arena.Unquote(raw)
		if err != nil {
			return image{}, err
		}
		if raw, err = s.Value(); err != nil {
			return image{}, err
		}
		v, err := d.arena.Untyped(raw)
		if err != nil {
			return image{}, err
		}
		d.columns = append(d.columns, change.Column{Name: name, Value: v})
	}
	img.end = len(d.columns)
	return img, s.Token()
}

// control judges a message without an op.
func (d *Decoder) control() (outcome.Control, error) {
	switch m := &d.msg; {
	case m.hasTime && m.members == 1:
		return outcome.Heartbeat, nil
	case m.hasStatus:
		return outcome.Transaction, nil
	case m.hasDDL:
		return outcome.SchemaChange, nil
	case m.hasNotification:
		return outcome.Notification, nil
	}
	return "", outcome.Errorf(outcome.BadEnvelope, "the message has no op")
}

// event makes the change of what was read.
func (d *Decoder) event(m *change.Message) (change.Event, error) {
	msg := &d.msg
	e := change.Event{Message: *m, Parts: 1, Table: d.table(), CommitTime: msg.source.commitTime()}
	switch msg.op {
	case "c":
		e.Op = change.OpCreate
		if msg.source.isSnapshot() {
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
	default:
		return change.Event{}, outcome.InTable(outcome.Errorf(outcome.UnknownOp, "the op is none of c, r, u, d, t and m"), e.Table)
	}
	e.Sequence, e.Position = d.sequence(e.Op)
	if e.Op == change.OpTruncate {
		return e, nil
	}
	key, err := d.key(m.OrderingKey)
	if err != nil {
		return change.Event{}, err
	}
	e.Key = key
	e.Before = d.arena.Columns(d.columns[msg.before.start:msg.before.end])
	if e.Op == change.OpDelete {
		return e, nil
	}
	if !msg.after.present {
		return change.Event{}, outcome.InTable(outcome.Errorf(outcome.MissingImage, "op %q at %s has no after image", msg.op, e.Position), e.Table)
	}
	e.After = d.arena.Columns(d.columns[msg.after.start:msg.after.end])
	return e, nil
}

// table returns the source's name of the table, "" when it isn't given.
func (d *Decoder) table() string {
	s := &d.msg.source
	if s.table == "" {
		return ""
	}
	space := s.schema
	if space == "" || s.connector == "mysql" || s.connector == "mariadb" {
		space = s.db
	}
	if space == "" {
		return s.table
	}
	return d.arena.Join(space, ".", s.table)
}
