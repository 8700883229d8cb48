package rowproto

import (
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// fuzzPlans has a plan of one column "c" for every type, mode, policy and From
// that can be compiled.
func fuzzPlans(f *testing.F) (plans []*Plan, readers []protoreflect.MessageDescriptor) {
	for _, of := range []table.Type{
		table.Bool, table.Int64, table.Float64, table.Numeric, table.BigNumeric, table.String, table.Bytes, table.Date, table.Time,
		table.DateTime, table.Timestamp, table.JSON, table.Geography, table.Interval, table.Range, table.Struct,
	} {
		for _, mode := range []table.Mode{table.Nullable, table.Repeated} {
			for _, policy := range []table.Policy{table.PolicyReject, table.PolicyNull, table.PolicyClamp, table.PolicyString} {
				for _, from := range append([]table.From{""}, table.FromsOf(of)...) {
					c := table.Column{Name: "c", Type: of, Mode: mode, BadValues: policy, From: from, FromScale: 2}
					switch of {
					case table.Struct:
						c.Fields = []table.Column{{Name: "n", Type: table.Int64}, {Name: "d", Type: table.Range, Element: table.DateTime}, {Name: "j", Type: table.JSON, Mode: table.Repeated}}
					case table.Range:
						c.Element = table.Timestamp
					default:
					}
					p := compile(f, c)
					plans, readers = append(plans, p), append(readers, messageType(f, p))
				}
			}
		}
	}
	return plans, readers
}

// FuzzEncode gives every kind of text value to every type of column.
//
// Invariants: it never panics; a refused value is a *ValueError and leaves dst as
// it was and no policy told of; what policies did is told of columns that have one;
// an accepted one unmarshals by the descriptor into a value that lies in
// BigQuery's range for the type; encoding is deterministic; a key is accepted
// exactly when a DELETE of it is.
func FuzzEncode(f *testing.F) {
	plans, readers := fuzzPlans(f)
	for i, text := range []string{
		"", "0", "-1", "9007199254740993", "1e1000000000", "-0.0", "NaN", "-Infinity", "true", "MDk=", "0xdeadbeef", "2025-03-09T08:07:06.005004+05:30",
		"0000-00-00 00:00:00", "-838:59:59", "infinity", "P1Y2M3DT4H5M6.78S", "-PT0.000000001S", "1 year 2 mons 3 days 04:05:06.78", "[2025-01-01,2025-02-01)",
		`["2025-03-09 08:07:06+00",)`, `{"n":1,"d":null,"j":[18446744073709551616]}`, `[null,1,"a"]`, `{a,"b",NULL}`, `{"scale":4,"value":"D09R"}`, `{"start":1,"end":2}`,
		`{"year":2025,"month":3,"day":9,"hour":8,"picoseconds":1}`, "POINT(1 2)", "0101000020E6100000000000000000F83F00000000000002C0", `{"wkb":"AQEA","srid":4326}`,
		"0-0 0 0:0:0", `{"a":{"a":1},"a":2}`, strings.Repeat("[", 600), "\xFF\"\\",
	} {
		for kind := range fuzzKinds {
			f.Add(text, uint8(kind), uint16(i*37+kind))
		}
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8, which uint16) {
		v := fuzzKinds[int(kind)%len(fuzzKinds)](text)
		n := int(which) % len(plans)
		p := plans[n]
		cells := row(change.Column{Name: "c", Value: v})
		var adjusted []Adjustment
		data, err := p.AppendUpsert([]byte("dst"), cells, someSequence, RowOptions{IgnoreUnknown: which&1 == 0, Adjusted: &adjusted})
		again, _ := p.AppendUpsert([]byte("dst"), cells, someSequence, RowOptions{IgnoreUnknown: which&1 == 0})
		if string(data) != string(again) {
			t.Fatalf("encoding is not deterministic: %x, then %x", data, again)
		}
		if !strings.HasPrefix(string(data), "dst") {
			t.Fatal("what was in dst is gone")
		}
		for _, a := range adjusted {
			if a.Column != "c" || a.Policy != p.Table().Columns[1].BadValues || a.Policy == table.PolicyReject || err != nil {
				t.Fatalf("adjustment %+v of a %s column, error %v", a, p.Table().Columns[1].BadValues, err)
			}
		}
		if err != nil {
			var refused *ValueError
			if !errors.As(err, &refused) || refused.Reason == "" || refused.Table == "" || len(data) != 3 {
				t.Fatalf("error %#v with dst %q", err, data)
			}
			return
		}
		m := dynamicpb.NewMessage(readers[n])
		if err := proto.Unmarshal(data[3:], m); err != nil {
			t.Fatalf("unmarshalling: %v", err)
		}
		if len(m.GetUnknown()) > 0 {
			t.Fatalf("unknown fields %x", m.GetUnknown())
		}
		if got, ok := columnsIn(m)["c"]; ok {
			checkRange(t, &p.Table().Columns[1], got)
		}
	})
}

