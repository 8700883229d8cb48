package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
)

// Schemas that load jobs find in a file (autodetect).
//
// Behavior:
//   - Of each column the first of BOOLEAN, INTEGER, FLOAT, DATE, TIME, DATETIME and
//     TIMESTAMP that takes its values in the first 500 rows, else STRING; objects of JSON
//     are RECORDs, its arrays REPEATED, its numbers and booleans never text.
//   - A CSV file's first row is its header if it is all text and another row isn't, or if
//     skipLeadingRows is 1 or more: the last of those rows is. Without a header the columns
//     are string_field_0, int64_field_1, and so on.
//   - Characters that no column's name may have become _.

const detectRows = 500

// detected is what is known of a column's values so far.
type detected struct {
	name     string
	seen     bool
	kinds    []engine.Kind // those that take all values, best first
	repeated bool
	fields   *detectedFields // of an object
}

// detectedFields are the columns in the order in which they came.
type detectedFields struct{ list []*detected }

var textKinds = []engine.Kind{
	engine.KindBool, engine.KindInt64, engine.KindFloat64, engine.KindDate, engine.KindTime, engine.KindDateTime, engine.KindTimestamp, engine.KindString,
}

func (f *detectedFields) field(name string) *detected {
	for _, d := range f.list {
		if strings.EqualFold(d.name, name) {
			return d
		}
	}
	d := &detected{name: name, kinds: textKinds}
	f.list = append(f.list, d)
	return d
}

// takes narrows a column's kinds to those that take a value too.
func (d *detected) takes(fits func(engine.Kind) bool) {
	d.seen = true
	var kinds []engine.Kind
	for _, k := range d.kinds {
		if k == engine.KindString || fits(k) {
			kinds = append(kinds, k)
		}
	}
	d.kinds = kinds
}

// text notes a value that is text.
func (d *detected) text(value string) {
	d.takes(func(k engine.Kind) bool {
		if k == engine.KindBool { // numbers are no booleans here
			return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
		}
		if k == engine.KindTimestamp && !strings.ContainsAny(value, "-:") {
			return false // nor seconds since the epoch
		}
		_, err := textValue(&engine.Column{Kind: k}, value)
		return err == nil
	})
}

func (d *detected) schema() *bq.TableFieldSchema {
	f := &bq.TableFieldSchema{Name: d.name, Type: "STRING", Mode: "NULLABLE"}
	if d.repeated {
		f.Mode = "REPEATED"
	}
	switch {
	case d.fields != nil:
		f.Type = "RECORD"
		f.Fields = d.fields.schema()
	case d.seen:
		f.Type = d.kinds[0].String()
	}
	return f
}

func (f *detectedFields) schema() []*bq.TableFieldSchema {
	var fields []*bq.TableFieldSchema
	for _, d := range f.list {
		fields = append(fields, d.schema())
	}
	return fields
}

var notInNames = regexp.MustCompile(`[^\p{L}\p{N}_\-]`)

func columnName(text string) string {
	name := notInNames.ReplaceAllString(strings.TrimSpace(text), "_")
	if name == "" || strings.ContainsAny(name[:1], "0123456789") {
		name = "_" + name
	}
	return name
}

func (l *load) detect() (*bq.TableSchema, int64, error) {
	var fields *detectedFields
	skip := l.c.SkipLeadingRows
	var err error
	if l.isJSON() {
		fields, err = l.detectJSON()
	} else {
		fields, skip, err = l.detectCSV()
	}
	if err != nil {
		return nil, 0, err
	}
	if len(fields.list) == 0 {
		return nil, 0, engine.Invalid("Schema has no fields: no rows were found to detect them by.")
	}
	return &bq.TableSchema{Fields: fields.schema()}, skip, nil
}

func (l *load) detectJSON() (*detectedFields, error) {
	fields, n := &detectedFields{}, 0
	for _, content := range l.contents {
		for line := range bytes.SplitSeq(withoutMark(content), []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) == 0 || n >= detectRows {
				continue
			}
			n++
			if err := fields.object(line, 1); err != nil && l.c.MaxBadRecords == 0 {
				return nil, engine.Invalid("Error while reading data, error message: row %d: %v", n, err)
			}
		}
	}
	return fields, nil
}

const maxDetectDepth = 15

// object notes an object's fields, in their order.
func (f *detectedFields) object(text []byte, depth int) error {
	if depth > maxDetectDepth {
		return errors.New("objects are nested too deeply")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return errors.New("it is no JSON object")
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errors.New("it is no JSON object")
		}
		if err := f.field(columnName(name)).json(value, depth); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("it is no JSON object")
	}
	return nil
}

func (d *detected) json(text json.RawMessage, depth int) error {
	switch {
	case isNull(text):
	case text[0] == '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(text, &elements); err != nil {
			return fmt.Errorf("field %s: an array that can't be read", d.name)
		}
		d.repeated = true
		for _, element := range elements {
			if startsWith(element, '[') {
				return fmt.Errorf("field %s: an array of arrays", d.name)
			}
			if err := d.json(element, depth+1); err != nil {
				return err
			}
		}
	case text[0] == '{':
		if d.fields == nil {
			d.fields = &detectedFields{}
		}
		return d.fields.object(text, depth+1)
	case text[0] == '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return fmt.Errorf("field %s: a string that can't be read", d.name)
		}
		d.text(s)
		// "1" is text in JSON.
		d.takes(func(k engine.Kind) bool {
			return k != engine.KindBool && k != engine.KindInt64 && k != engine.KindFloat64
		})
	default:
		d.takes(func(k engine.Kind) bool {
			_, err := bareValue(&engine.Column{Kind: k}, string(text))
			return err == nil && k != engine.KindTimestamp
		})
	}
	return nil
}

func (l *load) detectCSV() (*detectedFields, int64, error) {
	r, err := csvReader(l.c, withoutMark(l.contents[0]))
	if err != nil {
		return nil, 0, err
	}
	var records [][]string
	for len(records) < detectRows+int(min(l.c.SkipLeadingRows, detectRows)) {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		records = append(records, record) // a wrong one is told when the rows are read
	}
	skip := int(min(l.c.SkipLeadingRows, int64(len(records))))
	var header []string
	switch {
	case skip > 0:
		header = records[skip-1]
	case len(records) > 1 && allText(records[0]) && !allText(records[1]):
		header, skip = records[0], 1
	}
	fields := &detectedFields{}
	for _, record := range records[skip:] {
		for i, text := range record {
			for len(fields.list) <= i {
				fields.list = append(fields.list, &detected{kinds: textKinds})
			}
			if !l.isNull(text) {
				fields.list[i].text(text)
			}
		}
	}
	for i, d := range fields.list {
		d.name = fmt.Sprintf("%s_field_%d", strings.ToLower(typeName(d)), i)
		if i < len(header) {
			d.name = columnName(header[i])
		}
	}
	return fields, int64(max(skip, int(l.c.SkipLeadingRows))), nil
}

// typeName is a column's type as the names of columns without one have it.
func typeName(d *detected) string {
	switch kind := d.schema().Type; kind {
	case "INTEGER":
		return "int64"
	case "FLOAT":
		return "double"
	case "BOOLEAN":
		return "bool"
	default:
		return kind
	}
}

// allText says whether a record looks like a header: no field has another type.
func allText(record []string) bool {
	for _, text := range record {
		d := &detected{kinds: textKinds}
		if d.text(text); d.kinds[0] != engine.KindString {
			return false
		}
	}
	return true
}
