package googlesql

import (
	"fmt"
	"strings"
)

// Kind is the kind of a Type.
type Kind int

// The kinds of types. Null is that of a bare NULL, which any type takes.
const (
	Null Kind = iota
	Bool
	Int64
	Float64
	Numeric
	BigNumeric
	String
	Bytes
	Date
	Time
	DateTime
	Timestamp
	JSON
	Geography
	Interval
	Range
	Struct
	Array
)

var kindNames = [...]string{
	"INT64", "BOOL", "INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC", "STRING", "BYTES", "DATE", "TIME", "DATETIME", "TIMESTAMP",
	"JSON", "GEOGRAPHY", "INTERVAL", "RANGE", "STRUCT", "ARRAY",
}

// String returns the kind's name in GoogleSQL. A bare NULL is INT64, as in BigQuery.
func (k Kind) String() string { return kindNames[k] }

// Type is a type of GoogleSQL's.
type Type struct {
	Kind   Kind
	Elem   *Type   // of an ARRAY or a RANGE
	Fields []Field // of a STRUCT
	// Length is that of STRING(n) or BYTES(n), Precision and Scale those of NUMERIC(p, s)
	// or BIGNUMERIC(p, s); 0 means that there is none.
	Length, Precision, Scale int64
}

// Field is a field of a STRUCT; its name may be empty.
type Field struct {
	Name string
	Type *Type
	// NotNull, Default and Options are only there in the fields of CREATE TABLE's columns.
	NotNull bool
	Options []Option
}

var scalar [Array + 1]*Type

func init() {
	for k := range scalar {
		scalar[k] = &Type{Kind: Kind(k)}
	}
}

// Of returns the type of a kind that has no parts.
func Of(k Kind) *Type { return scalar[k] }

// ArrayOf returns the type of arrays of elem.
func ArrayOf(elem *Type) *Type { return &Type{Kind: Array, Elem: elem} }

// typeNames are the names of types in GoogleSQL, with their aliases.
var typeNames = map[string]Kind{
	"BOOL": Bool, "BOOLEAN": Bool,
	"INT64": Int64, "INT": Int64, "SMALLINT": Int64, "INTEGER": Int64, "BIGINT": Int64, "TINYINT": Int64, "BYTEINT": Int64,
	"FLOAT64": Float64, "NUMERIC": Numeric, "DECIMAL": Numeric, "BIGNUMERIC": BigNumeric, "BIGDECIMAL": BigNumeric,
	"STRING": String, "BYTES": Bytes, "DATE": Date, "TIME": Time, "DATETIME": DateTime, "TIMESTAMP": Timestamp,
	"JSON": JSON, "GEOGRAPHY": Geography, "INTERVAL": Interval,
}

// String returns the type as GoogleSQL writes it.
func (t *Type) String() string {
	switch t.Kind {
	case Array, Range:
		return t.Kind.String() + "<" + t.Elem.String() + ">"
	case Struct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = strings.TrimPrefix(f.Name+" "+f.Type.String(), " ")
		}
		return "STRUCT<" + strings.Join(fields, ", ") + ">"
	default:
	}
	switch {
	case t.Length > 0:
		return fmt.Sprintf("%s(%d)", t.Kind, t.Length)
	case t.Scale > 0:
		return fmt.Sprintf("%s(%d, %d)", t.Kind, t.Precision, t.Scale)
	case t.Precision > 0:
		return fmt.Sprintf("%s(%d)", t.Kind, t.Precision)
	}
	return t.Kind.String()
}

// DuckDB returns the DuckDB type that holds the type's values.
func (t *Type) DuckDB() string {
	switch t.Kind {
	case Bool:
		return "BOOLEAN"
	case Null, Int64:
		return "BIGINT"
	case Float64:
		return "DOUBLE"
	case Numeric:
		return "DECIMAL(38,9)"
	case Bytes, BigNumeric:
		return "BLOB"
	case Date:
		return "DATE"
	case Time:
		return "TIME"
	case DateTime:
		return "TIMESTAMP"
	case Timestamp:
		return "TIMESTAMPTZ"
	case Interval:
		return "INTERVAL"
	case Range:
		bound := t.Elem.DuckDB()
		return fmt.Sprintf(`STRUCT("start" %s, "end" %s)`, bound, bound)
	case Struct:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = quoteName(t.fieldName(i)) + " " + f.Type.DuckDB()
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	case Array:
		return t.Elem.DuckDB() + "[]"
	default: // STRING; JSON and GEOGRAPHY as they were written
		return "VARCHAR"
	}
}

// fieldName is a field's name in DuckDB, where each must have one.
func (t *Type) fieldName(i int) string {
	if n := t.Fields[i].Name; n != "" {
		return n
	}
	return fmt.Sprintf("_field_%d", i+1)
}

// SameAs says whether two types are the same, their parameters aside.
func (t *Type) SameAs(other *Type) bool {
	if t.Kind != other.Kind {
		return false
	}
	switch t.Kind {
	case Array, Range:
		return t.Elem.SameAs(other.Elem)
	case Struct:
		if len(t.Fields) != len(other.Fields) {
			return false
		}
		for i, f := range t.Fields {
			if !strings.EqualFold(f.Name, other.Fields[i].Name) || !f.Type.SameAs(other.Fields[i].Type) {
				return false
			}
		}
	default:
	}
	return true
}

func (t *Type) isNumber() bool {
	switch t.Kind {
	case Int64, Float64, Numeric, BigNumeric:
		return true
	default:
		return false
	}
}

// A NUL would end DuckDB's text: nothing that has one may be named.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, "\x00", ""), `"`, `""`) + `"`
}

// quoteText writes a string as a DuckDB literal. DuckDB has no escapes, and no NUL in a
// statement's text.
func quoteText(s string) string {
	parts := strings.Split(s, "\x00")
	for i, p := range parts {
		parts[i] = "'" + strings.ReplaceAll(p, "'", "''") + "'"
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " || chr(0) || ") + ")"
}
