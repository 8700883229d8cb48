package avro

import (
	"slices"
	"strconv"
	"strings"

	hamba "github.com/hamba/avro/v2"
)

// The names by which package connect reads values.
const (
	connectData = "org.apache.kafka.connect.data."
	debezium    = "io.debezium."
	instant     = "avro." // and one of Avro's logical types of an instant
)

// logical is what an Avro logical type is read as: Kafka Connect's name for it.
type logical struct{ typ, name string } // typ: the Avro type it is known with

// logicals are the logical types of long, int and string. Those of bytes and
// fixed are in primitive and fixed.
var logicals = map[string]logical{
	"date":                   {"int32", connectData + "Date"},
	"time-millis":            {"int32", connectData + "Time"},
	"time-micros":            {"int64", debezium + "time.MicroTime"},
	"timestamp-millis":       {"int64", instant + "timestamp-millis"},
	"timestamp-micros":       {"int64", instant + "timestamp-micros"},
	"timestamp-nanos":        {"int64", instant + "timestamp-nanos"},
	"local-timestamp-millis": {"int64", debezium + "time.Timestamp"},
	"local-timestamp-micros": {"int64", debezium + "time.MicroTimestamp"},
	"local-timestamp-nanos":  {"int64", debezium + "time.NanoTimestamp"},

	// Datastream's own.
	"time-interval-micros": {"int64", debezium + "time.MicroTime"},
	"json":                 {"string", debezium + "data.Json"},
}

var primitives = map[hamba.Type]node{
	hamba.Boolean: {kind: kindBool, typ: "boolean"},
	hamba.Int:     {kind: kindInt, typ: "int32"},
	hamba.Long:    {kind: kindLong, typ: "int64"},
	hamba.Float:   {kind: kindFloat, typ: "float"},
	hamba.Double:  {kind: kindDouble, typ: "double"},
	hamba.String:  {kind: kindString, typ: "string"},
	hamba.Bytes:   {kind: kindBytes, typ: "bytes"},
	hamba.Null:    {kind: kindNull, typ: untyped},
}

// properties is what a schema has besides what its type needs.
type properties interface{ Prop(name string) any }

func connectName(s properties) string {
	name, _ := s.Prop("connect.name").(string)
	return name
}

// primitive makes the node of a type without a name. A name of Kafka Connect's
// or Debezium's says what values mean, whatever the logical type beside it: the
// JSON converter writes that name alone.
func primitive(s *hamba.PrimitiveSchema) (*node, error) {
	n := primitives[s.Type()]
	n.name = connectName(s)
	logicalType := logicalType(s, s.Logical())
	switch {
	case n.name == connectData+"Decimal":
		n.scale = scale(s, s.Logical())
	case strings.HasPrefix(n.name, connectData), strings.HasPrefix(n.name, debezium):
	case n.kind == kindBytes && logicalType == "decimal":
		n.name, n.scale = connectData+"Decimal", scale(s, s.Logical())
	case n.kind == kindBytes && logicalType == "big-decimal":
		n.kind, n.typ, n.name = kindBigDecimal, "struct", debezium+"data.VariableScaleDecimal"
	case n.kind == kindString && logicalType == "number":
		n.typ, n.name = untyped, "" // Datastream's: digits in a string, as in its JSON
	default:
		if l, ok := logicals[logicalType]; ok && l.typ == n.typ {
			n.name = l.name
		}
	}
	return &n, nil
}

func fixed(s *hamba.FixedSchema) node {
	n := node{kind: kindFixed, typ: "bytes", name: connectName(s), size: s.Size()}
	switch logicalType := logicalType(s, s.Logical()); {
	case logicalType == "decimal" || n.name == connectData+"Decimal":
		n.name, n.scale = connectData+"Decimal", scale(s, s.Logical())
	case logicalType == "duration" && n.size == 12:
		n.kind, n.typ, n.name = kindDuration, "string", debezium+"time.Interval"
	case logicalType == "uuid" && n.size == 16:
		n.kind, n.typ = kindUUID, "string"
	}
	return n
}

// logicalType returns the logical type, whether or not hamba knows it.
func logicalType(s properties, known hamba.LogicalSchema) string {
	if known != nil {
		return string(known.Type())
	}
	name, _ := s.Prop("logicalType").(string)
	return name
}

// scale returns a decimal's scale. Avro ignores a decimal whose precision it
// finds bad, as it is where Kafka Connect's converter doesn't know it; the scale
// is good then as well. The scale that a decimal doesn't give is 0.
func scale(s properties, known hamba.LogicalSchema) string {
	if d, ok := known.(*hamba.DecimalLogicalSchema); ok {
		return strconv.Itoa(d.Scale())
	}
	if parameters, ok := s.Prop("connect.parameters").(map[string]any); ok {
		if text, ok := parameters["scale"].(string); ok {
			return text
		}
	}
	switch n := s.Prop("scale").(type) {
	case nil:
		return "0"
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return "bad"
}

// unify recognizes the records that Datastream writes for one value:
// https://cloud.google.com/datastream/docs/unified-types
func (n *node) unify(name string) {
	switch name {
	case "varchar":
		if n.has("value", "length") {
			n.kind, n.only = kindOnly, n.at("value", nil)
		}
	case "timestampTz":
		if n.has("timestamp", "offset") {
			n.kind, n.only = kindOnly, n.at("timestamp", nil)
			if of := n.fields[n.only].node; of.kind == kindLong && of.name == "" { // where the logical type stands beside the type, as in Datastream's documentation
				n.fields[n.only].node = &node{kind: kindLong, typ: of.typ, name: instant + "timestamp-micros"}
			}
		}
	case "datetime":
		if n.has("date", "time") && n.areIntegers() {
			n.kind, n.typ, n.name = kindCivil, "int64", debezium+"time.MicroTimestamp"
		}
	case "interval":
		if n.has("months", "hours", "micros") && n.areIntegers() {
			n.kind, n.typ, n.name = kindSpan, "string", debezium+"time.Interval"
		}
	}
}

// has reports whether these are the record's fields, in any order.
func (n *node) has(names ...string) bool {
	missing := func(name string) bool { return n.at(name, nil) < 0 }
	return len(n.fields) == len(names) && !slices.ContainsFunc(names, missing)
}

func (n *node) areIntegers() bool {
	return !slices.ContainsFunc(n.fields, func(f field) bool { return f.kind != kindInt && f.kind != kindLong })
}

// at returns which field has a name, or -1. The index may be nil.
func (n *node) at(name string, index map[string]int) int {
	if index != nil {
		if i, ok := index[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(n.fields, func(f field) bool { return f.name == name })
}
