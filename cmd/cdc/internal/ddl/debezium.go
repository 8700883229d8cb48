package ddl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"beamcdc/schemas/table"
)

// connectSchema is a schema as Kafka Connect's JSON converter writes it.
type connectSchema struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Optional   bool              `json:"optional"`
	Doc        string            `json:"doc"`
	Parameters map[string]string `json:"parameters"`
	Fields     []connectSchema   `json:"fields"`
	Field      string            `json:"field"`
	Items      *connectSchema    `json:"items"`
}

func (s *connectSchema) field(name string) *connectSchema {
	for i := range s.Fields {
		if s.Fields[i].Field == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// row returns the schema of a table's row in that of a message's value: the row inside
// of an envelope, or the row itself; nil for any other.
func (s *connectSchema) row() *connectSchema {
	if s.Type != "struct" {
		return nil
	}
	if s.field("op") == nil || s.field("source") == nil {
		return s
	}
	for _, name := range []string{"after", "before"} {
		if row := s.field(name); row != nil && row.Type == "struct" {
			return row
		}
	}
	return nil
}

// table returns the table's name as change events have it, from the schema's, which is
// "prefix.schema.table.Value" or the like; "" where it tells none. isKey says that the
// schema is a key's.
func (s *connectSchema) table() (name string, isKey bool) {
	parts := strings.Split(s.Name, ".")
	if len(parts) < 3 {
		return "", false
	}
	last := parts[len(parts)-1]
	if last != "Value" && last != "Key" && last != "Envelope" {
		return "", false
	}
	parts = parts[1 : len(parts)-1]
	return strings.Join(parts[max(0, len(parts)-2):], "."), last == "Key"
}

// readSchemas reads a file of Debezium's schemas: JSON values one after the other, of
// which each is a schema, or a message that has one. name is the table's, where the
// schemas' names don't tell it, "" for none.
func readSchemas(file, name string) ([]*Source, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("opening the schemas: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	var sources described
	d := json.NewDecoder(f)
	for number := 1; ; number++ {
		var value struct {
			connectSchema

			Schema *connectSchema `json:"schema"`
		}
		switch err := d.Decode(&value); {
		case errors.Is(err, io.EOF) && number == 1:
			return nil, fmt.Errorf("%s: it is empty; it is to hold a schema as Kafka Connect's JSON converter writes it", file)
		case errors.Is(err, io.EOF):
			return sources.done(), nil
		case err != nil:
			return nil, fmt.Errorf("%s, schema %d: it is no schema in JSON: %w", file, number, withoutValues(err))
		}
		schema := &value.connectSchema
		if value.Schema != nil {
			schema = value.Schema
		}
		row := schema.row()
		if row == nil || len(row.Fields) == 0 {
			return nil, fmt.Errorf("%s, schema %d: it is of no row: a struct of columns, or an envelope's with before and after", file, number)
		}
		of, isKey := row.table()
		if of == "" {
			of, isKey = schema.table()
		}
		if name != "" {
			of = name
		}
		if of == "" {
			return nil, fmt.Errorf("%s, schema %d: its name, %q, tells no table; give -table", file, number, row.Name)
		}
		s := sources.table(of, "")
		if isKey {
			for i := range row.Fields {
				sources.key(of, row.Fields[i].Field, i)
			}
			continue
		}
		s.add(row)
	}
}

// withoutValues cuts what an error of encoding/json quotes of the text.
func withoutValues(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("at byte %d", syntax.Offset)
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s has a JSON %s", typ.Field, typ.Value)
	}
	return err
}

// add adds a row's schema to what is known of the table: of several versions of it,
// all columns, with the type that holds what both have.
func (s *Source) add(row *connectSchema) {
	for i := range row.Fields {
		f := &row.Fields[i]
		if strings.HasPrefix(f.Field, "__") { // what ExtractNewRecordState adds
			continue
		}
		c := f.column(s)
		known := s.column(c.Name)
		switch {
		case known == nil:
			s.Columns = append(s.Columns, c)
			continue
		case known.Mode == table.Required && c.Mode != table.Required:
			known.Mode = table.Nullable
		}
		if table.Holds(c.Type, known.Type) && c.Mode != table.Repeated {
			known.Type, known.From, known.FromScale = c.Type, c.From, c.FromScale
		} else if !table.Holds(known.Type, c.Type) {
			s.note("column %s is of type %s in one schema and of type %s in another: the first counts", c.Name, known.SQLType(), c.SQLType())
		}
	}
}

// connectNames are the columns for the schemas that have a name, by its end: what
// package connect reads their values as.
var connectNames = map[string]table.Column{
	"connect.data.Date": {Type: table.Date}, "connect.data.Time": {Type: table.Time, From: table.FromMillis},
	"connect.data.Timestamp":    {Type: table.DateTime, From: table.FromMillis},
	"data.VariableScaleDecimal": {Type: table.BigNumeric}, "data.Json": {Type: table.JSON}, "data.Bits": {Type: table.Bytes, From: table.FromBase64},
	"geometry.Point": {Type: table.JSON}, "geometry.Geometry": {Type: table.JSON}, "geometry.Geography": {Type: table.Geography},
	"geometry.Circle": {Type: table.JSON}, "geometry.Line": {Type: table.JSON},
	"time.Date": {Type: table.Date}, "time.Time": {Type: table.Time, From: table.FromMillis},
	"time.MicroTime": {Type: table.Time, From: table.FromMicros}, "time.NanoTime": {Type: table.Time, From: table.FromNanos},
	"time.Timestamp":      {Type: table.DateTime, From: table.FromMillis},
	"time.MicroTimestamp": {Type: table.DateTime, From: table.FromMicros}, "time.NanoTimestamp": {Type: table.DateTime, From: table.FromNanos},
	"time.ZonedTimestamp": {Type: table.Timestamp}, "time.ZonedTime": {Type: table.Time},
	"time.IsoDate": {Type: table.Date}, "time.IsoTime": {Type: table.Time}, "time.IsoTimestamp": {Type: table.DateTime},
	"time.Interval": {Type: table.Interval}, "time.MicroDuration": {Type: table.Interval, From: table.FromMicros},
	"time.NanoDuration": {Type: table.Interval, From: table.FromNanos}, "time.Year": {Type: table.Int64},
	"time.StructuredDate": {Type: table.Date}, "time.StructuredTime": {Type: table.Time}, "time.StructuredZonedTime": {Type: table.Time},
	"time.StructuredTimestamp": {Type: table.DateTime}, "time.StructuredZonedTimestamp": {Type: table.Timestamp},
	"time.StructuredDuration": {Type: table.Interval},
	"avro.timestamp-millis":   {Type: table.Timestamp}, "avro.timestamp-micros": {Type: table.Timestamp}, "avro.timestamp-nanos": {Type: table.Timestamp},
}

var connectTypes = map[string]table.Type{
	"boolean": table.Bool, "int8": table.Int64, "int16": table.Int64, "int32": table.Int64, "int64": table.Int64,
	"float32": table.Float64, "float64": table.Float64, "float": table.Float64, "double": table.Float64,
	"string": table.String, "map": table.JSON,
}

// column returns the column for a field's values.
func (s *connectSchema) column(of *Source) table.Column {
	c := s.typed(of)
	c.Name, c.Description = s.Field, s.Doc
	if s.Type == "struct" && strings.HasPrefix(s.Name, "io.debezium.") {
		c.Description = "" // it is the type's: "Variable scaled decimal"
	}
	switch {
	case c.Mode == table.Repeated:
	case s.Optional:
		c.Mode = table.Nullable
	default:
		c.Mode = table.Required
	}
	return c
}

func (s *connectSchema) typed(of *Source) table.Column {
	if strings.HasSuffix(s.Name, "connect.data.Decimal") && s.Type == "bytes" {
		scale, _ := strconv.Atoi(s.Parameters["scale"])
		c := table.Column{Type: decimalType(38, scale), From: table.FromDecimal, FromScale: int64(scale)}
		if precision, err := strconv.Atoi(s.Parameters["connect.decimal.precision"]); err == nil {
			c.Type = decimalType(precision, scale)
		}
		return c
	}
	for end, c := range connectNames {
		if s.Name == end || strings.HasSuffix(s.Name, "."+end) {
			if end == "data.VariableScaleDecimal" {
				of.Unbounded = append(of.Unbounded, s.Field)
			}
			return c
		}
	}
	switch s.Type {
	case "bytes":
		return table.Column{Type: table.Bytes, From: table.FromBase64}
	case "array":
		if s.Items == nil {
			return table.Column{Type: table.JSON}
		}
		c := s.Items.typed(of)
		if c.Mode == table.Repeated { // BigQuery has no array of arrays
			return table.Column{Type: table.JSON}
		}
		c.Mode = table.Repeated
		return c
	case "struct":
		if len(s.Fields) == 0 {
			return table.Column{Type: table.JSON}
		}
		c := table.Column{Type: table.Struct}
		for i := range s.Fields {
			c.Fields = append(c.Fields, s.Fields[i].column(of))
		}
		return c
	}
	if t, ok := connectTypes[s.Type]; ok {
		return table.Column{Type: t}
	}
	of.note("column %s is of type %q, which is unknown: it is JSON", s.Field, s.Type)
	return table.Column{Type: table.JSON}
}
