package rowproto

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// drawn is a column, a value for it in one of the spellings that a source may
// use, the same value as JSON where a message without types would have it so,
// and what a reader of the row must find. Nothing here calls the encoder's code:
// dates come from package time, decimals from math/big.
type drawn struct {
	column table.Column
	value  change.Value
	json   string // "" where the value has no JSON spelling
	want   any
}

func drawScalar(t *rapid.T, depth int) drawn {
	of := rapid.SampledFrom([]table.Type{
		table.Bool, table.Int64, table.Float64, table.Numeric, table.BigNumeric, table.String, table.Bytes, table.Date, table.Time, table.DateTime,
		table.Timestamp, table.JSON, table.Interval, table.Range, table.Struct,
	}).Draw(t, "type")
	switch of {
	case table.Bool:
		b := rapid.Bool().Draw(t, "bool")
		digit := map[bool]string{true: "1", false: "0"}[b]
		return pick(t, of, b, spelling{change.Bool(b), strconv.FormatBool(b)}, spelling{change.Number(digit), digit}, spelling{change.Text(digit), quote(digit)})
	case table.Int64:
		n := rapid.Int64().Draw(t, "int")
		digits := strconv.FormatInt(n, 10)
		return pick(t, of, n, spelling{change.Int64(n), ""}, spelling{change.Number(digits), digits}, spelling{change.Number(digits + ".00"), digits + ".00"},
			spelling{change.Text(digits), quote(digits)}, spelling{change.Decimal(digits), ""})
	case table.Float64:
		x := rapid.Float64().Draw(t, "float")
		digits := strconv.FormatFloat(x, 'e', -1, 64)
		return pick(t, of, x, spelling{change.Float64(x), ""}, spelling{change.Number(digits), digits}, spelling{change.Text(digits), quote(digits)})
	case table.Numeric, table.BigNumeric:
		return drawDecimal(t, of)
	case table.String:
		s := rapid.String().Draw(t, "string")
		return pick(t, of, s, spelling{change.String(s), ""}, spelling{change.Text(s), quote(s)})
	case table.Bytes:
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		encoded := base64.StdEncoding.EncodeToString(b)
		return pick(t, of, append([]byte{}, b...), spelling{change.Bytes(string(b)), ""}, spelling{change.Text(encoded), quote(encoded)})
	case table.Date:
		days := rapid.Int64Range(-719162, 2932896).Draw(t, "days")
		text := time.Unix(days*86400, 0).UTC().Format(time.DateOnly)
		return pick(t, of, int32(days), spelling{change.Date(days), ""}, spelling{change.Number(fmt.Sprint(days)), fmt.Sprint(days)}, spelling{change.Text(text), quote(text)})
	case table.Time:
		micros := rapid.Int64Range(0, 86399999999).Draw(t, "micros")
		text := time.UnixMicro(micros).UTC().Format("15:04:05.000000")
		return pick(t, of, strings.TrimSuffix(text, ".000000"), spelling{change.Time(micros), ""}, spelling{change.Text(text), quote(text)})
	case table.DateTime:
		at := drawInstant(t)
		text := at.Format("2006-01-02T15:04:05.000000")
		want := strings.TrimSuffix(text, ".000000")
		blank := at.Format("2006-01-02 15:04:05.000000") + "999" // nanoseconds are cut
		return pick(t, of, want, spelling{change.DateTime(at.UnixMicro()), ""}, spelling{change.Text(text), quote(text)}, spelling{change.Text(blank), quote(blank)})
	case table.Timestamp:
		at := drawInstant(t)
		zone := time.FixedZone("", rapid.IntRange(-12*60, 12*60).Draw(t, "zone")*60)
		if in := at.In(zone); in.Year() >= 1 && in.Year() <= 9999 {
			zoned := in.Format("2006-01-02T15:04:05.000000Z07:00")
			return pick(t, of, at.UnixMicro(), spelling{change.Timestamp(at.UnixMicro()), ""}, spelling{change.Text(zoned), quote(zoned)})
		}
		return pick(t, of, at.UnixMicro(), spelling{change.Timestamp(at.UnixMicro()), ""})
	case table.JSON:
		s := rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "json")
		text, _ := json.Marshal(s)
		return pick(t, of, string(text), spelling{change.JSON(string(text)), ""}, spelling{change.Text(string(text)), quote(string(text))}, spelling{change.Raw(string(text)), string(text)})
	case table.Interval:
		months, days, seconds := rapid.IntRange(-120000, 120000).Draw(t, "months"), rapid.IntRange(-3660000, 3660000).Draw(t, "days"), rapid.IntRange(-316224000000, 316224000000).Draw(t, "seconds")
		want := fmt.Sprintf("%s%d-%d %d %s%d:%d:%d", minus(months), abs(months)/12, abs(months)%12, days, minus(seconds), abs(seconds)/3600, abs(seconds)/60%60, abs(seconds)%60)
		iso := fmt.Sprintf("P%dY%dM%dDT%dH%dM%dS", months/12, months%12, days, seconds/3600, seconds/60%60, seconds%60)
		return pick(t, of, want, spelling{change.Interval(want), ""}, spelling{change.Text(iso), quote(iso)})
	case table.Range:
		start := rapid.Int64Range(-719162, 2932895).Draw(t, "start")
		end := rapid.Int64Range(start+1, 2932896).Draw(t, "end")
		date := func(days int64) string { return time.Unix(days*86400, 0).UTC().Format(time.DateOnly) }
		text, object := "["+date(start)+","+date(end)+")", fmt.Sprintf(`{"start":%q,"end":%d}`, date(start), end)
		d := pick(t, of, map[string]any{"start": int32(start), "end": int32(end)}, spelling{change.Text(text), quote(text)}, spelling{change.Raw(object), object})
		d.column.Element = table.Date
		return d
	default:
		if depth > 2 {
			return pick(t, table.Int64, int64(0), spelling{change.Int64(0), "0"})
		}
		return drawStruct(t, depth)
	}
}

