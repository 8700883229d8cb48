package envelope_test

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// TestDecode_avroEqualsJSON: a change that Kafka Connect's Avro converter wrote
// makes the same events as the one that its JSON converter wrote.
func TestDecode_avroEqualsJSON(t *testing.T) {
	assertSame(t, envelope.Options{}, readMessage(t, "testdata/debezium/schema_types.json")) // every semantic type

	schema := rowSchemaOf(`{"type":"int64","field":"id"},{"type":"string","optional":true,"field":"note"},` +
		`{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"},"field":"price"}`)
	const row, old = `{"id":7,"note":"a \"b\"","price":"MDk="}`, `{"id":7,"note":"","price":null}`
	for what, payload := range map[string]string{
		"create":        payloadOf("c", "null", row),
		"snapshot":      payloadOf("r", "null", row),
		"update":        payloadOf("u", "null", row),
		"whole update":  payloadOf("u", old, row),
		"delete":        payloadOf("d", old, "null"),
		"truncate":      payloadOf("t", "null", "null"),
		"no after":      payloadOf("c", "null", "null"),
		"an unknown op": payloadOf("?", "null", row),
	} {
		t.Run(what, func(t *testing.T) {
			m := change.Message{
				OrderingKey: `{"id":7}`,
				Attributes:  map[string]string{"a": "b"},
				Data:        []byte(`{"schema":` + schema + `,"payload":` + payload + `}`),
			}
			assertSame(t, envelope.Options{Epoch: 3}, m)
			assertSame(t, envelope.Options{Format: "debezium"}, m)
		})
	}
}

// TestDecode_avroProperty: the same of any values.
func TestDecode_avroProperty(t *testing.T) {
	number := func(min, max int64) *rapid.Generator[string] {
		return rapid.Map(rapid.Int64Range(min, max), func(n int64) string { return strconv.FormatInt(n, 10) })
	}
	long, short := number(math.MinInt64, math.MaxInt64), number(math.MinInt32, math.MaxInt32)
	quoted := rapid.Map(rapid.String(), func(text string) string {
		b, _ := jsontext.AppendQuote(nil, text)
		return string(b)
	})
	base := func(least int) *rapid.Generator[string] {
		return rapid.Map(rapid.SliceOfN(rapid.Byte(), least, 40), func(b []byte) string {
			return `"` + base64.StdEncoding.EncodeToString(b) + `"`
		})
	}
	float := rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) })
	single := rapid.Map(rapid.Float32(), func(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) })
	types := []struct {
		schema string
		value  *rapid.Generator[string]
	}{
		{`"type":"boolean"`, rapid.SampledFrom([]string{"true", "false"})},
		{`"type":"int32"`, short},
		{`"type":"int64"`, long},
		{`"type":"float"`, single},
		{`"type":"double"`, float},
		{`"type":"string"`, quoted},
		{`"type":"bytes"`, base(0)},
		{`"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"3"}`, base(1)},
		{`"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"60"}`, base(1)},
		{`"type":"int32","name":"io.debezium.time.Date"`, short},
		{`"type":"int64","name":"io.debezium.time.MicroTime"`, long},
		{`"type":"int64","name":"io.debezium.time.Timestamp"`, long},
		{`"type":"int64","name":"io.debezium.time.NanoTimestamp"`, long},
		{`"type":"int64","name":"org.apache.kafka.connect.data.Timestamp"`, long},
		{`"type":"string","name":"io.debezium.data.Json"`, quoted},
		{`"type":"array","items":{"type":"int64","optional":true}`, rapid.Map(rapid.SliceOfN(rapid.OneOf(long, rapid.Just("null")), 0, 4), func(e []string) string {
			return "[" + strings.Join(e, ",") + "]"
		})},
		{`"type":"map","values":{"type":"string"}`, rapid.Map(rapid.StringMatching(`[ -~\n]*`), func(text string) string {
			b, _ := jsontext.AppendQuote([]byte(`{"k":`), text) // as Jackson does, but for control characters without a letter
			return string(b) + "}"
		})},
	}
	rapid.Check(t, func(rt *rapid.T) {
		var fields, before, after []string
		for i, n := 0, rapid.IntRange(1, 8).Draw(rt, "columns"); i < n; i++ {
			typ := rapid.SampledFrom(types).Draw(rt, "type")
			name := "c" + strconv.Itoa(i)
			optional := rapid.Bool().Draw(rt, "optional")
			fields = append(fields, `{`+typ.schema+`,"optional":`+strconv.FormatBool(optional)+`,"field":"`+name+`"}`)
			value := typ.value
			if optional {
				value = rapid.OneOf(value, rapid.Just("null"))
			}
			before = append(before, `"`+name+`":`+value.Draw(rt, "before"))
			after = append(after, `"`+name+`":`+value.Draw(rt, "after"))
		}
		payload := payloadOf(rapid.SampledFrom([]string{"c", "u", "d", "r"}).Draw(rt, "op"), "{"+strings.Join(before, ",")+"}", "{"+strings.Join(after, ",")+"}")
		assertSame(rt, envelope.Options{}, change.Message{Data: []byte(`{"schema":` + rowSchemaOf(strings.Join(fields, ",")) + `,"payload":` + payload + `}`)})
	})
}

