package change

import (
	"slices"
	"time"
)

// The coding of messages, events, rows and receipts: what a runner ships between
// workers and keeps in state.
//
// It is one byte for the version and the type, then the struct's fields in
// order, without names: numbers as varints, texts and lists with their length
// before them. Every value has exactly one coding, so that equal bytes are equal
// values (a list or map that is empty and one that is nil are the same, but for
// lists of columns), and a reader refuses any other.
//
// A change of the layout must change the version: a pipeline that is updated in
// place reads what its predecessor left in state.
const (
	codedMessage = 0x12
	codedEvent   = 0x25
	codedRow     = 0x15
	codedReceipt = 0x14

	codedRowChange = 0x18
	codedColumns   = 0x17
)

// MaxDepth is how deep the coding follows arrays and structs in each other: as
// deep as Go's JSON decoders go, so that whatever a message can hold can be read.
const MaxDepth = 10_000

// AppendMessage appends the coding of m to dst.
func AppendMessage(dst []byte, m *Message) []byte {
	return appendMessage(append(dst, codedMessage), m)
}

// ReadMessage reads what AppendMessage wrote. The message shares src's memory:
// src must not be modified afterwards.
func ReadMessage(src []byte) (Message, error) {
	r := newReader("message", codedMessage, src)
	m := r.message()
	if err := r.end(); err != nil {
		return Message{}, err
	}
	return m, nil
}

// AppendEvent appends the coding of e to dst.
func AppendEvent(dst []byte, e *Event) []byte {
	return appendEvent(append(dst, codedEvent), e)
}

func appendEvent(dst []byte, e *Event) []byte {
	dst = appendMessage(dst, &e.Message)
	dst = appendUvarint(dst, uint64(e.Part))
	dst = appendUvarint(dst, uint64(e.Parts))
	dst = appendText(dst, e.Table)
	dst = append(dst, byte(e.Op))
	dst = appendBool(dst, e.Tombstone)
	dst = appendColumns(dst, e.Key)
	dst = appendColumns(dst, e.Before)
	dst = appendBool(dst, e.BeforeComplete)
	dst = appendColumns(dst, e.After)
	dst = appendBool(dst, e.AbsentUnavailable)
	dst = appendBool(dst, e.Partial)
	dst = appendColumns(dst, e.MovedFrom)
	dst = appendColumns(dst, e.MovedTo)
	dst = appendSequence(dst, e.Sequence)
	dst = appendText(appendText(dst, e.Position), e.Transaction)
	return appendTime(dst, e.CommitTime)
}

// ReadEvent reads what AppendEvent wrote. The event shares src's memory: src
// must not be modified afterwards.
func ReadEvent(src []byte) (Event, error) {
	r := newReader("event", codedEvent, src)
	e := r.event()
	if err := r.end(); err != nil {
		return Event{}, err
	}
	return e, nil
}

func (r *reader) event() Event {
	return Event{
		Message:           r.message(),
		Part:              r.uint32("part"),
		Parts:             r.uint32("parts"),
		Table:             r.text("table"),
		Op:                Op(r.atMost("operation", byte(OpTruncate))),
		Tombstone:         r.bool("mark of a tombstone"),
		Key:               r.columns("key", 0),
		Before:            r.columns("before image", 0),
		BeforeComplete:    r.bool("mark of a complete before image"),
		After:             r.columns("after image", 0),
		AbsentUnavailable: r.bool("mark of absent columns"),
		Partial:           r.bool("mark of partial updates"),
		MovedFrom:         r.columns("key before", 0),
		MovedTo:           r.columns("key afterwards", 0),
		Sequence:          r.sequence(),
		Position:          r.text("position"),
		Transaction:       r.text("transaction"),
		CommitTime:        r.time("commit time"),
	}
}

// AppendRow appends the coding of row to dst.
func AppendRow(dst []byte, row *Row) []byte {
	dst = appendText(append(dst, codedRow), row.Table)
	dst = appendFixed64(dst, row.Schema)
	dst = appendText(dst, row.Key)
	dst = append(dst, byte(row.Type))
	dst = appendSequence(dst, row.Sequence)
	dst = appendText(dst, row.Data)
	dst = appendTime(dst, row.CommitTime)
	dst = appendMessage(dst, &row.Message)
	dst = appendReceipts(dst, row.Receipts)
	dst = appendUvarint(dst, row.Superseded)
	return appendUvarint(dst, row.SupersededBytes)
}

// ReadRow reads what AppendRow wrote. The row shares src's memory: src must not
// be modified afterwards.
func ReadRow(src []byte) (Row, error) {
	r := newReader("row", codedRow, src)
	row := Row{
		Table:           r.text("table"),
		Schema:          r.fixed64("schema"),
		Key:             r.bytes("key"),
		Type:            Type(r.atMost("change type", byte(Delete))),
		Sequence:        r.sequence(),
		Data:            r.bytes("data"),
		CommitTime:      r.time("commit time"),
		Message:         r.message(),
		Receipts:        r.receipts(),
		Superseded:      r.uvarint("superseded"),
		SupersededBytes: r.uvarint("superseded bytes"),
	}
	if err := r.end(); err != nil {
		return Row{}, err
	}
	return row, nil
}