type spelling struct {
	value change.Value
	json  string
}

func pick(t *rapid.T, of table.Type, want any, spellings ...spelling) drawn {
	s := rapid.SampledFrom(spellings).Draw(t, "spelling")
	return drawn{column: table.Column{Type: of}, value: s.value, json: s.json, want: want}
}

// drawDecimal draws an unscaled value and a scale that the type holds.
func drawDecimal(t *rapid.T, of table.Type) drawn {
	integer, fraction := 29, 9
	if of == table.BigNumeric {
		integer, fraction = 38, 38
	}
	scale := rapid.IntRange(0, fraction).Draw(t, "scale")
	digits := rapid.StringMatching(fmt.Sprintf(`-?[0-9]{1,%d}`, integer+scale)).Draw(t, "digits")
	unscaled, _ := new(big.Int).SetString(digits, 10)
	plain := new(big.Rat).SetFrac(unscaled, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
	want := plain
	if strings.Contains(want, ".") {
		want = strings.TrimRight(strings.TrimRight(want, "0"), ".")
	}
	if unscaled.Sign() == 0 {
		want = "0"
	}
	exponent := fmt.Sprintf("%se-%d", unscaled, scale)
	encoded := base64.StdEncoding.EncodeToString(twosComplement(unscaled))
	d := pick(t, of, want, spelling{change.Decimal(plain), ""}, spelling{change.Number(plain), plain}, spelling{change.Number(exponent), exponent}, spelling{change.Text(encoded), quote(encoded)})
	if d.value.Kind() == change.KindText {
		d.column.From, d.column.FromScale = table.FromDecimal, int64(scale)
	}
	return d
}

// twosComplement is java.math.BigInteger.toByteArray.
func twosComplement(n *big.Int) []byte {
	size := n.BitLen()/8 + 1
	if n.Sign() < 0 {
		size = new(big.Int).Not(n).BitLen()/8 + 1
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return n.FillBytes(make([]byte, size))
}

func drawInstant(t *rapid.T) time.Time {
	return time.UnixMicro(rapid.Int64Range(-62135596800000000, 253402300799999999).Draw(t, "instant")).UTC()
}

func drawStruct(t *rapid.T, depth int) drawn {
	d := drawn{column: table.Column{Type: table.Struct}}
	want, fields, members := map[string]any{}, []change.Column{}, []string{}
	spellable := true
	for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
		f := drawColumn(t, fmt.Sprintf("f%d", i), depth+1)
		d.column.Fields = append(d.column.Fields, f.column)
		if f.want != nil {
			want[f.column.Name] = f.want
		}
		fields = append(fields, change.Column{Name: rapid.SampledFrom([]string{f.column.Name, strings.ToUpper(f.column.Name)}).Draw(t, "case"), Value: f.value})
		members = append(members, quote(f.column.Name)+":"+f.json)
		spellable = spellable && f.json != ""
	}
	d.want = want
	if spellable && rapid.Bool().Draw(t, "raw") {
		d.json = "{" + strings.Join(members, ", ") + "}"
		d.value = change.Raw(d.json)
	} else {
		d.value = change.Struct(fields)
	}
	return d
}

// drawColumn draws a column that may be NULL or REPEATED.
func drawColumn(t *rapid.T, name string, depth int) drawn {
	d := drawScalar(t, depth)
	switch rapid.SampledFrom([]string{"one", "one", "null", "array"}).Draw(t, "mode") {
	case "null":
		d.value, d.json, d.want = change.Null(), "null", nil
	case "array":
		// Its elements are one value over and over, or its spelling: what differs
		// between elements is tested in tables.
		n := rapid.IntRange(0, 3).Draw(t, "elements")
		list := slices.Repeat([]any{d.want}, n)
		raw := "[" + strings.Join(slices.Repeat([]string{d.json}, n), ",") + "]"
		elements := slices.Repeat([]change.Column{{Value: d.value}}, n)
		d.column.Mode = table.Repeated
		if d.want = any(list); n == 0 {
			d.want = nil
		}
		if d.json != "" && rapid.Bool().Draw(t, "raw") {
			d.value, d.json = change.Raw(raw), raw
		} else {
			d.value, d.json = change.Array(elements), ""
		}
	}
	d.column.Name = name
	return d
}

// TestProperty_Rows: a random row of a random table, in random spellings, reads
// back by the descriptor as what was drawn, in ascending order of field numbers.
func TestProperty_Rows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var columns []table.Column
		cells := row()
		want := map[string]any{"id": int64(7), ChangeTypeColumn: "UPSERT", SequenceNumberColumn: "1/2/3/4"}
		for i := range rapid.IntRange(0, 6).Draw(rt, "columns") {
			d := drawColumn(rt, fmt.Sprintf("c%d", i), 0)
			columns = append(columns, d.column)
			if d.want != nil {
				want[d.column.Name] = d.want
			} else if rapid.Bool().Draw(rt, "absent") {
				continue
			}
			cells = append(cells, change.Column{Name: d.column.Name, Value: d.value})
		}
		cells = rapid.Permutation(cells).Draw(rt, "order")
		p := compile(t, columns...)
		data, err := p.AppendUpsert(nil, cells, someSequence, RowOptions{})
		if err != nil {
			rt.Fatalf("refused: %v", err)
		}
		if diff := cmp.Diff(want, read(t, messageType(t, p), data)); diff != "" {
			rt.Fatalf("row (-want +got):\n%s", diff)
		}
		checkAscending(rt, data)
	})
}

