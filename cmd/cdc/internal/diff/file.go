package diff

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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

// maxLine bounds a row's text.
const maxLine = 64 << 20

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

// field is a value of a row, as JSON.
type field struct {
	name string
	json jsontext.Value
}

// read calls each with the file's rows in their order. The rows hold until it returns.
func (f *File) read(each func([]field) error) error {
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("reading the rows: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	switch strings.ToLower(filepath.Ext(f.path)) {
	case ".csv":
		return f.readCSV(file, each)
	case ".jsonl", ".ndjson", ".json":
		return f.readLines(file, each)
	}
	return fmt.Errorf("%s is of no known kind: name it .jsonl or .csv", f.path)
}

func (f *File) readLines(r io.Reader, each func([]field) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var row []field
	for number := 1; lines.Scan(); number++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var err error
		if row, err = fields(row[:0], lines.Bytes()); err != nil {
			return fmt.Errorf("%s, line %d: %w", f.path, number, err)
		}
		if err := each(row); err != nil {
			return f.located(number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", f.path, err)
	}
	return nil
}

// located says where an error is; the end of what is wanted is none.
func (f *File) located(line int, err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%s, line %d: %w", f.path, line, err)
}

func (f *File) readCSV(r io.Reader, each func([]field) error) error {
	reader := csv.NewReader(bufio.NewReader(r))
	reader.ReuseRecord = true
	first, err := reader.Read()
	if err != nil {
		return fmt.Errorf("reading the names of %s: %w", f.path, err)
	}
	names := slices.Clone(first)
	names[0] = strings.TrimPrefix(names[0], "\ufeff") // as spreadsheets begin it
	row := make([]field, len(names))
	for {
		values, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", f.path, err)
		}
		for i, name := range names {
			row[i] = field{name, jsontext.Value("null")}
			if values[i] != "" {
				quoted, err := jsontext.AppendQuote(nil, values[i])
				if err != nil {
					line, _ := reader.FieldPos(i)
					return fmt.Errorf("%s, line %d, column %s: it is no UTF-8", f.path, line, name)
				}
				row[i].json = quoted
			}
		}
		if err := each(row); err != nil {
			line, _ := reader.FieldPos(0)
			return f.located(line, err)
		}
	}
}

// fields reads an object's members.
func fields(dst []field, line []byte) ([]field, error) {
	d := jsontext.NewDecoder(strings.NewReader(string(line)))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return dst, errors.New("it is no JSON object")
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return dst, errors.New("it is no JSON object")
		}
		member := field{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return dst, fmt.Errorf("column %s: it is no JSON value", member.name)
		}
		member.json = value.Clone()
		dst = append(dst, member)
	}
	if _, err := d.ReadToken(); err != nil {
		return dst, errors.New("it is no JSON object")
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return dst, errors.New("there is more than one JSON value on the line")
	}
	return dst, nil
}

// untyped returns what a JSON value is in a message without a schema.
func untyped(v jsontext.Value) change.Value {
	switch v.Kind() {
	case 'n':
		return change.Null()
	case 't', 'f':
		return change.Bool(v.Kind() == 't')
	case '0':
		return change.Number(string(v))
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		if err == nil {
			return change.Text(string(text))
		}
	}
	return change.Raw(string(v))
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
		row, err := f.row(text)
		if err != nil {
			return err
		}
		return each(row)
	})
}

// row reads a row's text, as sort has written it.
func (f *File) row(text []byte) (Row, error) {
	members, err := fields(nil, text)
	if err != nil {
		return Row{}, err
	}
	return f.table.SourceRow(f.named(members))
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
