package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"beamcdc/schemas/change"
)

// File is a file of rows: JSON Lines, an object a row, or CSV with a line of names. A
// value means what it would in a message without a schema. In CSV an empty field is
// NULL.
type File struct {
	path    string
	columns []string
	table   *Table
	places  map[string]string // BigQuery's name by the file's
	sorted  *runs             // once it was read
}

// OpenFile reads the names of a file's columns: of JSON Lines all its rows'.
func OpenFile(path string) (*File, error) {
	f := &File{path: path}
	seen := map[string]bool{}
	err := f.read(func(row []field) error {
		for _, v := range row {
			if !seen[v.name] {
				seen[v.name] = true
				f.columns = append(f.columns, v.name)
			}
		}
		if strings.EqualFold(filepath.Ext(path), ".csv") {
			return io.EOF // the others have the same
		}
		return nil
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(f.columns) == 0 {
		return nil, fmt.Errorf("%s has no row", path)
	}
	return f, nil
}

// Columns returns the names.
func (f *File) Columns() []string { return f.columns }

// Use says what is compared.
func (f *File) Use(t *Table) {
	f.table = t
	f.places = make(map[string]string, len(t.Columns))
	for i := range t.Columns {
		f.places[t.Columns[i].Source] = t.Columns[i].Name
	}
}

// Unhashed says that the rows are here to be compared.
func (f *File) Unhashed() string { return "a file's rows are compared one by one" }

// Bound is not asked of a source that isn't hashed.
func (f *File) Bound(context.Context, Range, int) (Key, error) { return Key{}, errUnhashed }

// Sum is not asked of a source that isn't hashed.
func (f *File) Sum(context.Context, Range) (Sum, error) { return Sum{}, errUnhashed }

var errUnhashed = errors.New("a file's rows are not hashed")

// Rows gives a range's rows in the order of their keys, by which they are sorted the
// first time: in memory where they are few, else in temporary files.
func (f *File) Rows(ctx context.Context, r Range, each func(Row) error) error {
	if f.sorted == nil {
		if err := f.sort(); err != nil {
			return err
		}
	}
	return f.sorted.each(func(order string, text []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.After.IsZero() && order <= r.After.order {
			return nil
		}
		if !r.UpTo.IsZero() && order > r.UpTo.order {
			return io.EOF
		}
		row, stays, err := f.row(text)
		if err != nil || !stays {
			return err
		}
		return each(row)
	})
}

// row reads a row's text, as sort has written it. It reports false for one that a where
// of the rule's steps leaves out.
func (f *File) row(text []byte) (row Row, stays bool, err error) {
	members, err := fields(nil, text)
	if err != nil {
		return Row{}, false, err
	}
	if f.table.enrichment == nil {
		row, err = f.table.SourceRow(f.named(members))
		return row, true, err
	}
	columns := make([]change.Column, len(members))
	for i, m := range members {
		columns[i] = change.Column{Name: m.name, Value: untyped(m.json)}
	}
	return f.table.enrichedRow(columns)
}

// named gives the values that are compared BigQuery's names.
func (f *File) named(members []field) []change.Column {
	var columns []change.Column
	for _, m := range members {
		if name, ok := f.places[m.name]; ok {
			columns = append(columns, change.Column{Name: name, Value: untyped(m.json)})
		}
	}
	return columns
}

func (f *File) sort() error {
	f.sorted = newRuns(maxRun)
	return f.read(func(members []field) error {
		encoded, err := f.table.source.AppendKey(nil, f.named(members))
		if err != nil {
			return err
		}
		key, err := newKey(encoded)
		if err != nil {
			return err
		}
		o := make(object, len(members))
		for i, m := range members {
			o[i] = member{m.name, m.json}
		}
		text, err := marshal(o)
		if err != nil {
			return err
		}
		return f.sorted.add(key.order, text)
	})
}

// Lookup looks through all rows: the file doesn't change.
func (f *File) Lookup(ctx context.Context, keys []Key) ([]Row, error) {
	wanted := make(map[string]bool, len(keys))
	for _, k := range keys {
		wanted[k.order] = true
	}
	var rows []Row
	err := f.Rows(ctx, Range{}, func(row Row) error {
		if wanted[row.Key.order] {
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// Close removes the temporary files.
func (f *File) Close() {
	if f.sorted != nil {
		f.sorted.close()
	}
}
