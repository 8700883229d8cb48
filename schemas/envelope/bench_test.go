package envelope_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// plainPayload is a Debezium message of about 1 KB without a schema.
const plainPayload = `{"before":null,"after":{"order_id":70012345,"customer_id":4711,"status":"paid","currency":"EUR","total":"MDk=","tax":"B88=",` +
	`"placed_at":1741507626005004,"paid_at":1741507629123456,"shipped_at":null,"note":"leave at the door, please ring twice",` +
	`"address":"{\"city\":\"Lyon\",\"zip\":\"69002\"}","tags":["new","gift"],"priority":3,"is_gift":true,"weight":1.25,` +
	`"email":"someone@example.com","updated_at":"2025-03-09T08:07:06.005004Z"},` +
	`"source":{"version":"3.4.0.Final","connector":"postgresql","name":"acme","ts_ms":1741507626005,"snapshot":"false","db":"shop",` +
	`"sequence":"[\"32777618392\",\"32777618640\"]","ts_us":1741507626005004,"ts_ns":1741507626005004000,"schema":"public","table":"orders",` +
	`"txId":901,"lsn":32777618640,"xmin":null,"origin":null,"origin_lsn":null},"transaction":null,"op":"c","ts_ms":1741507626400,` +
	`"ts_us":1741507626400123,"ts_ns":1741507626400123456}`

// rowSchema is the schema of plainPayload's rows.
const rowSchema = `[{"type":"int64","optional":false,"field":"order_id"},{"type":"int64","optional":false,"field":"customer_id"},` +
	`{"type":"string","optional":false,"name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":"open,paid,void"},"default":"open","field":"status"},` +
	`{"type":"string","optional":true,"field":"currency"},` +
	`{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"10"},"field":"total"},` +
	`{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"10"},"field":"tax"},` +
	`{"type":"int64","optional":true,"name":"io.debezium.time.MicroTimestamp","version":1,"field":"placed_at"},` +
	`{"type":"int64","optional":true,"name":"io.debezium.time.MicroTimestamp","version":1,"field":"paid_at"},` +
	`{"type":"int64","optional":true,"name":"io.debezium.time.MicroTimestamp","version":1,"field":"shipped_at"},` +
	`{"type":"string","optional":true,"field":"note"},{"type":"string","optional":true,"name":"io.debezium.data.Json","version":1,"field":"address"},` +
	`{"type":"array","items":{"type":"string","optional":true},"optional":true,"field":"tags"},{"type":"int32","optional":true,"field":"priority"},` +
	`{"type":"boolean","optional":true,"field":"is_gift"},{"type":"double","optional":true,"field":"weight"},{"type":"string","optional":true,"field":"email"},` +
	`{"type":"string","optional":true,"name":"io.debezium.time.ZonedTimestamp","version":1,"field":"updated_at"}]`

const envelopeSchema = `{"type":"struct","fields":[{"type":"struct","fields":` + rowSchema + `,"optional":true,"name":"acme.public.orders.Value","field":"before"},` +
	`{"type":"struct","fields":` + rowSchema + `,"optional":true,"name":"acme.public.orders.Value","field":"after"},` +
	`{"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},{"type":"int64","optional":true,"field":"lsn"}],"optional":false,"name":"io.debezium.connector.postgresql.Source","field":"source"},` +
	`{"type":"string","optional":false,"field":"op"},{"type":"int64","optional":true,"field":"ts_ms"}],"optional":false,"name":"acme.public.orders.Envelope","version":2}`

const keySchema = `{"type":"struct","fields":[{"type":"int64","optional":false,"field":"order_id"}],"optional":false,"name":"acme.public.orders.Key"}`

// plainRow is plainPayload's row.
var plainRow = plainPayload[len(`{"before":null,"after":`):strings.Index(plainPayload, `,"source"`)]

type benchMessage struct {
	name, format string
	message      change.Message
}

