package fill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"beamcdc/schemas/change"
)

// The coding of what the stages keep in state and send each other: a byte for the
// version, then the fields in order. What a pipeline keeps outlives a version of this
// program: a change of the layout must change the version, and the old one be read on.
const (
	codedMemory = 0x11
	codedMoving = 0x12
	codedMove   = 0x13

	codedWaiting = 0x14
)

func appendUvarint(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }

func appendBytes[T ~string | ~[]byte](dst []byte, b T) []byte {
	return append(appendUvarint(dst, uint64(len(b))), b...)
}

func appendFlag(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return appendUvarint(dst, 0)
	}
	return appendUvarint(dst, uint64(t.UnixMicro()))
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = appendUvarint(dst, uint64(len(texts)))
	for _, text := range texts {
		dst = appendBytes(dst, text)
	}
	return dst
}

// append appends the coding of the memory to dst.
func (m *memory) append(dst []byte) []byte {
	dst = append(dst, codedMemory)
	dst = appendTime(dst, m.touched)
	dst = appendTime(dst, m.timer)
	dst = appendUvarint(dst, uint64(len(m.journal)))
	for _, e := range m.journal {
		dst = appendBytes(dst, e.sequence.Append(nil))
		dst = append(dst, byte(e.kind))
		for _, flag := range []bool{e.whole, e.partial, e.emitted, e.event != nil} {
			dst = appendFlag(dst, flag)
		}
		dst = appendBytes(appendBytes(dst, e.movedFrom), e.movedTo)
		dst = appendBytes(dst, change.AppendColumns(nil, e.columns))
		if e.event != nil {
			dst = appendBytes(dst, change.AppendEvent(nil, e.event))
		}
		dst = appendUvarint(dst, uint64(e.revision))
		dst = appendUvarint(dst, e.hash)
		dst = appendUvarint(dst, uint64(e.told))
		dst = appendUvarint(dst, e.toldHash)
	}
	return appendHeld(dst, m.held)
}

func appendHeld(dst []byte, all []held) []byte {
	dst = appendUvarint(dst, uint64(len(all)))
	for i := range all {
		h := &all[i]
		dst = appendBytes(dst, change.AppendRowChange(nil, &h.RowChange))
		dst = appendTime(dst, h.at)
		dst = appendTexts(dst, h.columns)
	}
	return dst
}

// readMemory reads what append wrote; nothing is an empty memory. It shares src.
func readMemory(src []byte) (memory, error) {
	var m memory
	if len(src) == 0 {
		return m, nil
	}
	r := newReader(src, codedMemory)
	m.touched, m.timer = r.time(), r.time()
	for range r.count() {
		e := &entry{sequence: r.sequence(), kind: change.Type(r.byte())}
		e.whole, e.partial, e.emitted = r.flag(), r.flag(), r.flag()
		hasEvent := r.flag()
		e.movedFrom, e.movedTo = r.bytes(), r.bytes()
		e.columns = r.columns()
		if hasEvent {
			event, err := change.ReadEvent(r.bytes())
			r.note(err)
			e.event = &event
		}
		e.revision, e.hash, e.told, e.toldHash = uint32(r.uvarint()), r.uvarint(), uint32(r.uvarint()), r.uvarint()
		if r.err != nil {
			break
		}
		m.journal = append(m.journal, e)
	}
	m.held = r.held()
	return m, r.end("a row's memory")
}

// append appends the coding of t to dst.
func (t *moving) append(dst []byte) []byte {
	dst = append(dst, codedMoving)
	dst = appendBytes(dst, t.move)
	dst = appendBytes(dst, t.source)
	dst = appendUvarint(dst, uint64(t.told))
	dst = appendBytes(dst, change.AppendColumns(nil, t.columns))
	dst = appendFlag(appendFlag(dst, t.whole), t.partial)
	return appendBytes(dst, t.parent)
}

func (r *reader) moving() moving {
	return moving{
		move: move(r.bytes()), source: string(r.bytes()), told: uint32(r.uvarint()), columns: r.columns(), whole: r.flag(), partial: r.flag(), parent: move(r.bytes()),
	}
}

// reader reads a coding. The first error sticks; what is read after it is zero.
type reader struct {
	src []byte
	err error
}

func newReader(src []byte, code byte) *reader {
	r := &reader{src: src}
	if got := r.byte(); r.err == nil && got != code {
		r.note(fmt.Errorf("it is of version %#x; this program reads %#x", got, code))
	}
	return r
}

func (r *reader) note(err error) {
	if r.err == nil && err != nil {
		r.err, r.src = err, nil
	}
}

