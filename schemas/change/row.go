package change

import (
	"bytes"
	"cmp"
	"time"
)

// Type is BigQuery's _CHANGE_TYPE. Its zero value is invalid.
type Type uint8

// The change types that BigQuery takes.
const (
	Upsert Type = iota + 1 // insert the row, or replace the one with its key
	Delete                 // remove the row with this key
)

// String returns BigQuery's word.
func (t Type) String() string {
	switch t {
	case Upsert:
		return "UPSERT"
	case Delete:
		return "DELETE"
	}
	return "INVALID"
}

// Row is a change encoded for one destination table. It stands for every
// change that it superseded too: their receipts ride with it.
type Row struct {
	Table      string // the destination: "project.dataset.table"
	Schema     uint64 // fingerprint of the schema that Data was encoded for
	Key        []byte // the key's deterministic bytes, unique within the table
	Type       Type
	Sequence   Sequence
	Data       []byte    // the row in protobuf's wire format, pseudo-columns included
	CommitTime time.Time // of the change; zero when unknown

	Message Message // where it came from, for its dead letter

	// Receipts are the parts of messages that come to rest with it, in no order;
	// one may be there more than once. Never append to them: rows made from this
	// one may share their memory. A receipt that is all zero is none.
	Receipts []Receipt

	Superseded      uint64 // changes that this row superseded
	SupersededBytes uint64 // the sum of their Data's lengths
}

// Supersede returns the one of two rows of the same table and key that is
// later, standing for both. It is associative and commutative, and idempotent
// in everything but the two counts, so that a runner may combine in any order.
// It leaves a and b usable, takes time for the shorter list of receipts only
// (amortized), and is not safe for concurrent use on the same row.
//
// Invariant 2: the highest sequence wins, whatever came first.
func Supersede(a, b Row) Row {
	if compareRows(&a, &b) < 0 {
		a, b = b, a
	}
	a.Receipts = uniteReceipts(a.Receipts, b.Receipts)
	a.Superseded += b.Superseded + 1
	a.SupersededBytes += b.SupersededBytes + uint64(len(b.Data))
	return a
}

// compareRows orders by sequence. Rows of equal sequence are duplicates in all
// but pathological input; the rest of the order only makes the winner the same
// on every machine.
func compareRows(a, b *Row) int {
	if c := a.Sequence.Compare(b.Sequence); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Type, b.Type); c != 0 {
		return -c // an UPSERT (1) is later than a DELETE (2): a folded key change leaves the row
	}
	if c := bytes.Compare(a.Data, b.Data); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Schema, b.Schema),
		a.CommitTime.Compare(b.CommitTime),
		cmp.Compare(a.Message.ID, b.Message.ID),
		cmp.Compare(a.Message.Token, b.Message.Token), // two deliveries of one message
	)
}
