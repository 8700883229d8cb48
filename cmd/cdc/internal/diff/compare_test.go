package diff

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// side is a table in memory, as either side of a comparison.
type side struct {
	table  *Table
	rows   []Row // in the order of their keys
	hashed bool
	most   int // rows that were asked for at once
	// before is called before each Lookup.
	before func(*side)
}

func (s *side) Columns() []string { return []string{"a", "b", "v"} }
func (s *side) Use(*Table)        {}
func (s *side) Close()            {}

func (s *side) Unhashed() string {
	if s.hashed {
		return ""
	}
	return "it is not"
}

func (s *side) in(r Range) []Row {
	var rows []Row
	for _, row := range s.rows {
		if (r.After.IsZero() || row.Key.Compare(r.After) > 0) && (r.UpTo.IsZero() || row.Key.Compare(r.UpTo) <= 0) {
			rows = append(rows, row)
		}
	}
	return rows
}

func (s *side) Bound(_ context.Context, r Range, n int) (Key, error) {
	if rows := s.in(r); len(rows) >= n {
		return rows[n-1].Key, nil
	}
	return Key{}, nil
}

func (s *side) Sum(_ context.Context, r Range) (Sum, error) {
	var sum Sum
	var total uint64
	for _, row := range s.in(r) {
		sum.Rows++
		h := fnv.New64a()
		for _, f := range row.fields {
			_, _ = fmt.Fprintf(h, "%d:%s", len(f), f)
		}
		total += h.Sum64()
	}
	sum.Words[0] = fmt.Sprint(total)
	return sum, nil
}

func (s *side) Sums(ctx context.Context, after Key, bounds []Key) ([]Sum, error) {
	var sums []Sum
	for _, bound := range bounds {
		sum, err := s.Sum(ctx, Range{after, bound})
		if err != nil {
			return nil, err
		}
		sums, after = append(sums, sum), bound
	}
	return sums, nil
}

func (s *side) Rows(_ context.Context, r Range, each func(Row) error) error {
	rows := s.in(r)
	s.most = max(s.most, len(rows))
	for _, row := range rows {
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) Lookup(_ context.Context, keys []Key) ([]Row, error) {
	if s.before != nil {
		s.before(s)
	}
	var rows []Row
	for _, row := range s.rows {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.Compare(row.Key) == 0 }) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// pairs is a table with a key of a number and a text.
func pairs(t testing.TB) *Table {
	t.Helper()
	compared, err := NewTable("public.pairs", &table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: "pairs"}, PrimaryKey: []string{"a", "b"},
		Columns: []table.Column{
			{Name: "a", Type: table.Int64, Mode: table.Required},
			{Name: "b", Type: table.String, Mode: table.Required},
			{Name: "v", Type: table.Numeric, BadValues: table.PolicyClamp},
		},
	}, []string{"a", "b", "v"})
	if err != nil {
		t.Fatal(err)
	}
	return compared
}

type pair struct {
	a int64
	b string
}

func (s *side) put(rows map[pair]change.Value) error {
	s.rows = nil
	for key, v := range rows {
		row, err := s.table.SourceRow([]change.Column{{Name: "a", Value: change.Int64(key.a)}, {Name: "b", Value: change.String(key.b)}, {Name: "v", Value: v}})
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row)
	}
	slices.SortFunc(s.rows, func(x, y Row) int { return x.Key.Compare(y.Key) })
	return nil
}

