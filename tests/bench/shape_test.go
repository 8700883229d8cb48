package bench

import (
	"fmt"
	"strconv"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/tests/internal/orders"
)

// shape is what messages of a kind look like.
type shape struct {
	name    string
	columns int  // beside the key
	text    int  // bytes of a STRING value: one column in six
	schema  bool // Debezium's messages have their schema with them
	flat    bool // the row alone, as Debezium's ExtractNewRecordState leaves it
	tables  int  // 0 for one
}

var shapes = []shape{
	{name: "5_columns_200B", columns: 4, text: 8, flat: true},
	{name: "5_columns", columns: 4, text: 20},
	{name: "5_columns_schema", columns: 4, text: 20, schema: true},
	{name: "30_columns", columns: 29, text: 60},
	{name: "30_columns_schema", columns: 29, text: 60, schema: true},
	{name: "300_columns", columns: 299, text: 60},
	{name: "300_columns_schema", columns: 299, text: 60, schema: true},
	{name: "300_columns_100KB", columns: 299, text: 1900},
	{name: "30_columns_100_tables", columns: 29, text: 60, tables: 100},
	{name: "30_columns_2000_tables", columns: 29, text: 60, tables: 2000},
}

func shapeOf(name string) shape {
	for _, s := range shapes {
		if s.name == name {
			return s
		}
	}
	panic("no shape " + name)
}

// kinds are the columns' types in turns, with what a message without a schema doesn't say.
var kinds = []struct{ column, from, schema string }{
	{"STRING", "", `"type":"string"`},
	{"INT64", "", `"type":"int64"`},
	{"TIMESTAMP", "from: micros", `"type":"int64","name":"io.debezium.time.MicroTimestamp","version":1`},
	{"FLOAT64", "", `"type":"double"`},
	{`"NUMERIC(12,2)"`, "from: decimal, scale: 2", `"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"12"}`},
	{"BOOL", "", `"type":"boolean"`},
}

// config is the pipeline's configuration of these tables.
func (s *shape) config() string {
	var b strings.Builder
	b.WriteString("tables:\n  - source: public.*\n    destination: shop.{table}\n    primary_key: [id]\n    columns:\n" +
		"      - {name: id, type: INT64, mode: REQUIRED}\n")
	for c := range s.columns {
		k := kinds[c%len(kinds)]
		fmt.Fprintf(&b, "      - {name: column_%d, type: %s", c, k.column)
		if k.from != "" && !s.schema {
			b.WriteString(", " + k.from)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// message is message i: the update of a row.
func (s *shape) message(i int) change.Message {
	table := "t" + strconv.Itoa(i%max(s.tables, 1))
	row := s.appendRow(nil, i)
	key := fmt.Sprintf(`{"id":%d}`, i)
	lsn := orders.FirstLSN + i*248
	switch {
	case s.flat:
		data := fmt.Appendf(row[:len(row)-1], `,"__op":"u","__schema":"public","__table":"%s","__lsn":%d}`, table, lsn)
		return change.Message{ID: strconv.Itoa(i), Data: data, OrderingKey: key}
	case s.schema:
		data := append([]byte(`{"schema":`), s.schemaOf(table)...)
		data = append(append(append(data, `,"payload":{"before":null,"after":`...), row...), orders.AppendEnd(nil, table, 'u', i)...)
		key = fmt.Sprintf(`{"schema":{"type":"struct","fields":[{"type":"int64","optional":false,"field":"id"}],"optional":false,"name":"acme.public.%s.Key"},"payload":%s}`, table, key)
		return change.Message{ID: strconv.Itoa(i), Data: append(data, '}'), OrderingKey: key}
	}
	data := append([]byte(`{"before":null,"after":`), row...)
	return change.Message{ID: strconv.Itoa(i), Data: append(data, orders.AppendEnd(nil, table, 'u', i)...), OrderingKey: key}
}

func (s *shape) appendRow(b []byte, i int) []byte {
	b = fmt.Appendf(b, `{"id":%d`, i)
	for c := range s.columns {
		b = fmt.Appendf(b, `,"column_%d":`, c)
		switch c % len(kinds) {
		case 0:
			b = append(b, '"')
			for n := 0; n < s.text; n += len(words) {
				b = append(b, words[:min(len(words), s.text-n)]...)
			}
			b = append(b, '"')
		case 1:
			b = strconv.AppendInt(b, int64(i*7919+c), 10)
		case 2:
			b = strconv.AppendInt(b, 1_741_507_626_005_004+int64(i)*1000, 10)
		case 3:
			b = strconv.AppendFloat(b, float64(i+c)/8, 'g', -1, 64)
		case 4:
			b = append(b, `"MDk="`...)
		default:
			b = strconv.AppendBool(b, (i+c)%3 == 0)
		}
	}
	return append(b, '}')
}

const words = "leave it at the door and ring twice; "

// schemaOf is the schema that Debezium sends with each message.
func (s *shape) schemaOf(table string) string {
	var fields strings.Builder
	fields.WriteString(`{"type":"int64","optional":false,"field":"id"}`)
	for c := range s.columns {
		fmt.Fprintf(&fields, `,{%s,"optional":true,"field":"column_%d"}`, kinds[c%len(kinds)].schema, c)
	}
	image := func(field string) string {
		return `{"type":"struct","fields":[` + fields.String() + `],"optional":true,"name":"acme.public.` + table + `.Value","field":"` + field + `"}`
	}
	return `{"type":"struct","fields":[` + image("before") + `,` + image("after") + `,` + sourceSchema +
		`,{"type":"string","optional":false,"field":"op"},{"type":"int64","optional":true,"field":"ts_ms"}],"optional":false,"name":"acme.public.` + table + `.Envelope","version":2}`
}

const sourceSchema = `{"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},{"type":"string","optional":false,"field":"connector"},` +
	`{"type":"string","optional":false,"field":"name"},{"type":"int64","optional":false,"field":"ts_ms"},` +
	`{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":"true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"},"default":"false","field":"snapshot"},` +
	`{"type":"string","optional":false,"field":"db"},{"type":"string","optional":true,"field":"sequence"},{"type":"int64","optional":true,"field":"ts_us"},{"type":"int64","optional":true,"field":"ts_ns"},` +
	`{"type":"string","optional":false,"field":"schema"},{"type":"string","optional":false,"field":"table"},{"type":"int64","optional":true,"field":"txId"},{"type":"int64","optional":true,"field":"lsn"},{"type":"int64","optional":true,"field":"xmin"}],` +
	`"optional":false,"name":"io.debezium.connector.postgresql.Source","version":1,"field":"source"}`
