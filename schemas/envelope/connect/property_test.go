package connect_test

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/slab"
)

func compile(t testing.TB, schema string) *connect.Schema {
	t.Helper()
	s, err := connect.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rational is the number that a decimal's text stands for. Its text must be
// plain: digits, one point, one sign.
func rational(t *rapid.T, text string) *big.Rat {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' {
			t.Fatalf("the decimal %q holds a %q", text, c)
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("the decimal %q is no number", text)
	}
	return r
}

// twosComplement is Java's BigInteger.toByteArray.
func twosComplement(n *big.Int) []byte {
	size := n.BitLen()/8 + 1
	if n.Sign() < 0 {
		size = new(big.Int).Not(n).BitLen()/8 + 1
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(size)*8))
	}
	return n.FillBytes(make([]byte, size))
}

// TestDecimal_exact: a decimal is its unscaled number times ten to the power of
// -scale, whatever their sizes.
func TestDecimal_exact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "magnitude"))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		scale := rapid.IntRange(-60, 60).Draw(t, "scale")
		s, err := connect.Compile(decimal(strconv.Itoa(scale)))
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(`"`+base64.StdEncoding.EncodeToString(twosComplement(n))+`"`, new(slab.Arena))
		if err != nil {
			t.Fatal(err)
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
		want := new(big.Rat).SetInt(n)
		if scale >= 0 {
			want.Quo(want, new(big.Rat).SetInt(power))
		} else {
			want.Mul(want, new(big.Rat).SetInt(power))
		}
		if got := rational(t, v.Text()); v.Kind() != change.KindDecimal || got.Cmp(want) != 0 {
			t.Fatalf("%s × 10^-%d is %s %s", n, scale, v.Kind(), v.Text())
		}
	})
}

// TestDecimal_number: a JSON number becomes the same number without an exponent.
func TestDecimal_number(t *testing.T) {
	s := compile(t, decimal("2"))
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		v, err := s.Value(raw, new(slab.Arena))
		if err != nil {
			t.Fatal(err)
		}
		want, ok := new(big.Rat).SetString(raw)
		if !ok {
			t.Fatalf("%s is no number", raw)
		}
		if got := rational(t, v.Text()); got.Cmp(want) != 0 {
			t.Fatalf("%s became %s", raw, v.Text())
		}
	})
}

// TestTimestamps: instants, civil times, dates and times of day, as text and as
// numbers of each unit, are what Go's time package says, cut downwards.
func TestTimestamps(t *testing.T) {
	schemas := make(map[string]*connect.Schema)
	for _, name := range []string{"ZonedTimestamp", "IsoTimestamp", "IsoDate", "IsoTime", "ZonedTime"} {
		schemas[name] = compile(t, debeziumTime(name, "string"))
	}
	for _, name := range []string{"Date", "Timestamp", "MicroTimestamp", "NanoTimestamp", "NanoTime"} {
		schemas[name] = compile(t, debeziumTime(name, "int64"))
	}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		zone := time.FixedZone("", 60*rapid.IntRange(-18*60, 18*60).Draw(t, "offset in minutes"))
		micros := at.Unix()*1_000_000 + int64(at.Nanosecond()/1000)
		midnight := at.Truncate(24 * time.Hour)
		days := midnight.Unix() / 86400 // exact
		ofDay := at.Sub(midnight).Microseconds()
		check := func(name, raw string, want change.Value) {
			got, err := schemas[name].Value(raw, new(slab.Arena))
			if err != nil || show(got) != show(want) {
				t.Fatalf("%s %s is %s, error %v, want %s", name, raw, show(got), err, show(want))
			}
		}
		if local := at.In(zone); local.Year() >= 1 && local.Year() <= 9999 {
			check("ZonedTimestamp", local.Format(`"2006-01-02T15:04:05.999999999Z07:00"`), change.Timestamp(micros))
			check("ZonedTime", local.Format(`"15:04:05.999999999Z07:00"`), change.Time(ofDay))
		}
		check("ZonedTimestamp", at.Format(`"2006-01-02 15:04:05.000000000Z"`), change.Timestamp(micros))
		check("IsoTimestamp", at.Format(`"2006-01-02T15:04:05.999999999Z"`), change.DateTime(micros))
		check("IsoDate", at.Format(`"2006-01-02Z"`), change.Date(days))
		check("IsoTime", at.Format(`"15:04:05.999999999Z"`), change.Time(ofDay))
		check("Date", strconv.FormatInt(days, 10), change.Date(days))
		check("Timestamp", strconv.FormatInt(at.UnixMilli(), 10), change.DateTime(at.UnixMilli()*1000))
		check("MicroTimestamp", strconv.FormatInt(micros, 10), change.DateTime(micros))
		check("NanoTime", fmt.Sprintf("%d%03d", ofDay, at.Nanosecond()%1000), change.Time(ofDay))
		if at.Year() > 1678 && at.Year() < 2262 {
			check("NanoTimestamp", strconv.FormatInt(at.UnixNano(), 10), change.DateTime(micros))
		}
	})
}

