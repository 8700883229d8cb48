package avro_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	hamba "github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// options are what a Decoder of these tests is made of.
type options struct {
	Format     string
	Epoch      uint64
	AvroSchema string
	Schemas    envelope.Schemas
}

func newDecoder(o options) (*envelope.Decoder, error) {
	return envelope.New(envelope.Options{Format: o.Format, Epoch: o.Epoch, AvroSchema: o.AvroSchema}, envelope.WithSchemas(o.Schemas))
}

// encode encodes a value by hamba's encoder.
func encode(t testing.TB, schema string, value any) []byte {
	t.Helper()
	parsed, err := hamba.ParseWithCache(schema, "", &hamba.SchemaCache{})
	if err != nil {
		t.Fatal(err)
	}
	// An API of its own: hamba remembers encoders by the names of types.
	b, err := hamba.Config{}.Freeze().Marshal(parsed, value)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decodeOne decodes a message that is one change.
func decodeOne(t testing.TB, o options, m change.Message) change.Event {
	t.Helper()
	d, err := newDecoder(o)
	if err != nil {
		t.Fatal(err)
	}
	events, control, err := d.Decode(m, nil)
	if err != nil || control != "" || len(events) != 1 {
		t.Fatalf("%d events, control %q, error %v, want one event", len(events), control, err)
	}
	if !cmp.Equal(events[0].Message, m) {
		t.Error("the event does not hold the message as it was published")
	}
	return events[0]
}

func assertColumns(t testing.TB, which string, got, want []change.Column) {
	t.Helper()
	if diff := cmp.Diff(want, got, equalValues); diff != "" {
		t.Errorf("%s (-want +got):\n%s", which, diff)
	}
}

// datastreamSchema is that of a Datastream file of a MySQL table.
const datastreamSchema = `{"type":"record","name":"datastream","fields":[
	{"name":"uuid","type":"string"},{"name":"read_timestamp","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"source_timestamp","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"object","type":"string"},{"name":"read_method","type":"string"},{"name":"stream_name","type":"string"},{"name":"schema_key","type":"string"},
	{"name":"sort_keys","type":{"type":"array","items":["string","long"]}},
	{"name":"source_metadata","type":{"type":"record","name":"source_metadata","fields":[
		{"name":"table","type":"string"},{"name":"database","type":"string"},{"name":"primary_keys","type":{"type":"array","items":"string"}},
		{"name":"log_file","type":["null","string"]},{"name":"log_position","type":["null","long"]},
		{"name":"change_type","type":"string"},{"name":"is_deleted","type":"boolean"}]}},
	{"name":"payload","type":{"type":"record","name":"payload","fields":[
		{"name":"line_id","type":["null","long"]},
		{"name":"flag","type":["null","int"]},
		{"name":"big","type":["null",{"type":"string","logicalType":"number"}]},
		{"name":"price","type":["null",{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}]},
		{"name":"day","type":["null",{"type":"long","logicalType":"timestamp-micros"}]},
		{"name":"lasted","type":["null",{"type":"long","logicalType":"time-interval-micros"}]},
		{"name":"at","type":["null",{"type":"record","name":"timestampTz","fields":[
			{"name":"timestamp","type":{"type":"long","logicalType":"timestamp-micros"}},{"name":"offset","type":{"type":"int","logicalType":"time-millis"}}]}]},
		{"name":"sku","type":["null",{"type":"record","name":"varchar","fields":[{"name":"value","type":["null","string"]},{"name":"length","type":"int"}]}]},
		{"name":"doc","type":["null",{"type":"string","logicalType":"json"}]},
		{"name":"raw","type":["null","string"]},
		{"name":"gone","type":["null","string"]}]}}]}`

func datastreamValue(t testing.TB) []byte {
	t.Helper()
	plain := strings.ReplaceAll(datastreamSchema, `"logicalType"`, `"_"`) // else hamba wants times and big.Rats
	return encode(t, plain, map[string]any{
		"uuid": "5f0e7a31", "read_timestamp": int64(1741507627120), "source_timestamp": int64(1741507626000), "object": "shop_order_line",
		"read_method": "mysql-cdc-binlog", "stream_name": "s", "schema_key": "k",
		"sort_keys": []any{map[string]any{"long": int64(1741507626000)}, map[string]any{"string": "mysql-bin.000042"}, map[string]any{"long": int64(7310)}},
		"source_metadata": map[string]any{
			"table": "order_line", "database": "shop", "primary_keys": []any{"line_id"}, "log_file": map[string]any{"string": "mysql-bin.000042"},
			"log_position": map[string]any{"long": int64(7310)}, "change_type": "UPDATE-INSERT", "is_deleted": false,
		},
		"payload": map[string]any{
			"line_id": map[string]any{"long": int64(7001)}, "flag": map[string]any{"int": 1}, "big": map[string]any{"string": "18446744073709551615"},
			"price": map[string]any{"bytes": []byte{0x30, 0x39}}, "day": map[string]any{"long": int64(1741478400000000)},
			"lasted": map[string]any{"long": int64(-90_000_000_000)},
			"at":     map[string]any{"timestampTz": map[string]any{"timestamp": int64(1741507626005004), "offset": 7_200_000}},
			"sku":    map[string]any{"varchar": map[string]any{"value": map[string]any{"string": "BOLT-M4"}, "length": 10}},
			"doc":    map[string]any{"string": `{"a": 1.0}`}, "raw": map[string]any{"string": "deadbeef"}, "gone": nil,
		},
	})
}

func assertDatastream(t *testing.T, e *change.Event) {
	t.Helper()
	if e.Table != "shop.order_line" || e.Op != change.OpUpdate || e.Sequence != change.NewSequence(5, 42, 7310, 3) ||
		!e.CommitTime.Equal(time.UnixMilli(1741507626000)) {
		t.Errorf("%s of %s, sequence %s, committed %s", e.Op, e.Table, e.Sequence, e.CommitTime)
	}
	assertColumns(t, "key", e.Key, []change.Column{{Name: "line_id", Value: change.Int64(7001)}})
	assertColumns(t, "after", e.After, []change.Column{
		{Name: "line_id", Value: change.Int64(7001)},
		{Name: "flag", Value: change.Int64(1)},
		{Name: "big", Value: change.Text("18446744073709551615")},
		{Name: "price", Value: change.Decimal("123.45")},
		{Name: "day", Value: change.Timestamp(1741478400000000)},
		{Name: "lasted", Value: change.Time(-90_000_000_000)},
		{Name: "at", Value: change.Timestamp(1741507626005004)},
		{Name: "sku", Value: change.String("BOLT-M4")},
		{Name: "doc", Value: change.JSON(`{"a": 1.0}`)},
		{Name: "raw", Value: change.String("deadbeef")},
		{Name: "gone", Value: change.Null()},
	})
}

func TestDatastream(t *testing.T) {
	m := change.Message{Data: registered(datastreamValue(t))}
	for _, format := range []string{"auto", "datastream"} {
		e := decodeOne(t, options{Format: format, Epoch: 5, Schemas: fixedSchema(datastreamSchema)}, m)
		assertDatastream(t, &e)
	}
	// As Datastream writes it: a file, whose schema is its own.
	var file bytes.Buffer
	w, err := ocf.NewEncoder(datastreamSchema, &file, ocf.WithCodec(ocf.Deflate), ocf.WithSchemaMarshaler(ocf.FullSchemaMarshaler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(datastreamValue(t)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e := decodeOne(t, options{Epoch: 5}, change.Message{Data: file.Bytes()})
	assertDatastream(t, &e)
}

// TestColumns: a topic whose schema is the row, as BigQuery's own subscriptions
// take it.
func TestColumns(t *testing.T) {
	const schema = `{"type":"record","name":"Order","fields":[{"name":"order_id","type":"long"},
		{"name":"total","type":["null",{"type":"bytes","logicalType":"decimal","precision":20,"scale":4}]},
		{"name":"placed_at","type":{"type":"long","logicalType":"timestamp-micros"}},
		{"name":"_CHANGE_TYPE","type":"string"},{"name":"_CHANGE_SEQUENCE_NUMBER","type":["null","string"]}]}`
	value := join(long(nil, 7), []byte{2, 4, 0x30, 0x39}, long(nil, -1), text(nil, "UPSERT"), []byte{2}, text(nil, "FFF/ABC"))
	e := decodeOne(t, options{Schemas: fixedSchema(schema)}, change.Message{Data: registered(value)})
	if e.Op != change.OpUpdate || e.Position != "FFF/ABC" {
		t.Errorf("%s at %s", e.Op, e.Position)
	}
	assertColumns(t, "after", e.After, []change.Column{
		{Name: "order_id", Value: change.Int64(7)},
		{Name: "total", Value: change.Decimal("1.2345")},
		{Name: "placed_at", Value: change.Timestamp(-1)},
	})
}

// TestFlat: a row that Debezium's transformation has flattened.
func TestFlat(t *testing.T) {
	const schema = `{"type":"record","name":"Value","namespace":"acme.public.t","fields":[{"name":"id","type":"long"},
		{"name":"made_at","type":{"type":"long","connect.version":1,"connect.name":"io.debezium.time.MicroTimestamp"}},
		{"name":"__op","type":["null","string"]},{"name":"__table","type":["null","string"]},{"name":"__source_schema","type":["null","string"]},
		{"name":"__lsn","type":["null","long"]},{"name":"__deleted","type":["null","string"]}],"connect.name":"acme.public.t.Value"}`
	value := join(long(nil, 7), long(nil, -1), []byte{2}, text(nil, "u"), []byte{2}, text(nil, "t"), []byte{2}, text(nil, "public"), []byte{2}, long(nil, 130), []byte{2}, text(nil, "false"))
	e := decodeOne(t, options{Schemas: fixedSchema(schema)}, change.Message{Data: registered(value)})
	if e.Op != change.OpUpdate || e.Table != "public.t" || e.Sequence.IsZero() {
		t.Errorf("%s of %s, sequence %s", e.Op, e.Table, e.Sequence)
	}
	assertColumns(t, "after", e.After, []change.Column{{Name: "id", Value: change.Int64(7)}, {Name: "made_at", Value: change.DateTime(-1)}})
}

// spannerSchema is what matters of the schema that the template from Spanner's
// change streams to Pub/Sub writes with.
const spannerSchema = `{"type":"record","name":"DataChangeRecord","namespace":"com.google.cloud.teleport.v2","fields":[
	{"name":"partitionToken","type":"string"},{"name":"commitTimestamp","type":"long","logicalType":"timestamp-micros"},
	{"name":"recordSequence","type":"string"},{"name":"tableName","type":"string"},
	{"name":"rowType","type":{"type":"array","items":{"name":"ColumnType","type":"record","fields":[{"name":"name","type":"string"},
		{"name":"Type","type":{"name":"TypeCode","type":"enum","symbols":["TYPE_CODE_UNSPECIFIED","BOOL","INT64","NUMERIC"]}},
		{"name":"isPrimaryKey","type":"boolean"},{"name":"ordinalPosition","type":"long"}]},"java-class":"java.util.List"}},
	{"name":"mods","type":{"type":"array","items":{"name":"Mod","type":"record","fields":[{"name":"keysJson","type":"string"},
		{"name":"oldValuesJson","type":["null","string"],"default":null},{"name":"newValuesJson","type":["null","string"],"default":null}]}}},
	{"name":"modType","type":{"name":"ModType","type":"enum","symbols":["INSERT","UPDATE","DELETE"]}},
	{"name":"valueCaptureType","type":{"name":"ValueCaptureType","type":"enum","symbols":["OLD_AND_NEW_VALUES","NEW_ROW","NEW_VALUES"]}}]}`

// TestSpanner: the message of Spanner's template, of two mods.
func TestSpanner(t *testing.T) {
	column := func(name string, code int64, key byte) []byte {
		return join(text(nil, name), long(nil, code), []byte{key}, long(nil, 1))
	}
	mod := func(keys, values string) []byte { return join(text(nil, keys), []byte{0, 2}, text(nil, values)) }
	value := join(text(nil, "token"), long(nil, 1741507626005004), text(nil, "00000001"), text(nil, "OrderLine"),
		[]byte{4}, column("LineId", 2, 1), column("Price", 3, 0), []byte{0},
		[]byte{4}, mod(`{"LineId":"7001"}`, `{"Price":"123.45"}`), mod(`{"LineId":"7002"}`, `{"Price":null}`), []byte{0},
		long(nil, 0), long(nil, 1))
	d, err := newDecoder(options{Epoch: 1, Schemas: fixedSchema(spannerSchema)})
	if err != nil {
		t.Fatal(err)
	}
	events, _, err := d.Decode(change.Message{Data: registered(value)}, nil)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, error %v, want two", len(events), err)
	}
	for i, e := range events {
		if e.Table != "OrderLine" || e.Op != change.OpCreate || int(e.Part) != i || e.Parts != 2 || e.Sequence.IsZero() ||
			!e.CommitTime.Equal(time.UnixMicro(1741507626005004)) {
			t.Errorf("event %d: %s of %s, part %d of %d, sequence %s, committed %s", i, e.Op, e.Table, e.Part, e.Parts, e.Sequence, e.CommitTime)
		}
	}
	assertColumns(t, "after", events[0].After, []change.Column{{Name: "LineId", Value: change.Int64(7001)}, {Name: "Price", Value: change.Decimal("123.45")}})
}

// TestTombstone: a value that is null is what an empty message is.
func TestTombstone(t *testing.T) {
	d, err := newDecoder(options{Schemas: fixedSchema(`["null",` + envelopeOf(`"int"`) + `]`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{registered([]byte{0}), {}, nil} {
		if events, control, err := d.Decode(change.Message{Data: data}, nil); len(events) > 0 || control != envelope.Tombstone || err != nil {
			t.Errorf("%x: %d events, control %q, error %v, want a tombstone", data, len(events), control, err)
		}
	}
}
