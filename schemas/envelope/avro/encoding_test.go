package avro_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	hamba "github.com/hamba/avro/v2"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/envelope/avro"
)

// columnInJSON decodes an envelope in Avro's JSON encoding around a value.
func columnInJSON(t *testing.T, typ, value string) (change.Value, error) {
	t.Helper()
	d, err := newDecoder(options{Schemas: fixedSchema(envelopeOf(typ))})
	if err != nil {
		t.Fatal(err)
	}
	data := `{"after":{"x":` + value + `},"source":{"connector":"postgresql","schema":"public","table":"t","lsn":130},"op":"c"}`
	events, _, err := d.Decode(topicMessage("JSON", topicSchema, "1", []byte(data)), nil)
	if err != nil {
		return change.Value{}, err
	}
	return events[0].After[0].Value, nil
}

// TestJSONEncoding: Avro's JSON encoding, which is not the JSON of Kafka Connect.
func TestJSONEncoding(t *testing.T) {
	const nullable = `["null","string"]`
	enum := `{"type":"enum","name":"E","namespace":"a.b","symbols":["open","paid"]}`
	for _, test := range []struct {
		typ, value string
		want       change.Value
	}{
		{`"null"`, `null`, change.Null()},
		{`"boolean"`, `true`, change.Bool(true)},
		{`"int"`, `-2147483648`, change.Int64(-2147483648)},
		{`"long"`, `9223372036854775807`, change.Int64(9223372036854775807)},
		{`"double"`, `1e300`, change.Float64(1e300)},
		{`"float"`, `0.1`, change.Float64(0.1)},
		{`"string"`, `"caf\u00e9"`, change.String("café")},
		{nullable, `null`, change.Null()},
		{nullable, `{"string":"a"}`, change.String("a")},
		{`["null",` + enum + `]`, `{"a.b.E":"paid"}`, change.String("paid")},
		{`["null","int",` + decimalOf(0) + `]`, `{"bytes":"\u0001"}`, change.Struct([]change.Column{{Name: "bytes", Value: change.Decimal("1")}})},
		{`"bytes"`, `"\u00ff\u0000a"`, change.Bytes("\xff\x00a")},
		{fixedOf(2, ""), `"\u00ff\u0000"`, change.Bytes("\xff\x00")},
		{decimalOf(2), `"09"`, change.Decimal("123.45")},
		{logicalOf("long", "timestamp-micros"), `-1`, change.Timestamp(-1)},
		{`{"type":"array","items":` + nullable + `}`, `[null,{"string":"a"}]`, change.Array([]change.Column{{Value: change.Null()}, {Value: change.String("a")}})},
		{`{"type":"map","values":"int"}`, `{"a":1,"b":2}`, change.Raw(`{"a":1,"b":2}`)},
		{
			`{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}`, `{"b":2,"a":1}`,
			change.Struct([]change.Column{{Name: "a", Value: change.Int64(1)}, {Name: "b", Value: change.Int64(2)}}),
		},
	} {
		got, err := columnInJSON(t, test.typ, test.value)
		if err != nil {
			t.Errorf("%s, %s: %v", test.typ, test.value, err)
		} else if diff := cmp.Diff(test.want, got, equalValues); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", test.typ, test.value, diff)
		}
	}
	var fields, members []string // many, in another order
	for i := range 30 {
		fields = append(fields, `{"name":"f`+strconv.Itoa(i)+`","type":"int"}`)
		members = append(members, `"f`+strconv.Itoa(29-i)+`":`+strconv.Itoa(29-i))
	}
	many := `{"type":"record","name":"R","fields":[` + strings.Join(fields, ",") + `]}`
	got, err := columnInJSON(t, many, "{"+strings.Join(members, ",")+"}")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Elems() {
		if c.Name != "f"+strconv.Itoa(i) || c.Value.Int() != int64(i) {
			t.Errorf("field %d is %s = %d", i, c.Name, c.Value.Int())
		}
	}
	if _, err := columnInJSON(t, many, `{"f29":1,"f30":1}`); err == nil || !strings.Contains(err.Error(), "no field f30") {
		t.Errorf("error %v, want that there is no field f30", err)
	}
	for _, test := range []struct{ typ, value string }{
		{`"null"`, `0`},
		{`"boolean"`, `1`},
		{`"int"`, `2147483648`},
		{`"int"`, `1.5`},
		{`"int"`, `"1"`},
		{`"long"`, `9223372036854775808`},
		{`"double"`, `"x"`},
		{`"double"`, `1e999`},
		{`"string"`, `1`},
		{nullable, `"a"`},
		{nullable, `{}`},
		{nullable, `{"int":1}`},
		{nullable, `{"null":null}`},
		{nullable, `{"string":"a","int":1}`},
		{`["string"]`, `null`},
		{enum, `"no"`},
		{`"bytes"`, `"\u0100"`},
		{fixedOf(2, ""), `"a"`},
		{`{"type":"array","items":"int"}`, `{}`},
		{`{"type":"map","values":"int"}`, `[]`},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`, `{}`},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`, `{"a":1,"b":2}`},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`, `1`},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":["null","R"]}]}`, strings.Repeat(`{"a":{"R":`, 300) + `{"a":null}` + strings.Repeat(`}}`, 300)},
	} {
		got, err := columnInJSON(t, test.typ, test.value)
		if e, ok := err.(*envelope.Error); !ok || e.Reason != envelope.BadAvro { //nolint:errorlint // Decode promises this very type
			t.Errorf("%s, %.80s: %v, error %v, want %s", test.typ, test.value, got, err, envelope.BadAvro)
		}
	}
}

