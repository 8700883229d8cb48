package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// celType returns what a column's values are to CEL. What can be NULL is so there.
func celType(f Field) *cel.Type {
	if f.Mode == table.Repeated {
		return cel.ListType(cel.DynType)
	}
	switch f.Type {
	case table.Bool:
		return cel.NullableType(cel.BoolType)
	case table.Int64:
		return cel.NullableType(cel.IntType)
	case table.Float64:
		return cel.NullableType(cel.DoubleType)
	case table.Numeric, table.BigNumeric:
		return decimalType
	case table.Bytes:
		return cel.NullableType(cel.BytesType)
	case table.Timestamp:
		return cel.TimestampType
	case table.String, table.Date, table.Time, table.DateTime, table.Interval, table.Geography:
		return cel.NullableType(cel.StringType)
	default: // JSON, STRUCT, RANGE, and what is not known
		return cel.DynType
	}
}

// takers are the types of the columns that take a value of CEL's, by kindOf.
var takers = map[string][]table.Type{
	"bool":      {table.Bool, table.JSON},
	"int":       {table.Int64, table.Numeric, table.BigNumeric, table.JSON},
	"uint":      {table.Int64, table.Numeric, table.BigNumeric, table.JSON},
	"decimal":   {table.Numeric, table.BigNumeric, table.JSON},
	"double":    {table.Float64, table.JSON},
	"bytes":     {table.Bytes},
	"timestamp": {table.Timestamp},
	"string": {
		table.String, table.Date, table.Time, table.DateTime, table.Timestamp, table.Interval, table.Geography, table.JSON,
	},
	"list": {table.JSON},
	"map":  {table.JSON, table.Struct, table.Range},
}

// kindOf returns the word for a type of CEL's.
func kindOf(t *cel.Type) string {
	switch t.Kind() {
	case types.BoolKind:
		return "bool"
	case types.IntKind:
		return "int"
	case types.UintKind:
		return "uint"
	case types.DoubleKind:
		return "double"
	case types.StringKind:
		return "string"
	case types.BytesKind:
		return "bytes"
	case types.TimestampKind:
		return "timestamp"
	case types.DurationKind:
		return "duration"
	case types.ListKind:
		return "list"
	case types.MapKind:
		return "map"
	case types.NullTypeKind:
		return "null"
	case types.TypeKind:
		return "type"
	case types.DynKind, types.AnyKind, types.TypeParamKind:
		return "dyn"
	case types.OpaqueKind:
		if t.TypeName() == decimalType.TypeName() {
			return "decimal"
		}
	default:
	}
	return ""
}

func show(t *cel.Type) string {
	if word := kindOf(t); word != "" {
		return word
	}
	return t.TypeName()
}

func sqlType(f Field) string {
	if f.Mode == table.Repeated {
		return "ARRAY<" + string(f.Type) + ">"
	}
	return string(f.Type)
}

// advice says what would make a value of the column's type.
func advice(word string, c Field) string {
	switch {
	case c.Mode == table.Repeated:
		return "; […] makes a list"
	case c.Type == table.String && slices.Contains([]string{"bool", "int", "uint", "decimal", "double", "timestamp", "bytes"}, word):
		return "; string(…) makes a text"
	case c.Type == table.Float64 && slices.Contains([]string{"int", "uint", "decimal"}, word):
		return "; double(…) makes the nearest one"
	case c.Type == table.Int64 && word == "decimal":
		return "; int(…) takes a whole one"
	}
	return ""
}

