package rows_test

import (
	"math"
	"regexp"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/rows"
)

func TestInteger(t *testing.T) {
	for text, want := range map[string]change.Value{
		"0":                    change.Int64(0),
		"-9223372036854775808": change.Int64(math.MinInt64),
		"9223372036854775807":  change.Int64(math.MaxInt64),
		"9223372036854775808":  change.Uint64(1 << 63),
		"18446744073709551615": change.Uint64(math.MaxUint64),
		"007":                  change.Int64(7), // ZEROFILL
	} {
		got, ok := rows.Integer(text)
		if !ok || got.Kind() != want.Kind() || got.Uint() != want.Uint() {
			t.Errorf("Integer(%q) = %s %d, %t", text, got.Kind(), got.Uint(), ok)
		}
	}
	for _, text := range []string{"", "-", "1.0", "1e3", " 1", "0x1", "1_0", "18446744073709551616", "-9223372036854775809", "NaN"} {
		if v, ok := rows.Integer(text); ok {
			t.Errorf("Integer(%q) = %s %d, want none", text, v.Kind(), v.Uint())
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, text := range []string{"0", "-0", "+1", "1.", ".5", "-12.50", "1e5", "1E-5", "1.5e+300", "70000000000000000003.00000000000000000009", "NaN", "Infinity", "-Infinity"} {
		if v, ok := rows.Decimal(text); !ok || v.Kind() != change.KindDecimal || v.Text() != text {
			t.Errorf("Decimal(%q) = %s %q, %t", text, v.Kind(), v.Text(), ok)
		}
	}
	for _, text := range []string{"", ".", "-", "+", "e5", "1e", "1e+", "1.5.2", " 1", "1 ", "0x1p3", "1_0", "inf", "nan", "1,5", "--1"} {
		if v, ok := rows.Decimal(text); ok {
			t.Errorf("Decimal(%q) = %q, want none", text, v.Text())
		}
	}
}

// FuzzDecimal: Decimal takes what a regular expression says, and Float takes the
// same but for what is beyond a float's range.
func FuzzDecimal(f *testing.F) {
	for _, seed := range []string{"0", "-12.50", "1e5", ".5", "1.", "NaN", "0x1p3", "1_0", "", "1e10000000000"} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^(NaN|-?Infinity|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)$`)
	f.Fuzz(func(t *testing.T, text string) {
		want := form.MatchString(text)
		if _, got := rows.Decimal(text); got != want {
			t.Errorf("Decimal(%q) = %t, want %t", text, got, want)
		}
		if v, ok := rows.Float(text); ok && (!want || v.Kind() != change.KindFloat64) {
			t.Errorf("Float took %q", text)
		}
	})
}

func TestTime(t *testing.T) {
	for text, want := range map[string]string{
		"2025-03-09T08:07:06.005004Z":   "2025-03-09T08:07:06.005004Z",
		"2025-03-09 08:07:06.005004+00": "2025-03-09T08:07:06.005004Z",
		"2025-03-09 10:07:06+02":        "2025-03-09T08:07:06Z",
		"2025-03-09T08:07:06":           "2025-03-09T08:07:06Z",
		"Sun Mar 09 08:07:06 2025 UTC":  "",
		"infinity":                      "",
		"":                              "",
	} {
		got := ""
		if at := rows.Time(text); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("Time(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"1741507626": "2025-03-09T08:07:06Z", "-1": "1969-12-31T23:59:59Z", "9223372036854775807": "", "x": "", "": "", "1.5": "",
	} {
		got := ""
		if at := rows.Unix(text, time.Second); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("Unix(%q, second) = %q, want %q", text, got, want)
		}
	}
	if got := rows.Unix("1741507626005", time.Millisecond).Format(time.RFC3339Nano); got != "2025-03-09T08:07:06.005Z" {
		t.Errorf("Unix(…, millisecond) = %s", got)
	}
}
