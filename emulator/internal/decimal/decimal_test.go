package decimal

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

// The ends of both types' ranges (docs: "Decimal types"), and what is just beyond them.
func TestCheck(t *testing.T) {
	const (
		numeric = "99999999999999999999999999999.999999999"
		bigMin  = "-578960446186580977117854925043439539266.34992332820282019728792003956564819968"
		bigMax  = "578960446186580977117854925043439539266.34992332820282019728792003956564819967"
	)
	for _, c := range []struct {
		text   string
		scale  int
		inside bool
	}{
		{numeric, NumericScale, true},
		{"-" + numeric, NumericScale, true},
		{numeric + "5", NumericScale, false},
		{"-1e29", NumericScale, false},
		{bigMin, BigNumericScale, true},
		{bigMax, BigNumericScale, true},
		{bigMin[:len(bigMin)-1] + "9", BigNumericScale, false},
		{bigMin[1:], BigNumericScale, false},
	} {
		n, err := Parse(c.text, c.scale)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(n, c.scale); (err == nil) != c.inside || err != nil && !errors.Is(err, ErrRange) {
			t.Errorf("%s at scale %d: %v", c.text, c.scale, err)
		}
		if !c.inside {
			continue
		}
		if got := Text(n, c.scale); got != c.text {
			t.Errorf("%s at scale %d is written %s", c.text, c.scale, got)
		}
		if c.scale == BigNumericScale && Decode(Encode(n)).Cmp(n) != 0 {
			t.Errorf("%s is stored as %x", c.text, Encode(n))
		}
	}
}

// FuzzDecimal compares Parse with exact rational arithmetic. Invariant:
// what it accepts is the text's value, rounded half away from zero.
func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0", "-1.5", "1e3", "+.5", "5.", "99999999999999999999999999999.9999999995", "1e-39", "0.0000000005", "-0.00000000049"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, big38 bool) {
		scale := NumericScale
		if big38 {
			scale = BigNumericScale
		}
		n, err := Parse(text, scale)
		if err != nil || len(text) > 200 {
			return
		}
		if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 5 {
			return // the oracle would compute a number of any size
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q was accepted", text)
		}
		r.Mul(r, new(big.Rat).SetInt(Pow10(int64(scale))))
		half := new(big.Rat).SetFrac64(int64(r.Sign()), 2)
		if r.Sign() != 0 {
			r.Add(r, half)
		}
		want := new(big.Int).Quo(r.Num(), r.Denom())
		if n.Cmp(want) != 0 {
			t.Fatalf("%q at scale %d: %s, want %s", text, scale, n, want)
		}
	})
}
