package change_test

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

// Invariant 2: revised sequences have the order of the sequences, and of one
// sequence that of the revisions, however large its sections are.
func TestSequence_WithRevision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, change.MaxSections).Draw(t, "sections")
		draw := func(what string) (change.Sequence, uint32) {
			sections := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3)), n, n).Draw(t, what)
			sections[0] &= change.MaxRevisedEpoch
			return change.NewSequence(sections...), rapid.Uint32Range(0, change.MaxRevision).Draw(t, what+"'s revision")
		}
		a, i := draw("a")
		b, j := draw("b")
		if rapid.Bool().Draw(t, "equal") {
			b = a
		}
		x, err := a.WithRevision(i)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.WithRevision(j)
		if err != nil {
			t.Fatal(err)
		}
		if want := cmp.Or(a.Compare(b), cmp.Compare(i, j)); x.Compare(y) != want {
			t.Fatalf("%v in %d and %v in %d compare as %d, want %d", a, i, b, j, x.Compare(y), want)
		}
		if len(x.Sections()) != n {
			t.Fatalf("%v has %d sections, want %d", x, len(x.Sections()), n)
		}
		if a.Compare(x) > 0 {
			t.Fatalf("%v is below what it was made from, %v", x, a)
		}
	})
}

func TestSequence_WithRevision_forms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sequence change.Sequence
		revision uint32
		want     string // "" for an error
	}{
		{change.NewSequence(0, 0x16B3748, 0x16B3748, 1), 2, "0/16B3748000000/16B3748000000/1000002"},
		{change.NewSequence(3, 1<<63, 0, 1<<63|5), 0, "3800000/0/800000/5000000"},
		{change.NewSequence(1<<40-1, 0), 0, "FFFFFFFFFF000000/0"},
		{change.NewSequence(1<<40, 0), 0, ""},
		{change.NewSequence(0, 1), change.MaxRevision, "0/1FFFFFF"},
		{change.NewSequence(0, 1), change.MaxRevision + 1, ""},
		{change.Sequence{}, 1, "none"},
	} {
		got, err := test.sequence.WithRevision(test.revision)
		text := got.String()
		switch {
		case err != nil:
			text = ""
		case got.IsZero():
			text = "none"
		}
		if text != test.want {
			t.Errorf("%v in revision %d = %q (%v), want %q", test.sequence, test.revision, text, err, test.want)
		}
	}
}
