package rest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
)

// The files of load jobs.
//
// Behavior:
//   - JSON: an object on each line, read as tabledata.insertAll reads rows. Lines without
//     anything are passed over.
//   - CSV: fieldDelimiter of one character ("\t" and "tab" too), quotes are ", a quote in
//     quotes is doubled; quoted line breaks need allowQuotedNewlines. skipLeadingRows.
//   - A field that is nullMarker is NULL, by default one without anything: also a quoted
//     one, and in STRING columns. With another marker it is "" there, and wrong elsewhere.
//   - Rows that are too short need allowJaggedRows, those that are too long
//     ignoreUnknownValues. ARRAYs and STRUCTs can't be had from CSV.
//   - A byte order mark is passed over.

func withoutMark(content []byte) []byte { return bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF")) }

// readJSON reads a file of lines.
func (l *load) readJSON(rows *loaded, columns []*engine.Column, content []byte, _ int64) error {
	reader := &rowReader{columns: columns, ignoreUnknown: l.c.IgnoreUnknownValues}
	n := 0
	for line := range bytes.SplitSeq(content, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		n++
		values, missing, err := reader.row(line)
		if err != nil {
			if err := rows.bad(l.c, n, err); err != nil {
				return err
			}
			continue
		}
		rows.values, rows.missing = append(rows.values, values), append(rows.missing, missing)
	}
	return nil
}

// csvReader reads a CSV file's records.
func csvReader(c *bq.JobConfigurationLoad, content []byte) (*csv.Reader, error) {
	r := csv.NewReader(bytes.NewReader(content))
	r.FieldsPerRecord = -1
	switch d := c.FieldDelimiter; {
	case d == "":
	case d == `\t` || strings.EqualFold(d, "tab"):
		r.Comma = '\t'
	case utf8.RuneCountInString(d) == 1:
		r.Comma, _ = utf8.DecodeRuneInString(d)
	default:
		return nil, engine.Invalid("Invalid value for fieldDelimiter: it must be one character")
	}
	if slices.Contains([]rune{'"', '\r', '\n', utf8.RuneError}, r.Comma) {
		return nil, engine.Invalid("Invalid value for fieldDelimiter")
	}
	return r, nil
}

// readCSV reads a CSV file.
func (l *load) readCSV(rows *loaded, columns []*engine.Column, content []byte, skip int64) error {
	for _, c := range columns {
		if c.Repeated || c.Kind == engine.KindStruct {
			return engine.Invalid("Field %s is an ARRAY or a STRUCT, which CSV can't hold", c.Name)
		}
	}
	r, err := csvReader(l.c, content)
	if err != nil {
		return err
	}
	for n := int64(1); ; n++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if n <= skip {
			continue
		}
		var values []any
		if err == nil {
			values, err = l.csvRow(columns, record)
		} else if e, ok := errors.AsType[*csv.ParseError](err); ok {
			err = fmt.Errorf("column %d: %w", e.Column, e.Err)
		}
		if err != nil {
			if err := rows.bad(l.c, int(n), err); err != nil {
				return err
			}
			continue
		}
		rows.values, rows.missing = append(rows.values, values), append(rows.missing, nil)
	}
}

// csvRow reads a record's fields as the columns want them.
func (l *load) csvRow(columns []*engine.Column, record []string) ([]any, error) {
	if len(record) > len(columns) && !l.c.IgnoreUnknownValues {
		return nil, fmt.Errorf("too many values: %d, for %d columns", len(record), len(columns))
	}
	if len(record) < len(columns) && !l.c.AllowJaggedRows {
		return nil, fmt.Errorf("too few values: %d, for %d columns", len(record), len(columns))
	}
	values := make([]any, len(columns))
	for i, c := range columns {
		if i < len(record) && !l.isNull(record[i]) {
			if strings.Contains(record[i], "\n") && !l.c.AllowQuotedNewlines {
				return nil, &fieldError{c.Name, "a line break in field " + c.Name + ", which needs allowQuotedNewlines"}
			}
			v, err := textValue(c, record[i])
			if err != nil {
				return nil, valueError(c, c.Name, err)
			}
			values[i] = v
		}
		if values[i] == nil && c.Required {
			return nil, &fieldError{c.Name, "Missing required field: " + c.Name + "."}
		}
	}
	return values, nil
}

func (l *load) isNull(text string) bool {
	if len(l.c.NullMarkers) > 0 {
		return slices.Contains(l.c.NullMarkers, text)
	}
	return text == l.c.NullMarker
}