// rowSchemaOf is the schema of a message of Debezium's with a row of these fields.
func rowSchemaOf(fields string) string {
	row := func(which string) string {
		return `{"type":"struct","fields":[` + fields + `],"optional":true,"name":"acme.public.t.Value","field":"` + which + `"}`
	}
	return `{"type":"struct","name":"acme.public.t.Envelope","fields":[` + row("before") + `,` + row("after") + `,
		{"type":"struct","name":"io.debezium.connector.postgresql.Source","field":"source","fields":[]},{"type":"string","field":"op"},
		{"type":"int64","optional":true,"field":"ts_ms"}]}`
}

func payloadOf(op, before, after string) string {
	return `{"before":` + before + `,"after":` + after + `,"op":"` + op + `","ts_ms":1,` +
		`"source":{"connector":"postgresql","schema":"public","table":"t","lsn":130,"sequence":"[\"120\",\"130\"]","snapshot":"false","ts_ms":1}}`
}

// TestDecode_avroUnavailable: the placeholder in all its shapes.
func TestDecode_avroUnavailable(t *testing.T) {
	const placeholder = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
	schema := rowSchemaOf(`{"type":"int64","field":"id"},{"type":"string","optional":true,"field":"note"},
		{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"},"field":"price"},
		{"type":"array","optional":true,"items":{"type":"bytes"},"field":"pics"},{"type":"array","optional":true,"items":{"type":"int32"},"field":"ids"},
		{"type":"map","optional":true,"values":{"type":"string","optional":true},"field":"tags"}`)
	row := `{"id":7,"note":"__debezium_unavailable_value","price":"` + placeholder + `","pics":["` + placeholder + `"],
		"ids":[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101],
		"tags":{"__debezium_unavailable_value":"__debezium_unavailable_value"}}`
	m := change.Message{
		OrderingKey: `{"id":7}`,
		Data:        []byte(`{"schema":` + schema + `,"payload":` + payloadOf("u", "null", row) + `}`),
	}
	assertSame(t, envelope.Options{}, m)
	events, _, err := decode(t, envelope.Options{}, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range events[0].After[1:] {
		if c.Value.Kind() != change.KindUnavailable {
			t.Errorf("%s is %s", c.Name, describeValue(c.Value))
		}
	}
}

// assertSame asserts that a message and the same in Avro make the same events.
func assertSame(t rapid.TB, o envelope.Options, m change.Message) {
	t.Helper()
	m.Data = bytes.Clone(m.Data)
	if err := (*jsontext.Value)(&m.Data).Compact(); err != nil { // as the converter writes it
		t.Fatal(err)
	}
	c := newConverter(t)
	inAvro := c.convert(m)
	events, control, err := decodeAlone(t, o, m)
	want := describe(events, control, err)
	events, control, err = decodeAlone(t, o, inAvro, envelope.WithSchemas(c))
	if got := describe(events, control, err); got != want {
		t.Errorf("%s\nin Avro (-JSON +Avro):\n%s", m.Data, cmp.Diff(want, got))
	}
	for i := range events {
		if !cmp.Equal(events[i].Message, inAvro) {
			t.Errorf("event %d does not hold the message as it was published", i)
		}
	}
}

// decodeAlone is decode for rapid's tests too.
func decodeAlone(t rapid.TB, o envelope.Options, m change.Message, with ...envelope.Dependency) ([]change.Event, envelope.Control, error) {
	d, err := envelope.New(o, with...)
	if err != nil {
		t.Fatal(err)
	}
	return d.Decode(m, nil)
}