// checkAscending: equal rows have equal bytes only if fields have an order.
func checkAscending(t *rapid.T, data []byte) {
	last := protowire.Number(0)
	for len(data) > 0 {
		number, _, n := protowire.ConsumeField(data)
		if n < 0 || number < last {
			t.Fatalf("field %d follows field %d", number, last)
		}
		last, data = number, data[n:]
	}
}

// TestProperty_Order: the order of a row's columns doesn't show in its bytes.
func TestProperty_Order(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, err := Compile(ordersTable())
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]change.Value{
			"tenant": change.String("t"), "line_id": change.Int64(1), "qty": change.Int64(rapid.Int64().Draw(rt, "qty")), "note": change.Null(), "tags": change.Raw(`["a"]`),
		}
		names := rapid.Permutation(slices.Sorted(maps.Keys(values))).Draw(rt, "order")
		encode := func(names []string) string {
			var cells []change.Column
			for _, name := range names {
				cells = append(cells, change.Column{Name: name, Value: values[name]})
			}
			data, err := p.AppendUpsert(nil, cells, someSequence, RowOptions{})
			if err != nil {
				rt.Fatal(err)
			}
			return string(data)
		}
		if encode(names) != encode(slices.Sorted(maps.Keys(values))) {
			rt.Fatalf("order %v gives other bytes", names)
		}
	})
}

