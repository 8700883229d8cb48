package table_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

func router(t testing.TB, rules ...table.Rule) *table.Router {
	t.Helper()
	r, err := table.NewRouter("demo", rules)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRoute(t *testing.T) {
	t.Parallel()
	rules := []table.Rule{
		{Source: "public.orders", Destination: "shop.orders", History: "shop.orders_history"},
		{Source: "public.ord*", Destination: "shop.ord_{table}"},
		{Source: "au*t.*_log", Destination: "other.{schema}.{table}", History: "logs.{schema}-{table}"},
		{Source: "Singers", Destination: "music.singers"},
		{Source: "*.audit.*", Destination: "shop.{schema}_{table}"},
	}
	tests := []struct {
		source, want, history string // want "" is no rule
	}{
		{"public.orders", "demo.shop.orders", "demo.shop.orders_history"},
		{"public.order_lines", "demo.shop.ord_order_lines", ""},
		{"public.ord", "demo.shop.ord_ord", ""}, // * matches nothing too
		{"public.Orders", "", ""},               // case counts
		{"Public.orders", "", ""},
		{"orders", "", ""}, // fewer parts than the pattern
		{"other.orders", "", ""},
		{"public.x.orders", "", ""},                        // * and parts: the end must match
		{"db.public.ordinal", "demo.shop.ord_ordinal", ""}, // fewer parts match the end
		{"audit.a_log", "other.audit.a_log", "demo.logs.audit-a_log"},
		{"aut.a_log", "other.aut.a_log", "demo.logs.aut-a_log"},
		{"audit.a_logs", "", ""},
		{"Singers", "demo.music.singers", ""},
		{"x.audit.y", "demo.shop.audit_y", ""},
		{"audit.y", "", ""},
		{"public.", "", ""},
		{".", "", ""},
		{"", "", ""}, // there are several rules
	}
	r := router(t, rules...)
	for range 2 { // the second time from memory
		for _, test := range tests {
			m, ok := r.Route(test.source)
			if !ok {
				m.Name = table.Name{}
				if test.want != "" {
					t.Errorf("%q: no rule, want %s", test.source, test.want)
				}
				continue
			}
			if m.Err != nil {
				t.Errorf("%q: %v", test.source, m.Err)
				continue
			}
			if got := m.Name.String(); got != test.want {
				t.Errorf("%q went to %s, want %q", test.source, got, test.want)
			}
			if m.Rule != &rules[m.Index] {
				t.Errorf("%q: the rule is not that of index %d", test.source, m.Index)
			}
			history := ""
			if m.History != (table.Name{}) {
				history = m.History.String()
			}
			if history != test.history {
				t.Errorf("%q has the history %q, want %q", test.source, history, test.history)
			}
		}
	}
}

func TestRouteUnnamed(t *testing.T) {
	t.Parallel()
	one := table.Rule{Source: "public.orders", Destination: "shop.orders"}
	r := router(t, one)
	for _, source := range []string{"", "public.orders", ""} {
		if m, ok := r.Route(source); !ok || m.Err != nil || m.Name.String() != "demo.shop.orders" {
			t.Errorf("%q: got %+v, %v", source, m, ok)
		}
	}
	for name, rules := range map[string][]table.Rule{
		"two rules":     {one, {Source: "public.customers", Destination: "shop.customers"}},
		"a pattern":     {{Source: "public.*", Destination: "shop.orders"}},
		"a placeholder": {{Source: "public.orders", Destination: "shop.{table}"}},
		"no rule":       nil,
	} {
		if m, ok := router(t, rules...).Route(""); ok {
			t.Errorf("%s: it went to %+v", name, m)
		}
	}
}

// TestRouteRefuses: what a message names must not become more than one part of
// the destination.
func TestRouteRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1100)
	tests := []struct{ source, want string }{
		{"public.orders$20250101", `table "orders$20250101" has '$'`},
		{"public.a`b", "has '`'"},
		{"public.a b", `has ' '`},
		{"public.a/b", `has '/'`},
		{"public.{schema}", `has '{'`},
		{"public.a\x00", `has '\x00'`},
		{"public.a\xff", "has '�'"},
		{"public.*", `has '*'`},
		{"schema-x.by_schema", `dataset "schema-x" has '-'`},
		{"schema x.by_schema", `schema "schema x" has ' '`},
		{"by_schema", "has no schema"},
		{"public." + long, "more than 1024"},
	}
	r := router(t,
		table.Rule{Source: "by_schema", Destination: "{schema}.all"},
		table.Rule{Source: "*.*", Destination: "shop.{table}"},
	)
	for _, test := range tests {
		m, ok := r.Route(test.source)
		switch {
		case !ok || m.Err == nil || !strings.Contains(m.Err.Error(), test.want):
			t.Errorf("%.40q: got %v, %.300v, want it to say %q", test.source, ok, m.Err, test.want)
		case m.Name != (table.Name{}) || m.History != (table.Name{}):
			t.Errorf("%.40q: an error and the destination %v", test.source, m.Name)
		case len(m.Err.Error()) > 500:
			t.Errorf("%.40q: the error has %d bytes", test.source, len(m.Err.Error()))
		}
	}
}

