package rest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"strings"
	"unicode/utf8"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// Extract jobs, and the files of EXPORT DATA.
//
// Behavior:
//   - "Export operations don't export recently streamed row modifications that have yet
//     to be applied": a file has what was applied alone.
//   - CSV, with a header unless printHeader is false, and NEWLINE_DELIMITED_JSON, plain or
//     with compression GZIP, to one gs:// address, where Options.Buckets has a folder for
//     it; a * in it becomes 000000000000: there is one file. Other formats are 501.
//   - EXPORT DATA has every change instead, and the options uri, with one * in it, format
//     CSV or JSON, compression, header (false by default), field_delimiter and overwrite.
//   - An extract's rows come in no order that counts. In CSV NULL is an empty field, as BigQuery has it.

func (s *Service) startExtract(j *query.Job, c *bq.JobConfigurationExtract, configuration map[string]any) error {
	if c.SourceModel != nil {
		return engine.Unimplemented("models are not implemented by this emulator")
	}
	from, err := refOf(c.SourceTable, j.Project, "sourceTable")
	if err != nil {
		return err
	}
	switch c.DestinationFormat {
	case "", "CSV", "NEWLINE_DELIMITED_JSON":
	default:
		return engine.Unimplemented("extract jobs of destinationFormat %s are not implemented by this emulator", engine.Clip(c.DestinationFormat))
	}
	if c.Compression != "" && c.Compression != "NONE" && c.Compression != "GZIP" {
		return engine.Unimplemented("compression %s of extract jobs is not implemented by this emulator", engine.Clip(c.Compression))
	}
	uris := c.DestinationUris
	if c.DestinationUri != "" {
		uris = append(uris, c.DestinationUri)
	}
	if len(uris) != 1 {
		return engine.Invalid("Required parameter is missing: destinationUris, one of them")
	}
	uri := strings.Replace(uris[0], "*", "000000000000", 1)
	if err := s.checkURI(uri); err != nil {
		return err
	}
	return s.start(j, configuration, func(ctx context.Context) (outcome, error) {
		content, err := s.extract(ctx, from, c)
		if err == nil && c.Compression == "GZIP" {
			content, err = zipped(content)
		}
		if err == nil {
			err = s.writeURI(uri, content, true)
		}
		if err != nil {
			return outcome{}, err
		}
		return outcome{statistics: &bq.JobStatistics4{DestinationUriFileCounts: []int64{1}, InputBytes: int64(len(content))}, bytes: int64(len(content))}, nil
	})
}

func zipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return b.Bytes(), nil
}

// rowWriter writes a file's rows.
type rowWriter interface {
	row(columns []*engine.Column, values []any) error
	finish() ([]byte, error)
}

func newRowWriter(c *bq.JobConfigurationExtract, columns []*engine.Column) (rowWriter, error) {
	if c.DestinationFormat == "NEWLINE_DELIMITED_JSON" {
		return &jsonLines{}, nil
	}
	return newCSVLines(c, columns)
}

func (s *Service) extract(ctx context.Context, from engine.TableRef, c *bq.JobConfigurationExtract) ([]byte, error) {
	t, err := s.engine.Table(from)
	if err != nil {
		return nil, err
	}
	if t.IsView() {
		return nil, engine.Invalid("%s is not allowed for this operation because it is currently a VIEW.", from)
	}
	snapshot, err := s.engine.Snapshot(ctx, []engine.TableRef{from})
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	relation, err := snapshot.Relation(from, engine.ReadOptions{Baseline: true})
	if err != nil {
		return nil, err
	}
	columns := relation.Schema.Columns
	w, err := newRowWriter(c, columns)
	if err != nil {
		return nil, err
	}
	rows, err := snapshot.Query(ctx, "SELECT * FROM "+relation.SQL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	values := make([]any, len(columns))
	pointers := make([]any, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return nil, fmt.Errorf("reading table %s: %w", from, err)
		}
		if err := w.row(columns, values); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading table %s: %w", from, err)
	}
	return w.finish()
}

// jsonLines writes an object a line, without the columns that are NULL.
type jsonLines struct{ text []byte }

func (w *jsonLines) row(columns []*engine.Column, values []any) error {
	before := len(w.text)
	for i, c := range columns {
		if values[i] == nil {
			continue
		}
		w.text = append(w.text, ',')
		// A name is a string: this appends it as JSON.
		w.text = engine.AppendValue(w.text, &engine.Column{Kind: engine.KindString}, c.Name)
		w.text = append(w.text, ':')
		w.text = engine.AppendValue(w.text, c, values[i])
	}
	if len(w.text) == before {
		w.text = append(w.text, ' ')
	}
	w.text[before] = '{'
	w.text = append(w.text, "}\n"...)
	return nil
}

func (w *jsonLines) finish() ([]byte, error) { return w.text, nil }

// csvLines writes CSV.
type csvLines struct {
	buffer bytes.Buffer
	csv    *csv.Writer
}

func newCSVLines(c *bq.JobConfigurationExtract, columns []*engine.Column) (*csvLines, error) {
	w := &csvLines{}
	w.csv = csv.NewWriter(&w.buffer)
	switch d := c.FieldDelimiter; {
	case d == "":
	case d == `\t` || strings.EqualFold(d, "tab"):
		w.csv.Comma = '\t'
	case utf8.RuneCountInString(d) == 1:
		w.csv.Comma, _ = utf8.DecodeRuneInString(d)
	default:
		return nil, engine.Invalid("Invalid value for fieldDelimiter: it must be one character")
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		if names[i] = c.Name; c.Repeated || c.Kind == engine.KindStruct {
			return nil, engine.Invalid("Operation cannot be performed on a nested schema. Field: %s", c.Name)
		}
	}
	if c.PrintHeader == nil || *c.PrintHeader {
		return w, w.csv.Write(names)
	}
	return w, nil
}

func (w *csvLines) row(columns []*engine.Column, values []any) error {
	record := make([]string, len(columns))
	for i, c := range columns {
		switch v := values[i].(type) {
		case nil:
		case bool:
			record[i] = fmt.Sprint(v)
		case float64:
			record[i] = floatText(v)
		default:
			record[i] = engine.ScalarText(c, v)
		}
	}
	return w.csv.Write(record)
}

func (w *csvLines) finish() ([]byte, error) {
	w.csv.Flush()
	return w.buffer.Bytes(), w.csv.Error()
}
