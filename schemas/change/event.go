package change

import "time"

// Op is what happened to a row. Its zero value is invalid.
type Op uint8

// The operations of a change.
const (
	OpCreate   Op = iota + 1 // a new row
	OpUpdate                 // a row changed; Before may be unknown
	OpDelete                 // a row is gone; After is nil
	OpSnapshot               // a row as a snapshot found it
	OpTruncate               // all rows of the table are gone; no key, no image
)

// String returns the operation's name in lower case.
func (o Op) String() string {
	switch o {
	case OpCreate:
		return "create"
	case OpUpdate:
		return "update"
	case OpDelete:
		return "delete"
	case OpSnapshot:
		return "snapshot"
	case OpTruncate:
		return "truncate"
	}
	return "invalid"
}

// Event is one change of one row, as an envelope decoder found it in a message.
type Event struct {
	Message Message // the message it came from
	Part    uint32  // which of the message's changes it is, from 0
	Parts   uint32  // how many changes the message holds, at least 1

	Table string // the source's name of the table, parts joined by ".": "public.orders"
	Op    Op

	// Tombstone says that the message is empty: a delete of which nothing but the
	// key is told, and which means nothing where a delete came before it.
	Tombstone bool

	// Key holds the key columns as the message names them, with their values,
	// nil when it names none. It is the row's key after the change, but for a
	// delete, and in no particular order.
	Key []Column

	// Before is the row before the change, as far as the source told: nil, the
	// key columns alone, or the whole row. Only its key columns are to be trusted,
	// unless BeforeComplete is set: a source may fill the rest with NULLs and zeros.
	Before         []Column
	BeforeComplete bool

	// After is the row after the change; nil for OpDelete and OpTruncate.
	After []Column

	// AbsentUnavailable says that a column that After lacks is unchanged, not
	// NULL (wal2json, Spanner, Sequin leave unchanged columns out).
	AbsentUnavailable bool

	// Partial says that the source's updates hold what changed and may lack any
	// column (Spanner, MongoDB), not only one that is stored out of line. It is set
	// on the changes that hold whole rows, too.
	Partial bool

	// MovedFrom is, of the row that a changed key makes, the key it had before, and
	// MovedTo, of the old key's delete, the key it has now, where the source tells
	// of the change in two messages (Debezium's headers). nil where it doesn't.
	MovedFrom, MovedTo []Column

	// Sequence orders the changes of one key. It is zero where the message gives
	// no position that can be read; Position then says why.
	Sequence Sequence
	// Position is the source's own position for people to read ("0/16B3748"), or
	// why there is none.
	Position string
	// Transaction is what the source calls the transaction that the change is of: equal
	// for all of its changes, and no order. "" where the message doesn't tell.
	Transaction string

	CommitTime time.Time // when the source committed it; zero when unknown
}

// Receipt returns what comes to rest when this change does.
func (e *Event) Receipt() Receipt {
	return Receipt{Token: e.Message.Token, Part: e.Part, Parts: e.Parts}
}
