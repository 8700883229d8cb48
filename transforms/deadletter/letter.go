package deadletter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	_ "beamcdc/transforms/coders" // of receipts
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

	// Shared says that other letters of the message may need its data, and don't
	// carry it: it is stored by itself, and this letter without it.
	Shared bool

	// DataForm is what became of the message before it was stored: see Stored.DataForm.
	// It is no part of the coding.
	DataForm string

	// Receipts are the parts of messages that come to rest with this letter: its
	// own and, for a row that had superseded others, theirs. They are released
	// only once the letter is stored. Empty where the runner acks.
	Receipts []change.Receipt
}

func init() {
	beam.RegisterType(reflect.TypeFor[Letter]())
	register.Function1x1(encodeLetter)
	register.Function1x2(decodeLetter)
	coder.RegisterDeterministicCoder(reflect.TypeFor[Letter](), encodeLetter, decodeLetter)
}

// codedLetter is the version of a letter's coding.
const codedLetter = 0x16

// encodeLetter writes the version and the letter's fields in order, each text,
// message and receipt with its length before it.
func encodeLetter(l Letter) []byte {
	size := len(l.Message.ID) + len(l.Message.Data) + len(l.Stage) + len(l.Reason) + len(l.Error) + len(l.Table)
	b := append(make([]byte, 0, size+32*len(l.Receipts)+512), codedLetter)
	b = appendText(b, change.AppendMessage(nil, &l.Message))
	for _, text := range []string{l.Stage, l.Reason, l.Error, l.Table} {
		b = appendText(b, text)
	}
	b = binary.AppendUvarint(b, uint64(l.Part))
	shared := uint64(0)
	if l.Shared {
		shared = 1
	}
	b = binary.AppendUvarint(b, shared)
	var receipt [32]byte
	for i := range l.Receipts {
		b = appendText(b, change.AppendReceipt(receipt[:0], &l.Receipts[i]))
	}
	return b
}

func appendText[T string | []byte](b []byte, text T) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// decodeLetter reads what encodeLetter wrote. Any other input is an error, never
// a panic. The letter shares src's memory: Beam reads each element of a custom
// coder into bytes of its own.
func decodeLetter(src []byte) (l Letter, err error) {
	fail := func(err error) (Letter, error) {
		return Letter{}, fmt.Errorf("decoding a dead letter of %d bytes: %w", len(src), err)
	}
	if len(src) == 0 || src[0] != codedLetter {
		return fail(errors.New("unknown version"))
	}
	r := reader{rest: src[1:]}
	message := r.bytes()
	for _, text := range []*string{&l.Stage, &l.Reason, &l.Error, &l.Table} {
		*text = string(r.bytes())
	}
	part := r.uvarint()
	shared := r.uvarint()
	l.Part, l.Shared = uint32(part), shared == 1
	if r.short || uint64(l.Part) != part || shared > 1 {
		return fail(errors.New("damaged"))
	}
	if l.Message, err = change.ReadMessage(message); err != nil {
		return fail(err)
	}
	for len(r.rest) > 0 {
		receipt, err := change.ReadReceipt(r.bytes())
		if err != nil {
			return fail(err)
		}
		l.Receipts = append(l.Receipts, receipt)
	}
	return l, nil
}

// reader reads a letter's bytes. Once they end early it returns zero values.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.short = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.rest, r.short = nil, true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}