func (r *reader) end(what string) error {
	if r.err == nil && len(r.src) > 0 {
		r.note(fmt.Errorf("there are %d bytes more", len(r.src)))
	}
	if r.err != nil {
		return fmt.Errorf("reading %s from state: %w", what, r.err)
	}
	return nil
}

var (
	errShort   = errors.New("it is cut short")
	errVersion = errors.New("it is of no version that this program reads")
)

func (r *reader) byte() byte {
	if len(r.src) == 0 {
		r.note(errShort)
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}

func (r *reader) flag() bool { return r.byte() != 0 }

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.src)
	if size <= 0 {
		r.note(errShort)
		return 0
	}
	r.src = r.src[size:]
	return n
}

// count reads the length of a list, whose elements take a byte each at least.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.src)) {
		r.note(errShort)
		return 0
	}
	return int(n)
}

func (r *reader) bytes() []byte {
	n := r.count()
	if n == 0 {
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}

func (r *reader) time() time.Time {
	n := r.uvarint()
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(n)).UTC()
}

func (r *reader) texts() []string {
	var texts []string
	for range r.count() {
		texts = append(texts, string(r.bytes()))
	}
	return texts
}

func (r *reader) sequence() change.Sequence {
	text := r.bytes()
	if r.err != nil || len(text) == 0 {
		return change.Sequence{}
	}
	s, err := change.ParseSequence(string(text))
	r.note(err)
	return s
}

func (r *reader) columns() []change.Column {
	b := r.bytes()
	if r.err != nil {
		return nil
	}
	columns, err := change.ReadColumns(b)
	r.note(err)
	return columns
}

func (r *reader) held() []held {
	var all []held
	for range r.count() {
		c, err := change.ReadRowChange(r.bytes())
		r.note(err)
		all = append(all, held{RowChange: c, at: r.time(), columns: r.texts()})
		if r.err != nil {
			return nil
		}
	}
	return all
}

// append appends the coding of w to dst.
func (w *waitingRow) append(dst []byte) []byte {
	dst = append(dst, codedWaiting)
	dst = appendBytes(dst, change.AppendRowChange(nil, &w.RowChange))
	dst = appendBytes(dst, w.from)
	return appendTexts(dst, w.columns)
}

// readChained reads what append of a waitingRow or a moving wrote: the row is nil for
// the latter.
func readChained(src []byte) (w *waitingRow, t moving, err error) {
	r := &reader{src: src}
	switch r.byte() {
	case codedMoving:
		t = r.moving()
	case codedWaiting:
		w = new(waitingRow)
		w.RowChange, err = change.ReadRowChange(r.bytes())
		r.note(err)
		w.from, w.columns = move(r.bytes()), r.texts()
	default:
		r.note(errVersion)
	}
	return w, t, r.end("what a row had under another key")
}

// append appends the coding of m to dst.
func (m *moveMemory) append(dst []byte) []byte {
	dst = append(dst, codedMove)
	dst = appendBytes(dst, m.source)
	dst = appendTime(appendTime(dst, m.touched), m.timer)
	dst = appendBytes(dst, m.told.append(nil))
	dst = appendUvarint(dst, uint64(len(m.children)))
	for _, child := range m.children {
		dst = appendBytes(dst, child)
	}
	dst = appendUvarint(dst, uint64(len(m.rows)))
	for i := range m.rows {
		row := &m.rows[i]
		dst = appendBytes(dst, change.AppendRowChange(nil, &row.RowChange))
		dst = appendTexts(dst, row.columns)
		dst = appendTime(dst, row.at)
		dst = appendFlag(dst, row.emitted)
		dst = appendUvarint(dst, uint64(row.minor))
		dst = appendUvarint(dst, row.hash)
		dst = appendUvarint(dst, uint64(row.owed))
	}
	return dst
}

// readMove reads what append wrote; nothing is an empty one.
func readMove(src []byte) (*moveMemory, error) {
	m := new(moveMemory)
	if len(src) == 0 {
		return m, nil
	}
	r := newReader(src, codedMove)
	m.source, m.touched, m.timer = string(r.bytes()), r.time(), r.time()
	told := newReader(r.bytes(), codedMoving)
	m.told = told.moving()
	r.note(told.err)
	for range r.count() {
		m.children = append(m.children, move(r.bytes()))
	}
	for range r.count() {
		c, err := change.ReadRowChange(r.bytes())
		r.note(err)
		m.rows = append(m.rows, chainedRow{
			RowChange: c, columns: r.texts(), at: r.time(), emitted: r.flag(), minor: uint32(r.uvarint()), hash: r.uvarint(), owed: uint32(r.uvarint()),
		})
		if r.err != nil {
			break
		}
	}
	return m, r.end("a move's memory")
}
