package emulator

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/emulator/internal/rowtest"
)

// typeCase is one value on its way: sent as protojson in a field of a protobuf
// type, and read back as JSON, or refused with a row error that holds refused.
type typeCase struct {
	column  string // "STRING(5)", "RANGE<DATE>", "NUMERIC(10,2)", "STRING[]"
	field   string // "int64", "enum", "google.protobuf.Timestamp", "message"
	value   string
	want    string
	refused string
}

func le(n *big.Int) string { // BigDecimalByteStringEncoder's form, 32 bytes
	two := new(big.Int).Set(n)
	if n.Sign() < 0 {
		two.Add(two, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	b := two.FillBytes(make([]byte, 32))
	for i := range 16 {
		b[i], b[31-i] = b[31-i], b[i]
	}
	return `"` + base64.StdEncoding.EncodeToString(b) + `"`
}

func bigInt(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return n
}

func packDateTime(year, month, day, hour, minute, second, micros int64) string {
	packed := ((year<<26|month<<22|day<<17|hour<<12|minute<<6|second)<<20 | micros)
	return fmt.Sprintf("%q", fmt.Sprint(packed))
}

func packTime(hour, minute, second, micros int64) string {
	return fmt.Sprintf("%q", fmt.Sprint((hour<<12|minute<<6|second)<<20|micros))
}

var typeCases = []typeCase{
	{"BOOLEAN", "bool", `true`, `true`, ""},
	{"BOOLEAN", "int64", `"0"`, `false`, ""},
	{"BOOLEAN", "uint32", `7`, `true`, ""},
	{"BOOLEAN", "google.protobuf.BoolValue", `false`, `false`, ""},
	{"INTEGER", "int64", `"-9223372036854775808"`, `"-9223372036854775808"`, ""},
	{"INTEGER", "int32", `-1`, `"-1"`, ""},
	{"INTEGER", "sint32", `-2147483648`, `"-2147483648"`, ""},
	{"INTEGER", "sint64", `"-3"`, `"-3"`, ""},
	{"INTEGER", "sfixed64", `"-4"`, `"-4"`, ""},
	{"INTEGER", "fixed32", `4294967295`, `"4294967295"`, ""},
	{"INTEGER", "uint32", `4294967295`, `"4294967295"`, ""},
	{"INTEGER", "enum", `"ONE"`, `"1"`, ""},
	{"INTEGER", "google.protobuf.Int64Value", `"0"`, `"0"`, ""},
	{"INTEGER", "google.protobuf.UInt32Value", `5`, `"5"`, ""},
	{"FLOAT", "double", `1.5`, `1.5`, ""},
	{"FLOAT", "double", `1e300`, `1e+300`, ""},
	{"FLOAT", "double", `-0.0`, `-0`, ""},
	{"FLOAT", "double", `"NaN"`, `"NaN"`, ""},
	{"FLOAT", "double", `"-Infinity"`, `"-Infinity"`, ""},
	{"FLOAT", "float", `0.5`, `0.5`, ""},
	{"FLOAT", "google.protobuf.DoubleValue", `3`, `3`, ""},
	{"NUMERIC", "string", `"-12.50"`, `"-12.5"`, ""},
	{"NUMERIC", "string", `"99999999999999999999999999999.999999999"`, `"99999999999999999999999999999.999999999"`, ""},
	{"NUMERIC", "string", `"-99999999999999999999999999999.999999999"`, `"-99999999999999999999999999999.999999999"`, ""},
	{"NUMERIC", "string", `"100000000000000000000000000000"`, "", "out of range"},
	{"NUMERIC", "string", `"99999999999999999999999999999.9999999995"`, "", "out of range"},
	{"NUMERIC", "string", `"0.0000000005"`, `"0.000000001"`, ""},
	{"NUMERIC", "string", `"-0.0000000004999"`, `"0"`, ""},
	{"NUMERIC", "string", `"1.5e-3"`, `"0.0015"`, ""},
	{"NUMERIC", "string", `"+1E3"`, `"1000"`, ""},
	{"NUMERIC", "string", `"1e1000000000000"`, "", "out of range"},
	{"NUMERIC", "string", `"1e-1000000000000"`, `"0"`, ""},
	{"NUMERIC", "string", `"abc"`, "", "no decimal"},
	{"NUMERIC", "string", `""`, "", "no decimal"},
	{"NUMERIC", "string", `"."`, "", "no decimal"},
	{"NUMERIC", "bytes", le(big.NewInt(-12_500_000_000)), `"-12.5"`, ""},
	{"NUMERIC", "bytes", `"AQ=="`, `"0.000000001"`, ""},
	{"NUMERIC", "bytes", `"/w=="`, `"-0.000000001"`, ""},
	{"NUMERIC", "bytes", `""`, `"0"`, ""},
	{"NUMERIC", "bytes", le(bigInt("100000000000000000000000000000000000000")), "", "out of range"},
	{"NUMERIC", "int64", `"-7"`, `"-7"`, ""},
	{"NUMERIC", "uint64", `"18446744073709551615"`, `"18446744073709551615"`, ""},
	{"NUMERIC", "double", `0.1`, `"0.1"`, ""},
	{"NUMERIC", "double", `"NaN"`, "", "no decimal"},
	{"NUMERIC(5,2)", "string", `"123.455"`, `"123.46"`, ""},
	{"NUMERIC(5,2)", "string", `"-123.455"`, `"-123.46"`, ""},
	{"NUMERIC(5,2)", "string", `"999.995"`, "", "out of range"},
	{"BIGNUMERIC", "string", `"578960446186580977117854925043439539266.34992332820282019728792003956564819967"`, `"578960446186580977117854925043439539266.34992332820282019728792003956564819967"`, ""},
	{"BIGNUMERIC", "string", `"-578960446186580977117854925043439539266.34992332820282019728792003956564819968"`, `"-578960446186580977117854925043439539266.34992332820282019728792003956564819968"`, ""},
	{"BIGNUMERIC", "string", `"578960446186580977117854925043439539266.34992332820282019728792003956564819968"`, "", "out of range"},
	{"BIGNUMERIC", "string", `"0.00000000000000000000000000000000000001"`, `"0.00000000000000000000000000000000000001"`, ""},
	{"BIGNUMERIC", "string", `"0.000000000000000000000000000000000000005"`, `"0.00000000000000000000000000000000000001"`, ""},
	{"BIGNUMERIC", "bytes", le(new(big.Int).Neg(bigInt("1" + strings.Repeat("0", 38)))), `"-1"`, ""},
	{"BIGNUMERIC", "google.protobuf.BytesValue", `"AQ=="`, `"0.00000000000000000000000000000000000001"`, ""},
	{"STRING", "string", `"ünï \u0000 \""`, `"ünï \u0000 \""`, ""},
	{"STRING", "string", `""`, `""`, ""},
	{"STRING", "enum", `"ONE"`, `"ONE"`, ""},
	{"STRING", "google.protobuf.StringValue", `"w"`, `"w"`, ""},
	{"STRING(3)", "string", `"äöü"`, `"äöü"`, ""},
	{"STRING(3)", "string", `"äöüß"`, "", "Field v: STRING(3) has maximum length 3 but got a value with length 4"},
	{"BYTES", "bytes", `"AAEC/w=="`, `"AAEC/w=="`, ""},
	{"BYTES", "bytes", `""`, `""`, ""},
	{"BYTES", "string", `"hi"`, `"aGk="`, ""},
	{"BYTES(1)", "bytes", `"AAE="`, "", "BYTES(1) has maximum length 1 but got a value with length 2"},
	{"DATE", "int32", `-719162`, `"0001-01-01"`, ""},
	{"DATE", "int32", `2932896`, `"9999-12-31"`, ""},
	{"DATE", "int32", `2932897`, "", "out of range"},
	{"DATE", "int32", `-719163`, "", "out of range"},
	{"DATE", "int64", `"-1"`, `"1969-12-31"`, ""},
	{"DATE", "string", `"2024-2-29"`, `"2024-02-29"`, ""},
	{"DATE", "string", `"2023-02-29"`, "", "out of range"},
	{"DATE", "string", `"2023-02-28T"`, "", "no valid literal"},
	{"TIME", "int64", packTime(23, 59, 59, 999_999), `"23:59:59.999999"`, ""},
	{"TIME", "int64", packTime(24, 0, 0, 0), "", "out of range"},
	{"TIME", "int64", packTime(1, 2, 3, 1_000_000), "", "out of range"},
	{"TIME", "int64", `"-1"`, "", "out of range"},
	{"TIME", "string", `"8:7:6.005004"`, `"08:07:06.005004"`, ""},
	{"TIME", "string", `"8:7"`, "", "no valid literal"},
	{"TIME", "string", `"8:7:60"`, "", "out of range"},
	{"TIME", "string", `"8:7:6.0050041"`, "", "no valid literal"},
	{"DATETIME", "int64", packDateTime(2025, 3, 9, 8, 7, 6, 5004), `"2025-03-09T08:07:06.005004"`, ""},
	{"DATETIME", "int64", packDateTime(1, 1, 1, 0, 0, 0, 0), `"0001-01-01T00:00:00.000000"`, ""},
	{"DATETIME", "int64", packDateTime(9999, 12, 31, 23, 59, 59, 999_999), `"9999-12-31T23:59:59.999999"`, ""},
	{"DATETIME", "int64", packDateTime(10000, 1, 1, 0, 0, 0, 0), "", "out of range"},
	{"DATETIME", "int64", packDateTime(2025, 2, 30, 0, 0, 0, 0), "", "out of range"},
	{"DATETIME", "string", `"2025-03-09 08:07:06.5"`, `"2025-03-09T08:07:06.500000"`, ""},
	{"DATETIME", "string", `"2025-03-09T08:07:06"`, `"2025-03-09T08:07:06.000000"`, ""},
	{"DATETIME", "string", `"2025-03-09"`, `"2025-03-09T00:00:00.000000"`, ""},
	{"DATETIME", "string", `"2025-03-09T08:07:06Z"`, "", "no valid literal"},
	{"TIMESTAMP", "int64", `"1741507626005004"`, `"2025-03-09T08:07:06.005004Z"`, ""},
	{"TIMESTAMP", "int64", `"-62135596800000000"`, `"0001-01-01T00:00:00.000000Z"`, ""},
	{"TIMESTAMP", "int64", `"253402300799999999"`, `"9999-12-31T23:59:59.999999Z"`, ""},
	{"TIMESTAMP", "int64", `"253402300800000000"`, "", "out of range"},
	{"TIMESTAMP", "int64", `"-62135596800000001"`, "", "out of range"},
	{"TIMESTAMP", "int64", `"-1"`, `"1969-12-31T23:59:59.999999Z"`, ""},
	{"TIMESTAMP", "google.protobuf.Timestamp", `"1969-12-31T23:59:59.999999999Z"`, `"1969-12-31T23:59:59.999999Z"`, ""},
	{"TIMESTAMP", "google.protobuf.Timestamp", `"2025-03-09T08:07:06.005004Z"`, `"2025-03-09T08:07:06.005004Z"`, ""},
	{"JSON", "string", `"{\"b\": 1.10,  \"a\":[1,2]}"`, `"{\"b\": 1.10,  \"a\":[1,2]}"`, ""},
	{"JSON", "string", `"null"`, `"null"`, ""},
	{"JSON", "string", `"{\"a\":}"`, "", "not valid JSON"},
	{"JSON", "string", `""`, "", "not valid JSON"},
	{"GEOGRAPHY", "string", `"POINT(1 2)"`, `"POINT(1 2)"`, ""},
	{"INTERVAL", "string", `"1-2 3 4:5:6.789"`, `"1-2 3 4:5:6.789"`, ""},
	{"INTERVAL", "string", `"-1-2 -3 -4:5:6.000001"`, `"-1-2 -3 -4:5:6.000001"`, ""},
	{"INTERVAL", "string", `"0-0 0 0:10:0"`, `"0-0 0 0:10:0"`, ""},
	{"INTERVAL", "string", `"0-14 0 87840000:0:0"`, `"1-2 0 87840000:0:0"`, ""},
	{"INTERVAL", "string", `"0-0 0 87840000:0:1"`, "", "out of range"},
	{"INTERVAL", "string", `"10000-1 0 0:0:0"`, "", "out of range"},
	{"INTERVAL", "string", `"P1Y2M3DT4H5M6.5S"`, `"1-2 3 4:5:6.500"`, ""},
	{"INTERVAL", "string", `"P-1W"`, `"0-0 -7 0:0:0"`, ""},
	{"INTERVAL", "string", `"P"`, "", "canonical"},
	{"INTERVAL", "string", `"1 day"`, "", "canonical"},
	{"INTERVAL", "google.protobuf.Duration", `"-1.5s"`, `"0-0 0 -0:0:1.500"`, ""},
	{"RANGE<DATE>", "range int32", `{"start":0,"end":10}`, `"[1970-01-01, 1970-01-11)"`, ""},
	{"RANGE<DATE>", "range string", `{"start":"2020-01-01"}`, `"[2020-01-01, UNBOUNDED)"`, ""},
	{"RANGE<DATE>", "range int32", `{}`, `"[UNBOUNDED, UNBOUNDED)"`, ""},
	{"RANGE<DATE>", "range int32", `{"start":5,"end":5}`, "", "before its end"},
	{"RANGE<TIMESTAMP>", "range int64", `{"end":"1"}`, `"[UNBOUNDED, 1970-01-01T00:00:00.000001Z)"`, ""},
	{"RANGE<DATETIME>", "range string", `{"start":"2020-01-01 00:00:00"}`, `"[2020-01-01T00:00:00.000000, UNBOUNDED)"`, ""},
	{"STRING[]", "string", `["b","","a"]`, `["b","","a"]`, ""},
	{"STRING[]", "string", `[]`, `[]`, ""},
	{"INTEGER[]", "int64", `["3","1"]`, `["3","1"]`, ""},
	{"BIGNUMERIC[]", "string", `["3.10","-1"]`, `["3.1","-1"]`, ""},
	{"DATE[]", "int32", `[0,2932897]`, "", "out of range"},
	{"INTERVAL[]", "string", `["0-1 0 0:0:0"]`, `["0-1 0 0:0:0"]`, ""},
}

// testColumn reads a column's type as typeCase writes it.
func testColumn(text string) *bigquery.FieldSchema {
	f := &bigquery.FieldSchema{Name: "v"}
	text, f.Repeated = strings.CutSuffix(text, "[]")
	if name, element, ok := strings.Cut(strings.TrimSuffix(text, ">"), "<"); ok {
		f.Type, f.RangeElementType = bigquery.FieldType(name), &bigquery.RangeElementType{Type: bigquery.FieldType(element)}
		return f
	}
	name, parameters, ok := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	f.Type = bigquery.FieldType(name)
	if ok {
		var err error
		if f.Type == bigquery.NumericFieldType {
			_, err = fmt.Sscanf(parameters, "%d,%d", &f.Precision, &f.Scale)
		} else {
			_, err = fmt.Sscanf(parameters, "%d", &f.MaxLength)
		}
		if err != nil {
			panic(err)
		}
	}
	return f
}

// Every type, in each encoding that the service takes, comes back as it was meant,
// before and after a merge.
func TestTypes_RoundTrip(t *testing.T) {
	e := newEnv(t, Options{})
	tables := map[string]string{}
	for i, test := range typeCases {
		t.Run(fmt.Sprintf("%s/%s/%.40s", test.column, test.field, test.value), func(t *testing.T) {
			table, ok := tables[test.column]
			if !ok {
				table = fmt.Sprintf("t%d", i)
				tables[test.column] = table
				if err := e.bq.Dataset("d").Table(table).Create(t.Context(), &bigquery.TableMetadata{
					Schema:           bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}, testColumn(test.column)},
					TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
				}); err != nil {
					t.Fatal(err)
				}
			}
			message := &descriptorpb.DescriptorProto{Name: new("row")}
			rowtest.AddField("id", 1, "int64", false, message)
			rowtest.AddField("V", 2, test.field, strings.HasSuffix(test.column, "[]"), message)
			message.Field = append(message.Field, rowtest.StringField("_CHANGE_TYPE", 3))
			w := e.writerWith(table, message)
			r := w.send(w.request(fmt.Sprintf(`{"id":%d,"V":%s,"_CHANGE_TYPE":"UPSERT"}`, i, test.value)))
			if test.refused != "" {
				wantRowErrors(t, r, map[int64]string{0: test.refused})
				return
			}
			if r.GetError() != nil {
				t.Fatal(r.GetError(), r.GetRowErrors())
			}
			for range 2 {
				rows, err := e.Rows(t.Context(), "d", table)
				if err != nil {
					t.Fatal(err)
				}
				want := fmt.Sprintf(`{"id":"%d","v":%s}`, i, test.want)
				if got := string(rows[len(rows)-1]); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				e.merge(table)
			}
		})
	}
}

