package avro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	hamba "github.com/hamba/avro/v2"

	"beamcdc/schemas/envelope/connect"
)

// What a schema is refused for. Types may refer to themselves and to each other,
// so that a short schema can stand for endless ones; what types values is cut
// there, and they stay JSON text.
const (
	maxSchemaBytes = 4 << 20
	maxNesting     = 100    // of types inside of types, as they are written
	maxTyped       = 50_000 // fields and elements that values are typed by
	maxTypedDepth  = 20     // beyond the depth that package connect types
)

// kind says how a value is read.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindLong
	kindFloat
	kindDouble
	kindString
	kindBytes
	kindFixed
	kindEnum
	kindArray
	kindMap
	kindRecord
	kindUnion
	kindOptional // a union of null and one other type

	kindDuration   // a fixed of 12 bytes: months, days, milliseconds
	kindUUID       // a fixed of 16 bytes
	kindBigDecimal // bytes: the unscaled number's bytes and the scale
	kindOnly       // a record that stands for one of its fields: Datastream's varchar and timestampTz
	kindCivil      // Datastream's datetime: a record of days and microseconds
	kindSpan       // Datastream's interval: a record of months, hours and microseconds
)

// node is one type of a compiled schema. It doesn't change, and may hold itself.
type node struct {
	kind     kind
	fields   []field  // of a record
	items    *node    // of an array or a map
	branches []branch // of a union
	isChoice bool     // a union of more than null and one other type that JSON doesn't tell apart
	isLoose  bool     // a union of several types that it does
	symbols  []string // of an enum
	size     int      // of a fixed
	only     int      // which field a kindOnly is

	// What values are typed by: Kafka Connect's type and name, and a decimal's scale.
	typ, name, scale string
}

type field struct {
	name  string
	label []byte // the name as a member of JSON: "name":
	*node
}

type branch struct {
	name  string // as Avro's JSON encoding has it: with its namespace
	short string // without
	label []byte // the short name as a member of JSON
	*node
}

// schema is a compiled schema.
type schema struct {
	root  *node
	types *connect.Schema // of the JSON that a value becomes
	bytes int             // of the schema's text
}

func init() {
	// Apache Avro for Java takes namespaces such as "my-topic.public.orders", and
	// writes them into the schemas that a registry then holds.
	hamba.SkipNameValidation = true
}

// compile reads a schema's text.
func compile(text string) (_ *schema, err error) {
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("reading the schema: it has more than %d bytes", maxSchemaBytes)
	}
	parsed, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := compiler{named: make(map[string]*node)}
	root, err := c.node(parsed, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	t := typer{left: maxTyped, path: make(map[*node]bool)}
	definition, err := json.Marshal(t.definition(root, 0))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	types, err := connect.Compile(string(definition))
	if err != nil {
		return nil, err
	}
	return &schema{root: root, types: types, bytes: len(text)}, nil
}

// parse reads a schema's text with hamba's parser.
func parse(text string) (_ hamba.Schema, err error) {
	if !jsontext.Value(text).IsValid() {
		return nil, errors.New("reading the schema: it is no JSON")
	}
	defer func() {
		// The parser dereferences nil where a default refers to the type it is in.
		if cause := recover(); cause != nil {
			err = errors.New("reading the schema: its parser fails on it")
		}
	}()
	// A cache of its own: types of the same name differ from one table, and one
	// version of a table, to the next.
	parsed, err := hamba.ParseBytesWithCache([]byte(text), "", &hamba.SchemaCache{})
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %s", clip(err.Error()))
	}
	return parsed, nil
}

// compiler turns hamba's tree into nodes.
type compiler struct {
	named map[string]*node // by full name: a type can be used many times
}

func (c *compiler) node(s hamba.Schema, depth int) (*node, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("types are nested deeper than %d", maxNesting)
	}
	switch s := s.(type) {
	case *hamba.RefSchema:
		return c.node(s.Schema(), depth)
	case *hamba.NullSchema:
		return &node{kind: kindNull, typ: untyped}, nil
	case *hamba.PrimitiveSchema:
		return primitive(s)
	case *hamba.ArraySchema:
		items, err := c.node(s.Items(), depth+1)
		return &node{kind: kindArray, items: items, typ: "array", name: connectName(s)}, err
	case *hamba.MapSchema:
		values, err := c.node(s.Values(), depth+1)
		return &node{kind: kindMap, items: values, typ: untyped}, err
	case *hamba.UnionSchema:
		return c.union(s, depth)
	case hamba.NamedSchema:
		if n, ok := c.named[s.FullName()]; ok {
			return n, nil
		}
		n := new(node)
		c.named[s.FullName()] = n
		switch s := s.(type) {
		case *hamba.RecordSchema:
			return n, c.record(n, s, depth)
		case *hamba.EnumSchema:
			*n = node{kind: kindEnum, typ: "string", name: connectName(s), symbols: s.Symbols()}
			return n, nil
		case *hamba.FixedSchema:
			*n = fixed(s)
			return n, nil
		}
	}
	return nil, fmt.Errorf("the type %s is unknown", s.Type())
}

