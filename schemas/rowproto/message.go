package rowproto

import (
	"fmt"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a row or a STRUCT: its fields, and how to find one by name.
type message struct {
	id     int // its place among the plan's messages
	path   string
	fields []field
	exact  map[string]int // by the name as BigQuery has it
	folded map[string]int // by the name without regard to case
}

// field is one column, or one field of a STRUCT.
type field struct {
	name     string
	path     string // from the row down: "address.city"
	column   *table.Column
	number   protowire.Number
	tag      []byte // of a singular field, or of each element where they aren't packed
	packed   bool   // elements follow one another in one length-delimited field
	required bool
	repeated bool
	key      bool
	policy   table.Policy
	clamp    bool // whether a bad value becomes the nearest one
	append   appendFunc
	limits   decimalLimits // of NUMERIC and BIGNUMERIC
	message  *message      // of a STRUCT
	bound    *field        // of a RANGE: what either bound is
}

// appendFunc appends a value without its tag: a varint, eight bytes, or a
// length and what it counts. The value is neither NULL nor unavailable. On an
// error what was appended is dropped.
type appendFunc func(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError)

// compileMessage compiles a row's columns or a STRUCT's fields.
func (p *Plan) compileMessage(columns []table.Column, path string) (*message, error) {
	if len(columns) == 0 {
		if path == "" {
			return nil, fmt.Errorf("it has no columns")
		}
		return nil, fmt.Errorf("column %q: a STRUCT needs fields", path)
	}
	m := &message{
		id: p.messages, path: path, fields: make([]field, len(columns)),
		exact: make(map[string]int, len(columns)), folded: make(map[string]int, len(columns)),
	}
	p.messages++
	for i := range columns {
		c := &columns[i]
		if c.Name == "" {
			return nil, fmt.Errorf("column %d of %q has no name", i+1, path)
		}
		if err := p.compileField(&m.fields[i], c, i, join(path, c.Name)); err != nil {
			return nil, fmt.Errorf("column %q: %w", join(path, c.Name), err)
		}
		if other, taken := m.folded[fold(c.Name)]; taken {
			return nil, fmt.Errorf("column %q and column %q differ by case alone", join(path, columns[other].Name), join(path, c.Name))
		}
		m.exact[c.Name] = i
		m.folded[fold(c.Name)] = i
	}
	return m, nil
}

func (p *Plan) compileField(f *field, c *table.Column, position int, path string) error {
	if path == c.Name && isPseudo(c.Name) {
		return fmt.Errorf("BigQuery reserves the name")
	}
	*f = field{
		name: c.Name, path: path, column: c, number: protowire.Number(position + 1),
		required: c.Mode == table.Required, repeated: c.Mode == table.Repeated,
	}
	if c.BadValues.Effect(c) != "" {
		f.policy, f.clamp = c.BadValues, c.BadValues == table.PolicyClamp
	}
	switch c.Mode {
	case "", table.Nullable, table.Required, table.Repeated:
	default:
		return fmt.Errorf("unknown mode %q", c.Mode)
	}
	kind, known := kinds[c.Type]
	if !known {
		return fmt.Errorf("unknown type %q", c.Type)
	}
	if err := table.CheckFrom(c); err != nil {
		return err
	}
	f.append = kind.append
	f.limits = limitsOf(c)
	f.packed = f.repeated && kind.wire != protowire.BytesType
	f.tag = protowire.AppendTag(nil, f.number, kind.wire)
	if f.packed {
		f.tag = protowire.AppendTag(nil, f.number, protowire.BytesType)
	}
	switch c.Type {
	case table.Struct:
		nested, err := p.compileMessage(c.Fields, path)
		if err != nil {
			return err
		}
		f.message = nested
	case table.Range:
		return compileRange(f, c)
	default:
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// find returns the index of the field that a source's column name means, or -1.
// BigQuery's column names are equal when they differ by case alone.
func (m *message) find(name string) int {
	if i, ok := m.exact[name]; ok {
		return i
	}
	if i, ok := m.folded[fold(name)]; ok {
		return i
	}
	return -1
}

// fold maps names that differ by case alone to one.
func fold(name string) string { return strings.ToLower(name) }
