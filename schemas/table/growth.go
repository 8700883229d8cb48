package table

import (
	"cmp"
	"fmt"
	"slices"

	"beamcdc/schemas/change"
)

// The words of a rule's untyped_columns.
const (
	UntypedInfer  = "infer"  // a number becomes a column of numbers, a text STRING, an object or array JSON
	UntypedString = "string" // a number or text STRING, an object or array JSON
	UntypedReject = "reject" // the row is a dead letter
)

// Growth says how a table may follow its source: a rule with `unknown_columns: add`.
type Growth struct {
	Untyped    string   // what becomes of new columns whose values their messages don't type
	MaxColumns int      // the table gets no column beyond that many
	Configured []Column // the rule's columns, whose types beat what a value suggests
}

// GrowthOf returns how the rule's table may grow, or nil if it may not.
func GrowthOf(rule *Rule) *Growth {
	if rule.UnknownColumns != "add" {
		return nil
	}
	return &Growth{
		Untyped:    cmp.Or(rule.UntypedColumns, UntypedInfer),
		MaxColumns: cmp.Or(rule.MaxColumns, MaxColumns),
		Configured: rule.Columns,
	}
}

// natural are the types that a value of a kind may have, the narrowest first.
var natural = map[change.Kind][]Type{
	change.KindBool:      {Bool},
	change.KindInt64:     {Int64},
	change.KindUint64:    {Numeric}, // an unsigned 64-bit integer need not fit into INT64
	change.KindFloat64:   {Float64},
	change.KindDecimal:   {Numeric, BigNumeric, String},
	change.KindString:    {String},
	change.KindBytes:     {Bytes},
	change.KindDate:      {Date},
	change.KindTime:      {Time},
	change.KindDateTime:  {DateTime},
	change.KindTimestamp: {Timestamp},
	change.KindInterval:  {Interval},
	change.KindJSON:      {JSON, String}, // a document that BigQuery would change stays itself as a text
}

// NewColumns returns the columns that a value of the column with this name may be
// the first of, in the order in which they are to be tried; none where the value
// says nothing. A STRUCT has fields without types: each is a new column itself.
// typed is false if only UntypedReject keeps the value from saying more.
//
// The types are those that the message gives its values: change.Value's kinds, which
// Debezium's and Avro's schemas decide, logical types included. An object of scale
// and value is a decimal, one with wkb a GEOGRAPHY. Dates and the like that come as
// text, or as numbers, stay that.
func (g *Growth) NewColumns(name string, v change.Value) (columns []Column, typed bool) {
	if c := findColumn(g.Configured, name); c != nil && c.Type != "" {
		configured := *c
		configured.Name = name
		if configured.Mode != Repeated {
			configured.Mode = Nullable // BigQuery adds no REQUIRED column
		}
		return []Column{configured}, true
	}
	types, typed := g.typesOf(v)
	for _, t := range types {
		columns = append(columns, Column{Name: name, Type: t, Mode: Nullable})
	}
	return columns, typed
}

func (g *Growth) typesOf(v change.Value) (types []Type, typed bool) {
	switch k := v.Kind(); k {
	case change.KindNumber, change.KindText, change.KindRaw:
		return g.untyped(k), g.Untyped != UntypedReject
	case change.KindStruct:
		return structTypes(v.Elems()), true
	default:
		return natural[k], true
	}
}

func (g *Growth) untyped(k change.Kind) []Type {
	switch {
	case g.Untyped == UntypedReject:
		return nil
	case k == change.KindRaw:
		return []Type{JSON, String}
	case k == change.KindNumber && g.Untyped == UntypedInfer:
		return []Type{Int64, Numeric, BigNumeric, Float64, String}
	default:
		return []Type{String}
	}
}

// structTypes knows the objects that Debezium's types are.
func structTypes(fields []change.Column) []Type {
	has := func(names ...string) bool {
		for _, name := range names {
			if _, ok := change.Find(fields, name); !ok {
				return false
			}
		}
		return len(fields) == len(names)
	}
	switch {
	case has("scale", "value"):
		return []Type{Numeric, BigNumeric, String}
	case has("wkb"), has("wkb", "srid"):
		return []Type{Geography, Struct, JSON}
	default:
		return []Type{Struct, JSON} // JSON for fields whose names BigQuery doesn't take
	}
}

// wider are the types that BigQuery changes a column's to, the narrowest first,
// without a loss: not to FLOAT64, for which it would round what is there
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-definition-language#alter_column_set_data_type_statement).
var wider = map[Type][]Type{
	Int64:   {Numeric, BigNumeric},
	Numeric: {BigNumeric},
}

// Wider returns what BigQuery can make of the column so that it holds more, in the
// order in which it is to be tried: first without its parameters.
func Wider(c *Column) []Column {
	if c.Mode == Repeated {
		return nil
	}
	var columns []Column
	if c.MaxLength != 0 || c.Precision != 0 {
		columns = append(columns, widened(c, c.Type))
	}
	for _, t := range wider[c.Type] {
		columns = append(columns, widened(c, t))
	}
	return columns
}

func widened(c *Column, t Type) Column {
	w := *c
	w.Type, w.MaxLength, w.Precision, w.Scale = t, 0, 0, 0
	return w
}

// Holds reports whether a column of type t takes what was encoded for one of type
// of, without a loss: they are the same, or t is wider. The Write API takes an
// integer for a NUMERIC.
func Holds(t, of Type) bool { return t == of || slices.Contains(wider[of], t) }

// Beside returns the columns of which one may take a value, beside column c, which
// can't hold it and can't be changed to: none where the value is a bad one rather
// than one of another type. It is bad if it is of the column's own type, other than
// a number of more digits; if it is an untyped text or document; or if the column
// counts a unit that nobody has told: `from` is missing then.
func (g *Growth) Beside(c *Column, v change.Value) []Column {
	types, _ := g.typesOf(v)
	number := isNumber[c.Type]
	switch v.Kind() {
	case change.KindInt64, change.KindUint64, change.KindFloat64, change.KindDecimal:
		if counts[c.Type] {
			return nil
		}
	case change.KindNumber:
		if !number {
			return nil
		}
	case change.KindText, change.KindRaw, change.KindStruct, change.KindArray:
		return nil
	default:
	}
	if c.Mode == Repeated || !number && slices.Contains(types, c.Type) {
		return nil
	}
	var columns []Column
	for _, t := range types {
		if Holds(c.Type, t) {
			continue
		}
		b := Column{Type: t, Mode: Nullable, Description: fmt.Sprintf(besideText, c.Name)}
		b.Name = BesideName(c.Name, &b)
		columns = append(columns, b)
	}
	return columns
}

var (
	isNumber = map[Type]bool{Int64: true, Float64: true, Numeric: true, BigNumeric: true}
	counts   = map[Type]bool{Date: true, Time: true, DateTime: true, Timestamp: true, Interval: true}
)