// What a type can't be sent as is a mismatch of the descriptor.
func TestTypes_Mismatch(t *testing.T) {
	e := newEnv(t, Options{})
	for i, test := range []struct{ column, field string }{
		{"INTEGER", "string"},
		{"INTEGER", "uint64"},
		{"INTEGER", "double"},
		{"INTEGER", "bool"},
		{"INTEGER", "bytes"},
		{"BOOLEAN", "string"},
		{"FLOAT", "int64"},
		{"FLOAT", "string"},
		{"STRING", "bytes"},
		{"STRING", "int64"},
		{"BYTES", "int64"},
		{"DATE", "uint32"},
		{"TIME", "int32"},
		{"DATETIME", "bytes"},
		{"TIMESTAMP", "string"},
		{"TIMESTAMP", "uint64"},
		{"JSON", "bytes"},
		{"GEOGRAPHY", "bytes"},
		{"INTERVAL", "int64"},
		{"NUMERIC", "bool"},
		{"STRING", "google.protobuf.BytesValue"},
		{"INTEGER", "google.protobuf.Timestamp"},
		{"RANGE<DATE>", "string"},
		{"RANGE<DATE>", "range bytes"},
		{"STRING", "range string"},
	} {
		table := fmt.Sprintf("t%d", i)
		if err := e.bq.Dataset("d").Table(table).Create(t.Context(), &bigquery.TableMetadata{Schema: bigquery.Schema{testColumn(test.column)}}); err != nil {
			t.Fatal(err)
		}
		message := &descriptorpb.DescriptorProto{Name: new("row")}
		rowtest.AddField("v", 1, test.field, false, message)
		w := e.writerWith(table, message)
		if r := w.send(w.request(`{}`)); !strings.HasPrefix(r.GetError().GetMessage(), "The proto field mismatched with BigQuery field at row.") {
			t.Errorf("%s from %s: %v", test.column, test.field, r)
		}
	}
}

