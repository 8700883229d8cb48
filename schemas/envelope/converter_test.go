package envelope_test

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	hamba "github.com/hamba/avro/v2"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/avro"
)

// converter writes in Avro what a message of Kafka Connect's JSON converter says:
// the schema as Confluent's AvroConverter makes it (io.confluent.connect.avro.AvroData),
// the value by hamba's encoder.
type converter struct {
	t       rapid.TB
	schemas map[avro.Ref]string
	defined map[string]bool // named types, of the schema at hand
	names   int
}

func newConverter(t rapid.TB) *converter {
	return &converter{t: t, schemas: make(map[avro.Ref]string)}
}

// Schema finds the schemas of the messages that were converted.
func (c *converter) Schema(ref avro.Ref) (string, error) {
	text, ok := c.schemas[ref]
	if !ok {
		return "", avro.ErrUnknownSchema
	}
	return text, nil
}

// connectSchema is a schema as the JSON converter writes it.
type connectSchema struct {
	Type       string            `json:"type"`
	Optional   bool              `json:"optional"`
	Name       string            `json:"name"`
	Version    int               `json:"version"`
	Parameters map[string]string `json:"parameters"`
	Fields     []connectSchema   `json:"fields"`
	Field      string            `json:"field"`
	Items      *connectSchema    `json:"items"`
	Values     *connectSchema    `json:"values"`
}

// convert returns the message in Confluent's wire format.
func (c *converter) convert(m change.Message) change.Message {
	c.t.Helper()
	var wrapped struct {
		Schema  connectSchema  `json:"schema"`
		Payload jsontext.Value `json:"payload"`
	}
	if err := json.Unmarshal(m.Data, &wrapped); err != nil {
		c.t.Fatal(err)
	}
	id := len(c.schemas) + 1
	schema, value := c.encode(&wrapped.Schema, wrapped.Payload)
	c.schemas[avro.Ref{ID: uint64(id)}] = schema
	m.Data = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(id)), value...)
	return m
}

// encode returns the Avro schema of a schema and a value's binary encoding.
func (c *converter) encode(s *connectSchema, payload jsontext.Value) (schema string, value []byte) {
	c.t.Helper()
	c.defined = make(map[string]bool)
	structs := make(map[string][]connectSchema)
	for range 2 { // a type that is used twice has one definition
		complete(s, payload, structs)
	}
	text, err := json.Marshal(c.avroSchema(s), json.Deterministic(true))
	if err != nil {
		c.t.Fatal(err)
	}
	// hamba's encoder wants big.Rats and times where a type is logical.
	parsed, err := hamba.ParseWithCache(strings.ReplaceAll(string(text), `"logicalType"`, `"_"`), "", &hamba.SchemaCache{})
	if err != nil {
		c.t.Fatalf("parsing the schema %s: %v", text, err)
	}
	// An API of its own: hamba remembers encoders by the names of types.
	if value, err = (hamba.Config{}.Freeze()).Marshal(parsed, c.native(s, payload)); err != nil {
		c.t.Fatalf("encoding %s: %v", payload, err)
	}
	return string(text), value
}

// complete adds to structs the fields that the value, or another struct of the
// same name, has and the schema hasn't: tests cut their schemas short, and Avro
// can't.
func complete(s *connectSchema, raw jsontext.Value, structs map[string][]connectSchema) {
	switch s.Type {
	case "struct":
		for i := range s.Fields {
			addField(structs, s.Name, s.Fields[i])
		}
		members := make(map[string]jsontext.Value)
		if raw.Kind() == '{' {
			for name, value := range membersOf(raw) {
				addField(structs, s.Name, connectSchema{Type: guess(value), Optional: true, Field: name})
				members[name] = value
			}
		}
		s.Fields = slices.Clone(structs[s.Name])
		for i := range s.Fields {
			complete(&s.Fields[i], members[s.Fields[i].Field], structs)
		}
	case "array":
		if raw.Kind() == '[' {
			for _, element := range elementsOf(raw) {
				complete(s.Items, element, structs)
			}
		}
	}
}

func addField(structs map[string][]connectSchema, name string, field connectSchema) {
	if name != "" && !slices.ContainsFunc(structs[name], func(f connectSchema) bool { return f.Field == field.Field }) {
		structs[name] = append(structs[name], field)
	}
}

func guess(raw jsontext.Value) string {
	switch raw.Kind() {
	case '0':
		if strings.ContainsAny(string(raw), ".eE") {
			return "double"
		}
		return "int64"
	case 't', 'f':
		return "boolean"
	case '{':
		return "struct"
	default:
		return "string"
	}
}

func membersOf(raw jsontext.Value) func(yield func(string, jsontext.Value) bool) {
	return func(yield func(string, jsontext.Value) bool) {
		dec := jsontext.NewDecoder(strings.NewReader(string(raw)))
		_, _ = dec.ReadToken()
		for dec.PeekKind() != '}' {
			name, _ := dec.ReadToken()
			key := name.String()
			value, _ := dec.ReadValue()
			if !yield(key, value.Clone()) {
				return
			}
		}
	}
}

