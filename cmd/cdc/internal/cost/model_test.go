package cost

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// near compares what is computed in another order.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Three rows on two keys leave 2·(1 - (1/2)³) = 1.75 of them; on one key always one; on
// ever new keys all.
func TestGiven(t *testing.T) {
	for _, test := range []struct{ rate, keys, seconds, want float64 }{
		{3, 2, 1, 1.75},
		{1.5, 2, 2, 0.875},
		{10, 1, 1, 1},
		{10, 1, 5, 0.2},
		{0.1, 1, 5, 0.1},
		{10, 0, 5, 10},
		{10, 1e12, 1, 10},
	} {
		traffic := given(test.rate, 100, test.keys)
		l := traffic.After(time.Duration(test.seconds * float64(time.Second)))
		if math.Abs(l.Rows-test.want) > 1e-6 || math.Abs(l.Bytes-100*test.want) > 1e-4 {
			t.Errorf("%+v: %+v", test, l)
		}
		near(t, "before", traffic.Before.Rows, test.rate)
	}
}

func TestModel_month(t *testing.T) {
	m := Model{Hours: 1, Queries: 10, QueryShare: 0.5, UnsetApply: 15 * time.Minute}
	busy := given(1, 100, 0)
	busy.Baseline = 1000
	e := m.month(&busy, time.Second, 10*time.Minute)
	// An hour has 3,600 rows of 100 bytes, and six intervals of 600 rows.
	near(t, "write", e.Write, 360_000)
	near(t, "applies", e.Applies, 6)
	near(t, "apply bytes", e.ApplyBytes, 6*1000+360_000)
	near(t, "queries", e.Queries, 10)
	near(t, "merges", e.Merges, 0)
	near(t, "query bytes", e.QueryBytes, 10*500)
	// Without max_staleness four applies, and each query finds half of 900 rows.
	e = m.month(&busy, time.Second, 0)
	near(t, "applies", e.Applies, 4)
	near(t, "merges", e.Merges, 10)
	near(t, "query bytes", e.QueryBytes, 10*(1000+45_000))
	// One row an hour: in an interval of an hour there is none with probability 1/e.
	rare := given(1.0/3600, 100, 0)
	rare.Baseline = 1000
	e = m.month(&rare, time.Second, time.Hour)
	near(t, "applies", e.Applies, 1-1/math.E)
	near(t, "apply bytes", e.ApplyBytes, 1000*(1-1/math.E)+100)
	// A table that nothing changes is never applied to.
	still := given(0, 100, 0)
	near(t, "applies", (&Model{Hours: 730, UnsetApply: time.Minute}).month(&still, time.Second, time.Minute).Applies, 0)
}

func TestPrices_bill(t *testing.T) {
	var p Prices
	p.Write.PerGiB, p.Write.FreeGiB = 0.025, 1
	p.OnDemand.PerTiB, p.OnDemand.FreeTiB = 6.25, 1
	b := p.bill(Month{Write: 5 * gib, ApplyBytes: 2 * tib, QueryBytes: 3 * tib})
	near(t, "write", b.Write, 4*0.025)
	near(t, "apply", b.Apply, 4*6.25*2/5) // of 5 TiB one is free, in proportion
	near(t, "query", b.Query, 4*6.25*3/5)
	near(t, "total", b.Total(), 0.1+25)
	if b := p.bill(Month{Write: gib / 2, ApplyBytes: tib / 2}); b != (Bill{}) {
		t.Errorf("what is free costs %+v", b)
	}
	if b := p.bill(Month{}); b != (Bill{}) {
		t.Errorf("nothing costs %+v", b)
	}
}

func TestReadPrices(t *testing.T) {
	p, err := readPrices("")
	if err != nil || p.Write.PerGiB <= 0 || p.OnDemand.PerTiB <= 0 || p.Write.Source == "" || p.Write.AsOf == "" || p.OnDemand.Source == "" || p.OnDemand.AsOf == "" {
		t.Errorf("the list prices: %+v, %v; each has a source and a date", p, err)
	}
	own := strings.Replace(string(listPrices), "per_tib: 6.25", "per_tib: 7.5", 1)
	for name, test := range map[string]struct {
		text string
		ok   bool
	}{
		"own":      {own, true},
		"misspelt": {strings.Replace(own, "per_gib", "per_gb", 1), false},
		"negative": {strings.Replace(own, "7.5", "-7.5", 1), false},
		"empty":    {"currency: EUR\n", false},
	} {
		file := filepath.Join(t.TempDir(), "prices.yaml")
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := readPrices(file)
		if (err == nil) != test.ok || test.ok && p.OnDemand.PerTiB != 7.5 {
			t.Errorf("%s: %v, %v a TiB", name, err, p.OnDemand.PerTiB)
		}
	}
}
