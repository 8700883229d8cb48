package avro_test

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// envelopeOf is the schema of a Debezium envelope around a row of one column, x,
// of a type.
func envelopeOf(typ string) string {
	return `{"type":"record","name":"Envelope","namespace":"acme.public.t","fields":[
		{"name":"after","type":{"type":"record","name":"Value","fields":[{"name":"x","type":` + typ + `}]}},
		{"name":"source","type":{"type":"record","name":"Source","fields":[
			{"name":"connector","type":"string"},{"name":"schema","type":"string"},{"name":"table","type":"string"},{"name":"lsn","type":"long"}]}},
		{"name":"op","type":"string"}]}`
}

// around returns the binary encoding of such an envelope around that of the
// column's value.
func around(value []byte) []byte {
	b := text(text(text(value, "postgresql"), "public"), "t")
	return text(long(b, 130), "c")
}

func long(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

func text(dst []byte, s string) []byte { return append(long(dst, int64(len(s))), s...) }

func float(f float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)) }

func double(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// fixedSchema finds one schema by any reference.
type fixedSchema string

func (s fixedSchema) Schema(envelope.SchemaRef) (string, error) { return string(s), nil }

// registered puts a schema's ID in front of a value, as Confluent's serializers do.
func registered(value []byte) []byte { return append([]byte{0, 0, 0, 0, 7}, value...) }

// column decodes an envelope around a value of a type, and returns the column.
func column(t testing.TB, typ string, value []byte) (change.Value, error) {
	t.Helper()
	d, err := newDecoder(options{Schemas: fixedSchema(envelopeOf(typ))})
	if err != nil {
		t.Fatal(err)
	}
	events, control, err := d.Decode(change.Message{Data: registered(around(value))}, nil)
	if err != nil {
		return change.Value{}, err
	}
	if len(events) != 1 || control != "" || events[0].Table != "public.t" || len(events[0].After) != 1 || events[0].After[0].Name != "x" {
		t.Fatalf("%d events, control %q, want one of one column", len(events), control)
	}
	return events[0].After[0].Value, nil
}

var equalValues = cmp.AllowUnexported(change.Value{})

func logicalOf(typ, logical string) string {
	return `{"type":"` + typ + `","logicalType":"` + logical + `"}`
}

func decimalOf(scale int) string {
	return `{"type":"bytes","logicalType":"decimal","precision":80,"scale":` + strconv.Itoa(scale) + `}`
}

func fixedOf(size int, more string) string {
	return `{"type":"fixed","name":"F","size":` + strconv.Itoa(size) + more + `}`
}

// TestTypes: what each of Avro's types is.
func TestTypes(t *testing.T) {
	const second = 1_000_000
	for _, test := range []struct {
		typ   string
		value []byte
		want  change.Value
	}{
		{`"null"`, nil, change.Null()},
		{`"boolean"`, []byte{0}, change.Bool(false)},
		{`"boolean"`, []byte{1}, change.Bool(true)},
		{`"int"`, long(nil, math.MinInt32), change.Int64(math.MinInt32)},
		{`"int"`, long(nil, -1), change.Int64(-1)},
		{`"long"`, long(nil, math.MaxInt64), change.Int64(math.MaxInt64)},
		{`"long"`, long(nil, math.MinInt64), change.Int64(math.MinInt64)},
		{`"float"`, float(0.1), change.Float64(0.1)}, // the decimal digits that the source wrote
		{`"float"`, float(math.MaxFloat32), change.Float64(3.4028235e38)},
		{`"float"`, float(float32(math.Inf(-1))), change.Float64(math.Inf(-1))},
		{`"double"`, double(0.1), change.Float64(0.1)},
		{`"double"`, double(math.Copysign(0, -1)), change.Float64(math.Copysign(0, -1))},
		{`"double"`, double(math.SmallestNonzeroFloat64), change.Float64(math.SmallestNonzeroFloat64)},
		{`"double"`, double(1e7), change.Float64(1e7)},
		{`"double"`, double(math.Inf(1)), change.Float64(math.Inf(1))},
		{`"string"`, text(nil, ""), change.String("")},
		{`"string"`, text(nil, "caf\u00e9 \"\\\n\x00\U0001F600"), change.String("caf\u00e9 \"\\\n\x00\U0001F600")},
		{`"bytes"`, text(nil, ""), change.Bytes("")},
		{`"bytes"`, text(nil, "\x00\xff{"), change.Bytes("\x00\xff{")},
		{fixedOf(3, ""), []byte("\x00\xff{"), change.Bytes("\x00\xff{")},
		{`{"type":"enum","name":"E","symbols":["open","paid"]}`, long(nil, 1), change.String("paid")},
		{`{"type":"array","items":"int"}`, []byte{0}, change.Array(nil)},
		{`{"type":"array","items":"int"}`, []byte{4, 2, 4, 2, 6, 0}, change.Array([]change.Column{{Value: change.Int64(1)}, {Value: change.Int64(2)}, {Value: change.Int64(3)}})},
		{`{"type":"array","items":"int"}`, []byte{3, 4, 2, 4, 0}, change.Array([]change.Column{{Value: change.Int64(1)}, {Value: change.Int64(2)}})},
		{`{"type":"array","items":["null","string"]}`, []byte{4, 0, 2, 2, 'a', 0}, change.Array([]change.Column{{Value: change.Null()}, {Value: change.String("a")}})},
		{`{"type":"array","items":` + decimalOf(2) + `}`, []byte{2, 2, 0xFF, 0}, change.Array([]change.Column{{Value: change.Decimal("-0.01")}})},
		{`{"type":"map","values":"int"}`, join([]byte{4}, text(nil, "b"), []byte{2}, text(nil, "a\""), []byte{4, 0}), change.Raw(`{"b":1,"a\"":2}`)},
		{
			`{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"d","type":["null",` + logicalOf("int", "date") + `]}]}`,
			[]byte{2, 2, 0},
			change.Struct([]change.Column{{Name: "a", Value: change.Int64(1)}, {Name: "d", Value: change.Date(0)}}),
		},
		{`["null","string"]`, []byte{0}, change.Null()},
		{`["string","null"]`, []byte{2}, change.Null()},
		{`["string","null"]`, []byte{0, 2, 'a'}, change.String("a")},
		{`["string"]`, []byte{0, 2, 'a'}, change.String("a")},
		{`["null","string",` + decimalOf(1) + `]`, []byte{0}, change.Null()},
		{`["null","string","long"]`, []byte{4, 3}, change.Number("-2")},
		{`["null","string","long"]`, []byte{2, 2, '7'}, change.Text("7")},
		{`["null","string",` + decimalOf(1) + `]`, []byte{4, 2, 15}, change.Struct([]change.Column{{Name: "bytes", Value: change.Decimal("1.5")}})},

		{decimalOf(2), []byte{4, 0x30, 0x39}, change.Decimal("123.45")},
		{decimalOf(2), []byte{4, 0xCF, 0xC7}, change.Decimal("-123.45")},
		{decimalOf(0), []byte{18, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, change.Decimal("18446744073709551615")},
		{decimalOf(38), []byte{2, 1}, change.Decimal("0." + strings.Repeat("0", 37) + "1")},
		{decimalOf(75), []byte{2, 1}, change.Decimal("0." + strings.Repeat("0", 74) + "1")},
		// A precision that Avro finds bad, and so ignores the type for.
		{`{"type":"bytes","logicalType":"decimal","precision":1,"scale":2}`, []byte{4, 0x30, 0x39}, change.Decimal("123.45")},
		{fixedOf(4, `,"logicalType":"decimal","precision":9,"scale":2`), []byte{0xFF, 0xFF, 0xCF, 0xC7}, change.Decimal("-123.45")},
		{fixedOf(16, `,"logicalType":"decimal","precision":38,"scale":38`), join(make([]byte, 15), []byte{1}), change.Decimal("0." + strings.Repeat("0", 37) + "1")},
		{logicalOf("bytes", "big-decimal"), join(long(nil, 4), text(nil, "\x30\x39"), long(nil, 4)), change.Decimal("1.2345")},

		{logicalOf("int", "date"), long(nil, -719162), change.Date(-719162)},
		{logicalOf("int", "time-millis"), long(nil, 29226005), change.Time(29226_005_000)},
		{logicalOf("long", "time-micros"), long(nil, 29226005004), change.Time(29226_005_004)},
		{logicalOf("long", "timestamp-millis"), long(nil, -1), change.Timestamp(-1000)},
		{logicalOf("long", "timestamp-micros"), long(nil, 1741507626005004), change.Timestamp(1741507626005004)},
		{logicalOf("long", "timestamp-nanos"), long(nil, -1), change.Timestamp(-1)},
		{logicalOf("long", "local-timestamp-millis"), long(nil, 1), change.DateTime(1000)},
		{logicalOf("long", "local-timestamp-micros"), long(nil, -1), change.DateTime(-1)},
		{logicalOf("long", "local-timestamp-nanos"), long(nil, 1999), change.DateTime(1)},
		{logicalOf("string", "uuid"), text(nil, "b68a35a7-17ad-35b3-af2a-000000000000"), change.String("b68a35a7-17ad-35b3-af2a-000000000000")},
		{fixedOf(16, `,"logicalType":"uuid"`), []byte("\xb6\x8a\x35\xa7\x17\xad\x35\xb3\xaf\x2a\x00\x00\x00\x00\x00\x01"), change.String("b68a35a7-17ad-35b3-af2a-000000000001")},
		{fixedOf(12, `,"logicalType":"duration"`), []byte{14, 0, 0, 0, 3, 0, 0, 0, 0xD2, 4, 0, 0}, change.Interval("1-2 3 0:0:1.234")},
		{logicalOf("string", "no-such"), text(nil, "a"), change.String("a")},
		{logicalOf("string", "date"), text(nil, "a"), change.String("a")},

		// Kafka Connect's names, whatever the logical type beside them.
		{`{"type":"long","connect.version":1,"connect.name":"io.debezium.time.MicroTimestamp"}`, long(nil, -1), change.DateTime(-1)},
		{`{"type":"long","connect.name":"org.apache.kafka.connect.data.Timestamp","logicalType":"timestamp-millis"}`, long(nil, -1), change.DateTime(-1000)},
		{`{"type":"string","connect.name":"io.debezium.time.ZonedTimestamp"}`, text(nil, "1970-01-01T00:00:01Z"), change.Timestamp(second)},
		{`{"type":"string","connect.name":"io.debezium.data.Json"}`, text(nil, `{"a" : 1.0}`), change.JSON(`{"a" : 1.0}`)},
		{`{"type":"string","connect.name":"io.debezium.data.Enum","connect.parameters":{"allowed":"a,b"}}`, text(nil, "a"), change.String("a")},
		{`{"type":"bytes","connect.name":"io.debezium.data.Bits","connect.parameters":{"length":"10"}}`, []byte{4, 3, 2}, change.Bytes("\x03\x02")},
		{
			`{"type":"bytes","scale":2,"precision":64,"connect.version":1,"connect.parameters":{"scale":"2","connect.decimal.precision":"10"},` +
				`"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}`,
			[]byte{4, 0x30, 0x39},
			change.Decimal("123.45"),
		},
		{`{"type":"bytes","connect.name":"org.apache.kafka.connect.data.Decimal","connect.parameters":{"scale":"70"}}`, []byte{2, 1}, change.Decimal("0." + strings.Repeat("0", 69) + "1")},
		{
			`{"type":"record","name":"VariableScaleDecimal","namespace":"io.debezium.data","fields":[{"name":"scale","type":"int"},{"name":"value","type":"bytes"}]}`,
			[]byte{3, 4, 0x04, 0xE2},
			change.Decimal("125000"),
		},
		{
			`{"type":"record","name":"Point","namespace":"io.debezium.data.geometry","fields":[{"name":"x","type":"double"},{"name":"wkb","type":["null","bytes"]},{"name":"srid","type":["null","int"]}]}`,
			join(double(2), []byte{2, 2, 1, 0}), change.Raw(`{"x":2.0,"wkb":"AQ==","srid":null}`),
		},

		// Datastream's unified types.
		{logicalOf("string", "number"), text(nil, "18446744073709551615"), change.Text("18446744073709551615")},
		{logicalOf("string", "json"), text(nil, `{"a":1}`), change.JSON(`{"a":1}`)},
		{logicalOf("long", "time-interval-micros"), long(nil, -3600*second), change.Time(-3600 * second)},
		{logicalOf("long", "time-interval-micros"), long(nil, 838*3600*second), change.Time(838 * 3600 * second)},
		{`{"type":"record","name":"varchar","fields":[{"name":"value","type":"string"},{"name":"length","type":"int"}]}`, join(text(nil, "a"), []byte{20}), change.String("a")},
		{`{"type":"record","name":"varchar","fields":[{"name":"length","type":"int"},{"name":"value","type":["null","string"]}]}`, []byte{20, 0}, change.Null()},
		{
			`{"type":"record","name":"timestampTz","fields":[{"name":"timestamp","type":` + logicalOf("long", "timestamp-micros") + `},{"name":"offset","type":` + logicalOf("int", "time-millis") + `}]}`,
			join(long(nil, second), long(nil, 7_200_000)), change.Timestamp(second),
		},
		{
			`{"type":"record","name":"timestampTz","fields":[{"name":"timestamp","type":"long","logicalType":"timestamp-micros"},{"name":"offset","type":"int"}]}`,
			join(long(nil, second), long(nil, 7_200_000)), change.Timestamp(second),
		},
		{`{"type":"record","name":"datetime","fields":[{"name":"date","type":"int"},{"name":"time","type":"long"}]}`, join(long(nil, -1), long(nil, 86399_999_999)), change.DateTime(-1)},
		{`{"type":"record","name":"interval","fields":[{"name":"months","type":"int"},{"name":"hours","type":"int"},{"name":"micros","type":"long"}]}`, join(long(nil, 14), long(nil, -2), long(nil, -500_000)), change.Interval("1-2 0 -2:0:0.5")},
		// A record that is only called like one of them.
		{`{"type":"record","name":"interval","fields":[{"name":"months","type":"int"}]}`, []byte{2}, change.Struct([]change.Column{{Name: "months", Value: change.Int64(1)}})},
	} {
		got, err := column(t, test.typ, test.value)
		if err != nil {
			t.Errorf("%s: %v", test.typ, err)
		} else if diff := cmp.Diff(test.want, got, equalValues); diff != "" {
			t.Errorf("%s, bytes %x (-want +got):\n%s", test.typ, test.value, diff)
		}
	}
	if got, err := column(t, `"double"`, double(math.NaN())); err != nil || !math.IsNaN(got.Float()) {
		t.Errorf("NaN: %v, error %v", got, err)
	}
}

// TestTypes_bad: bytes that are no value of their type.
func TestTypes_bad(t *testing.T) {
	for _, test := range []struct {
		what, typ string
		value     []byte
		want      string
	}{
		{"a boolean", `"boolean"`, []byte{2}, "neither 0 nor 1"},
		{"an int of 33 bits", `"int"`, long(nil, math.MaxInt32+1), "too many bits"},
		{"a long of 11 bytes", `"long"`, []byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, "too many bits"},
		{"a branch", `["null","int"]`, long(nil, 2), "the union of 2 has no 2"},
		{"a negative branch", `["null","int"]`, long(nil, -1), "the union of 2 has no -1"},
		{"a symbol", `{"type":"enum","name":"E","symbols":["a"]}`, long(nil, 1), "the enum of 1 has no 1"},
		{"a giant text", `"string"`, long(nil, math.MaxInt64), "ends too early"},
		{"a text of negative length", `"string"`, long(nil, -1), "ends too early"},
		{"a text that isn't UTF-8", `"string"`, text(nil, "a\xff"), "UTF-8"},
		{"a giant fixed", fixedOf(1<<40, ""), nil, "ends too early"},
		{"a giant array", `{"type":"array","items":"null"}`, long(nil, math.MaxInt64), "too large"},
		{"a giant array of empty records", `{"type":"array","items":{"type":"record","name":"R","fields":[]}}`, long(nil, 1<<50), "too large"},
		{"a giant block", `{"type":"array","items":"int"}`, join(long(nil, math.MinInt64), long(nil, 1)), "ends too early"},
		{"a map's key twice", `{"type":"map","values":"null"}`, join([]byte{4}, text(nil, "a"), text(nil, "a"), []byte{0}), "repeats a key"},
		{"a decimal of no bytes", decimalOf(2), []byte{0}, "no bytes"},
		{"an empty big-decimal", logicalOf("bytes", "big-decimal"), []byte{0}, "ends too early"},
		{"a datetime", `{"type":"record","name":"datetime","fields":[{"name":"date","type":"int"},{"name":"time","type":"long"}]}`, join(long(nil, 0), long(nil, -1)), "no date and time"},
		{"endless values", `{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}`, nil, "too deep"},
		{"doubled values", bomb(64), nil, "too large"},
	} {
		got, err := column(t, test.typ, test.value)
		if err == nil {
			t.Errorf("%s: %v, want an error", test.what, got)
			continue
		}
		if _, ok := err.(*envelope.Error); !ok || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "x") { //nolint:errorlint // Decode promises this very type
			t.Errorf("%s: %v, want it to name the column and say %q", test.what, err, test.want)
		}
	}
}

// bomb is a schema of n types, each of which holds the next twice, so that its
// value of no bytes is 2^n records.
func bomb(n int) string {
	typ := `{"type":"record","name":"B` + strconv.Itoa(n) + `","fields":[]}`
	for i := n - 1; i >= 0; i-- {
		typ = `{"type":"record","name":"B` + strconv.Itoa(i) + `","fields":[{"name":"a","type":` + typ + `},{"name":"b","type":"B` + strconv.Itoa(i+1) + `"}]}`
	}
	return typ
}

// TestTruncated: a message that is cut off anywhere is an error.
func TestTruncated(t *testing.T) {
	typ := `{"type":"record","name":"R","fields":[{"name":"s","type":"string"},{"name":"d","type":"double"},{"name":"f","type":{"type":"fixed","name":"F","size":3}},{"name":"m","type":{"type":"map","values":"long"}}]}`
	value := join(text(nil, "abc"), double(1), []byte("123"), []byte{2}, text(nil, "k"), long(nil, 300), []byte{0})
	if _, err := column(t, typ, value); err != nil {
		t.Fatal(err)
	}
	d, err := newDecoder(options{Schemas: fixedSchema(envelopeOf(typ))})
	if err != nil {
		t.Fatal(err)
	}
	whole := registered(around(value))
	for n := 1; n < len(whole); n++ {
		if _, _, err := d.Decode(change.Message{Data: whole[:n]}, nil); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(whole))
		}
	}
	if _, _, err := d.Decode(change.Message{Data: append(whole, 0)}, nil); err == nil || !strings.Contains(err.Error(), "1 bytes after its value") {
		t.Errorf("a byte more: %v", err)
	}
}
