package query

import (
	"fmt"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// kinds are GoogleSQL's types as the engine has them.
var kinds = map[googlesql.Kind]engine.Kind{
	googlesql.Null: engine.KindInt64, googlesql.Bool: engine.KindBool, googlesql.Int64: engine.KindInt64, googlesql.Float64: engine.KindFloat64,
	googlesql.Numeric: engine.KindNumeric, googlesql.BigNumeric: engine.KindBigNumeric, googlesql.String: engine.KindString,
	googlesql.Bytes: engine.KindBytes, googlesql.Date: engine.KindDate, googlesql.Time: engine.KindTime, googlesql.DateTime: engine.KindDateTime,
	googlesql.Timestamp: engine.KindTimestamp, googlesql.JSON: engine.KindJSON, googlesql.Geography: engine.KindGeography,
	googlesql.Interval: engine.KindInterval, googlesql.Range: engine.KindRange, googlesql.Struct: engine.KindStruct,
}

func kindOf(k engine.Kind) googlesql.Kind {
	for sql, kind := range kinds {
		if kind == k && sql != googlesql.Null {
			return sql
		}
	}
	panic(fmt.Sprintf("query: kind %v", k))
}

// columnsOf are an engine's columns as GoogleSQL sees them.
func columnsOf(columns []*engine.Column) []googlesql.Column {
	result := make([]googlesql.Column, len(columns))
	for i, c := range columns {
		result[i] = googlesql.Column{Name: c.Name, Type: typeOf(c)}
	}
	return result
}

func typeOf(c *engine.Column) *googlesql.Type {
	t := &googlesql.Type{Kind: kindOf(c.Kind), Length: c.MaxLength, Precision: c.Precision, Scale: c.Scale}
	if c.Kind == engine.KindRange {
		t.Elem = googlesql.Of(kindOf(c.Element))
	}
	for _, f := range c.Fields {
		t.Fields = append(t.Fields, googlesql.Field{Name: f.Name, Type: typeOf(f)})
	}
	if c.Repeated {
		t = googlesql.ArrayOf(t)
	}
	return t
}

// columnOf is a result's column as the engine writes its values.
func columnOf(name string, t *googlesql.Type) *engine.Column {
	c := &engine.Column{Name: name}
	if t.Kind == googlesql.Array {
		c.Repeated, t = true, t.Elem
	}
	c.Kind = kinds[t.Kind]
	if t.Kind == googlesql.Range {
		c.Element = kinds[t.Elem.Kind]
	}
	for i, f := range t.Fields {
		field := f.Name
		if field == "" { // as googlesql names it in DuckDB
			field = fmt.Sprintf("_field_%d", i+1)
		}
		c.Fields = append(c.Fields, columnOf(field, f.Type))
	}
	return c
}

// fieldOf is a column as a table's resource describes it.
func fieldOf(name string, t *googlesql.Type) *bq.TableFieldSchema {
	f := &bq.TableFieldSchema{Name: name, Mode: "NULLABLE"}
	if t.Kind == googlesql.Array {
		f.Mode, t = "REPEATED", t.Elem
	}
	f.Type = kinds[t.Kind].String()
	f.MaxLength, f.Precision, f.Scale = t.Length, t.Precision, t.Scale
	if t.Kind == googlesql.Range {
		f.RangeElementType = &bq.TableFieldSchemaRangeElementType{Type: kinds[t.Elem.Kind].String()}
	}
	for i, field := range t.Fields {
		name := field.Name
		if name == "" {
			name = fmt.Sprintf("_field_%d", i+1)
		}
		inner := fieldOf(name, field.Type)
		if field.NotNull {
			inner.Mode = "REQUIRED"
		}
		if text, ok := textOption(field.Options, "description"); ok {
			inner.Description = text
		}
		f.Fields = append(f.Fields, inner)
	}
	return f
}

// textOption is the value of an option that is a literal string.
func textOption(options []googlesql.Option, name string) (string, bool) {
	for _, o := range options {
		if o.Name != name {
			continue
		}
		if v, ok := o.Constant(); ok {
			text, ok := v.(string)
			return text, ok
		}
	}
	return "", false
}

// schemaOf is a translation's columns as a schema.
func schemaOf(columns []googlesql.Column) *bq.TableSchema {
	s := &bq.TableSchema{Fields: []*bq.TableFieldSchema{}}
	for _, c := range columns {
		s.Fields = append(s.Fields, fieldOf(c.Name, c.Type))
	}
	return s
}