// TestTwoSourcesOfOneDestination breaks without what Router remembers.
func TestTwoSourcesOfOneDestination(t *testing.T) {
	t.Parallel()
	r := router(t,
		table.Rule{Source: "a.*", Destination: "shop.{table}", History: "log.{table}"},
		table.Rule{Source: "b.*", Destination: "shop.{table}"},
		table.Rule{Source: "c.*", Destination: "log.{table}"},
		table.Rule{Source: "d.*", Destination: "shop.one"},
		table.Rule{Source: "e.*", Destination: "x.{table}", History: "x.{schema}"},
	)
	steps := []struct{ source, want string }{
		{"a.orders", ""},
		{"b.orders", `demo.shop.orders belongs to source "a.orders"`},
		{"a.orders", ""},
		{"b.lines", ""},
		{"a.lines", `belongs to source "b.lines"`},
		{"c.orders", `demo.log.orders belongs to source "a.orders"`}, // a history
		{"c.lines", ""}, // a.lines was refused whole: its history belongs to no one
		{"a.one", `demo.shop.one belongs to tables[3] (source d.*)`},
		{"d.x", ""},
		{"d.y", `belongs to source "d.x"`},
		{"e.e", "is its destination and its history"},
	}
	for _, step := range steps {
		m, ok := r.Route(step.source)
		switch {
		case !ok:
			t.Errorf("%s: no rule", step.source)
		case step.want == "" && m.Err != nil:
			t.Errorf("%s: %v", step.source, m.Err)
		case step.want != "" && (m.Err == nil || !strings.Contains(m.Err.Error(), step.want)):
			t.Errorf("%s: got %v, want it to say %q", step.source, m.Err, step.want)
		}
	}
}

