package change

// RowChange is the change of one row of one destination table before it is encoded:
// what completing it from the row's other changes works on.
type RowChange struct {
	// Event is the change it was made from, whose Sequence is what orders the changes
	// of this row. After is nil: Columns has the row.
	Event Event

	Table string // the destination: "project.dataset.table"
	Key   []byte // the key's deterministic bytes, unique within the table
	Type  Type
	// Columns are of an UPSERT the row, in which a value that the source left out is
	// there as unavailable, and of a DELETE the key columns.
	Columns []Column

	// MovedFrom is the Key that the row had before, of the UPSERT of a changed key,
	// and MovedTo the one it has now, of the DELETE; nil for none.
	MovedFrom, MovedTo []byte

	// Revision tells rows of one key and sequence apart: the higher one knows more of
	// the row's changes.
	Revision uint32

	// Read says that BigQuery was asked for the row, and Stored is the coding of the
	// row as it had it, nil for none.
	Read   bool
	Stored []byte

	// Cause is the message that had the row made again, though it is not the row's
	// last change: its dead letter is about that message. Zero where it is Event's.
	Cause Message

	Receipts []Receipt // the units of messages that come to rest with it
}

// AppendRowChange appends the coding of c to dst.
func AppendRowChange(dst []byte, c *RowChange) []byte {
	dst = appendEvent(append(dst, codedRowChange), &c.Event)
	dst = appendText(dst, c.Table)
	dst = appendText(dst, c.Key)
	dst = append(dst, byte(c.Type))
	dst = appendColumns(dst, c.Columns)
	dst = appendText(dst, c.MovedFrom)
	dst = appendText(dst, c.MovedTo)
	dst = appendUvarint(dst, uint64(c.Revision))
	dst = appendBool(dst, c.Read)
	dst = appendText(dst, c.Stored)
	dst = appendMessage(dst, &c.Cause)
	return appendReceipts(dst, c.Receipts)
}

// ReadRowChange reads what AppendRowChange wrote. It shares src's memory: src must
// not be modified afterwards.
func ReadRowChange(src []byte) (RowChange, error) {
	r := newReader("row change", codedRowChange, src)
	c := RowChange{
		Event:     r.event(),
		Table:     r.text("table"),
		Key:       r.bytes("key"),
		Type:      Type(r.atMost("change type", byte(Delete))),
		Columns:   r.columns("columns", 0),
		MovedFrom: r.bytes("key before"),
		MovedTo:   r.bytes("key afterwards"),
		Revision:  r.uint32("revision"),
		Read:      r.bool("mark of a row that was read"),
		Stored:    r.bytes("stored row"),
		Cause:     r.message(),
		Receipts:  r.receipts(),
	}
	if err := r.end(); err != nil {
		return RowChange{}, err
	}
	return c, nil
}

// AppendColumns appends the coding of columns to dst: for state that holds them
// without a change around them.
func AppendColumns(dst []byte, columns []Column) []byte {
	return appendColumns(append(dst, codedColumns), columns)
}

// ReadColumns reads what AppendColumns wrote. They share src's memory.
func ReadColumns(src []byte) ([]Column, error) {
	r := newReader("columns", codedColumns, src)
	columns := r.columns("columns", 0)
	if err := r.end(); err != nil {
		return nil, err
	}
	return columns, nil
}