func (c *compiler) record(n *node, s *hamba.RecordSchema, depth int) error {
	n.kind, n.typ, n.name = kindRecord, "struct", connectName(s)
	if n.name == "" {
		n.name = s.FullName()
	}
	n.fields = make([]field, 0, len(s.Fields()))
	for _, f := range s.Fields() {
		typ, err := c.node(f.Type(), depth+1)
		if err != nil {
			return fmt.Errorf("field %s: %w", clip(f.Name()), err)
		}
		n.fields = append(n.fields, field{name: f.Name(), label: label(f.Name()), node: typ})
	}
	n.unify(s.Name())
	return nil
}

func (c *compiler) union(s *hamba.UnionSchema, depth int) (*node, error) {
	n := &node{kind: kindUnion, typ: "struct"}
	others := 0
	for _, t := range s.Types() {
		typ, err := c.node(t, depth+1)
		if err != nil {
			return nil, err
		}
		if ref, ok := t.(*hamba.RefSchema); ok {
			t = ref.Schema()
		}
		name := string(t.Type())
		if named, ok := t.(hamba.NamedSchema); ok {
			name = named.FullName()
		}
		if typ.kind != kindNull {
			others++
		}
		short := name[strings.LastIndexByte(name, '.')+1:]
		n.branches = append(n.branches, branch{name: name, short: short, label: label(short), node: typ})
	}
	n.isLoose = others > 1 && !slices.ContainsFunc(n.branches, func(b branch) bool { return !b.isPlain() })
	n.isChoice = others > 1 && !n.isLoose
	if others == 1 && len(n.branches) == 2 {
		n.kind = kindOptional
	}
	return n, nil
}

// isPlain reports whether the JSON of a value tells all that there is to know.
func (n *node) isPlain() bool { return n.kind <= kindString && n.name == "" }

// label returns a name as a member of JSON, with its colon.
func label(name string) []byte {
	b, _ := jsontext.AppendQuote(nil, name) // what is no UTF-8 is replaced
	return append(b, ':')
}

// typer writes the schema that Kafka Connect's JSON converter would put in front
// of the JSON that values become.
type typer struct {
	left int            // of the fields and elements that may be typed
	path map[*node]bool // the records around: a type within itself is not typed
}

// definition is a schema in the JSON converter's form.
type definition struct {
	Type       string            `json:"type"`
	Name       string            `json:"name,omitzero"`
	Parameters map[string]string `json:"parameters,omitzero"`
	Fields     []definition      `json:"fields,omitzero"`
	Field      string            `json:"field,omitzero"`
	Items      *definition       `json:"items,omitzero"`
}

// untyped is the type of what stays as its JSON is.
const untyped = "map"

func (t *typer) definition(n *node, depth int) definition {
	if t.left--; t.left < 0 || depth > maxTypedDepth || t.path[n] {
		return definition{Type: untyped}
	}
	d := definition{Type: n.typ, Name: n.name}
	if n.scale != "" {
		d.Parameters = map[string]string{"scale": n.scale}
	}
	switch n.kind {
	case kindRecord:
		t.path[n] = true
		for _, f := range n.fields {
			of := t.definition(f.node, depth+1)
			of.Field = f.name
			d.Fields = append(d.Fields, of)
		}
		delete(t.path, n)
	case kindOnly:
		return t.definition(n.fields[n.only].node, depth)
	case kindArray:
		items := t.definition(n.items, depth+1)
		d.Items = &items
	case kindUnion, kindOptional:
		if n.isLoose {
			return definition{Type: untyped}
		}
		for _, b := range n.branches {
			switch {
			case b.kind == kindNull:
			case !n.isChoice:
				return t.definition(b.node, depth)
			default:
				of := t.definition(b.node, depth+1)
				of.Field = b.short
				d.Fields = append(d.Fields, of)
			}
		}
	default:
	}
	return d
}

// clip bounds what a hostile schema can put into an error.
func clip(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
