package catalog

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func fencedServer(t *testing.T) (*server, table.Name) {
	t.Helper()
	rule := ordersRule
	rule.Truncates = DeleteKeys
	s := newServer(t, rule)
	m := ordersMetadata()
	m.MaxStaleness = &bigquery.IntervalValue{Minutes: 15}
	s.create(t, "orders", m)
	return s, table.Name{Project: "p", Dataset: "shop", Table: "orders"}
}

func TestCatalog_fence(t *testing.T) {
	s, name := fencedServer(t)
	one, two := s.open(t), s.open(t) // two workers
	sequence := func(n uint64) change.Sequence { return change.NewSequence(0, n, n, 1) }
	fence := func(c *Catalog, asOf time.Time) Fence {
		t.Helper()
		f, err := c.Fence(t.Context(), name.String(), asOf)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}

	if f := fence(two, time.Now()); !f.Truncated.IsZero() || !f.Emptied.IsZero() || f.MaxStaleness != 15*time.Minute {
		t.Errorf("the fence of a table that was never truncated is %+v", f)
	}
	for _, n := range []uint64{0x10, 0xF, 0x10} { // the lower one changes nothing
		f, err := one.RaiseFence(t.Context(), name, sequence(n))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Truncated; got != sequence(0x10) {
			t.Errorf("raised to %X the fence is %v", n, got)
		}
	}
	if f := fence(one, time.Time{}); f.Truncated != sequence(0x10) {
		t.Errorf("who raised the fence takes it for %v", f.Truncated)
	}
	if _, err := one.MarkEmptied(t.Context(), name, sequence(0xE)); err != nil {
		t.Fatal(err)
	}

	gets := s.gets.Load()
	if f := fence(two, time.Now().Add(-time.Hour)); !f.Truncated.IsZero() || s.gets.Load() != gets {
		t.Errorf("a fence that is new enough was read again, or is %v", f.Truncated)
	}
	if f := fence(two, time.Now()); f.Truncated != sequence(0x10) || f.Emptied != sequence(0xE) {
		t.Errorf("another worker reads the fence %+v", f)
	}
	// What others change of the table stays, and is no obstacle.
	s.addColumn(t, "orders", "note")
	if _, err := two.RaiseFence(t.Context(), name, sequence(0x11)); err != nil {
		t.Fatal(err)
	}
	m, err := s.client.Dataset("shop").Table("orders").Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"beamcdc_truncated": "0_h_h_1", "beamcdc_emptied": "0_e_e_1"}
	if diff := cmp.Diff(want, m.Labels); diff != "" || m.Schema[len(m.Schema)-1].Name != "note" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// However many raise it at one time, the highest stays.
