package change_test

import (
	"bytes"
	"testing"

	"beamcdc/schemas/change"
)

// FuzzReading: no input makes a reader panic, and what a reader accepts has one
// coding: writing the value again gives the same bytes.
func FuzzReading(f *testing.F) {
	event, row := benchmarkEvent(), benchmarkRow()
	f.Add(change.AppendMessage(nil, &event.Message))
	f.Add(change.AppendEvent(nil, &event))
	f.Add(change.AppendRow(nil, &row))
	f.Add(change.AppendReceipt(nil, &row.Receipts[0]))
	f.Add(change.AppendEvent(nil, &change.Event{}))
	f.Add(change.AppendRowChange(nil, &change.RowChange{Event: event, Type: change.Upsert, Columns: event.After, Receipts: row.Receipts}))
	f.Add(change.AppendEvent(nil, &change.Event{After: []change.Column{
		{Name: "a", Value: change.Array([]change.Column{{Value: change.Struct([]change.Column{{Name: "b", Value: change.Float64(1)}})}})},
		{Name: "n", Value: change.Null()},
	}}))
	f.Fuzz(func(t *testing.T, src []byte) {
		checkStable(t, src, change.AppendMessage, change.ReadMessage)
		checkStable(t, src, change.AppendEvent, change.ReadEvent)
		checkStable(t, src, change.AppendRow, change.ReadRow)
		checkStable(t, src, change.AppendReceipt, change.ReadReceipt)
		checkStable(t, src, change.AppendRowChange, change.ReadRowChange)
	})
}

func checkStable[T any](t *testing.T, src []byte, appendTo func([]byte, *T) []byte, read func([]byte) (T, error)) {
	t.Helper()
	x, err := read(src)
	if err != nil {
		return
	}
	if again := appendTo(nil, &x); !bytes.Equal(again, src) {
		t.Errorf("%T: accepted %x, which is written as %x", x, src, again)
	}
}