var benchMessages = []benchMessage{
	{"schemaless", "debezium", change.Message{OrderingKey: `{"order_id":70012345}`, Data: []byte(plainPayload)}},
	{"schema", "debezium", change.Message{
		OrderingKey: `{"schema":` + keySchema + `,"payload":{"order_id":70012345}}`,
		Data:        []byte(`{"schema":` + envelopeSchema + `,"payload":` + plainPayload + `}`),
	}},
	{"flat", "debezium_flat", change.Message{OrderingKey: `{"order_id":70012345}`, Data: []byte(plainRow[:len(plainRow)-1] +
		`,"__op":"u","__table":"orders","__source_schema":"public","__source_ts_ms":1741507626005,"__source_lsn":32777618640,` +
		`"__source_sequence":"[\"32777618392\",\"32777618640\"]","__deleted":"false"}`)}},
	{"cloudevents", "cloudevents", change.Message{OrderingKey: `{"order_id":70012345}`, Data: []byte(`{"id":"name:acme;lsn:32777618640;txId:901",` +
		`"source":"/debezium/postgresql/acme","specversion":"1.0","type":"io.debezium.connector.postgresql.DataChangeEvent","time":"2025-03-09T08:07:06.005Z",` +
		`"datacontenttype":"application/json","iodebeziumop":"u","iodebeziumversion":"3.4.0.Final","iodebeziumconnector":"postgresql","iodebeziumname":"acme",` +
		`"iodebeziumtsms":"1741507626005","iodebeziumsnapshot":"false","iodebeziumdb":"shop","iodebeziumsequence":"[\"32777618392\",\"32777618640\"]",` +
		`"iodebeziumschema":"public","iodebeziumtable":"orders","iodebeziumtxId":"901","iodebeziumlsn":"32777618640","iodebeziumxmin":null,` +
		`"data":{"before":null,"after":` + plainRow + `}}`)}},
	{"mongodb", "debezium", change.Message{OrderingKey: `{"id":"70012345"}`, Data: []byte(`{"before":null,"after":` +
		strconv.Quote(`{"_id": {"$numberLong": "70012345"},`+plainRow[1:]) + `,"updateDescription":null,"source":{"version":"3.4.0.Final","connector":"mongodb",` +
		`"name":"acme","ts_ms":1741507626000,"snapshot":"false","db":"shop","sequence":null,"rs":"rs0","collection":"orders","ord":31,"lsid":null,` +
		`"txnNumber":null,"wallTime":null},"op":"c","ts_ms":1741507626400,"transaction":null}`)}},
	{"datastream", "datastream", change.Message{Data: []byte(`{"uuid":"5f0e7a31-2b1c-4d4e-9a77-3c2100000000","read_timestamp":"2025-03-09T08:07:07.120","source_timestamp":"2025-03-09T08:07:06.000",` +
		`"object":"shop_orders","read_method":"mysql-cdc-binlog","stream_name":"projects/1/locations/us-central1/streams/s","schema_key":"0d41c7aa52e96b3f",` +
		`"sort_keys":[1741507626000,"mysql-bin.000042",7310],"source_metadata":{"table":"orders","database":"shop","primary_keys":["order_id"],` +
		`"log_file":"mysql-bin.000042","log_position":7310,"change_type":"UPDATE-INSERT","is_deleted":false},` +
		`"payload":` + plainRow + `}`)}},
}

// wideMessage is a Debezium message without a schema of so many columns, of texts,
// numbers, times and booleans; flat without an envelope.
func wideMessage(columns int, flat bool) change.Message {
	var row strings.Builder
	row.WriteString(`{"id":70012345`)
	values := []string{`"leave at the door, please ring twice, and then once more"`, `4711`, `1741507626005004`, `1.25`, `"MDk="`, `true`}
	if flat {
		values[0] = `"paid"`
	}
	for i := range columns - 1 {
		fmt.Fprintf(&row, `,"column_%d":%s`, i, values[i%len(values)])
	}
	_, source, _ := strings.Cut(plainPayload, `,"source":`)
	data := `{"before":null,"after":` + row.String() + `},"source":` + source
	if flat {
		data = row.String() + `,"__op":"u","__schema":"public","__table":"orders","__lsn":32777618640}`
	}
	return change.Message{OrderingKey: `{"id":70012345}`, Data: []byte(data)}
}

