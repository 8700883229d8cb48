package rowproto

import (
	"bytes"
	"strings"

	"beamcdc/schemas/change"

	"github.com/go-json-experiment/json/jsontext"
)

// documents reads JSON arrays and objects into columns. Levels that contain one
// another have a reader each.
type documents struct {
	readers []*documentReader
	depth   int
}

type documentReader struct {
	buffer  bytes.Buffer
	decoder jsontext.Decoder
	columns []change.Column
}

const (
	notArray  = "the value is no JSON array"
	notObject = "the value is no JSON object"
)

// open returns the elements of a JSON array or the members of a JSON object,
// untyped, sharing the text's memory. They hold until close is called.
func (d *documents) open(text string, kind jsontext.Kind) ([]change.Column, *ValueError) {
	if d.depth == len(d.readers) {
		d.readers = append(d.readers, new(documentReader))
	}
	r := d.readers[d.depth]
	d.depth++
	return r.read(text, kind)
}

// close ends the use of what the last open returned.
func (d *documents) close() { d.depth-- }

func (r *documentReader) read(text string, kind jsontext.Kind) ([]change.Column, *ValueError) {
	problem := notArray
	if kind == '{' {
		problem = notObject
	}
	// The decoder reads the buffer's bytes in place and never writes to them.
	r.buffer = *bytes.NewBuffer(bytesOf(text))
	r.decoder.Reset(&r.buffer)
	if r.decoder.PeekKind() != kind {
		return nil, bad("%s", problem)
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return nil, bad("%s", problem)
	}
	r.columns = r.columns[:0]
	for r.decoder.PeekKind() != kind+2 { // ']' is '[' + 2 and '}' is '{' + 2
		var c change.Column
		if kind == '{' {
			name, err := r.decoder.ReadToken()
			if err != nil {
				return nil, bad("%s", problem)
			}
			c.Name = name.String()
		}
		value, err := r.decoder.ReadValue()
		if err != nil {
			return nil, bad("%s", problem)
		}
		end := r.decoder.InputOffset()
		c.Value = untyped(text[end-int64(len(value)):end], value.Kind())
		r.columns = append(r.columns, c)
	}
	if _, err := r.decoder.ReadToken(); err != nil || strings.Trim(text[r.decoder.InputOffset():], " \t\r\n") != "" {
		return nil, bad("%s", problem)
	}
	return r.columns, nil
}

// untyped returns the value of a JSON text that is known to be valid.
func untyped(text string, kind jsontext.Kind) change.Value {
	switch kind {
	case 'n':
		return change.Null()
	case 't', 'f':
		return change.Bool(kind == 't')
	case '0':
		return change.Number(text)
	case '"':
		return change.Text(unquote(text))
	default:
		return change.Raw(text)
	}
}

// unquote returns the content of a JSON string that is known to be valid. Most
// have no escapes.
func unquote(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	content, err := jsontext.AppendUnquote(nil, bytesOf(text))
	if err != nil {
		return text[1 : len(text)-1]
	}
	return textOf(content)
}
