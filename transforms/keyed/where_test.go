package keyed

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// Invariant 2, with a where: whatever the order, repetition and windows of the changes of
// rows that start and stop matching, the table becomes the source's rows that match.
func TestConvergence_where(t *testing.T) {
	plan, err := rowproto.Compile(&table.Table{
		Name:       table.Name{Project: "demo", Dataset: "shop", Table: "items"},
		Columns:    []table.Column{{Name: "id", Type: table.Int64}, {Name: "v", Type: table.Int64}},
		PrimaryKey: []string{"id"},
	})
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := envelope.New(envelope.Options{Format: "debezium"})
	if err != nil {
		t.Fatal(err)
	}
	rule := &table.Rule{Enrich: []table.Step{{Where: "row.v % 2 == 0"}}}
	f := new(maker)
	f.startBundle()
	d := &destination{name: "demo.shop.items", match: catalog.Match{Rule: rule}}
	if err := f.use(t.Context(), d, &catalog.Destination{Rule: rule, Table: plan.Table(), Plan: plan}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		source := drawHistory(t)
		maps.DeleteFunc(source.rows, func(_, v int64) bool { return v%2 != 0 })
		delivered := slices.Clone(source.messages)
		for range rapid.IntRange(0, len(source.messages)).Draw(t, "redeliveries") {
			delivered = append(delivered, rapid.SampledFrom(source.messages).Draw(t, "redelivered"))
		}
		delivered = rapid.Permutation(delivered).Draw(t, "order of arrival")

		model := newModel(t, plan)
		rest := newRest()
		windows := rapid.IntRange(1, 4).Draw(t, "windows")
		for w := range windows {
			start, end := w*len(delivered)/windows, (w+1)*len(delivered)/windows
			byKey := make(map[string][]change.Row)
			for i, text := range delivered[start:end] {
				m := change.Message{ID: fmt.Sprint(start + i), Token: uint64(start + i + 1), Data: []byte(text)}
				events, _, err := decoder.Decode(m, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range filteredRows(t, f, d, events, rest) {
					byKey[string(row.Key)] = append(byKey[string(row.Key)], row)
				}
			}
			last := make([]change.Row, 0, len(byKey))
			for _, key := range slices.Sorted(maps.Keys(byKey)) {
				last = append(last, coalesce(t, byKey[key]))
			}
			for _, row := range rapid.Permutation(last).Draw(t, "order of writing") {
				model.apply(row)
				rest.add(t, row.Receipts)
			}
		}
		if diff := cmp.Diff(source.rows, model.rows()); diff != "" {
			t.Fatalf("the table is not what of the source matches (-source +table):\n%s", diff)
		}
		rest.check(t, len(delivered))
	})
}

// filteredRows makes the rows of events; what is left out rests.
func filteredRows(t *rapid.T, f *maker, d *destination, events []change.Event, rest *rest) []change.Row {
	var rows []change.Row
	for i := range events {
		e := &events[i]
		changes, err := d.keyer.split(e, e.Sequence, true, deadletter.Receipts(&e.Message, e.Part, e.Parts))
		if err != nil {
			t.Fatal(err)
		}
		for j := range changes {
			row, _, err := f.row(t.Context(), d, e, &changes[j])
			if errors.Is(err, errLeftOut) {
				rest.add(t, changes[j].receipts)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			f.keep(&row, changes[j].key)
			rows = append(rows, row)
		}
	}
	return rows
}