// TestProperty_Decimals: a decimal is accepted exactly when NUMERIC holds it,
// and then stays the same number.
func TestProperty_Decimals(t *testing.T) {
	p := compile(t, table.Column{Name: "c", Type: table.Numeric})
	md := messageType(t, p)
	limit, _ := new(big.Rat).SetString("99999999999999999999999999999.999999999")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[-+]?[0-9]{1,32}(\.[0-9]{1,12})?([eE][-+]?[0-9]{1,2})?`).Draw(rt, "text")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			rt.Fatalf("math/big doesn't read %q", text)
		}
		scaled := new(big.Rat).Mul(exact, new(big.Rat).SetInt64(1_000_000_000))
		fits := scaled.IsInt() && new(big.Rat).Abs(exact).Cmp(limit) <= 0
		data, err := p.AppendUpsert(nil, row(change.Column{Name: "c", Value: change.Text(text)}), someSequence, RowOptions{})
		if (err == nil) != fits {
			rt.Fatalf("%q fits: %v, but %v", text, fits, err)
		}
		if err != nil {
			return
		}
		got := read(t, md, data)["c"].(string)
		if back, ok := new(big.Rat).SetString(got); !ok || back.Cmp(exact) != 0 || strings.ContainsAny(got, "eE+") {
			rt.Fatalf("%q became %q", text, got)
		}
	})
}

// TestProperty_Calendar compares the calendar with package time's.
func TestProperty_Calendar(t *testing.T) {
	for days := int64(minDay); days <= maxDay; days++ {
		year, month, day := dateOf(days)
		if back := dayOf(year, month, day); back != days {
			t.Fatalf("day %d is %d-%d-%d, which is day %d", days, year, month, day, back)
		}
		if days%97 != 0 {
			continue
		}
		if at := time.Unix(days*86400, 0).UTC(); int64(at.Year()) != year || int64(at.Month()) != month || int64(at.Day()) != day {
			t.Fatalf("day %d is %d-%d-%d, want %v", days, year, month, day, at)
		}
	}
}

// TestProperty_Rounding compares the rounding that a clamping policy asks for
// with math/big's.
func TestProperty_Rounding(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,12}\.[0-9]{1,12}`).Draw(rt, "text")
		places := rapid.IntRange(0, 10).Draw(rt, "places")
		d, ok := parseDecimal(text)
		if !ok {
			rt.Fatalf("not read: %q", text)
		}
		rounded := d.round(int64(places))
		got, _ := new(big.Rat).SetString(string(rounded.appendPlain(nil)))
		exact, _ := new(big.Rat).SetString(text)
		want, _ := new(big.Rat).SetString(exact.FloatString(places)) // rounds halves away from zero
		if got.Cmp(want) != 0 {
			rt.Fatalf("%s to %d places is %s, want %s", text, places, got.FloatString(12), want.FloatString(12))
		}
	})
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func abs(n int) int { return int(math.Abs(float64(n))) }

func minus(n int) string {
	if n < 0 {
		return "-"
	}
	return ""
}