func elementsOf(raw jsontext.Value) (elements []jsontext.Value) {
	_ = json.Unmarshal(raw, &elements)
	return elements
}

var avroTypes = map[string]string{
	"boolean": "boolean", "int8": "int", "int16": "int", "int32": "int", "int64": "long",
	"float": "float", "float32": "float", "double": "double", "float64": "double", "string": "string", "bytes": "bytes",
}

var connectLogical = map[string]string{
	"org.apache.kafka.connect.data.Decimal":   "decimal",
	"org.apache.kafka.connect.data.Date":      "date",
	"org.apache.kafka.connect.data.Time":      "time-millis",
	"org.apache.kafka.connect.data.Timestamp": "timestamp-millis",
}

func (c *converter) avroSchema(s *connectSchema) any {
	var schema any
	if s.Optional {
		schema = []any{"null", c.requiredSchema(s)}
	} else {
		schema = c.requiredSchema(s)
	}
	return schema
}

func (c *converter) requiredSchema(s *connectSchema) any {
	of := make(map[string]any)
	switch s.Type {
	case "struct":
		name := s.Name
		if name == "" {
			c.names++
			name = "ConnectDefault" + strconv.Itoa(c.names)
		}
		if c.defined[name] {
			return name
		}
		c.defined[name] = true
		of["type"], of["name"] = "record", name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			of["namespace"], of["name"] = name[:dot], name[dot+1:]
		}
		fields := []any{}
		for i := range s.Fields {
			field := map[string]any{"name": s.Fields[i].Field, "type": c.avroSchema(&s.Fields[i])}
			if s.Fields[i].Optional {
				field["default"] = nil
			}
			fields = append(fields, field)
		}
		of["fields"] = fields
	case "array":
		of["type"], of["items"] = "array", c.avroSchema(s.Items)
	case "map":
		of["type"], of["values"] = "map", c.avroSchema(s.Values)
	default:
		of["type"] = avroTypes[s.Type]
		if s.Type == "int8" || s.Type == "int16" {
			of["connect.type"] = s.Type
		}
	}
	if s.Name != "" {
		of["connect.name"], of["connect.version"] = s.Name, max(s.Version, 1)
		if len(s.Parameters) > 0 {
			of["connect.parameters"] = s.Parameters
		}
		if logical, ok := connectLogical[s.Name]; ok {
			of["logicalType"] = logical
			if logical == "decimal" {
				of["scale"], _ = strconv.Atoi(s.Parameters["scale"])
				of["precision"] = 64
			}
		}
	}
	if len(of) == 1 {
		return of["type"]
	}
	return of
}

// native returns the value that hamba's encoder takes for a value.
func (c *converter) native(s *connectSchema, raw jsontext.Value) any {
	if raw.Kind() == 'n' {
		return nil
	}
	v, branch := c.required(s, raw)
	if s.Optional {
		return map[string]any{branch: v}
	}
	return v
}

func (c *converter) required(s *connectSchema, raw jsontext.Value) (v any, branch string) {
	text := strings.Trim(string(raw), `"`)
	branch = avroTypes[s.Type]
	switch s.Type {
	case "boolean":
		return text == "true", branch
	case "int8", "int16", "int32":
		n, err := strconv.ParseInt(text, 10, 32)
		c.check(err)
		return int(n), branch
	case "int64":
		n, err := strconv.ParseInt(text, 10, 64)
		c.check(err)
		return n, branch
	case "float", "float32":
		f, err := strconv.ParseFloat(text, 32)
		c.check(err)
		return float32(f), branch
	case "double", "float64":
		f, err := strconv.ParseFloat(text, 64)
		c.check(err)
		if math.IsNaN(f) {
			return math.NaN(), branch
		}
		return f, branch
	case "string":
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		c.check(err)
		return string(unquoted), branch
	case "bytes":
		b, err := base64.StdEncoding.DecodeString(text)
		c.check(err)
		return b, branch
	case "array":
		elements := []any{}
		for _, element := range elementsOf(raw) {
			elements = append(elements, c.native(s.Items, element))
		}
		return elements, "array"
	case "map":
		members := map[string]any{}
		for name, value := range membersOf(raw) {
			members[name] = c.native(s.Values, value)
		}
		return members, "map"
	}
	record := map[string]any{}
	for i := range s.Fields {
		record[s.Fields[i].Field] = nil
	}
	for name, value := range membersOf(raw) {
		for i := range s.Fields {
			if s.Fields[i].Field == name {
				record[name] = c.native(&s.Fields[i], value)
			}
		}
	}
	return record, s.Name
}

func (c *converter) check(err error) {
	if err != nil {
		c.t.Helper()
		c.t.Fatal(err)
	}
}
