package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Columns gives an expression the columns that it names, by their place in
// [Row.Columns] or [Row.Before].
type Columns interface {
	// Column returns the value in the one form of its column's type, or as its message
	// has it where that is not known. It is unavailable where the source left it out.
	Column(i int) (change.Value, error)
}

var (
	rowType    = cel.ObjectType("row")
	beforeType = cel.ObjectType("before")
)

// errLeftOut says that an expression needs a value that the source didn't send.
var errLeftOut = errors.New("the source left it out; has() tells")

// columnError is an error about a column that an expression reads. It holds no value.
type columnError struct {
	column string
	err    error
}

func (e *columnError) Error() string { return fmt.Sprintf("column %.300s: %v", e.column, e.err) }
func (e *columnError) Unwrap() error { return e.err }

// bound is an image of the row at hand.
type bound struct {
	columns Columns
	image   *image
}

func (b *bound) get(i int) (any, error) {
	v, err := b.columns.Column(i)
	if err == nil && (v.Kind() == change.KindUnavailable || v.Kind() == change.KindInvalid) {
		err = errLeftOut
	}
	if err != nil {
		return nil, &columnError{b.image.names[i], err}
	}
	if v.IsNull() && b.image.fields[i].Mode == table.Repeated {
		return []any{}, nil // BigQuery has no other NULL of an array
	}
	return toCEL(v), nil
}

func (b *bound) has(i int) bool {
	v, err := b.columns.Column(i)
	return err != nil || v.Kind() != change.KindUnavailable && v.Kind() != change.KindInvalid
}

// image is one of the two, as an expression sees it.
type image struct {
	known  []Field
	open   bool
	names  []string // that the expression uses
	fields []Field  // of the same
}

func newImage(known []Field, open bool) *image { return &image{known: known, open: open} }

// field returns the place of a column among those that the expression uses.
func (m *image) field(name string) (int, bool) {
	if i := slices.Index(m.names, name); i >= 0 {
		return i, true
	}
	f := Field{Name: name}
	if at := slices.IndexFunc(m.known, func(f Field) bool { return strings.EqualFold(f.Name, name) }); at >= 0 {
		f = m.known[at]
	} else if !m.open {
		return 0, false
	}
	m.names, m.fields = append(m.names, name), append(m.fields, f)
	return len(m.names) - 1, true
}

// provider tells CEL of the two images' columns.
type provider struct {
	*types.Registry
	images map[string]*image
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if p.images[name] != nil {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if m := p.images[name]; m != nil {
		names := make([]string, len(m.known))
		for i := range m.known {
			names[i] = m.known[i].Name
		}
		return names, true
	}
	return p.Registry.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	m := p.images[name]
	if m == nil {
		return p.Registry.FindStructFieldType(name, field)
	}
	i, ok := m.field(field)
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type:    celType(m.fields[i]),
		IsSet:   func(target any) bool { b, ok := target.(*bound); return ok && b.has(i) },
		GetFrom: func(target any) (any, error) { return target.(*bound).get(i) },
	}, true
}
