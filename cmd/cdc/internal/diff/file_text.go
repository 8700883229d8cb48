package diff

import (
	"bufio"
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

// maxLine bounds a row's text.
const maxLine = 64 << 20

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
	default: // an array or an object
	}
	return change.Raw(string(v))
}
