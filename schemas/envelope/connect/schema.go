// Package connect reads the schemas that Kafka Connect's JSON converter puts in
// front of a message, and values by them: Connect's own types, and Debezium's
// by the names that it gives them.
//
//	schema type                        value
//	boolean                            BOOL
//	int8, int16, int32, int64          INT64
//	float32, float64                   FLOAT64; "NaN", "Infinity" and "-Infinity" too
//	string                             STRING
//	bytes (base64)                     BYTES
//	array                              ARRAY of what its items are
//	struct                             STRUCT of what its fields are
//	map                                the JSON text, untyped
//
//	schema name                        value
//	…connect.data.Decimal              decimal: base64 of the unscaled number, or a JSON number
//	…connect.data.Date                 DATE: days
//	…connect.data.Time                 TIME: milliseconds
//	…connect.data.Timestamp            DATETIME: milliseconds
//	io.debezium.data.VariableScaleDecimal  decimal: {"scale", "value"}
//	io.debezium.data.Bits              BYTES, the lowest bits first, as Debezium writes them
//	io.debezium.data.Json              JSON, byte for byte
//	io.debezium.data.geometry.*        the JSON text, untyped
//	io.debezium.time.Date              DATE: days
//	io.debezium.time.Time, MicroTime, NanoTime                 TIME
//	io.debezium.time.Timestamp, MicroTimestamp, NanoTimestamp  DATETIME: civil time, without a zone
//	io.debezium.time.ZonedTimestamp    TIMESTAMP
//	io.debezium.time.ZonedTime         TIME of day in UTC
//	io.debezium.time.IsoDate, IsoTime, IsoTimestamp            DATE, TIME, DATETIME
//	io.debezium.time.Structured…       the same as its counterpart above; Duration is an INTERVAL
//	io.debezium.time.Year              INT64
//	io.debezium.time.Interval          INTERVAL
//	io.debezium.time.MicroDuration, NanoDuration               INTERVAL of hours, minutes and seconds:
//	                                   the source has already turned months and days into time
//	avro.timestamp-millis, -micros, -nanos                     TIMESTAMP: Avro's logical types, as package avro names them
//
// Any other name (Uuid, Enum, EnumSet, Xml, Ltree, Tsvector, FloatVector, …) is
// read by its type alone, and so is a name whose type isn't the one it is known
// with. Nanoseconds are cut to microseconds, downwards. A time outside int64's
// microseconds, PostgreSQL's infinity among them, becomes the greatest or the
// least int64, which no BigQuery type holds: the column's policy decides.
package connect

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

// maxDepth bounds how deep arrays and structs are typed; what lies deeper stays
// JSON text. Each level reads its text once more.
const maxDepth = 16

// Schema is a compiled schema. It doesn't change.
type Schema struct {
	Name   string // such as "io.debezium.time.Date"; "" where it has none
	Type   string // such as "int64"
	scale  int    // of a Decimal
	fields []Field
	index  map[string]int // of the fields, where there are many
	items  *Schema        // of an array

	read reader
}

// Field is a struct's field.
type Field struct {
	Name   string
	Schema *Schema
}

// reader makes a value of a JSON value other than null. Its error says what is
// wrong, with neither the value nor the column's name.
type reader func(s *Schema, raw string, a *slab.Arena) (change.Value, error)

// definition is a schema as the converter writes it.
type definition struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Parameters map[string]string `json:"parameters"`
	Fields     []definition      `json:"fields"`
	Field      string            `json:"field"`
	Items      *definition       `json:"items"`
}

// Compile reads a schema's JSON; null is a nil Schema.
func Compile(raw string) (*Schema, error) {
	var d *definition
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
			// Its own text quotes the JSON, which a default may make a row's value.
			return nil, fmt.Errorf("reading the schema at %q: it holds a %v where none belongs", clip(string(semantic.JSONPointer)), semantic.JSONKind)
		}
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if d == nil {
		return nil, nil
	}
	return compile(d, 0)
}

func compile(d *definition, depth int) (*Schema, error) {
	s := &Schema{Name: d.Name, Type: d.Type}
	switch d.Type {
	case "struct":
		for i := range d.Fields {
			f := &d.Fields[i]
			compiled, err := compile(f, depth+1)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", clip(f.Field), err)
			}
			s.fields = append(s.fields, Field{Name: f.Field, Schema: compiled})
		}
		s.makeIndex()
	case "array":
		if d.Items == nil {
			return nil, errors.New("an array's schema has no items")
		}
		items, err := compile(d.Items, depth+1)
		if err != nil {
			return nil, err
		}
		s.items = items
	}
	if err := s.choose(d); err != nil {
		return nil, err
	}
	if depth > maxDepth && (d.Type == "struct" || d.Type == "array") {
		s.read = readRaw
	}
	return s, nil
}

// choose sets how values are read: by the name, if it has the type that it is
// known with, else by the type.
func (s *Schema) choose(d *definition) error {
	if named, ok := names[s.Name]; ok && slices.Contains(named.types, s.Type) {
		s.read = named.read
		if s.Name == decimalName {
			scale, err := parseScale(d.Parameters["scale"])
			if err != nil {
				return err
			}
			s.scale = scale
		}
		return nil
	}
	read, ok := types[s.Type]
	if !ok {
		return fmt.Errorf("the type %q is unknown", clip(s.Type))
	}
	s.read = read
	return nil
}

// manyFields is from where on a map finds a field faster than a walk. It is
// needed only where columns are not in the schema's order.
const manyFields = 8

func (s *Schema) makeIndex() {
	if len(s.fields) < manyFields {
		return
	}
	s.index = make(map[string]int, len(s.fields))
	for i := range s.fields {
		s.index[s.fields[i].Name] = i
	}
}

// Field returns the schema of a struct's field, nil when there is none. The
// hint is where it probably is: columns come in their schema's order.
func (s *Schema) Field(name string, hint int) *Schema {
	if s == nil {
		return nil
	}
	if hint < len(s.fields) && s.fields[hint].Name == name {
		return s.fields[hint].Schema
	}
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return s.fields[i].Schema
		}
		return nil
	}
	for i := range s.fields {
		if s.fields[i].Name == name {
			return s.fields[i].Schema
		}
	}
	return nil
}

// Value returns the value of a JSON value that a scan.Scanner returned. A nil
// Schema types nothing. Values share the memory of raw and the arena.
func (s *Schema) Value(raw string, a *slab.Arena) (change.Value, error) {
	switch {
	case s == nil:
		return a.Untyped(raw)
	case raw[0] == 'n':
		return change.Null(), nil
	}
	return s.read(s, raw, a)
}

// String returns the name, or the type where there is no name.
func (s *Schema) String() string {
	if s.Name != "" {
		return clip(s.Name)
	}
	return clip(s.Type)
}

// clip bounds what a hostile schema can put into an error.
func clip(text string) string {
	const limit = 100
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}

// saturated returns a*b, or the nearest int64.
func saturated(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	product := a * b
	if product/b == a && (a != math.MinInt64 || b != -1) {
		return product
	}
	if (a < 0) == (b < 0) {
		return math.MaxInt64
	}
	return math.MinInt64
}
