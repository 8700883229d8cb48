package rowproto

import (
	"fmt"
	"sync"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/types/descriptorpb"
)

// Plan is a table's schema compiled for encoding: its protobuf descriptor and,
// for each column, how a value becomes bytes. It never changes and is safe for
// any number of goroutines.
type Plan struct {
	table       *table.Table
	name        string
	descriptor  *descriptorpb.DescriptorProto
	fingerprint uint64
	root        *message
	plain       bool     // its rows have no pseudo-columns, and need no key
	messages    int      // how many messages the descriptor has, RANGEs not counted
	key         []*field // in the order of the primary key's constraint
	encoders    sync.Pool
}

// Compile checks that rows of the table can be encoded and compiles how. The
// table is not to be changed afterwards. It returns an error that names the
// table and column when the table has no primary key, a type that BigQuery
// doesn't know, a column named like one of the CDC pseudo-columns, two columns
// whose names differ by case alone, or a From that makes no sense for its type.
func Compile(t *table.Table) (*Plan, error) {
	p := &Plan{table: t, name: t.Name.String()}
	if err := p.compile(t); err != nil {
		return nil, fmt.Errorf("compiling the schema of %s: %w", p.name, err)
	}
	p.encoders.New = func() any { return p.NewEncoder() }
	return p, nil
}

func (p *Plan) compile(t *table.Table) error {
	if len(t.Columns) > table.MaxColumns {
		return fmt.Errorf("it has %d columns, more than %d", len(t.Columns), table.MaxColumns)
	}
	root, err := p.compileMessage(t.Columns, "")
	if err != nil {
		return err
	}
	p.root = root
	if !p.plain {
		if err := p.compileKey(t.PrimaryKey); err != nil {
			return err
		}
	}
	p.descriptor = describe(root, !p.plain)
	p.fingerprint, err = fingerprint(p.descriptor, t)
	return err
}

// compileKey marks the fields of the primary key.
func (p *Plan) compileKey(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("it has no primary key")
	}
	if len(names) > table.MaxKeyColumns {
		return fmt.Errorf("its primary key has %d columns, more than %d", len(names), table.MaxKeyColumns)
	}
	for _, name := range names {
		i := p.root.find(name)
		if i < 0 {
			return fmt.Errorf("its primary key names column %q, which it doesn't have", name)
		}
		f := &p.root.fields[i]
		if f.key {
			return fmt.Errorf("its primary key names column %q twice", name)
		}
		if f.repeated || !keyTypes[f.column.Type] {
			return fmt.Errorf("column %q, %s, can't be part of a primary key", f.name, typeName(f.column))
		}
		f.key = true
		// A key takes no policy: NULL is no key, and clamping would make two rows one.
		f.policy, f.clamp = table.PolicyReject, false
		p.key = append(p.key, f)
	}
	return nil
}

// keyTypes are the types whose values have one encoding each. BigQuery allows
// fewer; the rest is the table's affair.
var keyTypes = map[table.Type]bool{
	table.Bool: true, table.Int64: true, table.Numeric: true, table.BigNumeric: true, table.String: true, table.Bytes: true,
	table.Date: true, table.Time: true, table.DateTime: true, table.Timestamp: true,
}

// typeName returns the column's type as GoogleSQL writes it.
func typeName(c *table.Column) string {
	if c.Mode == table.Repeated {
		return "ARRAY<" + string(c.Type) + ">"
	}
	return string(c.Type)
}

// Table returns the table that the plan was compiled from.
func (p *Plan) Table() *table.Table { return p.table }

// Descriptor returns the rows' descriptor: proto2, self-contained and
// normalized, as managedwriter.WithSchemaDescriptor takes it. It is shared and
// not to be changed.
func (p *Plan) Descriptor() *descriptorpb.DescriptorProto { return p.descriptor }

// Fingerprint returns a hash of the descriptor and of everything else that
// changes how a row's bytes are read: the columns' names and types and the
// primary key. It is the same in every process.
func (p *Plan) Fingerprint() uint64 { return p.fingerprint }

// RowOptions says how to take a row. The zero value takes an absent column for
// NULL and refuses an unknown one.
type RowOptions struct {
	// AbsentUnavailable says that a column the row lacks is unchanged in the
	// source rather than NULL: it is an error with ReasonUnavailable.
	AbsentUnavailable bool
	// Incomplete says that columns which the row lacks, required ones too, are left
	// out for now: that the others can be encoded is asked.
	Incomplete bool
	// IgnoreUnknown drops columns that the table doesn't have.
	IgnoreUnknown bool
	// NullUnknown drops those of them that say nothing, NULL and its like: the table
	// may get the column once they do.
	NullUnknown bool
	// Adjusted, when set, has an Adjustment appended for each value that a column's
	// policy replaced. It is left alone when the row is refused.
	Adjusted *[]Adjustment
}

// Adjustment is what a policy did to one value of a row that was encoded: to a
// column, a field, or an element of an array.
type Adjustment struct {
	Column string       // "total", "address.city"; of an element its array's
	Policy table.Policy // never PolicyReject
}

// AppendKey appends the bytes of the row's primary key: deterministic, the same
// for equal keys whatever their spelling (1, "1" and 1.0 for an INT64), and
// different for different ones. Columns that are not of the key are ignored.
// The error is a *ValueError; dst is then returned as it was.
func (p *Plan) AppendKey(dst []byte, columns []change.Column) ([]byte, error) {
	e := p.encoders.Get().(*Encoder)
	defer p.encoders.Put(e)
	return e.AppendKey(dst, columns)
}

// AppendUpsert appends the row as an UPSERT in protobuf's wire format. The
// error is a *ValueError; dst is then returned as it was.
func (p *Plan) AppendUpsert(dst []byte, row []change.Column, seq change.Sequence, o RowOptions) ([]byte, error) {
	e := p.encoders.Get().(*Encoder)
	defer p.encoders.Put(e)
	return e.AppendUpsert(dst, row, seq, o)
}

// AppendDelete appends a DELETE: the key columns and the two pseudo-columns,
// nothing else. Columns that are not of the key are ignored. The error is a
// *ValueError; dst is then returned as it was.
func (p *Plan) AppendDelete(dst []byte, key []change.Column, seq change.Sequence) ([]byte, error) {
	e := p.encoders.Get().(*Encoder)
	defer p.encoders.Put(e)
	return e.AppendDelete(dst, key, seq)
}
