package main

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	seed     = flag.Uint64("seed", 0, "of TestChaos; 0 draws one")
	duration = flag.Duration("duration", 0, "of TestChaos, at least")
)

// The short form: one round, each kind of fault at least once, a dozen kills.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds and runs the real commands")
	}
	o := options{
		seed: *seed, duration: *duration, changes: 10_000, kills: 8, round: 10_000, faults: 12, rate: 300, backlog: 20_000,
		tables: 60, hold: 5 * time.Second, scale: 0.03, settleFor: 5 * time.Minute, directory: t.TempDir(),
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>1 | 1
	}
	if err := o.build(); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	o.out = &lockedWriter{w: &told}
	o.pipeline = o.out
	result, err := run(t.Context(), o)
	if result != nil {
		result.print(&told)
	}
	t.Logf("-seed %d\n%s", o.seed, told.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range faultKinds {
		if result.events[k.name] == 0 {
			t.Errorf("there was no %s", k.name)
		}
	}
	if result.kills+result.bigqueryKills < o.kills || result.published < o.changes {
		t.Errorf("%d kills and %d changes, not %d and %d", result.kills+result.bigqueryKills, result.published, o.kills, o.changes)
	}
}

// A seed draws the same plan each time, in which each kind of fault is, and another seed
// another.
func TestMakePlan(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) []event { return makePlan(rand.New(rand.NewPCG(seed, 0)), 5000, 20, 0.1, specs) }
	text := func(plan []event) (s string) {
		for _, e := range plan {
			s += e.String() + "\n"
		}
		return s
	}
	a := draw(1)
	if text(a) != text(draw(1)) {
		t.Error("one seed has two plans")
	}
	if text(a) == text(draw(2)) {
		t.Error("two seeds have one plan")
	}
	kinds, kills, last := map[string]int{}, 0, 0
	for _, e := range a {
		kinds[e.fault]++
		kills += e.kills()
		if e.at < last || e.at >= 5000 {
			t.Errorf("%s comes after %d, in a round of 5000", e, last)
		}
		last = e.at
	}
	for _, k := range faultKinds {
		if kinds[k.name] == 0 {
			t.Errorf("no %s is planned", k.name)
		}
	}
	if kills < 20 {
		t.Errorf("%d kills are planned, not 20", kills)
	}
}

// The driver finds what it is to find: a row that is missing, that is too many, that has
// another value, a delete that was lost, a column that nobody has.
func TestCompare(t *testing.T) {
	t.Parallel()
	b, err := startBroker(1, habits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	s := newSource(1, specs, b)
	for range 3000 {
		s.change()
	}
	for _, name := range []string{"orders", "lines", "notes"} {
		source := s.table(name)
		rows := func() (rows []map[string]any) {
			for key, r := range source.ever {
				_, alive := source.rows[key]
				if !alive && !source.soft {
					continue
				}
				got := map[string]any{}
				for _, c := range source.columns {
					got[c.name] = c.wanted(r[c.name])
				}
				if source.soft {
					got["is_deleted"], got["deleted_at"] = !alive, nil
					if !alive {
						got["deleted_at"] = column{kind: moment}.wanted(source.deleted[key].at * 1000)
					}
				}
				rows = append(rows, got)
			}
			return rows
		}
		if err := source.compare(rows()); err != nil {
			t.Fatalf("of equal tables: %v", err)
		}
		value := source.columns[len(source.columns)-1].name
		for what, spoil := range map[string]func(rows []map[string]any) []map[string]any{
			"a missing row":  func(rows []map[string]any) []map[string]any { return rows[1:] },
			"another value":  func(rows []map[string]any) []map[string]any { rows[0][value] = "other"; return rows },
			"another column": func(rows []map[string]any) []map[string]any { rows[0]["more"] = nil; return rows },
			"another row": func(rows []map[string]any) []map[string]any {
				return append(rows, map[string]any{source.key[0]: "123456789"})
			},
		} {
			if source.compare(spoil(rows())) == nil {
				t.Errorf("%s: %s is not found", name, what)
			}
		}
		if source.soft {
			changed := rows()
			for _, r := range changed {
				if r["is_deleted"] == true {
					r["is_deleted"] = false
					break
				}
			}
			if source.compare(changed) == nil {
				t.Error("a lost delete is not found")
			}
		}
	}
}