// TestInterval_exact: an interval's three parts are the sums of its components.
func TestInterval_exact(t *testing.T) {
	s := compile(t, debeziumTime("Interval", "string"))
	component := rapid.Int64Range(-100_000, 100_000)
	rapid.Check(t, func(t *rapid.T) {
		years, months, days := component.Draw(t, "years"), component.Draw(t, "months"), component.Draw(t, "days")
		hours, minutes := component.Draw(t, "hours"), component.Draw(t, "minutes")
		seconds := rapid.Int64Range(-1e12, 1e12).Draw(t, "microseconds")
		sign := ""
		if seconds < 0 {
			sign = "-"
		}
		raw := fmt.Sprintf(`"P%dY%dM%dDT%dH%dM%s%d.%06dS"`, years, months, days, hours, minutes, sign, max(seconds, -seconds)/1e6, max(seconds, -seconds)%1e6)
		v, err := s.Value(raw, new(slab.Arena))
		if err != nil {
			t.Fatal(err)
		}
		gotMonths, gotDays, gotMicros := readInterval(t, v.Text())
		if months += years * 12; gotMonths != months || gotDays != days || gotMicros != (hours*60+minutes)*60_000_000+seconds {
			t.Fatalf("%s became %s: %d months, %d days, %d µs", raw, v.Text(), gotMonths, gotDays, gotMicros)
		}
	})
}

// readInterval reads BigQuery's canonical form.
func readInterval(t *rapid.T, text string) (months, days, micros int64) {
	var date, day, clock string
	if n, err := fmt.Sscanf(text, "%s %s %s", &date, &day, &clock); n != 3 || err != nil {
		t.Fatalf("%q has %d parts: %v", text, n, err)
	}
	cut := func(text string) (int64, string) {
		if text[0] == '-' {
			return -1, text[1:]
		}
		return 1, text
	}
	monthSign, date := cut(date)
	clockSign, clock := cut(clock)
	var y, m, h, min int64
	var seconds string
	if _, err := fmt.Sscanf(date, "%d-%d", &y, &m); err != nil || m > 11 {
		t.Fatalf("%q: years and months %q: %v", text, date, err)
	}
	days, err := strconv.ParseInt(day, 10, 64)
	if err != nil {
		t.Fatalf("%q: days %q: %v", text, day, err)
	}
	if _, err := fmt.Sscanf(clock, "%d:%d:%s", &h, &min, &seconds); err != nil || min > 59 {
		t.Fatalf("%q: time %q: %v", text, clock, err)
	}
	sec, ok := new(big.Rat).SetString(seconds)
	if !ok || sec.Cmp(big.NewRat(60, 1)) >= 0 || sec.Sign() < 0 {
		t.Fatalf("%q: seconds %q", text, seconds)
	}
	sec.Mul(sec, big.NewRat(1_000_000, 1))
	return monthSign * (y*12 + m), days, clockSign * ((h*60+min)*60_000_000 + sec.Num().Int64())
}

// FuzzValue reads any JSON value by any schema. It doesn't panic; it returns a
// value or an error; an error holds no more than a line; and what the arena gave
// before stays as it was.
func FuzzValue(f *testing.F) {
	for _, schema := range []string{decimal("2"), variableScale, debeziumTime("ZonedTimestamp", "string"), debeziumTime("Interval", "string"), debeziumTime("StructuredDuration", "struct"), `{"type":"array","items":` + decimal("-3") + `}`} {
		for _, raw := range []string{`"MDk="`, `1e5`, `{"scale":4,"value":"D09R"}`, `"2025-03-09T08:07:06.005004Z"`, `"P1Y2M3DT4H5M6.78S"`, `{"seconds":-1,"nanos":-1}`, `["MDk=",null]`, `null`} {
			f.Add(schema, raw)
		}
	}
	f.Fuzz(func(t *testing.T, schema, raw string) {
		s, err := connect.Compile(schema)
		if err != nil {
			return
		}
		var a slab.Arena
		before, err := a.Unquote(`"\u0061b"`)
		if err != nil {
			t.Fatal(err)
		}
		if !validJSON(raw) {
			return
		}
		v, err := s.Value(raw, &a)
		switch {
		case err != nil && len(err.Error()) > 5000:
			t.Errorf("the error has %d bytes", len(err.Error()))
		case err == nil && v.Kind() == change.KindInvalid:
			t.Errorf("Value(%s) by %s is invalid", raw, schema)
		}
		if before != "ab" {
			t.Errorf("a text that was handed out became %q", before)
		}
	})
}

// validJSON reports whether raw is what a Scanner returns: one JSON value
// without white space around it.
func validJSON(raw string) bool {
	v := jsontext.Value(raw)
	return raw != "" && v.IsValid() && !strings.ContainsAny(raw[:1]+raw[len(raw)-1:], " \t\r\n")
}