func TestCatalog_fenceRace(t *testing.T) {
	s, name := fencedServer(t)
	var wait sync.WaitGroup
	for n := range uint64(8) {
		c := s.open(t)
		wait.Go(func() {
			if _, err := c.RaiseFence(t.Context(), name, change.NewSequence(n+1)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if f, err := s.open(t).Fence(t.Context(), name.String(), time.Now()); err != nil || f.Truncated != change.NewSequence(8) {
		t.Errorf("the fence is %v, %v", f.Truncated, err)
	}
}

func TestCatalog_fenceErrors(t *testing.T) {
	s, name := fencedServer(t)
	c := s.open(t)
	missing := table.Name{Project: "p", Dataset: "shop", Table: "absent"}
	if f, err := c.Fence(t.Context(), missing.String(), time.Now()); err != nil || !f.Truncated.IsZero() {
		t.Errorf("a table that doesn't exist has the fence %v, %v", f.Truncated, err)
	}
	if _, err := c.RaiseFence(t.Context(), missing, change.NewSequence(1)); !IsPermanent(err) {
		t.Errorf("raising the fence of no table: %v", err)
	}
	s.status.Store(http.StatusServiceUnavailable)
	if _, err := c.Fence(t.Context(), name.String(), time.Now()); err == nil || IsPermanent(err) {
		t.Errorf("BigQuery out of reach: %v", err)
	}
	s.status.Store(0)
	var update bigquery.TableMetadataToUpdate
	update.SetLabel(truncatedLabel, "yes-it-was")
	if _, err := s.client.Dataset("shop").Table("orders").Update(t.Context(), update, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fence(t.Context(), name.String(), time.Now()); !IsPermanent(err) || !strings.Contains(err.Error(), truncatedLabel) {
		t.Errorf("a label of someone else's: %v", err)
	}
}

func TestCatalog_Fenced(t *testing.T) {
	rules := []table.Rule{
		{Source: "public.orders", Destination: "shop.orders", Truncates: DeleteKeys},
		{Source: "public.lines", Destination: "shop.lines"},
	}
	s := newServer(t, rules...)
	for name, want := range map[string]bool{"p.shop.orders": true, "p.shop.lines": false, "p.shop.other": false, "": false} {
		if got := s.open(t).Fenced(name); got != want {
			t.Errorf("Fenced(%q) = %v", name, got)
		}
	}
	s.config.Rules = slices.Concat(rules, []table.Rule{{Source: "erp.*", Destination: "{schema}.{table}", Truncates: DeleteKeys}})
	for name, want := range map[string]bool{"p.shop.orders": true, "p.shop.lines": false, "p.erp.items": true} {
		if got := s.open(t).Fenced(name); got != want {
			t.Errorf("with a rule for many tables Fenced(%q) = %v", name, got)
		}
	}
}

// A label is legal for every sequence, and gives the sequence back.
func TestLabelOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := change.NewSequence(rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.Just(uint64(math.MaxUint64))), 1, 4).Draw(t, "sections")...)
		label := labelOf(s)
		if len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Fatalf("%q is no label's value", label)
		}
		if back, err := sequenceOf(label); err != nil || back != s {
			t.Fatalf("%q is %v, %v, not %v", label, back, err, s)
		}
	})
	for _, bad := range []string{"", "_", "1__2", "1_2_3_4_5", "-1", "3w5e11264sgsg", "é"} {
		if s, err := sequenceOf(bad); err == nil {
			t.Errorf("%q is taken for %v", bad, s)
		}
	}
}

func TestEarlier(t *testing.T) {
	now := time.Now()
	if earlier(now, now) || earlier(now, now.Add(-1)) || !earlier(now, now.Add(1)) {
		t.Error("times aren't compared")
	}
	// While a machine sleeps only the clock on the wall goes on.
	slept := now.Add(time.Hour).Round(0)
	if !earlier(now, slept) {
		t.Error("a sleep isn't noticed")
	}
}

func TestCatalog_Keys(t *testing.T) {
	s := newServer(t)
	s.create(t, "wide", &bigquery.TableMetadata{
		Schema: bigquery.Schema{
			{Name: "note", Type: bigquery.StringFieldType},
			{Name: "i", Type: bigquery.IntegerFieldType},
			{Name: "s", Type: bigquery.StringFieldType},
			{Name: "b", Type: bigquery.BooleanFieldType},
			{Name: "n", Type: bigquery.NumericFieldType},
			{Name: "big", Type: bigquery.BigNumericFieldType},
			{Name: "d", Type: bigquery.DateFieldType},
			{Name: "dt", Type: bigquery.DateTimeFieldType},
			{Name: "ts", Type: bigquery.TimestampFieldType},
		},
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"s", "i", "b", "n", "big", "d", "dt", "ts"}}},
	})
	q := s.client.Query("INSERT p.shop.wide (i, s, b, n, big, d, dt, ts) VALUES " +
		"(-7, 'it\\'s \\\\ ü', true, NUMERIC '-1.5', BIGNUMERIC '1e-38', DATE '1969-12-31', DATETIME '1969-12-31 23:59:59.999999', TIMESTAMP '1969-12-31 23:59:59.999999+00')")
	if _, err := q.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := s.open(t)
	d, err := c.readOrCreate(t.Context(), table.Name{Project: "p", Dataset: "shop", Table: "wide"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key, err := range c.Keys(t.Context(), d.Table) {
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := d.Plan.NewEncoder().AppendKey(nil, key)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(bytes))
	}
	// The same as of a change.
	want, err := d.Plan.NewEncoder().AppendKey(nil, []change.Column{
		{Name: "s", Value: change.String(`it's \ ü`)},
		{Name: "i", Value: change.Int64(-7)},
		{Name: "b", Value: change.Bool(true)},
		{Name: "n", Value: change.Decimal("-1.50")},
		{Name: "big", Value: change.Decimal("0.00000000000000000000000000000000000001")},
		{Name: "d", Value: change.Date(-1)},
		{Name: "dt", Value: change.DateTime(-1)},
		{Name: "ts", Value: change.Timestamp(-1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{string(want)}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
