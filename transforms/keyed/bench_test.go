package keyed

import (
	"fmt"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/deadletter"
)

// BenchmarkRows is one update of a row of twelve columns, from event to row.
func BenchmarkRows(b *testing.B) {
	t := &table.Table{Name: table.Name{Project: "demo", Dataset: "shop", Table: "orders"}, PrimaryKey: []string{"id"}}
	t.Columns = append(t.Columns, table.Column{Name: "id", Type: table.Int64})
	after := []change.Column{{Name: "id", Value: change.Int64(7)}}
	for i := range 11 {
		name := fmt.Sprintf("column_%d", i)
		t.Columns = append(t.Columns, table.Column{Name: name, Type: table.String})
		after = append(after, change.Column{Name: name, Value: change.String("some text")})
	}
	plan, err := rowproto.Compile(t)
	if err != nil {
		b.Fatal(err)
	}
	f := &rowsFn{}
	emitted := 0
	emit := func([]byte, change.Row) { emitted++ }
	rest := func(change.Receipt) {}
	letter := func(l deadletter.Letter) { b.Fatal(l.Error) }
	divert := func([]byte, change.RowChange) {}
	remember := func(change.RowChange) {}
	truncate := func(change.RowChange) {}
	f.StartBundle(emit, divert, remember, truncate, rest, letter)
	f.maker.destinations["public.orders"] = destinationOf(plan)
	f.maker.bundle = 0 // the destination's
	e := change.Event{
		Message: change.Message{ID: "1", Token: 1, Data: make([]byte, 600)}, Parts: 1, Table: "public.orders", Op: change.OpUpdate,
		Before: after, After: after, Sequence: change.NewSequence(0, 1, 1, 1),
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := f.ProcessElement(b.Context(), e, emit, divert, remember, truncate, rest, letter); err != nil {
			b.Fatal(err)
		}
	}
}
