package rowproto

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// TestPolicy_key: a bad key is refused, whatever policy its column was given.
func TestPolicy_key(t *testing.T) {
	for of := range keyTypes {
		for _, policy := range table.Policies {
			tab := tableOf(table.Column{Name: "k", Type: of, BadValues: policy})
			tab.PrimaryKey = []string{"k"}
			p, err := Compile(tab)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []change.Value{change.Number("1e400"), change.Text("\xFF"), change.Text("-infinity"), change.Bool(true), change.Bytes("\xFF"), change.Date(1 << 40), change.Number("0.55"), change.Null()} {
				key := []change.Column{column("k", v)}
				_, keyErr := p.AppendKey(nil, key)
				_, deleteErr := p.AppendDelete(nil, key, someSequence)
				var adjusted []Adjustment
				_, upsertErr := p.AppendUpsert(nil, row(key...), someSequence, RowOptions{Adjusted: &adjusted})
				if (keyErr == nil) != (deleteErr == nil) || (keyErr == nil) != (upsertErr == nil) || len(adjusted) > 0 {
					t.Errorf("%s, %s, %v: key %v, DELETE %v, UPSERT %v, adjusted %v", of, policy, v.Kind(), keyErr, deleteErr, upsertErr, adjusted)
				}
			}
			if _, err := p.AppendKey(nil, []change.Column{column("k", change.Null())}); err == nil {
				t.Errorf("%s, %s: NULL is a key", of, policy)
			}
		}
	}
}

// TestPolicy_required: a REQUIRED column refuses rather than being NULL.
func TestPolicy_required(t *testing.T) {
	p := compile(t, table.Column{Name: "c", Type: table.Int64, Mode: table.Required, BadValues: table.PolicyNull})
	_, err := p.AppendUpsert(nil, row(column("c", change.Text("x"))), someSequence, RowOptions{})
	checkRefused(t, err, ReasonBadValue, "c", "no decimal number")
}

// TestAdjusted: what policies did to a row, by path; and nothing of the row before.
func TestAdjusted(t *testing.T) {
	p := compile(t,
		table.Column{Name: "total", Type: table.Numeric, Scale: 2, Precision: 5, BadValues: table.PolicyClamp},
		table.Column{Name: "lines", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{
			{Name: "day", Type: table.Date, BadValues: table.PolicyNull}, {Name: "n", Type: table.Int64},
		}},
		table.Column{Name: "doc", Type: table.JSON, BadValues: table.PolicyString},
	)
	e := p.NewEncoder()
	bad := row(column("TOTAL", change.Number("1e9")), column("doc", change.Text("x")),
		column("lines", change.Raw(`[{"day":"0000-00-00"},{"day":1},{"day":"x"}]`)))
	var adjusted []Adjustment
	want := []Adjustment{{"total", table.PolicyClamp}, {"lines.day", table.PolicyNull}, {"lines.day", table.PolicyNull}, {"doc", table.PolicyString}}
	for range 2 {
		adjusted = adjusted[:0]
		if _, err := e.AppendUpsert(nil, bad, someSequence, RowOptions{Adjusted: &adjusted}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, adjusted); diff != "" {
			t.Errorf("adjusted (-want +got):\n%s", diff)
		}
	}
	if _, err := e.AppendUpsert(nil, append(bad, column("color", change.Null())), someSequence, RowOptions{Adjusted: &adjusted}); err == nil || len(adjusted) != len(want) {
		t.Errorf("a refused row: error %v, adjusted %v", err, adjusted)
	}
	if _, err := e.AppendUpsert(nil, row(), someSequence, RowOptions{Adjusted: &adjusted}); err != nil || len(adjusted) != len(want) {
		t.Errorf("a good row: error %v, adjusted %v", err, adjusted)
	}
}

