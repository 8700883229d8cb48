package change_test

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"beamcdc/schemas/change"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parse(t interface{ Fatalf(string, ...any) }, text string) change.Sequence {
	s, err := change.ParseSequence(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

// TestSequencesCompareAsNumbers has BigQuery's documented examples, and the
// pairs of log positions that text comparison gets wrong.
func TestSequencesCompareAsNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct{ earlier, later string }{
		{"77", "7B"},
		{"FFF/B", "FFF/ABC"},
		{"BA/FFFFFFFF", "ABC"},
		{"ABC", "FFF/ABC"},
		{"F/FFFFFF00", "10/200"},
		{"10/9A0", "10/1A00"},
		{"7FFFFFFFFFFFFFFF", "8000000000000000"}, // unsigned
		{"0", "FFFFFFFFFFFFFFFF"},
		{"0/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF", "1/0/0/0"},
		{"1/2/3/0", "1/2/3/1"}, // a changed key's DELETE and UPSERT
		{"FFF", "FFF/0"},       // not documented; ours is a total order
	}
	for _, test := range tests {
		earlier, later := parse(t, test.earlier), parse(t, test.later)
		if got := earlier.Compare(later); got != -1 {
			t.Errorf("%s against %s: %d, want -1", test.earlier, test.later, got)
		}
		if got := later.Compare(earlier); got != 1 {
			t.Errorf("%s against %s: %d, want 1", test.later, test.earlier, got)
		}
		if got := later.Compare(parse(t, test.later)); got != 0 {
			t.Errorf("%s against itself: %d", test.later, got)
		}
		if (change.Sequence{}).Compare(earlier) != -1 {
			t.Errorf("no sequence is not earlier than %s", test.earlier)
		}
	}
}

func TestParseSequence(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"ff/0a", "FF/A"}, // lower case is legal
		{"0000000000000000", "0"},
		{"18F2EBB6480", "18F2EBB6480"},
		{"0/0/0/0", "0/0/0/0"},
		{"FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/ffffffffffffffff", "FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF"},
	}
	for _, test := range tests {
		if got := parse(t, test.text).String(); got != test.want {
			t.Errorf("%s became %s, want %s", test.text, got, test.want)
		}
	}
}

func TestParseSequenceRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", "section 1: it is empty"},
		{"/", "section 1: it is empty"},
		{"1/", "section 2: it is empty"},
		{"1//2", "section 2: it is empty"},
		{"/1", "section 1: it is empty"},
		{"1/2/3/4/5", "more than 4 sections"},
		{"1/2/3/4/", "more than 4 sections"},
		{"1/12345678901234567", "section 2: it has 17 digits, more than 16"},
		{"0x1F", `'x' is no hexadecimal digit`},
		{"-1", `'-' is no`},
		{"+1", `'+' is no`},
		{" 1f", `' ' is no`},
		{"1f ", `' ' is no`},
		{"1_0", `'_' is no`},
		{"1\n", `'\n' is no`},
		{"G", `'G' is no`},
		{"2024-04-30 11:19:44 UTC", "more than 16"},
		{"１", "is no hexadecimal digit"}, // a full-width digit
		{strings.Repeat("f/", 1<<20), "more than 4 sections"},
	}
	for _, test := range tests {
		_, err := change.ParseSequence(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: got %.200v, want it to say %q", test.text, err, test.want)
		} else if len(err.Error()) > 300 {
			t.Errorf("%.40q: the error has %d bytes", test.text, len(err.Error()))
		}
	}
}

func TestSequenceRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence().Draw(t, "sequence")
		if s.IsZero() {
			if s.String() != "" || len(s.Sections()) != 0 {
				t.Fatalf("no sequence is written %q", s)
			}
			return
		}
		if got := parse(t, s.String()); got != s {
			t.Fatalf("%v became %v", s, got)
		}
		if got := parse(t, strings.ToLower(s.String())); got != s {
			t.Fatalf("%v in lower case became %v", s, got)
		}
		if got := change.NewSequence(s.Sections()...); got != s {
			t.Fatalf("%v became %v", s, got)
		}
		last := rapid.Uint64().Draw(t, "last")
		changed := s.WithLast(last)
		want := slices.Clone(s.Sections())
		want[len(want)-1] = last
		if diff := cmp.Diff(want, changed.Sections()); diff != "" || changed.Last() != last {
			t.Fatalf("WithLast (-want +got):\n%s", diff)
		}
	})
}

func TestNoSequenceHasNoLast(t *testing.T) {
	t.Parallel()
	var none change.Sequence
	if got := none.WithLast(1); !got.IsZero() || got.Last() != 0 {
		t.Errorf("it became %v", got)
	}
}

// TestSequenceOrderIsThatOfTuples compares with tuples of big numbers.
func TestSequenceOrderIsThatOfTuples(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSequence().Draw(t, "a"), drawSequence().Draw(t, "b")
		if common := rapid.IntRange(0, 4).Draw(t, "common"); common <= min(len(a.Sections()), len(b.Sections())) {
			// Random sections hardly ever agree; the order matters where they do.
			if sections := slices.Concat(a.Sections()[:common], b.Sections()[common:]); len(sections) > 0 {
				b = change.NewSequence(sections...)
			}
		}
		want := slices.CompareFunc(bigSections(a.String()), bigSections(b.String()), (*big.Int).Cmp)
		if got := a.Compare(b); got != want {
			t.Fatalf("%v against %v: %d, want %d", a, b, got, want)
		}
	})
}

func bigSections(text string) []*big.Int {
	if text == "" {
		return nil
	}
	var sections []*big.Int
	for section := range strings.SplitSeq(text, "/") {
		n, ok := new(big.Int).SetString(section, 16)
		if !ok {
			panic(section)
		}
		sections = append(sections, n)
	}
	return sections
}

// FuzzParseSequence: a text is accepted if and only if it matches the pattern
// of BigQuery's documentation, and then means what big numbers read in it.
func FuzzParseSequence(f *testing.F) {
	for _, seed := range []string{
		"", "0", "ff/0a", "1/2/3/4", "1/2/3/4/5", "12345678901234567", "0x1F", "-1", " 1", "1_0", "1//2", "１", "FFFFFFFFFFFFFFFF", "1/\n",
	} {
		f.Add(seed)
	}
	pattern := regexp.MustCompile(`\A[0-9A-Fa-f]{1,16}(/[0-9A-Fa-f]{1,16}){0,3}\z`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := change.ParseSequence(text)
		if want := pattern.MatchString(text); want != (err == nil) {
			t.Fatalf("%q: got %v, but the pattern says %v", text, err, want)
		}
		if err != nil {
			if !s.IsZero() {
				t.Errorf("%q: an error and the sequence %v", text, s)
			}
			return
		}
		var sections []*big.Int
		for _, section := range s.Sections() {
			sections = append(sections, new(big.Int).SetUint64(section))
		}
		if slices.CompareFunc(sections, bigSections(text), (*big.Int).Cmp) != 0 {
			t.Errorf("%q was read as %v", text, s)
		}
		if again, err := change.ParseSequence(s.String()); err != nil || again != s {
			t.Errorf("%q: %v was read as %v, %v", text, s, again, err)
		}
	})
}
