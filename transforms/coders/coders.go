// Package coders registers the Beam coders of schemas/change's types. A package
// whose transforms take or emit them imports it for its side effect:
//
//	import _ "beamcdc/transforms/coders"
//
// The coders are deterministic: equal values have equal bytes, on every worker.
// Without them Beam would code a change.Event by its exported fields, and lose
// every change.Value, which has none.
package coders

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
)

func init() {
	// Registered by name too, or Beam would call them by reflection.
	register.Function1x1(encodeMessage)
	register.Function1x2(decodeMessage)
	register.Function1x1(encodeEvent)
	register.Function1x2(decodeEvent)
	register.Function1x1(encodeRow)
	register.Function1x2(decodeRow)
	register.Function1x1(encodeReceipt)
	register.Function1x2(decodeReceipt)
	register.Function1x1(encodeRowChange)
	register.Function1x2(decodeRowChange)

	coder.RegisterDeterministicCoder(reflect.TypeFor[change.Message](), encodeMessage, decodeMessage)
	coder.RegisterDeterministicCoder(reflect.TypeFor[change.Event](), encodeEvent, decodeEvent)
	coder.RegisterDeterministicCoder(reflect.TypeFor[change.Row](), encodeRow, decodeRow)
	coder.RegisterDeterministicCoder(reflect.TypeFor[change.Receipt](), encodeReceipt, decodeReceipt)
	coder.RegisterDeterministicCoder(reflect.TypeFor[change.RowChange](), encodeRowChange, decodeRowChange)
}

// The decoders may keep the bytes that they are given: Beam reads each element
// of a custom coder into bytes of its own.

func encodeMessage(m change.Message) []byte {
	return change.AppendMessage(make([]byte, 0, messageSize(&m)), &m)
}
func decodeMessage(src []byte) (change.Message, error) { return change.ReadMessage(src) }

func encodeEvent(e change.Event) []byte {
	// The images repeat what the message's data holds, and rarely more.
	size := messageSize(&e.Message) + len(e.Message.Data) + len(e.Table) + len(e.Position) + fixed
	return change.AppendEvent(make([]byte, 0, size), &e)
}
func decodeEvent(src []byte) (change.Event, error) { return change.ReadEvent(src) }

func encodeRow(row change.Row) []byte {
	size := messageSize(&row.Message) + len(row.Table) + len(row.Key) + len(row.Data) + fixed + perReceipt*len(row.Receipts)
	return change.AppendRow(make([]byte, 0, size), &row)
}
func decodeRow(src []byte) (change.Row, error) { return change.ReadRow(src) }

func encodeReceipt(r change.Receipt) []byte {
	return change.AppendReceipt(make([]byte, 0, perReceipt), &r)
}
func decodeReceipt(src []byte) (change.Receipt, error) { return change.ReadReceipt(src) }

func encodeRowChange(c change.RowChange) []byte {
	size := messageSize(&c.Event.Message) + len(c.Event.Message.Data) + messageSize(&c.Cause) + len(c.Table) + len(c.Key) + 2*fixed + perReceipt*len(c.Receipts)
	return change.AppendRowChange(make([]byte, 0, size), &c)
}
func decodeRowChange(src []byte) (change.RowChange, error) { return change.ReadRowChange(src) }

// Bytes to make room for, so that coding an element allocates once. A wrong
// guess costs a second allocation, no more.
const (
	fixed        = 96 // numbers, times and lengths
	perAttribute = 4
	perReceipt   = 16
)

func messageSize(m *change.Message) int {
	size := len(m.ID) + len(m.Data) + len(m.OrderingKey) + fixed
	for name, value := range m.Attributes {
		size += len(name) + len(value) + perAttribute
	}
	return size
}
