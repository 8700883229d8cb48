package keyed

import (
	"strings"
	"testing"
	"unsafe"

	"beamcdc/schemas/change"
)

// A destination outlives its bundle: what was made for it is made once. Each bundle asks
// the catalog whether the table is still as it was, and no message is kept.
func TestMaker_destinationOutlivesBundle(t *testing.T) {
	config := newCatalog(t)
	config.Rules[0].Sequence = "after.id"
	config.Rules[0].PrimaryKey = nil // the messages name it
	rows := &rowsFn{Catalog: config}
	if err := rows.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := &rows.maker
	message := "of table public.orders by id, and ten megabytes more"
	e := event("1", message[9:22], change.OpCreate, "id=1 v=a")
	e.Key = row("id=1")
	e.Key[0].Name = message[26:28]
	m.startBundle()
	first, err := m.destination(t.Context(), &e)
	if err != nil {
		t.Fatal(err)
	}
	if first.name != "demo.shop.orders" || first.order.expression == nil || first.source != "public.orders" {
		t.Fatalf("the destination is %s of %s", first.name, first.source)
	}
	start := uintptr(unsafe.Pointer(unsafe.StringData(message)))
	for _, kept := range append([]string{first.source, first.match.Name.Table}, first.match.Declared...) {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(kept))); at >= start && at < start+uintptr(len(message)) {
			t.Errorf("%q is kept with its message", kept)
		}
	}
	expression, plan, keyer := first.order.expression, first.Plan, first.keyer

	found := first.Destination
	for range 2 {
		m.startBundle()
		e.Table = strings.Clone(e.Table)
		again, err := m.destination(t.Context(), &e)
		if err != nil {
			t.Fatal(err)
		}
		if again != first || again.order.expression != expression || again.keyer != keyer || again.Plan != plan {
			t.Fatal("the next bundle made all of it anew")
		}
		stale := *found
		again.Destination, again.keyer = &stale, nil // as if the catalog had another by now
	}
	m.startBundle()
	if again, err := m.destination(t.Context(), &e); err != nil || again.Destination != found || again.keyer != keyer {
		t.Errorf("the bundle has not what the catalog has: %v", err)
	}
}