func TestNewRouterRefuses(t *testing.T) {
	t.Parallel()
	orders := table.Rule{Source: "public.orders", Destination: "shop.orders"}
	tests := []struct {
		name  string
		rules []table.Rule
		want  []string
	}{
		{"nothing", []table.Rule{{}}, []string{"tables[0].source: it is missing", "tables[0].destination: it is missing"}},
		{"an empty part", []table.Rule{{Source: "a..b", Destination: "x.y"}}, []string{`tables[0].source: "a..b": part 2 is empty`}},
		{"a placeholder in the source", []table.Rule{{Source: "a.{table}", Destination: "x.y"}}, []string{"belong into the destination"}},
		{"no dataset", []table.Rule{{Source: "a", Destination: "orders"}}, []string{"tables[0].destination: \"orders\": it names no dataset"}},
		{"another placeholder", []table.Rule{{Source: "a", Destination: "x.{name}"}}, []string{"{schema} and {table} only"}},
		{"half a placeholder", []table.Rule{{Source: "a", Destination: "x.{table"}}, []string{"{schema} and {table} only"}},
		{"the project", []table.Rule{{Source: "a", Destination: "{schema}.x.y"}}, []string{"can't choose the project"}},
		{"a bad history", []table.Rule{{Source: "a", Destination: "x.y", History: "z"}}, []string{"tables[0].history: \"z\": it names no dataset"}},
		{
			"one destination",
			[]table.Rule{orders, {Source: "audit.orders", Destination: "demo.shop.orders"}},
			[]string{"tables[1].destination: demo.shop.orders is already a table of tables[0] (source public.orders)"},
		},
		{
			"one history",
			[]table.Rule{
				{Source: "a", Destination: "x.a", History: "x.h"}, {Source: "b", Destination: "x.b", History: "x.h"},
			},
			[]string{"tables[1].history: demo.x.h is already a table of tables[0]"},
		},
		{
			"a history that is a destination",
			[]table.Rule{{Source: "a", Destination: "x.a", History: "x.a"}},
			[]string{"tables[0].history: demo.x.a is the destination too"},
		},
		{
			"one history for a pattern",
			[]table.Rule{{Source: "*", Destination: "x.{table}", History: "h.h"}},
			[]string{`tables[0].history: demo.h.h is one table for all the destinations of "x.{table}"`},
		},
		{
			"the same source",
			[]table.Rule{orders, {Source: "public.orders", Destination: "shop.orders2"}},
			[]string{`tables[1].source: "public.orders" is never reached: tables[0] (source public.orders)`},
		},
		{
			"a shadowed source",
			[]table.Rule{{Source: "*.ord*", Destination: "x.{table}"}, {Source: "public.order*s", Destination: "x.y"}},
			[]string{`tables[1].source: "public.order*s" is never reached: tables[0]`},
		},
		{
			"all at once",
			[]table.Rule{{Source: "a..b", Destination: "x"}, orders, {Source: "orders", Destination: "shop.orders"}},
			[]string{"tables[0].source", "tables[0].destination", "tables[2].destination"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := table.NewRouter("demo", test.rules)
			if err == nil || r != nil {
				t.Fatalf("got %v, %v", r, err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to say %q", err, want)
				}
			}
			if n := strings.Count(err.Error(), "tables[") - strings.Count(err.Error(), " tables["); n != len(test.want) {
				t.Errorf("%d findings, want %d:\n%v", n, len(test.want), err)
			}
			if _, ok := errors.AsType[*table.RuleError](err); !ok {
				t.Errorf("%v holds no *RuleError", err)
			}
		})
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	r := router(t,
		table.Rule{Source: "a", Destination: "x.{table}"},
		table.Rule{Source: "b", Destination: "x.b", History: "h.{table}"},
		table.Rule{Source: "c*", Destination: "x.c", History: "h.c"},
	)
	var got []string
	for _, m := range r.Literals() {
		got = append(got, fmt.Sprint(m.Index, m.Name, m.History))
	}
	if diff := cmp.Diff([]string{"1 demo.x.b ..", "2 demo.x.c demo.h.c"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRouterIsSafe: whoever comes first, one source gets the destination and
// everybody hears the same.
func TestRouterIsSafe(t *testing.T) {
	t.Parallel()
	for range 20 {
		r := router(t, table.Rule{Source: "*.*", Destination: "shop.{table}"})
		won := make([]int, 8)
		var wg sync.WaitGroup
		for i := range won {
			wg.Go(func() {
				for range 50 {
					if m, ok := r.Route(fmt.Sprintf("s%d.orders", i)); ok && m.Err == nil {
						won[i]++
					}
				}
			})
		}
		wg.Wait()
		winners := 0
		for _, n := range won {
			if n == 50 {
				winners++
			} else if n != 0 {
				t.Fatalf("a source had the destination %d times of 50", n)
			}
		}
		if winners != 1 {
			t.Fatalf("%d sources have the destination", winners)
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	rules := make([]table.Rule, 500)
	for i := range rules {
		rules[i] = table.Rule{Source: fmt.Sprintf("public.table_%d", i), Destination: fmt.Sprintf("shop.table_%d", i)}
	}
	r := router(b, rules...)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.Route("public.table_499"); !ok {
			b.Fatal("no rule")
		}
	}
}

// Nearest finds what a name that no rule is for may have been meant by.
func TestRouter_Nearest(t *testing.T) {
	r := router(t,
		table.Rule{Source: "inventory.item", Destination: "shop.item"},
		table.Rule{Source: "public.*", Destination: "shop.{table}"},
		table.Rule{Source: "Shop.orders", Destination: "shop.orders"},
	)
	for source, want := range map[string]string{
		"inventory.items": "inventory.item", "dbserver1.inventory.items": "inventory.item", "shop.orders": "Shop.orders", "orders": "Shop.orders",
		"publik.carts": "public.*", "warehouse.bins": "", "": "", strings.Repeat("x", 2000): "",
	} {
		if got := r.Nearest(source); got != want {
			t.Errorf("Nearest(%.40q) = %q, want %q", source, got, want)
		}
	}
}

// A message can't choose the dead letters' table by the name of its own table.
func TestRouter_reserved(t *testing.T) {
	r, err := table.NewRouter("demo", []table.Rule{{Source: "*.*", Destination: "{schema}.{table}"}}, "ops.dead_letters", "no name")
	if err != nil {
		t.Fatal(err)
	}
	for source, good := range map[string]bool{"ops.dead_letters": false, "x.ops.dead_letters": false, "ops.dead_letter": true, "shop.dead_letters": true} {
		m, ok := r.Route(source)
		if !ok || (m.Err == nil) != good {
			t.Errorf("%s: %v, %v", source, m.Name, m.Err)
		}
	}
	if _, err := table.NewRouter("demo", []table.Rule{{Source: "a.b", Destination: "ops.dead_letters"}}, "demo.ops.dead_letters"); err == nil {
		t.Error("a rule writes the dead letters' table")
	}
}