// STRUCTs in ARRAYs in STRUCTs, NULL ones, and ones that come in two pieces.
func TestTypes_Struct(t *testing.T) {
	e := newEnv(t, Options{})
	schema := bigquery.Schema{
		{Name: "id", Type: bigquery.IntegerFieldType},
		{Name: "s", Type: bigquery.RecordFieldType, Schema: bigquery.Schema{
			{Name: "z", Type: bigquery.StringFieldType},
			{Name: "list", Type: bigquery.RecordFieldType, Repeated: true, Schema: bigquery.Schema{
				{Name: "n", Type: bigquery.BigNumericFieldType},
				{Name: "at", Type: bigquery.TimestampFieldType, Required: true},
			}},
			{Name: "a", Type: bigquery.FloatFieldType},
		}},
	}
	if err := e.bq.Dataset("d").Table("t").Create(t.Context(), &bigquery.TableMetadata{
		Schema: schema, TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
	}); err != nil {
		t.Fatal(err)
	}
	w := e.writer("t", true)
	one := le(bigInt("1" + strings.Repeat("0", 38)))
	w.append(
		`{"id":1,"s":{"z":"x","list":[{"n":`+one+`,"at":1},{"at":2}],"a":0.5},"_CHANGE_TYPE":"UPSERT"}`,
		`{"id":2,"_CHANGE_TYPE":"UPSERT"}`,
		`{"id":3,"s":{},"_CHANGE_TYPE":"UPSERT"}`,
	)
	r := w.request(`{"id":4,"s":{"z":"first","list":[{"at":1}]},"_CHANGE_TYPE":"UPSERT"}`)
	// The wire format lets a message come in pieces: the later one is merged into the first.
	piece := rowtest.Encode(t, w.message, `{"s":{"z":"second","list":[{"at":2}]}}`)
	rows := r.GetProtoRows().GetRows()
	rows.SerializedRows[0] = append(rows.SerializedRows[0], piece...)
	if r := w.send(r); r.GetError() != nil {
		t.Fatal(r.GetError(), r.GetRowErrors())
	}
	e.want("t",
		`{"id":"1","s":{"z":"x","list":[{"n":"1","at":"1970-01-01T00:00:00.000001Z"},{"n":null,"at":"1970-01-01T00:00:00.000002Z"}],"a":0.5}}`,
		`{"id":"2","s":null}`,
		`{"id":"3","s":{"z":null,"list":[],"a":null}}`,
		`{"id":"4","s":{"z":"second","list":[{"n":null,"at":"1970-01-01T00:00:00.000001Z"},{"n":null,"at":"1970-01-01T00:00:00.000002Z"}],"a":null}}`)
	// A writer whose schema doesn't say that the field is required.
	for _, nested := range w.message.GetNestedType() {
		for _, f := range nested.GetField() {
			if f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED {
				f.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
			}
		}
	}
	w = e.writerWith("t", w.message)
	r = w.request(`{"id":5,"s":{"list":[{"at":1},{"n":` + one + `}]},"_CHANGE_TYPE":"UPSERT"}`)
	wantRowErrors(t, w.send(r), map[int64]string{0: "Field s.list.at"})
}

