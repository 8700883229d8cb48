package googlesql

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"beamcdc/emulator/internal/decimal"
)

// What these types' text says is what was written.
func TestTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := func(limit int64, name string) int64 { return rapid.Int64Range(-limit, limit).Draw(t, name) }
		i := IntervalValue{part(maxIntervalMonths, "months"), part(maxIntervalDays, "days"), part(maxIntervalMicros, "micros")}
		if back, err := parseInterval(i.String()); err != nil || back != i {
			t.Errorf("%s is read as %s, error %v", i, back, err)
		}
		at := time.UnixMicro(rapid.Int64Range(minMoment.UnixMicro(), maxMoment.UnixMicro()).Draw(t, "moment")).UTC()
		if back, err := parseTimestamp(timestampText(at, time.UTC), time.UTC); err != nil || !back.Equal(at) {
			t.Errorf("%s is read as %s, error %v", at, back, err)
		}
		n := new(big.Int).Mul(big.NewInt(rapid.Int64().Draw(t, "high")), big.NewInt(rapid.Int64().Draw(t, "low")))
		for _, scale := range []int{decimal.NumericScale, decimal.BigNumericScale} {
			if back, err := parseDecimal(decimal.Text(n, scale), scale); err != nil || back.Cmp(n) != 0 {
				t.Errorf("%s of scale %d is read as %s, error %v", n, scale, back, err)
			}
		}
		if back := decimal.Decode(decimal.Encode(n)); back.Cmp(n) != 0 {
			t.Errorf("%s is stored as %s", n, back)
		}
		f := rapid.Float64().Draw(t, "float")
		if back, err := parseFloatText(floatText(f)); err != nil || back != f {
			t.Errorf("%g is read as %g, error %v", f, back, err)
		}
	})
}

// A part's beginning is in the part, is its own beginning, and no boundary lies between.
func TestTruncation(t *testing.T) {
	parts := []string{"MICROSECOND", "SECOND", "HOUR", "DAY", "WEEK", "WEEK(TUESDAY)", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR"}
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(minMoment.UnixMicro()+1e15, maxMoment.UnixMicro()).Draw(t, "moment")).UTC()
		part := rapid.SampledFrom(parts).Draw(t, "part")
		start, err := truncate(at, part)
		again, errAgain := truncate(start, part)
		n, errDiff := difference(at, start, part)
		if err != nil || errAgain != nil || errDiff != nil || start.After(at) || !again.Equal(start) || n != 0 {
			t.Errorf("%s of %s begins at %s, that at %s, %d boundaries between", part, at, start, again, n)
		}
		if before, err := difference(at, start.Add(-time.Microsecond), part); err != nil || before != 1 {
			t.Errorf("%s of %s begins at %s, but %d boundaries lie before", part, at, start, before)
		}
	})
}