// toCEL returns a column's value as CEL has it.
func toCEL(v change.Value) any {
	switch v.Kind() {
	case change.KindNull:
		return types.NullValue
	case change.KindBool:
		return types.Bool(v.Bool())
	case change.KindInt64:
		return types.Int(v.Int())
	case change.KindUint64:
		return types.Uint(v.Uint())
	case change.KindFloat64:
		return types.Double(v.Float())
	case change.KindNumber:
		return exactNumber(v.Text())
	case change.KindDecimal:
		if d, ok := parseDecimal(v.Text()); ok {
			return d
		}
		return types.String(v.Text()) // NaN, Infinity
	case change.KindBytes:
		return []byte(v.Text())
	case change.KindDate:
		return types.String(time.Unix(v.Int()*86_400, 0).UTC().Format("2006-01-02"))
	case change.KindTime:
		return types.String(time.UnixMicro(v.Int()).UTC().Format("15:04:05.000000"))
	case change.KindDateTime:
		return types.String(time.UnixMicro(v.Int()).UTC().Format("2006-01-02T15:04:05.000000"))
	case change.KindTimestamp:
		return types.Timestamp{Time: time.UnixMicro(v.Int()).UTC()}
	case change.KindArray:
		elements := make([]any, 0, len(v.Elems()))
		for _, c := range v.Elems() {
			elements = append(elements, toCEL(c.Value))
		}
		return elements
	case change.KindStruct:
		fields := make(map[string]any, len(v.Elems()))
		for _, c := range v.Elems() {
			if c.Value.Kind() != change.KindUnavailable {
				fields[c.Name] = toCEL(c.Value)
			}
		}
		return fields
	case change.KindRaw, change.KindJSON:
		document, err := parseDocument([]byte(v.Text()), exactNumber)
		if err != nil {
			return types.WrapErr(errors.New("the JSON document can't be read"))
		}
		return document
	default:
		return types.String(strings.Clone(v.Text()))
	}
}

// exactNumber returns a JSON number: an int, beyond it a uint, else a decimal.
func exactNumber(digits string) any {
	n := numeral(digits)
	if _, isText := n.(string); !isText {
		return n
	}
	if d, ok := parseDecimal(digits); ok {
		return d
	}
	return digits
}

// maxResultDepth bounds lists and maps in each other that an expression gives.
const maxResultDepth = 20

// fromCEL returns what an expression gives as a column's value. The error goes on
// after "the expression gives".
func fromCEL(v ref.Val, depth int) (change.Value, error) {
	if depth > maxResultDepth {
		return change.Value{}, fmt.Errorf("lists and maps more than %d deep", maxResultDepth)
	}
	switch v := v.(type) {
	case types.Null:
		return change.Null(), nil
	case types.Bool:
		return change.Bool(bool(v)), nil
	case types.Int:
		return change.Int64(int64(v)), nil
	case types.Uint:
		return change.Uint64(uint64(v)), nil
	case types.Double:
		return change.Float64(float64(v)), nil
	case decimal:
		return change.Decimal(v.text()), nil
	case types.String:
		return change.String(string(v)), nil
	case types.Bytes:
		return change.Bytes(string(v)), nil
	case types.Timestamp:
		return change.Timestamp(v.UnixMicro()), nil // downwards, as everywhere
	case traits.Mapper:
		return structFrom(v, depth)
	case traits.Lister:
		var elements []change.Column
		for i := v.Iterator(); i.HasNext() == types.True; {
			element, err := fromCEL(i.Next(), depth+1)
			if err != nil {
				return change.Value{}, err
			}
			elements = append(elements, change.Column{Value: element})
		}
		return change.Array(elements), nil
	}
	return change.Value{}, fmt.Errorf("a %s, which no column holds", v.Type().TypeName())
}

// structFrom returns a map as a struct, its fields in the order of their names: a map
// has none, and the same row must have the same bytes on every worker.
func structFrom(v traits.Mapper, depth int) (change.Value, error) {
	var fields []change.Column
	for i := v.Iterator(); i.HasNext() == types.True; {
		key := i.Next()
		name, ok := key.(types.String)
		if !ok {
			return change.Value{}, errors.New("a map whose keys are not strings")
		}
		value, err := fromCEL(v.Get(key), depth+1)
		if err != nil {
			return change.Value{}, err
		}
		fields = append(fields, change.Column{Name: string(name), Value: value})
	}
	slices.SortFunc(fields, func(a, b change.Column) int { return strings.Compare(a.Name, b.Name) })
	return change.Struct(fields), nil
}