// Names that are no protobuf names come by annotation, in any case.
func TestTypes_ColumnNames(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, straße STRING, A-b INTEGER", "id")
	message := &descriptorpb.DescriptorProto{Name: new("row")}
	rowtest.AddField("ID", 1, "int64", false, message)
	rowtest.AddField("col_1", 2, "string", false, message)
	rowtest.AddField("col_2", 3, "int64", false, message)
	message.Field = append(message.Field, rowtest.StringField("_Change_Type", 4))
	for i, name := range []string{"Straße", "a-B"} {
		options := &descriptorpb.FieldOptions{}
		proto.SetExtension(options, storagepb.E_ColumnName, name)
		message.Field[i+1].Options = options
	}
	e.writerWith("t", message).append(`{"ID":1,"col_1":"x","col_2":2,"_Change_Type":"UPSERT"}`)
	e.want("t", `{"id":"1","straße":"x","A-b":"2"}`)
}

// A field that isn't set has the default of the writer's schema: what a normalized
// proto3 message says for its zero values.
func TestTypes_ProtoDefaults(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, s STRING, n INTEGER, f FLOAT, b BOOLEAN, raw BYTES, u NUMERIC, e STRING", "id")
	message := &descriptorpb.DescriptorProto{Name: new("row")}
	for i, field := range []struct{ name, typeName, value string }{
		{"id", "int64", "0"}, {"s", "string", ""}, {"f", "double", "0"}, {"b", "bool", "true"}, {"raw", "bytes", "x"}, {"u", "uint64", "7"}, {"e", "enum", "ONE"},
	} {
		rowtest.AddField(field.name, int32(i+1), field.typeName, false, message)
		message.Field[i].DefaultValue = new(field.value)
	}
	rowtest.AddField("n", 20, "int64", false, message)
	message.Field[6].Type = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum() // a default needs the type
	message.Field = append(message.Field, rowtest.StringField("_CHANGE_TYPE", 21))
	w := e.writerWith("t", message)
	w.append(`{"_CHANGE_TYPE":"UPSERT"}`, `{"id":7,"s":"x","b":false,"u":1,"e":"ZERO","_CHANGE_TYPE":"UPSERT"}`)
	e.want("t", `{"id":"0","s":"","n":null,"f":0,"b":true,"raw":"eA==","u":"7","e":"ONE"}`,
		`{"id":"7","s":"x","n":null,"f":0,"b":false,"raw":"eA==","u":"1","e":"ZERO"}`)
}