// TestHamba: what hamba's decoder makes of any value of any schema is what the
// JSON says that a Reader makes of it.
func TestHamba(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t}
		typ, value := g.draw(3)
		parsed, err := hamba.ParseWithCache(typ, "", &hamba.SchemaCache{})
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		data, err := hamba.Config{}.Freeze().Marshal(parsed, value)
		if err != nil {
			t.Fatalf("%s of %v: %v", typ, value, err)
		}
		r, err := avro.New(typ)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		if isAvro, err := r.Open(&change.Message{Data: append([]byte("\xC3\x01"), withFingerprint(t, parsed, data)...)}); !isAvro || err != nil {
			t.Fatalf("%s: %t, error %v", typ, isAvro, err)
		}
		text, _, _, err := r.Next()
		if err != nil {
			t.Fatalf("%s of %v: %v", typ, value, err)
		}
		var got any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("%s: %s: %v", typ, text, err)
		}
		if want := plain(value); !cmp.Equal(want, got) {
			t.Fatalf("%s of %v: %s\n%s", typ, value, text, cmp.Diff(want, got))
		}
	})
}

func withFingerprint(t *rapid.T, schema hamba.Schema, data []byte) []byte {
	sum, err := schema.FingerprintUsing(hamba.CRC64AvroLE)
	if err != nil {
		t.Fatal(err)
	}
	return append(sum, data...)
}

// generator draws schemas with values of theirs, as hamba takes them.
type generator struct {
	t     *rapid.T
	names int
}

func (g *generator) draw(depth int) (typ string, value any) {
	kinds := []string{"boolean", "int", "long", "string", "bytes", "enum", "null"}
	if depth > 0 {
		kinds = append(kinds, "array", "record", "record", "optional")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(g.t, "kind"); kind {
	case "boolean":
		return `"boolean"`, rapid.Bool().Draw(g.t, "value")
	case "int":
		return `"int"`, int(rapid.Int32().Draw(g.t, "value"))
	case "long":
		return `"long"`, rapid.Int64().Draw(g.t, "value")
	case "string":
		return `"string"`, rapid.String().Draw(g.t, "value")
	case "bytes":
		return `"bytes"`, rapid.SliceOf(rapid.Byte()).Draw(g.t, "value")
	case "enum":
		return `{"type":"enum","name":"` + g.name() + `","symbols":["a","b","c"]}`, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(g.t, "value")
	case "array":
		typ, value := g.draw(depth - 1)
		elements := []any{}
		for range rapid.IntRange(0, 3).Draw(g.t, "elements") {
			elements = append(elements, value)
		}
		return `{"type":"array","items":` + typ + `}`, elements
	case "record":
		fields, values := []string{}, map[string]any{}
		for i := range rapid.IntRange(0, 4).Draw(g.t, "fields") {
			name := "f" + strconv.Itoa(i)
			typ, value := g.draw(depth - 1)
			fields = append(fields, `{"name":"`+name+`","type":`+typ+`}`)
			values[name] = value
		}
		return `{"type":"record","name":"` + g.name() + `","fields":[` + strings.Join(fields, ",") + `]}`, values
	case "optional":
		if rapid.Bool().Draw(g.t, "null") {
			return `["null","long"]`, nil
		}
		return `["null","long"]`, map[string]any{"long": rapid.Int64().Draw(g.t, "value")}
	}
	return `"null"`, nil
}

func (g *generator) name() string {
	g.names++
	return "N" + strconv.Itoa(g.names)
}

// plain returns the JSON of a value that was drawn.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case []byte:
		b, _ := json.Marshal(v)
		return strings.Trim(string(b), `"`)
	case []any:
		elements := []any{}
		for _, e := range v {
			elements = append(elements, plain(e))
		}
		return elements
	case map[string]any:
		if n, ok := v["long"]; ok {
			return plain(n)
		}
		members := map[string]any{}
		for name, member := range v {
			members[name] = plain(member)
		}
		return members
	}
	return v
}
