package change_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"beamcdc/schemas/change"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func compareReceipts(a, b change.Receipt) int {
	return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Parts, b.Parts))
}

// settled returns the row with its receipts as the set that they are.
func settled(row change.Row) change.Row {
	row.Receipts = slices.Compact(slices.SortedFunc(slices.Values(row.Receipts), compareReceipts))
	return row
}

// drawRival draws rows of one key that tie often.
func drawRival() *rapid.Generator[change.Row] {
	return rapid.Custom(func(t *rapid.T) change.Row {
		receipts := make([]change.Receipt, rapid.IntRange(0, 3).Draw(t, "receipts"), 8) // with spare capacity to fight over
		for i := range receipts {
			receipts[i] = change.Receipt{Token: rapid.Uint64Range(1, 9).Draw(t, "token"), Parts: 1}
		}
		return change.Row{
			Type:     change.Type(rapid.Uint8Range(1, 2).Draw(t, "type")),
			Sequence: change.NewSequence(0, rapid.Uint64Range(0, 2).Draw(t, "sequence")),
			Data:     rapid.SliceOfN(rapid.ByteRange(0, 1), 0, 2).Draw(t, "data"),
			Message: change.Message{
				ID:    rapid.SampledFrom([]string{"a", "b"}).Draw(t, "message"),
				Token: rapid.Uint64Range(1, 3).Draw(t, "delivery"),
			},
			Receipts:        receipts,
			Superseded:      rapid.Uint64Range(0, 9).Draw(t, "superseded"),
			SupersededBytes: rapid.Uint64Range(0, 9).Draw(t, "superseded bytes"),
		}
	})
}

// TestSupersede breaks without the lines of Supersede that keep invariant 2.
func TestSupersede(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawRival().Draw(t, "a"), drawRival().Draw(t, "b"), drawRival().Draw(t, "c")
		before := []change.Row{settled(a), settled(b), settled(c)}

		ab, ba := change.Supersede(a, b), change.Supersede(b, a)
		left, right := change.Supersede(ab, c), change.Supersede(a, change.Supersede(b, c))
		aa := change.Supersede(a, a)

		if diff := gocmp.Diff(settled(ab), settled(ba), exact); diff != "" {
			t.Fatalf("it is not commutative:\n%s", diff)
		}
		if diff := gocmp.Diff(settled(left), settled(right), exact); diff != "" {
			t.Fatalf("it is not associative:\n%s", diff)
		}
		aa.Superseded, aa.SupersededBytes = a.Superseded, a.SupersededBytes
		if diff := gocmp.Diff(settled(a), settled(aa), exact); diff != "" {
			t.Fatalf("it is not idempotent:\n%s", diff)
		}
		// All of those share memory, and none may have changed another.
		for i, row := range []change.Row{a, b, c} {
			if diff := gocmp.Diff(before[i], settled(row), exact); diff != "" {
				t.Fatalf("row %d was changed:\n%s", i, diff)
			}
		}

		union := settled(change.Row{Receipts: slices.Concat(a.Receipts, b.Receipts, c.Receipts)}).Receipts
		if diff := gocmp.Diff(union, settled(left).Receipts); diff != "" {
			t.Fatalf("the receipts are not those of all three (-want +got):\n%s", diff)
		}
		for _, row := range []change.Row{a, b, c} {
			if left.Sequence.Compare(row.Sequence) < 0 {
				t.Fatalf("%v won over %v", left.Sequence, row.Sequence)
			}
		}
		if want := a.Superseded + b.Superseded + c.Superseded + 2; left.Superseded != want {
			t.Fatalf("%d changes were superseded, want %d", left.Superseded, want)
		}
	})
}

func TestSupersedeTies(t *testing.T) {
	t.Parallel()
	s := change.NewSequence(0, 1)
	upsert, deletion := change.Row{Sequence: s, Type: change.Upsert}, change.Row{Sequence: s, Type: change.Delete}
	if got := change.Supersede(deletion, upsert); got.Type != change.Upsert {
		t.Errorf("a DELETE won over the UPSERT of its sequence")
	}
	if got := change.Supersede(upsert, change.Row{Sequence: change.NewSequence(0, 2), Type: change.Delete}); got.Type != change.Delete {
		t.Errorf("an UPSERT won over a later DELETE")
	}
}

// TestForksOfARowKeepTheirReceipts: rows made from one row in two ways must not
// write into each other's receipts.
func TestForksOfARowKeepTheirReceipts(t *testing.T) {
	t.Parallel()
	row := change.Row{Sequence: change.NewSequence(0)}
	for i := range 1000 {
		row = change.Supersede(row, one(i))
		fork := change.Supersede(row, one(1_000_000+i))
		other := change.Supersede(row, one(2_000_000+i))
		for _, got := range []change.Row{fork, other} {
			if n := len(settled(got).Receipts); n != i+2 {
				t.Fatalf("after %d rows a fork has %d receipts, want %d", i+1, n, i+2)
			}
		}
		if fork := settled(fork).Receipts; fork[i+1].Token != uint64(1_000_001+i) {
			t.Fatalf("a fork's receipt became %v", fork[i+1])
		}
	}
}

// TestDuplicateReceiptsAreBounded: superseding a row with itself again and
// again must not double its receipts each time.
func TestDuplicateReceiptsAreBounded(t *testing.T) {
	t.Parallel()
	row := change.Supersede(one(1), one(2))
	for range 100 {
		row = change.Supersede(row, row)
	}
	if n := cap(row.Receipts); n > 64 {
		t.Errorf("two receipts take room for %d", n)
	}
}

// one is the change that the message with number i brought.
func one(i int) change.Row {
	return change.Row{
		Type: change.Upsert, Sequence: change.NewSequence(0, uint64(i)),
		Receipts: []change.Receipt{{Token: uint64(i + 1), Parts: 1}},
	}
}

// BenchmarkSupersede is a hot key: the time for one row must not grow with the
// number of rows that came before, in whatever order they come.
func BenchmarkSupersede(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		rows := make([]change.Row, n)
		for i := range rows {
			rows[i] = one(i)
		}
		run := func(order string) {
			b.Run(fmt.Sprintf("%s/%d", order, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					row := rows[0]
					for _, next := range rows[1:] {
						row = change.Supersede(row, next)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
		run("ascending")
		slices.Reverse(rows)
		run("descending")
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		run("shuffled")
	}
}