// Missing value interpretations: by default NULL, else the column's default.
func TestTypes_MissingValues(t *testing.T) {
	e := newEnv(t, Options{})
	schema := bigquery.Schema{
		{Name: "id", Type: "INTEGER"},
		{Name: "a", Type: "STRING", DefaultValueExpression: "'none'"},
		{Name: "b", Type: "INTEGER", DefaultValueExpression: "5"},
		{Name: "c", Type: "DATE", DefaultValueExpression: "DATE '2026-11-30'"},
	}
	if err := e.bq.Dataset("d").Table("t").Create(t.Context(), &bigquery.TableMetadata{
		Schema: schema, TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
	}); err != nil {
		t.Fatal(err)
	}
	w := e.writer("t", true)
	const useDefault, useNull = storagepb.AppendRowsRequest_DEFAULT_VALUE, storagepb.AppendRowsRequest_NULL_VALUE
	send := func(id int, change func(r *storagepb.AppendRowsRequest)) {
		t.Helper()
		r := w.request(fmt.Sprintf(`{"id":%d,"_CHANGE_TYPE":"UPSERT"}`, id))
		change(r)
		if r := w.send(r); r.GetError() != nil {
			t.Fatal(r)
		}
	}
	send(1, func(*storagepb.AppendRowsRequest) {})
	send(2, func(r *storagepb.AppendRowsRequest) {
		r.MissingValueInterpretations = map[string]storagepb.AppendRowsRequest_MissingValueInterpretation{"A": useDefault}
	})
	send(3, func(r *storagepb.AppendRowsRequest) { r.DefaultMissingValueInterpretation = useDefault })
	send(4, func(r *storagepb.AppendRowsRequest) { // the default sticks, the columns' don't
		r.MissingValueInterpretations = map[string]storagepb.AppendRowsRequest_MissingValueInterpretation{"b": useNull}
	})
	e.want("t", `{"id":"1","a":null,"b":null,"c":null}`, `{"id":"2","a":"none","b":null,"c":null}`,
		`{"id":"3","a":"none","b":"5","c":"2026-11-30"}`, `{"id":"4","a":"none","b":null,"c":"2026-11-30"}`)
}
