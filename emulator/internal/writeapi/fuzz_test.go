package writeapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/rowtest"
)

// fuzzSchema has a column of every type.
func fuzzSchema(tb testing.TB) *engine.Schema {
	tb.Helper()
	resource := &bq.Table{Schema: &bq.TableSchema{}}
	for text := range strings.FieldsSeq("id:INTEGER b:BOOLEAN f:FLOAT n:NUMERIC bn:BIGNUMERIC s:STRING raw:BYTES day:DATE t:TIME dt:DATETIME ts:TIMESTAMP j:JSON g:GEOGRAPHY iv:INTERVAL list:STRING") {
		name, typeName, _ := strings.Cut(text, ":")
		resource.Schema.Fields = append(resource.Schema.Fields, &bq.TableFieldSchema{Name: name, Type: typeName})
	}
	resource.Schema.Fields[len(resource.Schema.Fields)-1].Mode = "REPEATED"
	resource.Schema.Fields = append(resource.Schema.Fields,
		&bq.TableFieldSchema{Name: "r", Type: "RANGE", RangeElementType: &bq.TableFieldSchemaRangeElementType{Type: "DATE"}},
		&bq.TableFieldSchema{Name: "st", Type: "RECORD", Mode: "REPEATED", Fields: []*bq.TableFieldSchema{{Name: "x", Type: "INTEGER", Mode: "REPEATED"}, {Name: "y", Type: "STRING"}}},
	)
	resource.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: []string{"id"}}}
	s, err := engine.NewSchema(resource, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// fuzzMessage is a descriptor for fuzzSchema, with as many kinds as there are.
func fuzzMessage() *descriptorpb.DescriptorProto {
	message := &descriptorpb.DescriptorProto{Name: new("row")}
	types := strings.Fields("int64 bool double string bytes string bytes int32 int64 int64 google.protobuf.Timestamp string string google.protobuf.Duration string")
	for i, name := range strings.Fields("id b f n bn s raw day t dt ts j g iv list") {
		rowtest.AddField(name, int32(i+1), types[i], name == "list", message)
	}
	rowtest.AddField("r", 16, "range int32", false, message)
	nested := &descriptorpb.DescriptorProto{Name: new("St")}
	rowtest.AddField("x", 1, "sint64", true, nested)
	rowtest.AddField("y", 2, "google.protobuf.StringValue", false, nested)
	message.NestedType = append(message.NestedType, nested)
	message.Field = append(message.Field, &descriptorpb.FieldDescriptorProto{
		Name: new("st"), Number: new(int32(17)), TypeName: new("St"), Label: descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(),
	}, rowtest.StringField("_CHANGE_TYPE", 18), rowtest.StringField("_CHANGE_SEQUENCE_NUMBER", 19))
	return message
}

// FuzzReadRow reads any bytes as a row. Invariants: it returns; a row that it
// accepts has only values that a DuckDB column of its type takes, and that can be
// written as valid JSON.
func FuzzReadRow(f *testing.F) {
	s := fuzzSchema(f)
	message := fuzzMessage()
	p, err := compilePlan(s, message)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(rowtest.Encode(f, message, `{"id":1,"b":true,"f":1.5,"n":"1.5","bn":"AQ==","s":"x","raw":"AAE=","day":1,"t":"5","dt":"5","ts":"2020-01-01T00:00:00Z","j":"{}","g":"POINT(1 1)","iv":"1.5s","list":["a"],"r":{"start":1},"st":[{"x":["1","-2"],"y":"z"}],"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1/2"}`))
	f.Add([]byte{0x8a, 0x01, 0x04, 0x0a, 0x02, 0x80, 0x01}) // packed and cut off
	f.Add([]byte{0x0b, 0x0c})                               // a group
	f.Fuzz(func(t *testing.T, b []byte) {
		row, err := p.read(b)
		if err != nil {
			return
		}
		text := []byte("[")
		for i, c := range s.Columns {
			checkStored(t, c, row.values[i])
			if i > 0 {
				text = append(text, ',')
			}
			text = engine.AppendValue(text, c, row.values[i])
		}
		if text = append(text, ']'); !json.Valid(text) {
			t.Fatalf("invalid JSON: %s", text)
		}
	})
}

// checkStored fails unless a value is of the Go type that the column's DuckDB type takes.
func checkStored(t *testing.T, c *engine.Column, value any) {
	t.Helper()
	if value == nil {
		return
	}
	if c.Repeated {
		element := *c
		element.Repeated = false
		for _, v := range value.([]any) {
			if v == nil {
				t.Fatalf("column %s has a NULL element", c.Name)
			}
			checkStored(t, &element, v)
		}
		return
	}
	var ok bool
	switch c.Kind {
	case engine.KindBool:
		_, ok = value.(bool)
	case engine.KindInt64:
		_, ok = value.(int64)
	case engine.KindFloat64:
		_, ok = value.(float64)
	case engine.KindNumeric:
		_, ok = value.(duckdb.Decimal)
	case engine.KindBigNumeric:
		b, isBytes := value.([]byte)
		ok = isBytes && len(b) == 32
	case engine.KindBytes:
		_, ok = value.([]byte)
	case engine.KindDate, engine.KindTime, engine.KindDateTime, engine.KindTimestamp:
		v, isTime := value.(time.Time)
		ok = isTime && v.Year() >= 1 && v.Year() <= 9999
	case engine.KindInterval:
		_, ok = value.(duckdb.Interval)
	case engine.KindRange:
		_, ok = value.(map[string]any)
	case engine.KindStruct:
		var fields map[string]any
		if fields, ok = value.(map[string]any); ok {
			for _, field := range c.Fields {
				checkStored(t, field, fields[field.Name])
			}
		}
	default:
		_, ok = value.(string)
	}
	if !ok {
		t.Fatalf("column %s of type %s is a %T", c.Name, c.Kind, value)
	}
}

// FuzzDescriptor compiles any descriptor for a table with all types, and reads any
// row by it. Invariant: both return.
func FuzzDescriptor(f *testing.F) {
	s := fuzzSchema(f)
	add := func(message *descriptorpb.DescriptorProto, row string) {
		b, err := proto.Marshal(message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, []byte(row))
	}
	add(fuzzMessage(), "\x08\x01")
	// A message that contains itself, as the table's STRUCT doesn't.
	cycle := &descriptorpb.DescriptorProto{Name: new("row")}
	cycle.Field = append(cycle.Field, &descriptorpb.FieldDescriptorProto{
		Name: new("st"), Number: new(int32(1)), TypeName: new(".row"), Label: descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(),
	})
	add(cycle, "\x0a\x02\x0a\x00")
	// A map.
	entry := &descriptorpb.DescriptorProto{Name: new("StEntry"), Options: &descriptorpb.MessageOptions{MapEntry: new(true)}}
	rowtest.AddField("key", 1, "string", false, entry)
	rowtest.AddField("value", 2, "int64", false, entry)
	withMap := &descriptorpb.DescriptorProto{Name: new("row"), NestedType: []*descriptorpb.DescriptorProto{entry}, Field: cycle.GetField()}
	withMap = proto.CloneOf(withMap)
	withMap.Field[0].TypeName = new("StEntry")
	add(withMap, "\x0a\x00")
	f.Fuzz(func(_ *testing.T, descriptor, row []byte) {
		message := &descriptorpb.DescriptorProto{}
		if proto.Unmarshal(descriptor, message) != nil {
			return
		}
		p, err := compilePlan(s, message)
		if err != nil {
			return
		}
		_, _ = p.read(row)
	})
}

// A descriptor that nests thousands of messages is an error or none, and no panic.
func TestDescriptor_Giant(t *testing.T) {
	s := fuzzSchema(t)
	deep := &descriptorpb.DescriptorProto{Name: new("m")}
	for range 5000 {
		deep = &descriptorpb.DescriptorProto{Name: new("m"), NestedType: []*descriptorpb.DescriptorProto{deep}}
	}
	if _, err := compilePlan(s, deep); err != nil {
		t.Log(err)
	}
	wide := &descriptorpb.DescriptorProto{Name: new("row")}
	for i := range 20_000 {
		wide.Field = append(wide.Field, rowtest.StringField("x"+strings.Repeat("y", i%50), int32(i+1)))
	}
	if _, err := compilePlan(s, wide); err == nil {
		t.Error("20,000 fields of 50 names were accepted")
	}
}
