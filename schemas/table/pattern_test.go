package table_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/table"
)

// TestPatternsMatchLikeExpressions compares with regular expressions.
func TestPatternsMatchLikeExpressions(t *testing.T) {
	t.Parallel()
	part := rapid.StringMatching(`[ab*]{1,5}`)
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "pattern"), ".")
		source := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[ab]{0,6}`), 1, 4).Draw(t, "source"), ".")
		if source == "" {
			return
		}
		r, err := table.NewRouter("demo", []table.Rule{{Source: pattern, Destination: "x.y"}})
		if err != nil {
			t.Fatal(err)
		}
		expression := `\A(?:.*\.)?` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `[^.]*`) + `\z`
		want := regexp.MustCompile(expression).MatchString(source)
		if _, got := r.Route(source); got != want {
			t.Fatalf("%q matches %q: %v, want %v", pattern, source, got, want)
		}
	})
}

// TestUnreachableRulesAreUnreachable: a rule that is refused as never reached
// matches no source that the one before it doesn't match.
func TestUnreachableRulesAreUnreachable(t *testing.T) {
	t.Parallel()
	part := rapid.StringMatching(`[ab*]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		first := strings.Join(rapid.SliceOfN(part, 1, 2).Draw(t, "first"), ".")
		second := strings.Join(rapid.SliceOfN(part, 1, 2).Draw(t, "second"), ".")
		_, err := table.NewRouter("demo", []table.Rule{{Source: first, Destination: "x.a"}, {Source: second, Destination: "x.b"}})
		one, two := router1(first), router1(second)
		if err == nil {
			// Then a source exists that only the second matches: its own text, with
			// characters for its stars that stand nowhere else.
			source := strings.ReplaceAll(second, "*", "c")
			if _, ok := two.Route(source); !ok {
				t.Fatalf("%q does not match %q", second, source)
			}
			if _, ok := one.Route(source); ok {
				t.Fatalf("%q was not found to be behind %q", second, first)
			}
			return
		}
		source := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[abc]{1,4}`), 1, 3).Draw(t, "source"), ".")
		if _, ok := two.Route(source); !ok {
			return
		}
		if _, ok := one.Route(source); !ok {
			t.Fatalf("%q was refused behind %q, but %q reaches it", second, first, source)
		}
	})
}

func router1(source string) *table.Router {
	r, err := table.NewRouter("demo", []table.Rule{{Source: source, Destination: "x.y"}})
	if err != nil {
		panic(err)
	}
	return r
}

// FuzzRoute: whatever a message names, the destination is one that the rules
// allow: the literal parts are as configured, and the rest is one legal part.
func FuzzRoute(f *testing.F) {
	for _, seed := range []string{"public.orders", "a.b.c", "x.`", "..", "{table}.{schema}", "a.b$1", "", "é.日本"} {
		f.Add(seed)
	}
	rules := []table.Rule{
		{Source: "orders", Destination: "shop.orders"},
		{Source: "*.p*", Destination: "shop.t_{schema}_{table}"},
		{Source: "*", Destination: "s_{table}.{table}"},
	}
	allowed := regexp.MustCompile(`\Ademo\.(shop\.orders|shop\.t_[\p{L}\p{Nd}_-]*_[\p{L}\p{Nd}_-]+|s_[A-Za-z0-9_]+\.[A-Za-z0-9_]+)\z`)
	f.Fuzz(func(t *testing.T, source string) {
		r := router(t, rules...)
		m, ok := r.Route(source)
		if !ok || m.Err != nil {
			return
		}
		if !allowed.MatchString(m.Name.String()) {
			t.Errorf("%q went to %s", source, m.Name)
		}
		if again, err := table.ParseName(m.Name.String(), ""); err != nil || again != m.Name {
			t.Errorf("%q went to %#v, which is read as %#v, %v", source, m.Name, again, err)
		}
	})
}