// ratioMessages are benchMessages, and messages of few and of many columns.
func ratioMessages() []benchMessage {
	messages := slices.Clone(benchMessages)
	for _, n := range []int{5, 30, 300} {
		messages = append(messages, benchMessage{fmt.Sprintf("%d_columns", n), "debezium", wideMessage(n, false)})
	}
	return append(messages, benchMessage{"5_columns_flat", "debezium_flat", wideMessage(5, true)})
}

func BenchmarkDecode(b *testing.B) {
	for _, format := range []string{"configured", "auto"} {
		for _, bm := range benchMessages {
			o := envelope.Options{Format: envelope.Auto}
			if format == "configured" {
				o.Format = bm.format
			}
			b.Run(fmt.Sprintf("%s/%s", bm.name, format), func(b *testing.B) {
				d, err := envelope.New(o)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(bm.message.Data)))
				b.ReportAllocs()
				var events []change.Event
				for b.Loop() {
					if events, _, err = d.Decode(bm.message, events[:0]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRatio reports how many times jsontext's own time for the tokens of a
// message its decoding takes, as tokenize-times. The two take turns, and the
// quickest of each is taken, so that a busy machine doesn't count.
func BenchmarkRatio(b *testing.B) {
	for _, bm := range ratioMessages() {
		for _, tables := range []int{1, 20, 100} {
			if tables == 1 || bm.name == "schema" {
				b.Run(fmt.Sprintf("%s/%d_tables", bm.name, tables), func(b *testing.B) { benchmarkRatio(b, ofTables(bm.message, tables)) })
			}
		}
	}
}

// ofTables returns the message as that of so many tables.
func ofTables(m change.Message, tables int) []change.Message {
	messages := make([]change.Message, tables)
	for i := range messages {
		messages[i] = m
		messages[i].Data = bytes.ReplaceAll(m.Data, []byte("acme.public.orders."), fmt.Appendf(nil, "acme.public.orders%d.", i))
	}
	return messages
}

func benchmarkRatio(b *testing.B, messages []change.Message) {
	d, err := envelope.New(envelope.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const rounds = 100
	var (
		n        int
		dec      jsontext.Decoder
		events   []change.Event
		fastest  = [2]time.Duration{time.Hour, time.Hour}
		contests = [2]func(m change.Message) error{
			func(m change.Message) (err error) { events, _, err = d.Decode(m, events[:0]); return err },
			func(m change.Message) error { return tokenize(&dec, m.Data) },
		}
	)
	for b.Loop() {
		for i, contest := range contests {
			start := time.Now()
			for range rounds {
				n = (n + 1) % len(messages)
				if err := contest(messages[n]); err != nil {
					b.Fatal(err)
				}
			}
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	allocations := testing.AllocsPerRun(1000, func() {
		if err := contests[0](messages[0]); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(allocations, "allocs/message")
	b.ReportMetric(float64(fastest[0].Nanoseconds())/rounds, "decode-ns")
	b.ReportMetric(float64(fastest[1].Nanoseconds())/rounds, "tokenize-ns")
	b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "tokenize-times")
}

// BenchmarkTokenize is what BenchmarkDecode is held against: jsontext's own
// time for the tokens of the same bytes.
func BenchmarkTokenize(b *testing.B) {
	for _, bm := range benchMessages {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.message.Data)))
			b.ReportAllocs()
			var dec jsontext.Decoder
			for b.Loop() {
				if err := tokenize(&dec, bm.message.Data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func tokenize(dec *jsontext.Decoder, data []byte) error {
	dec.Reset(bytes.NewBuffer(data))
	for {
		if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
