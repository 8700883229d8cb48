// Package captured makes change events of what Debezium's messages hold: an op,
// a source block, the images of a row, whichever envelope carries them. It knows
// the connectors apart: where each has its position, and what its images are.
package captured

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
	"beamcdc/schemas/envelope/internal/unavailable"
)

// Reader reads messages one after the other; it is for one goroutine. A format's
// decoder embeds it, finds the parts in its envelope, and then calls Append.
type Reader struct {
	Scan *scan.Scanner
	// Change is what was read of the message at hand. Members come in any order,
	// so nothing is judged before the end.
	Change

	epoch       uint64
	placeholder *unavailable.Placeholder
	types       *connect.Schema // of messages that hold no schema: from outside, nil for none
	schemas     connect.Cache   // of messages
	keys        connect.Cache   // of ordering keys

	// Of the message at hand.
	columns []change.Column // in the arena's room
	usual   int             // how many columns the message before had, to ask room for
	doubts  []doubt
}

// Change is one message's change, as it is read.
type Change struct {
	Fault         error // the first thing that is wrong with it
	Op            string
	Before, After Image
	Source        Source
	Hint          string // what to do about a position that is missing; "" for nothing

	updated, removed, truncated string // MongoDB's updateDescription, as it is written
}

// New returns a Reader that reads with s. The epoch is the first section of
// every sequence, the placeholder never nil.
func New(epoch uint64, p *unavailable.Placeholder, s *scan.Scanner) Reader {
	return Reader{Scan: s, epoch: epoch, placeholder: p}
}

// Typed sets what types the messages that hold no schema of their own; nil is
// nothing.
func (r *Reader) Typed(types *connect.Schema) { r.types = types }

// Types returns what Typed has set.
func (r *Reader) Types() *connect.Schema { return r.types }

// Reset forgets the message before.
func (r *Reader) Reset() {
	r.Change = Change{}
	r.columns = r.Scan.Arena.Columns(r.usual)
	r.doubts = r.doubts[:0]
	r.Scan.Outline = scan.Outline{}
}

// Fail keeps the first of what is wrong with the message. The reading goes on,
// for the outline's sake.
func (r *Reader) Fail(err error) {
	if r.Fault == nil {
		r.Fault = err
	}
}

// Member reads one member of the object that holds the change. It returns false,
// and reads nothing, if that is none of its own.
func (r *Reader) Member(name string, schema *connect.Schema) bool {
	switch name {
	case "op":
		r.Op = r.Scan.Scalar()
	case "before":
		r.Before = r.image(name, schema.Field(name, 0))
	case "after":
		r.After = r.image(name, schema.Field(name, 1))
	case "source":
		r.source()
	case "transaction":
		r.transaction()
	case "updateDescription":
		r.updateDescription()
	default:
		return false
	}
	return true
}

// source reads the source block.
func (r *Reader) source() {
	s := r.Scan
	if !s.Object() {
		r.Fail(outcome.Errorf(outcome.BadEnvelope, "source is no object"))
		return
	}
	for {
		name, more := s.Member()
		if !more {
			return
		}
		switch field := r.Source.Field(name); {
		case field == nil:
			s.Skip()
		case name == "sequence":
			*field = s.Value() // JSON in a JSON string, of which only digits matter
		default:
			*field = s.Scalar()
		}
	}
}

// transaction reads the transaction's name and the change's number in it.
func (r *Reader) transaction() {
	s := r.Scan
	if !s.Object() {
		return
	}
	for {
		name, more := s.Member()
		switch {
		case !more:
			return
		case name == "total_order":
			r.Source.TotalOrder = s.Scalar()
		case name == "id":
			r.Source.TransactionOf = s.Scalar()
		default:
			s.Skip()
		}
	}
}