var fuzzKinds = []func(string) change.Value{
	change.Text, change.String, change.Number, change.Raw, change.Decimal, change.JSON, change.Bytes, change.Interval,
	func(s string) change.Value { return change.Int64(int64(len(s)) - 1<<62) },
	func(s string) change.Value {
		return change.Array([]change.Column{{Value: change.Text(s)}, {Value: change.Text(s)}})
	},
	func(s string) change.Value {
		return change.Struct([]change.Column{{Name: "n", Value: change.Number(s)}, {Name: s, Value: change.Text(s)}})
	},
}

var (
	plainDecimal = regexp.MustCompile(`^(0|-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?)$`)
	canonical    = regexp.MustCompile(`^-?[0-9]{1,5}-([0-9]|1[01]) -?[0-9]{1,7} -?[0-9]{1,8}:[0-5]?[0-9]:[0-5]?[0-9](\.([0-9]{3}){1,2})?$`)
)

// checkRange checks what a reader found against BigQuery's documented range.
func checkRange(t *testing.T, c *table.Column, got any) {
	if list, ok := got.([]any); ok && c.Mode == table.Repeated {
		element := *c
		element.Mode = table.Nullable
		for _, v := range list {
			checkRange(t, &element, v)
		}
		return
	}
	ok := true
	switch c.Type {
	case table.Numeric:
		ok = decimalWithin(got.(string), "99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999", 9)
	case table.BigNumeric:
		ok = decimalWithin(got.(string), "578960446186580977117854925043439539266.34992332820282019728792003956564819967",
			"-578960446186580977117854925043439539266.34992332820282019728792003956564819968", 38)
	case table.String, table.Geography:
		ok = utf8.ValidString(got.(string))
	case table.Date:
		ok = got.(int32) >= -719162 && got.(int32) <= 2932896
	case table.Time:
		_, err := time.Parse("15:04:05.999999", got.(string))
		ok = err == nil
	case table.DateTime:
		at, err := time.Parse("2006-01-02T15:04:05.999999", got.(string))
		ok = err == nil && at.Year() >= 1
	case table.Timestamp:
		ok = got.(int64) >= -62135596800000000 && got.(int64) <= 253402300799999999
	case table.JSON:
		ok = json.Valid([]byte(got.(string)))
	case table.Interval:
		ok = canonical.MatchString(got.(string))
	case table.Range:
		bounds := got.(map[string]any)
		for _, bound := range bounds {
			checkRange(t, &table.Column{Type: c.Element}, bound)
		}
		if len(bounds) == 2 && c.Element == table.Timestamp {
			ok = bounds["start"].(int64) < bounds["end"].(int64)
		}
	case table.Struct:
		for i := range c.Fields {
			if v, set := got.(map[string]any)[c.Fields[i].Name]; set {
				checkRange(t, &c.Fields[i], v)
			}
		}
	default: // every bit pattern is a BOOL, INT64, FLOAT64 or BYTES
	}
	if !ok {
		t.Fatalf("a %s is %v", c.Type, got)
	}
}

func decimalWithin(text, greatest, least string, fraction int) bool {
	if !plainDecimal.MatchString(text) {
		return false
	}
	_, decimals, _ := strings.Cut(text, ".")
	x, _ := new(big.Rat).SetString(text)
	hi, _ := new(big.Rat).SetString(greatest)
	lo, _ := new(big.Rat).SetString(least)
	return len(decimals) <= fraction && x.Cmp(hi) <= 0 && x.Cmp(lo) >= 0
}

// FuzzKey gives two spellings to a key of two columns.
//
// Invariants: it never panics; a key is accepted exactly when a DELETE of it is;
// two keys have the same bytes exactly when their DELETE rows have.
func FuzzKey(f *testing.F) {
	var plans []*Plan
	for of := range keyTypes {
		tab := tableOf(table.Column{Name: "s", Type: table.String}, table.Column{Name: "k", Type: of})
		tab.PrimaryKey = []string{"k", "s"}
		p, err := Compile(tab)
		if err != nil {
			f.Fatal(err)
		}
		plans = append(plans, p)
	}
	f.Add("1", "a", "1.0", "a")
	f.Add("2025-03-09", "", "2025-03-09T00:00:00Z", "")
	f.Add("true", "x", "1", "x")
	f.Add("a", "bc", "ab", "c")
	f.Fuzz(func(t *testing.T, k1, s1, k2, s2 string) {
		for _, p := range plans {
			one := []change.Column{{Name: "k", Value: change.Text(k1)}, {Name: "s", Value: change.Text(s1)}}
			two := []change.Column{{Name: "s", Value: change.String(s2)}, {Name: "k", Value: change.Text(k2)}}
			key1, err1 := p.AppendKey(nil, one)
			row1, wrong1 := p.AppendDelete(nil, one, someSequence)
			key2, err2 := p.AppendKey(nil, two)
			row2, wrong2 := p.AppendDelete(nil, two, someSequence)
			if (err1 == nil) != (wrong1 == nil) || (err2 == nil) != (wrong2 == nil) {
				t.Fatalf("key %v, delete %v; key %v, delete %v", err1, wrong1, err2, wrong2)
			}
			if err1 == nil && err2 == nil && (string(key1) == string(key2)) != (string(row1) == string(row2)) {
				t.Fatalf("keys %x and %x, rows %x and %x", key1, key2, row1, row2)
			}
		}
	})
}