// TestProperty_Policies: whatever the number, each policy makes of it what
// math/big says, and tells so exactly when it is not the number itself.
func TestProperty_Policies(t *testing.T) {
	type bounded struct {
		column table.Column
		lo, hi string
		show   func(*big.Int) string
	}
	micros := func(layout string) func(*big.Int) string {
		return func(n *big.Int) string {
			return strings.TrimSuffix(time.UnixMicro(n.Int64()).UTC().Format(layout), ".000000")
		}
	}
	types := []bounded{
		{table.Column{Type: table.Int64}, "-9223372036854775808", "9223372036854775807", (*big.Int).String},
		{table.Column{Type: table.Date, From: table.FromDays}, "-719162", "2932896", (*big.Int).String},
		{table.Column{Type: table.Timestamp, From: table.FromMicros}, "-62135596800000000", "253402300799999999", (*big.Int).String},
		{table.Column{Type: table.DateTime, From: table.FromMicros}, "-62135596800000000", "253402300799999999", micros("2006-01-02T15:04:05.000000")},
		{table.Column{Type: table.Time, From: table.FromMicros}, "0", "86399999999", micros("15:04:05.000000")},
		{table.Column{Type: table.Numeric, Precision: 20}, "-99999999999999999999", "99999999999999999999", (*big.Int).String},
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SampledFrom(types).Draw(rt, "type")
		lo, _ := new(big.Int).SetString(b.lo, 10)
		hi, _ := new(big.Int).SetString(b.hi, 10)
		text := rapid.StringMatching(`-?[1-9][0-9]{0,24}`).Draw(rt, "number")
		if rapid.Bool().Draw(rt, "at a bound") {
			bound := rapid.SampledFrom([]*big.Int{lo, hi}).Draw(rt, "bound")
			text = new(big.Int).Add(bound, big.NewInt(rapid.Int64Range(-2, 2).Draw(rt, "off by"))).String()
		}
		n, _ := new(big.Int).SetString(text, 10)
		c := b.column
		c.Name, c.BadValues = "c", rapid.SampledFrom(table.Policies).Draw(rt, "policy")
		want, replaced := b.show(n), 0
		if beyond := n.Cmp(lo) < 0 || n.Cmp(hi) > 0; beyond {
			replaced = 1
			switch c.BadValues {
			case table.PolicyNull:
				want = "NULL"
			case table.PolicyClamp:
				want = b.show(hi)
				if n.Sign() < 0 {
					want = b.show(lo)
				}
			default:
				want = "refused"
			}
		}
		p := compile(t, c)
		var adjusted []Adjustment
		spelling := rapid.SampledFrom([]func(string) change.Value{change.Number, change.Text, change.Decimal}).Draw(rt, "spelling")
		data, err := p.AppendUpsert(nil, row(column("c", spelling(text))), someSequence, RowOptions{Adjusted: &adjusted})
		got := "refused"
		if err == nil {
			got = "NULL"
			if v, ok := read(t, messageType(t, p), data)["c"]; ok {
				got = show(&table.Column{}, v)
			}
		} else {
			replaced = 0
		}
		if got != want || len(adjusted) != replaced {
			rt.Fatalf("%s to %s, %s: %s and %d adjusted, want %s and %d", text, c.Type, c.BadValues, got, len(adjusted), want, replaced)
		}
	})
}

// TestProperty_Units: a number of any unit and magnitude is what math/big makes
// of it, cut downwards to microseconds.
func TestProperty_Units(t *testing.T) {
	perMicro := map[table.From][2]int64{ // numerator, denominator
		table.FromSeconds: {1_000_000, 1}, table.FromMillis: {1000, 1}, table.FromMicros: {1, 1}, table.FromNanos: {1, 1000}, table.FromDays: {86_400_000_000, 1},
	}
	rapid.Check(t, func(rt *rapid.T) {
		unit := rapid.SampledFrom(table.Froms[:5]).Draw(rt, "unit")
		n := rapid.Int64().Draw(rt, "number")
		if rapid.Bool().Draw(rt, "small") {
			n %= 1_000_000_000_000_000
		}
		ratio := perMicro[unit]
		// Div is Euclid's, which for a positive divisor is downwards.
		micros := new(big.Int).Div(new(big.Int).Mul(big.NewInt(n), big.NewInt(ratio[0])), big.NewInt(ratio[1]))
		v := rapid.SampledFrom([]change.Value{
			change.Int64(n), change.Number(big.NewInt(n).String()), change.Text(big.NewInt(n).String()), change.Decimal(big.NewInt(n).String()),
		}).Draw(rt, "spelling")
		p := compile(t, table.Column{Name: "at", Type: table.Timestamp, From: unit}, table.Column{Name: "civil", Type: table.DateTime, From: unit}, table.Column{Name: "span", Type: table.Interval, From: unit})
		md := messageType(t, p)
		within := micros.Cmp(big.NewInt(-62135596800000000)) >= 0 && micros.Cmp(big.NewInt(253402300799999999)) <= 0
		data, err := p.AppendUpsert(nil, row(column("at", v), column("civil", v)), someSequence, RowOptions{})
		if (err == nil) != within {
			rt.Fatalf("%d %s is %v µs: %v", n, unit, micros, err)
		}
		if err == nil {
			got := read(t, md, data)
			civil := strings.TrimSuffix(time.UnixMicro(micros.Int64()).UTC().Format("2006-01-02T15:04:05.000000"), ".000000")
			if got["at"] != micros.Int64() || got["civil"] != civil {
				rt.Fatalf("%d %s is %v, want %v and %s", n, unit, got, micros, civil)
			}
		}
		if unit == table.FromDays {
			return // its part is another
		}
		most := big.NewInt(3_660_000 * 86_400_000_000)
		if _, err := p.AppendUpsert(nil, row(column("span", v)), someSequence, RowOptions{}); (err == nil) != (new(big.Int).Abs(micros).Cmp(most) <= 0) {
			rt.Fatalf("%d %s is an interval of %v µs: %v", n, unit, micros, err)
		}
	})
}
