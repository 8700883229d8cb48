package keyed

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/deadletter"
)

// What is emitted belongs to the stage that it goes to, which may keep it until its
// bundle ends: no later event may change it.
func TestRows_emittedIsOwned(t *testing.T) {
	config := newCatalog(t)
	config.Rules = config.Rules[:1]
	for i, rule := range []table.Rule{
		{UnavailableValues: "fill"},
		{Deletes: "soft", UnavailableValues: "fill"},
		{UnavailableValues: "fill", UnknownColumns: "add"}, // whose names are the table's
		{},
		{UnknownColumns: "add"},
	} {
		of := config.Rules[0]
		of.Source, of.Destination = fmt.Sprint("public.t", i), fmt.Sprint("shop.t", i)
		of.UnavailableValues, of.Deletes, of.UnknownColumns = rule.UnavailableValues, rule.Deletes, rule.UnknownColumns
		of.History = of.Destination + "_history"
		config.Rules = append(config.Rules, of)
	}
	config.Rules = config.Rules[1:]
	f := &rowsFn{Catalog: config, Rows: RowsConfig{Histories: true}}
	if err := f.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		type kept struct {
			key []byte
			c   change.RowChange
			was []byte // its coding as it was emitted
		}
		var all []kept
		divert := func(key []byte, c change.RowChange) {
			all = append(all, kept{key, c, change.AppendRowChange(bytes.Clone(key), &c)})
		}
		remember := func(c change.RowChange) { divert(nil, c) }
		emit, rest := func([]byte, change.Row) {}, func(change.Receipt) {}
		letter := func(l deadletter.Letter) { rt.Fatalf("a dead letter: %s", l.Error) }
		truncate := func(change.RowChange) {}
		f.StartBundle(emit, divert, remember, truncate, rest, letter)
		for i := range rapid.IntRange(2, 12).Draw(rt, "events") {
			op := rapid.SampledFrom([]change.Op{change.OpCreate, change.OpUpdate, change.OpDelete}).Draw(rt, "op")
			n := rapid.IntRange(0, len(config.Rules)-1).Draw(rt, "table")
			columns := " v=a"
			if config.Rules[n].UnknownColumns == "add" {
				columns = " v=a w!x=b" // which BigQuery has under another name
			}
			id := func() string { return fmt.Sprint("id=", rapid.IntRange(1, 5).Draw(rt, "id")) }
			e := event(fmt.Sprint(i), config.Rules[n].Source, op, id()+columns)
			if rapid.Bool().Draw(rt, "has a before image") {
				e.Before, e.BeforeComplete = row(id()+columns), true
			}
			if err := f.ProcessElement(t.Context(), e, emit, divert, remember, truncate, rest, letter); err != nil {
				rt.Fatal(err)
			}
		}
		for _, k := range all {
			if now := change.AppendRowChange(bytes.Clone(k.key), &k.c); !bytes.Equal(now, k.was) {
				rt.Fatalf("a later event changed what was emitted of event %s: %v", k.c.Event.Message.ID, k.c.Columns)
			}
		}
	})
}
