package deadletter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
)

// Letter is what the pipeline could not process, with where and why. It holds
// the message as it was published, never a rendering of what was made from it:
// a rendering can fail on the very value that made the letter.
type Letter struct {
	Message change.Message // as published; Token is not kept in the stored letter
	Stage   string         // where: "decode", "key", "encode", "write"
	Reason  string         // why, one of the stage's stable snake_case words
	Error   string         // the error's text, for people; it never holds a row's values
	Table   string         // the source's table, or the destination's once it is known; "" when the message names none
	Part    uint32         // which of the message's parts failed

	// Receipts are the parts of messages that come to rest with this letter: its
	// own and, for a row that had superseded others, theirs. They are released
	// only once the letter is stored. Empty where the runner acks.
	Receipts []change.Receipt
}

func init() {
	beam.RegisterType(reflect.TypeFor[Letter]())
	beam.RegisterCoder(reflect.TypeFor[Letter](), encodeLetter, decodeLetter)
}

// encodeLetter writes l deterministically: attributes in the order of their
// names, lengths as varints, times as nanoseconds since 1970.
func encodeLetter(l Letter) []byte {
	m := &l.Message
	size := 64 + len(m.ID) + len(m.Data) + len(m.OrderingKey) + len(l.Stage) + len(l.Reason) + len(l.Error) + len(l.Table) + 12*len(l.Receipts)
	for name, value := range m.Attributes {
		size += len(name) + len(value) + 6
	}
	b := make([]byte, 0, size)
	b = appendText(b, m.ID)
	b = appendText(b, m.Data)
	b = binary.AppendUvarint(b, uint64(len(m.Attributes)))
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		b = appendText(b, name)
		b = appendText(b, m.Attributes[name])
	}
	b = appendText(b, m.OrderingKey)
	b = appendTime(b, m.PublishTime)
	b = binary.AppendUvarint(b, m.Token)
	for _, text := range []string{l.Stage, l.Reason, l.Error, l.Table} {
		b = appendText(b, text)
	}
	b = binary.AppendUvarint(b, uint64(l.Part))
	b = binary.AppendUvarint(b, uint64(len(l.Receipts)))
	for _, r := range l.Receipts {
		b = binary.AppendUvarint(b, r.Token)
		b = binary.AppendUvarint(b, uint64(r.Part))
		b = binary.AppendUvarint(b, uint64(r.Parts))
	}
	return b
}

func appendText[T string | []byte](b []byte, text T) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// appendTime writes 0 for the zero time, else 1 and the nanoseconds: the zero
// time itself is out of int64's range of nanoseconds.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	return binary.AppendVarint(append(b, 1), t.UnixNano())
}

// decodeLetter reads what encodeLetter wrote. Any other input is an error, never a panic.
func decodeLetter(src []byte) (Letter, error) {
	r := reader{rest: src}
	var l Letter
	l.Message.ID = r.text()
	l.Message.Data = r.bytes()
	if count := r.count(2); count > 0 {
		l.Message.Attributes = make(map[string]string, count)
		for range count {
			name := r.text()
			l.Message.Attributes[name] = r.text()
		}
	}
	l.Message.OrderingKey = r.text()
	l.Message.PublishTime = r.time()
	l.Message.Token = r.uvarint()
	for _, text := range []*string{&l.Stage, &l.Reason, &l.Error, &l.Table} {
		*text = r.text()
	}
	l.Part = r.uint32()
	if count := r.count(3); count > 0 {
		l.Receipts = make([]change.Receipt, count)
		for i := range l.Receipts {
			l.Receipts[i] = change.Receipt{Token: r.uvarint(), Part: r.uint32(), Parts: r.uint32()}
		}
	}
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%d bytes are left over", len(r.rest))
	}
	if r.err != nil {
		return Letter{}, fmt.Errorf("decoding a dead letter of %d bytes: %w", len(src), r.err)
	}
	return l, nil
}

// reader reads a letter's bytes. After its first error it returns zero values.
type reader struct {
	rest []byte
	err  error
}

var errShort = errors.New("it ends early")

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) uint32() uint32 {
	n := r.uvarint()
	if n > 1<<32-1 {
		r.fail()
		return 0
	}
	return uint32(n)
}

// count reads how many items follow, each of at least size bytes, so that a
// damaged count can't reserve more memory than the input is worth.
func (r *reader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// bytes returns a copy: the runner reuses the memory that it hands to a coder.
func (r *reader) bytes() []byte {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	b := slices.Clone(r.rest[:n])
	r.rest = r.rest[n:]
	return b
}

func (r *reader) text() string {
	n := r.count(1)
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text
}

func (r *reader) time() time.Time {
	switch flag := r.uvarint(); flag {
	case 0:
		return time.Time{}
	case 1:
		n, size := binary.Varint(r.rest)
		if size <= 0 {
			break
		}
		r.rest = r.rest[size:]
		return time.Unix(0, n).UTC()
	}
	r.fail()
	return time.Time{}
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errShort
	}
	r.rest = nil
}
