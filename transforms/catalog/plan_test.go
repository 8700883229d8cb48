package catalog

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

// Plan is asked by workers that saw neither the source nor the table before.
func TestPlan(t *testing.T) {
	s := newServer(t, ordersRule)
	s.create(t, "orders", ordersMetadata())
	encoder := s.open(t)
	old, err := destination(t, encoder, "public.orders")
	if err != nil {
		t.Fatal(err)
	}

	writer := s.open(t)
	if plan, err := writer.Plan(t.Context(), "p.shop.orders", old.Plan.Fingerprint()); err != nil || plan.Fingerprint() != old.Plan.Fingerprint() {
		t.Errorf("a table not seen before: %v", err)
	}

	// Another worker saw the new column first.
	s.addColumn(t, "orders", "a")
	time.Sleep(2 * time.Millisecond)
	m, _ := encoder.Route("public.orders")
	changed, err := encoder.Refresh(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := writer.Plan(t.Context(), "p.shop.orders", changed.Plan.Fingerprint()); err != nil || plan.Fingerprint() != changed.Plan.Fingerprint() {
		t.Errorf("a newer schema: %v", err)
	}

	// A worker that starts after two more columns were added gets rows of all versions.
	s.addColumn(t, "orders", "b")
	s.addColumn(t, "orders", "c")
	late := s.open(t)
	for _, version := range []*Destination{old, changed} {
		plan, err := late.Plan(t.Context(), "p.shop.orders", version.Plan.Fingerprint())
		if err != nil {
			t.Errorf("an older schema: %v", err)
			continue
		}
		if diff := cmp.Diff(version.Plan.Descriptor().String(), plan.Descriptor().String()); diff != "" {
			t.Errorf("its descriptor differs (-encoded by +sent with):\n%s", diff)
		}
		if fits, err := late.Fits(t.Context(), "p.shop.orders", version.Plan.Fingerprint()); err != nil || !fits {
			t.Errorf("an older version fits: %v, error %v", fits, err)
		}
	}

	// What no version explains is found out once, and remembered.
	gets := s.gets.Load()
	for range 5 {
		if _, err := late.Plan(t.Context(), "p.shop.orders", 42); !errors.Is(err, ErrUnknownSchema) {
			t.Errorf("error %v, want ErrUnknownSchema", err)
		}
	}
	if n := s.gets.Load() - gets; n != 1 {
		t.Errorf("%d reads for one unknown schema, want 1", n)
	}
	if _, err := late.Plan(t.Context(), "p.shop.gone", 42); !IsPermanent(err) {
		t.Errorf("a table that is not there: %v", err)
	}
}

// A table dropped and created with fewer columns no longer takes the old rows.
func TestFits_droppedColumn(t *testing.T) {
	s := newServer(t, ordersRule)
	s.create(t, "orders", ordersMetadata())
	c := s.open(t)
	old, err := destination(t, c, "public.orders")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.client.Dataset("shop").Table("orders").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond)
	if _, err := c.Fits(t.Context(), "p.shop.orders", old.Plan.Fingerprint()); !IsPermanent(err) {
		t.Errorf("a dropped table: %v", err)
	}
	fewer := ordersMetadata()
	fewer.Schema = fewer.Schema[:2]
	s.create(t, "orders", fewer)
	s.config.Rules = []table.Rule{{Source: "public.orders", Destination: "shop.orders"}}
	c.router, err = table.NewRouter("p", s.config.Rules) // the rule of before names the dropped column
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Route("public.orders")
	time.Sleep(2 * time.Millisecond)
	if _, err := c.Refresh(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if fits, err := c.Fits(t.Context(), "p.shop.orders", old.Plan.Fingerprint()); err != nil || fits {
		t.Errorf("rows with a dropped column fit: %v, error %v", fits, err)
	}
}
