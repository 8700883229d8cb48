package ddl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// values are Debezium's values for the named schemas: type, value, and for some more of
// the schema.
var values = map[string]string{
	"org.apache.kafka.connect.data.Decimal":   `"type":"bytes","parameters":{"scale":"2","connect.decimal.precision":"12"}|"MDk="`,
	"org.apache.kafka.connect.data.Date":      `"type":"int32"|20156`,
	"org.apache.kafka.connect.data.Time":      `"type":"int32"|29226005`,
	"org.apache.kafka.connect.data.Timestamp": `"type":"int64"|1741507626094`,
	"io.debezium.data.VariableScaleDecimal":   `"type":"struct","fields":[{"type":"int32","field":"scale"},{"type":"bytes","field":"value"}]|{"scale":4,"value":"D09R"}`,
	"io.debezium.data.Json":                   `"type":"string"|"{\"a\":1}"`,
	"io.debezium.data.Bits":                   `"type":"bytes"|"AwI="`,
	"io.debezium.data.Uuid":                   `"type":"string"|"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`,
	"io.debezium.data.Enum":                   `"type":"string"|"open"`,
	"io.debezium.data.Ltree":                  `"type":"string"|"a.b"`,
	"io.debezium.data.FloatVector":            `"type":"array","items":{"type":"float32"}|[0.5,0.25]`,
	"io.debezium.data.geometry.Point":         `"type":"struct","fields":[{"type":"float64","field":"x"}]|{"x":1.5,"y":-2.25,"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":null}`,
	"io.debezium.data.geometry.Geometry":      `"type":"struct","fields":[{"type":"bytes","field":"wkb"}]|{"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":3857}`,
	"io.debezium.data.geometry.Geography":     `"type":"struct","fields":[{"type":"bytes","field":"wkb"}]|{"wkb":"AQEAAAAAAAAAAAD4PwAAAAAAAALA","srid":4326}`,
	"io.debezium.time.Date":                   `"type":"int32"|20156`,
	"io.debezium.time.Time":                   `"type":"int32"|29226005`,
	"io.debezium.time.MicroTime":              `"type":"int64"|29226005004`,
	"io.debezium.time.NanoTime":               `"type":"int64"|29226005004999`,
	"io.debezium.time.Timestamp":              `"type":"int64"|1741507626094`,
	"io.debezium.time.MicroTimestamp":         `"type":"int64"|1741507626005004`,
	"io.debezium.time.NanoTimestamp":          `"type":"int64"|1741507626005004999`,
	"io.debezium.time.ZonedTimestamp":         `"type":"string"|"2025-03-09T08:07:06.005004Z"`,
	"io.debezium.time.ZonedTime":              `"type":"string"|"08:07:06.5Z"`,
	"io.debezium.time.IsoDate":                `"type":"string"|"2025-03-09Z"`,
	"io.debezium.time.IsoTime":                `"type":"string"|"08:07:06.005Z"`,
	"io.debezium.time.IsoTimestamp":           `"type":"string"|"2025-03-09T08:07:06.005004Z"`,
	"io.debezium.time.Interval":               `"type":"string"|"P1Y2M3DT4H5M6.78S"`,
	"io.debezium.time.MicroDuration":          `"type":"int64"|86400000000`,
	"io.debezium.time.NanoDuration":           `"type":"int64"|86400000000000`,
	"io.debezium.time.Year":                   `"type":"int32"|2025`,
	"a struct":                                `"type":"struct","fields":[{"type":"string","optional":true,"field":"city"},{"type":"int32","optional":true,"field":"zip"}]|{"city":"Ulm","zip":89073}`,
	"an array of arrays":                      `"type":"array","items":{"type":"array","items":{"type":"int32"}}|[[1],[2]]`,
	"a map":                                   `"type":"map"|{"a":"b"}`,
	"a boolean":                               `"type":"boolean"|true`,
	"an int8":                                 `"type":"int8"|-128`,
	"an int16":                                `"type":"int16"|32767`,
	"an int64":                                `"type":"int64"|9223372036854775807`,
	"a float32":                               `"type":"float32"|0.5`,
	"a float64":                               `"type":"float64"|"NaN"`,
	"a string":                                `"type":"string"|"NaN"`,
	"bytes":                                   `"type":"bytes"|"3q2+7w=="`,
}