// updateDescription reads what MongoDB tells of an update.
func (r *Reader) updateDescription() {
	s := r.Scan
	if !s.Object() {
		return
	}
	for {
		name, more := s.Member()
		switch {
		case !more:
			return
		case name == "updatedFields":
			r.updated = s.Value()
		case name == "removedFields":
			r.removed = s.Value()
		case name == "truncatedArrays":
			r.truncated = s.Value()
		default:
			s.Skip()
		}
	}
}

// Append appends the change that was read to dst. Its error is an
// *outcome.Error that names the table.
func (r *Reader) Append(m *change.Message, dst []change.Event) ([]change.Event, error) {
	n := len(dst)
	dst = append(dst, change.Event{Message: *m, Parts: 1})
	if err := r.fill(&dst[n]); err != nil {
		return dst[:n], outcome.InTable(err, r.Table())
	}
	return dst, nil
}

// Table returns the source's name of the table, "" when it isn't given.
func (r *Reader) Table() string { return r.Source.Name(&r.Scan.Arena) }

// fill makes the change of what was read.
func (r *Reader) fill(e *change.Event) error {
	e.Table, e.CommitTime, e.Transaction = r.Table(), r.Source.CommitTime(), r.Source.Transaction()
	switch r.Op {
	case "c":
		e.Op = change.OpCreate
		if r.Source.isSnapshotInsert() {
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
		return outcome.Errorf(outcome.UnknownOp, "the op %q is none of c, r, u, d, t and m", clip(r.Op))
	}
	if e.Sequence, e.Position = r.Source.Position(r.epoch, e.Op, &r.Scan.Arena); r.Hint != "" && e.Sequence.IsZero() {
		e.Position += ": " + r.Hint
	}
	switch {
	case e.Op == change.OpTruncate:
		return nil
	case r.Source.IsMongo():
		return r.fillDocument(e)
	case r.Before.text != "" || r.After.text != "":
		return outcome.Errorf(outcome.BadEnvelope, "before or after is a string, which only MongoDB's are")
	case e.Op != change.OpDelete && !r.After.Present:
		return outcome.Errorf(outcome.MissingImage, "op %s has no after image (position: %s)", r.Op, e.Position)
	}
	key := r.key(e.Message.OrderingKey)
	from, to := r.headerKey(e, "__debezium.oldkey"), r.headerKey(e, "__debezium.newkey")
	if err := r.settle(e, key); err != nil {
		return err
	}
	if r.Source.Connector == "spanner" {
		e.Partial = !r.Source.capturesRows()
		e.AbsentUnavailable = e.Partial && e.Op == change.OpUpdate
		if e.AbsentUnavailable {
			r.leaveOutUnchanged(key)
		}
	}
	r.keep(e, key)
	e.MovedFrom, e.MovedTo = from.of(r.columns), to.of(r.columns)
	return nil
}

// keep gives the event its images.
func (r *Reader) keep(e *change.Event, key Image) {
	r.Scan.Arena.KeepColumns(r.columns)
	e.Key, e.Before = key.of(r.columns), r.Before.of(r.columns)
	if e.Op != change.OpDelete {
		e.After = r.After.of(r.columns)
	}
	r.usual = min(len(r.columns), slab.Usual)
}

// leaveOutUnchanged makes unavailable what Spanner's connector writes as null in
// an update of a change stream that doesn't capture whole rows: its rows have
// all columns, and null in those that the stream left out. A column that had a
// value before, and is null now, is NULL.
func (r *Reader) leaveOutUnchanged(key Image) {
	const most = 1024 // columns of a table of Spanner's
	before := r.Before.of(r.columns)
	if len(before) > most {
		before = nil
	}
	for i := r.After.start; i < r.After.end; i++ {
		c := &r.columns[i]
		if !c.Value.IsNull() || r.isKey(c.Name, key) {
			continue
		}
		if old, ok := change.Find(before, c.Name); !ok || old.IsNull() || old.Kind() == change.KindUnavailable {
			c.Value = change.Unavailable()
		}
	}
}
