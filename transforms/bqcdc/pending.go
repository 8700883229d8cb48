package bqcdc

import (
	"time"
	"unsafe"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
)

// pending is a row that has not come to rest: what is still needed of a change.Row. A
// request may have ten thousands of them, which are written, read and cleared once each;
// with small rows that is most of the work. So it is two cache lines, less than half of a
// change.Row: times are numbers, the row's bytes are told by where they are among its
// request's, and what few rows have is elsewhere.
type pending struct {
	id, text, orderingKey string // the message's; text is its Data
	attributes            map[string]string

	published   int64  // in nanoseconds of Unix time, as the message has it; 0 when unknown
	committed   int64  // the source's commit time, in milliseconds of Unix time; 0 when unknown
	token       uint64 // the message's, and the receipt's
	at          beam.EventTime
	fenced      *fenced // nil but of an UPSERT of a table, or a row of a view, with a fence, and what became of it
	rare        *rare   // nil of most rows
	start, size uint32  // where the row is in request.packed; its length, also of one that is elsewhere
	part, parts uint32  // the receipt's
	kind        change.Type
	leftOut     bool // the message's DataLeftOut
	receipt     bool // it has this one receipt, of its own message; else rare has the receipts
}

// rare is what few rows have. It is not written to: pending rows are copied.
type rare struct {
	superseded, supersededBytes uint64
	receipts                    []change.Receipt
	replays                     uint32
	data                        []byte // the row, if it was made anew: it is not among its request's
}

// newPending keeps a row but for its bytes.
func newPending(row *change.Row, at beam.EventTime) (p pending) {
	p.keep(row, at)
	return p
}

// keep keeps a row in p, which is zero, but for its bytes, which are the request's.
func (p *pending) keep(row *change.Row, at beam.EventTime) {
	m := &row.Message
	p.id, p.text, p.orderingKey, p.attributes, p.leftOut = m.ID, m.Text(), m.OrderingKey, m.Attributes, m.DataLeftOut
	p.token, p.at, p.kind = m.Token, at, row.Type
	if !m.PublishTime.IsZero() {
		p.published = m.PublishTime.UnixNano()
	}
	if !row.CommitTime.IsZero() {
		p.committed = row.CommitTime.UnixMilli()
	}
	rest := row.Receipts
	if len(rest) == 1 && rest[0].Token == m.Token {
		p.receipt, p.part, p.parts = true, rest[0].Part, rest[0].Parts
		rest = nil
	}
	if row.Superseded|row.SupersededBytes != 0 || m.Replays != 0 || len(rest) > 0 {
		p.rare = &rare{superseded: row.Superseded, supersededBytes: row.SupersededBytes, replays: m.Replays, receipts: rest}
	}
}

// rarely returns what few rows have, of any row.
func (p *pending) rarely() rare {
	if p.rare == nil {
		return rare{}
	}
	return *p.rare
}

// message returns the row's message.
func (p *pending) message() change.Message {
	m := change.Message{
		ID: p.id, OrderingKey: p.orderingKey, Attributes: p.attributes, DataLeftOut: p.leftOut,
		Token: p.token, Replays: p.rarely().replays,
	}
	if p.text != "" {
		m.Data = unsafe.Slice(unsafe.StringData(p.text), len(p.text)) // it came from there
	}
	if p.published != 0 {
		m.PublishTime = time.Unix(0, p.published).UTC()
	}
	return m
}

// appendReceipts appends the receipts that rest with the row.
func (p *pending) appendReceipts(to []change.Receipt) []change.Receipt {
	if p.receipt {
		return append(to, change.Receipt{Token: p.token, Part: p.part, Parts: p.parts})
	}
	return append(to, p.rarely().receipts...)
}

// remake gives the row, a copy, other bytes than it had: the DELETE that it comes to.
func (p *pending) remake(data []byte) {
	r := p.rarely()
	r.data = data
	p.rare, p.start, p.size = &r, 0, uint32(len(data))
	p.kind, p.fenced = change.Delete, raised
}

// pass makes a row one that a truncate has passed, of which nothing is left.
func (p *pending) pass() { p.kind, p.fenced, p.start, p.size = change.Delete, raised, 0, 0 }

// table returns the full name of the row's own table.
func (p *pending) table(key streamKey) string {
	if p.fenced != nil && p.fenced.view != "" {
		return p.fenced.view
	}
	return key.table
}

// bytesOf returns the encoded row.
func (r *request) bytesOf(p *pending) []byte {
	if p.rare != nil && p.rare.data != nil {
		return p.rare.data
	}
	end := p.start + p.size
	return r.packed[p.start:end:end]
}

// rowOf returns the row as it is to wait: what pending has left out, its bytes tell.
func (r *request) rowOf(p *pending) change.Row {
	few := p.rarely()
	row := change.Row{
		Table: p.table(r.key), Schema: r.key.schema, Type: p.kind, Data: r.bytesOf(p), Message: p.message(), Receipts: p.appendReceipts(nil),
		Superseded: few.superseded, SupersededBytes: few.supersededBytes,
	}
	if p.committed != 0 {
		row.CommitTime = time.UnixMilli(p.committed)
	}
	if p.fenced != nil {
		row.Key, row.Sequence = p.fenced.key, p.fenced.sequence
	}
	return row
}