// Whatever Debezium calls a type, the column for it takes the value that the pipeline
// decodes, with the message's schema, and with the rule's settings that are named for
// messages without one.
func TestConnectSchema_column(t *testing.T) {
	decoder, err := envelope.New(envelope.Options{Format: "debezium"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range values {
		t.Run(name, func(t *testing.T) {
			schema, value, _ := strings.Cut(text, "|")
			field := "{" + schema + `,"field":"c","name":` + fmt.Sprintf("%q", name) + "}"
			if strings.HasPrefix(name, "a ") || strings.HasPrefix(name, "an ") || name == "bytes" {
				field = "{" + schema + `,"field":"c"}`
			}
			var s connectSchema
			if err := json.Unmarshal([]byte(field), &s); err != nil {
				t.Fatal(err)
			}
			c := s.column(&Source{})
			for _, wrapped := range []bool{true, false} {
				column := c
				if wrapped {
					column.From, column.FromScale = "", 0
				}
				data := fmt.Sprintf(`{"before":null,"after":{"c":%s},"source":{"connector":"postgresql","db":"d","schema":"public","table":"t","lsn":1,"sequence":"[null,\"1\"]","txId":1},"op":"c"}`, value)
				if wrapped {
					data = `{"schema":{"type":"struct","fields":[{"type":"struct","fields":[` + field + `],"field":"after"}]},"payload":` + data + "}"
				}
				events, _, err := decoder.Decode(change.Message{ID: "m", Data: []byte(data)}, nil)
				if err != nil || len(events) != 1 {
					t.Fatalf("%d events, %v", len(events), err)
				}
				plan, err := rowproto.Compile(&table.Table{
					Name: table.Name{Project: "p", Dataset: "d", Table: "t"}, PrimaryKey: []string{"id"},
					Columns: []table.Column{{Name: "id", Type: table.Int64}, column},
				})
				if err != nil {
					t.Fatal(err)
				}
				row := append([]change.Column{{Name: "id", Value: change.Int64(1)}}, events[0].After...)
				if _, err := plan.NewEncoder().AppendUpsert(nil, row, change.NewSequence(1), rowproto.RowOptions{}); err != nil {
					t.Errorf("with a schema %v: %s: %v", wrapped, column.SQLType(), err)
				}
			}
		})
	}
}

func TestDecimalType(t *testing.T) {
	for _, test := range []struct {
		precision, scale int
		want             table.Type
	}{
		{12, 2, table.Numeric},
		{38, 9, table.Numeric},
		{29, 0, table.Numeric},
		{9, 9, table.Numeric},
		{30, 0, table.BigNumeric},
		{38, 10, table.BigNumeric},
		{3, -2, table.Numeric},
		{76, 38, table.BigNumeric},
		{38, 0, table.BigNumeric},
		{39, 0, table.String},
		{40, 39, table.String},
		{65, 30, table.BigNumeric},
		{65, 0, table.String},
	} {
		if got := decimalType(test.precision, test.scale); got != test.want {
			t.Errorf("decimal(%d, %d) is %s, want %s", test.precision, test.scale, got, test.want)
		}
	}
}

// PostgreSQL keeps precision and scale in one number, the scale signed in its last
// eleven bits.
func TestPGType_numeric(t *testing.T) {
	for _, test := range []struct {
		precision, scale int
		want             table.Type
	}{{12, 2, table.Numeric}, {38, 9, table.Numeric}, {5, -3, table.Numeric}, {30, 0, table.BigNumeric}, {1000, 0, table.String}} {
		typ := pgType{name: "numeric", kind: "b", typmod: (test.precision<<16 | test.scale&0x7ff) + 4}
		c, known := typ.column(&Source{}, "c")
		if !known || c.Type != test.want || c.FromScale != int64(test.scale) {
			t.Errorf("numeric(%d, %d) is %+v, want %s", test.precision, test.scale, c, test.want)
		}
	}
}

// A name that a source has chosen ends no comment.
func TestComment(t *testing.T) {
	if got := comment("a\nb\rc\u2028d\x1b[2J\n"); got != "-- a\n-- b\\rc\\u2028d\\x1b[2J\n" {
		t.Errorf("got %q", got)
	}
}