// AppendReceipt appends the coding of receipt to dst.
func AppendReceipt(dst []byte, receipt *Receipt) []byte {
	dst = appendUvarint(append(dst, codedReceipt), receipt.Token)
	dst = appendUvarint(dst, uint64(receipt.Part))
	return appendUvarint(dst, uint64(receipt.Parts))
}

// ReadReceipt reads what AppendReceipt wrote.
func ReadReceipt(src []byte) (Receipt, error) {
	r := newReader("receipt", codedReceipt, src)
	receipt := Receipt{Token: r.uvarint("token"), Part: r.uint32("part"), Parts: r.uint32("parts")}
	if err := r.end(); err != nil {
		return Receipt{}, err
	}
	return receipt, nil
}

func appendMessage(dst []byte, m *Message) []byte {
	dst = appendText(dst, m.ID)
	dst = appendText(dst, m.Data)
	dst = appendUvarint(dst, uint64(len(m.Attributes)))
	var few [8]string // names, so that a message with few attributes allocates nothing
	names := few[:0]
	for name := range m.Attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		dst = appendText(appendText(dst, name), m.Attributes[name])
	}
	dst = appendText(dst, m.OrderingKey)
	dst = appendTime(dst, m.PublishTime)
	dst = appendUvarint(dst, m.Token)
	return appendBool(appendUvarint(dst, uint64(m.Replays)), m.DataLeftOut)
}

func (r *reader) message() Message {
	return Message{
		ID:          r.text("message ID"),
		Data:        r.bytes("message data"),
		Attributes:  r.attributes(),
		OrderingKey: r.text("ordering key"),
		PublishTime: r.time("publish time"),
		Token:       r.uvarint("token"),
		Replays:     r.uint32("replays"),
		DataLeftOut: r.atMost("data left out", 1) == 1,
	}
}

func (r *reader) attributes() map[string]string {
	n := r.count("attributes", 2)
	if n == 0 {
		return nil
	}
	attributes := make(map[string]string, n)
	last := ""
	for i := range n {
		r.pending -= 2
		name := r.text("attribute's name")
		if i > 0 && name <= last {
			r.fail("attribute's name", "it is not after the one before it")
		}
		value := r.text("attribute")
		if r.err != nil {
			return nil
		}
		attributes[name], last = value, name
	}
	return attributes
}

// appendReceipts writes each token as its distance from the one before it: the
// receipts are sorted, and a hot key's row has thousands.
func appendReceipts(dst []byte, receipts []Receipt) []byte {
	dst = appendUvarint(dst, uint64(len(receipts)))
	last := uint64(0)
	for _, receipt := range receipts {
		dst = appendUvarint(dst, receipt.Token-last) // wraps where they are not sorted, and unwraps when read
		dst = appendUvarint(dst, uint64(receipt.Part))
		dst = appendUvarint(dst, uint64(receipt.Parts))
		last = receipt.Token
	}
	return dst
}

func (r *reader) receipts() []Receipt {
	n := r.count("receipts", 3)
	if n == 0 {
		return nil
	}
	receipts := make([]Receipt, n)
	last := uint64(0)
	for i := range receipts {
		r.pending -= 3
		last += r.uvarint("token")
		receipts[i] = Receipt{Token: last, Part: r.uint32("part"), Parts: r.uint32("parts")}
		if r.err != nil {
			return nil
		}
	}
	return receipts
}

func appendSequence(dst []byte, s Sequence) []byte {
	dst = append(dst, s.count)
	for _, section := range s.Sections() {
		dst = appendUvarint(dst, section)
	}
	return dst
}

func (r *reader) sequence() Sequence {
	s := Sequence{count: r.atMost("sequence's length", MaxSections)}
	for i := range s.count {
		s.sections[i] = r.uvarint("sequence")
	}
	return s
}

// appendTime writes an instant. Its zone is lost: what is read is in UTC.
func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, 0)
	}
	dst = appendUvarint(dst, uint64(t.Nanosecond())+1)
	return appendVarint(dst, t.Unix())
}

func (r *reader) time(what string) time.Time {
	nanos := r.uvarint(what)
	if nanos == 0 {
		return time.Time{}
	}
	if nanos > uint64(time.Second) {
		r.fail(what, "it has more than 999,999,999 nanoseconds")
		return time.Time{}
	}
	t := time.Unix(r.varint(what), int64(nanos-1)).UTC()
	if t.IsZero() {
		r.fail(what, "it is the zero time in a second form")
	}
	return t
}