// Whatever the two tables hold, the difference is exact, and each row of it is told
// once, by whichever way ranges are made and split.
func TestComparer_exact(t *testing.T) {
	compared := pairs(t)
	keys := rapid.Custom(func(t *rapid.T) pair {
		return pair{rapid.Int64Range(-3, 30).Draw(t, "a"), rapid.SampledFrom([]string{"", "a", "a\x00", "ab", "b", "ä", "日"}).Draw(t, "b")}
	})
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) change.Value {
			return rapid.SampledFrom([]change.Value{change.Null(), change.Int64(1), change.Decimal("1.0"), change.Text("2"), change.String("NaN")}).Draw(t, "v")
		})
		rows := rapid.MapOf(keys, value)
		source := &side{table: compared, hashed: rapid.Bool().Draw(t, "hashed")}
		other := &side{table: compared}
		sources, others := rows.Draw(t, "source"), rows.Draw(t, "BigQuery")
		for key, v := range others {
			if v.Text() == "NaN" { // BigQuery can't have it
				others[key] = change.Null()
			}
		}
		if rapid.Bool().Draw(t, "mostly equal") {
			for key, v := range sources {
				if key.a%7 != 0 && v.Text() != "NaN" {
					others[key] = v
				}
			}
		}
		if err := source.put(sources); err != nil {
			t.Fatal(err)
		}
		if err := other.put(others); err != nil {
			t.Fatal(err)
		}
		want := map[pair]Kind{}
		number := func(v change.Value) string {
			if v.IsNull() {
				return "null"
			}
			return strings.TrimSuffix(valueText(v), ".0")
		}
		for key, v := range sources {
			o, there := others[key]
			switch {
			case v.Text() == "NaN":
				want[key] = Refused
			case !there:
				want[key] = Missing
			case number(v) != number(o):
				want[key] = Different
			}
		}
		for key := range others {
			if _, there := sources[key]; !there {
				want[key] = Extra
			}
		}
		got := map[pair]Kind{}
		c := Comparer{Table: compared, Source: source, BigQuery: other, Options: Options{
			Chunk: rapid.IntRange(1, 40).Draw(t, "chunk"), Page: rapid.IntRange(1, 10).Draw(t, "page"), Batch: rapid.IntRange(1, 5).Draw(t, "batch"),
			Recheck: 1, Found: func(_ context.Context, all []Difference) error {
				for _, d := range all {
					key := pair{d.Key.Values[0].Int(), d.Key.Values[1].Text()}
					if _, twice := got[key]; twice {
						t.Errorf("%v is told twice", key)
					}
					got[key] = d.Kind
				}
				return nil
			},
		}, pause: func(context.Context, time.Duration) error { return nil }}
		if _, err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(pair{})); diff != "" {
			t.Errorf("the difference differs (-want +got):\n%s", diff)
		}
	})
}

func valueText(v change.Value) string {
	text, _ := valueJSON(v).(string)
	return text
}

// What has come by the second look is no difference, nor is BigQuery's row that is
// what the source had at the look before; what is neither, is one.
func TestComparer_looksAgain(t *testing.T) {
	compared := pairs(t)
	key := pair{1, "x"}
	one, two, three := change.Int64(1), change.Int64(2), change.Int64(3)
	for name, test := range map[string]struct {
		sources, others []change.Value // at each look
		want            []string
	}{
		"late":               {[]change.Value{two, two, two}, []change.Value{one, two, two}, nil},
		"later":              {[]change.Value{two, two, two}, []change.Value{one, one, two}, nil},
		"wrong":              {[]change.Value{two, two, two}, []change.Value{one, one, one}, []string{"different"}},
		"behind":             {[]change.Value{two, three, three}, []change.Value{one, two, two}, nil},
		"wrong, and changed": {[]change.Value{one, two, three}, []change.Value{three, three, one}, []string{"different, moving"}},
	} {
		t.Run(name, func(t *testing.T) {
			look := func(values []change.Value) func(*side) {
				n := 0
				return func(s *side) {
					n++
					if err := s.put(map[pair]change.Value{key: values[n]}); err != nil {
						t.Fatal(err)
					}
				}
			}
			source := &side{table: compared, hashed: true, before: look(test.sources)}
			other := &side{table: compared, before: look(test.others)}
			if err := source.put(map[pair]change.Value{key: test.sources[0]}); err != nil {
				t.Fatal(err)
			}
			if err := other.put(map[pair]change.Value{key: test.others[0]}); err != nil {
				t.Fatal(err)
			}
			var got []string
			c := Comparer{Table: compared, Source: source, BigQuery: other, Options: Options{
				Recheck: 1, Found: func(_ context.Context, all []Difference) error {
					for _, d := range all {
						text := string(d.Kind)
						if d.Moving {
							text += ", moving"
						}
						got = append(got, text)
					}
					return nil
				},
			}, pause: func(context.Context, time.Duration) error { return nil }}
			if _, err := c.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Equal ranges are not read, and of those that differ no more than their parts.
func TestComparer_readsLittle(t *testing.T) {
	compared := pairs(t)
	rows := map[pair]change.Value{}
	for i := range int64(5000) {
		rows[pair{i, ""}] = change.Int64(i)
	}
	source, other := &side{table: compared, hashed: true}, &side{table: compared}
	if err := source.put(rows); err != nil {
		t.Fatal(err)
	}
	rows[pair{1234, ""}] = change.Int64(0)
	if err := other.put(rows); err != nil {
		t.Fatal(err)
	}
	found := 0
	c := Comparer{Table: compared, Source: source, BigQuery: other, Options: Options{
		Chunk: 1000, Page: 20, Found: func(_ context.Context, all []Difference) error { found += len(all); return nil },
	}}
	p, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if found != 1 || p.Rows != 5000 || p.Read > 40 || source.most > 20 || other.most > 20 {
		t.Errorf("%d differences, and at once %d and %d rows were read; want 1 of 20", found, source.most, other.most)
	}
}
