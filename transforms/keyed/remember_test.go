package keyed

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// remembering returns a DoFn of which public.orders and public.tombstones have histories.
func remembering(t *testing.T) *rowsFn {
	t.Helper()
	config := newCatalog(t)
	for i := range config.Rules {
		if source := config.Rules[i].Source; source == "public.orders" || source == "public.tombstones" {
			config.Rules[i].History = config.Rules[i].Destination + "_history"
			config.Rules[i].Truncates = "delete_keys"
		}
	}
	f := &rowsFn{Catalog: config, Rows: RowsConfig{Histories: true, FilterUnlisted: true}}
	if err := f.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// rested is what a bundle has emitted.
type rested struct {
	past     []change.RowChange
	receipts []change.Receipt // of rows, histories, letters and what rests here
}

func restedOf(ctx context.Context, f *rowsFn, events ...change.Event) (*rested, error) {
	r := new(rested)
	take := func(receipts []change.Receipt) { r.receipts = append(r.receipts, receipts...) }
	emit := func(_ []byte, row change.Row) { take(row.Receipts) }
	divert := func(_ []byte, c change.RowChange) { take(c.Receipts) }
	remember := func(c change.RowChange) {
		c.Columns, c.Event.Before = append([]change.Column{}, c.Columns...), append([]change.Column{}, c.Event.Before...)
		r.past = append(r.past, c)
		take(c.Receipts)
	}
	rest := func(receipt change.Receipt) { take([]change.Receipt{receipt}) }
	letter := func(l deadletter.Letter) { take(l.Receipts) }
	truncate := func(c change.RowChange) { take(c.Receipts) }
	f.StartBundle(emit, divert, remember, truncate, rest, letter)
	for i := range events {
		if err := f.ProcessElement(ctx, events[i], emit, divert, remember, truncate, rest, letter); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func TestRows_remember(t *testing.T) {
	f := remembering(t)
	update := event("3", "public.orders", change.OpUpdate, "id=6 v=b")
	update.Before, update.BeforeComplete = row("id=5 v=a"), true
	bad := event("4", "public.orders", change.OpUpdate, "id=six v=b")
	r, err := restedOf(t.Context(), f,
		event("1", "public.orders", change.OpCreate, "id=5 v=a"), event("2", "public.orders", change.OpSnapshot, "id=5 v=a"),
		update, bad, event("5", "public.orders", change.OpDelete, "id=6"),
		event("6", "public.arrival", change.OpCreate, "id=5 v=a"), event("7", "public.else", change.OpCreate, "id=5"),
		event("8", "public.orders", change.OpTruncate, ""),
	)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.past {
		got = append(got, fmt.Sprint(c.Event.Message.ID, " ", c.Event.Op, " ", c.Type, " of ", c.Table, " at ", c.Event.Sequence, " ", len(c.Columns), " before ", len(c.Event.Before)))
	}
	want := []string{
		"1 create UPSERT of demo.shop.orders at 7/5/5/1 2 before 0",
		"2 snapshot UPSERT of demo.shop.orders at 7/5/5/1 2 before 0",
		"3 update DELETE of demo.shop.orders at 7/5/5/0 1 before 2",
		"3 update UPSERT of demo.shop.orders at 7/5/5/1 2 before 2",
		"5 delete DELETE of demo.shop.orders at 7/5/5/1 1 before 0",
		"8 truncate INVALID of demo.shop.orders at 7/5/5/1 0 before 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A message is acked when all its parts have come to rest, in the table and in its
// history: so the receipts of its changes, of tables with a history and without, must
// agree in Parts and name each part exactly once.
func TestRows_rememberReceipts(t *testing.T) {
	f := remembering(t)
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.Uint32Range(1, 4).Draw(rt, "parts")
		events := make([]change.Event, parts)
		for i := range events {
			op := rapid.SampledFrom([]change.Op{change.OpCreate, change.OpUpdate, change.OpDelete, change.OpTruncate, 0}).Draw(rt, "op")
			source := rapid.SampledFrom([]string{"public.orders", "public.orders", "public.arrival", "public.missing", "public.tombstones", "else", ""}).Draw(rt, "table")
			e := event("1", source, op, rapid.SampledFrom([]string{"id=5 v=a", "id=6", "id=six", "v=a", "id=5 else=1"}).Draw(rt, "row"))
			if rapid.Bool().Draw(rt, "before") {
				e.Before, e.BeforeComplete = row("id=7"), true
			}
			if op == change.OpDelete && rapid.Bool().Draw(rt, "tombstone") {
				e.Tombstone = true
			}
			if rapid.Bool().Draw(rt, "no position") {
				e.Sequence = change.Sequence{}
			}
			e.Part, e.Parts = uint32(i), parts
			events[i] = e
		}
		r, err := restedOf(t.Context(), f, events...)
		if err != nil {
			rt.Fatal(err)
		}
		seen := make(map[uint32]int)
		for _, receipt := range r.receipts {
			if receipt.Token != 1 || receipt.Parts != r.receipts[0].Parts {
				rt.Fatalf("receipt %+v beside %+v", receipt, r.receipts[0])
			}
			seen[receipt.Part]++
		}
		if len(r.receipts) == 0 {
			rt.Fatal("no receipt")
		}
		for part := range r.receipts[0].Parts {
			if seen[part] != 1 {
				rt.Fatalf("part %d of %d is named %d times", part, r.receipts[0].Parts, seen[part])
			}
		}
	})
}
