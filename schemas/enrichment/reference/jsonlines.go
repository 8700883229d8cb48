package reference

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
)

// JSONLines reads a file of JSON objects.
func JSONLines(r io.Reader, names []string, each func([]change.Value) error) error {
	d := jsontext.NewDecoder(r)
	values := make([]change.Value, len(names))
	for row := 1; ; row++ {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && token.Kind() != '{' {
			return fmt.Errorf("row %d: it is no JSON object", row)
		}
		if err == nil {
			err = object(d, names, values)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", row, blunt(err, d.InputOffset()))
		}
		if err := each(values); err != nil {
			return err
		}
	}
}

// object reads an object's members after its brace.
func object(d *jsontext.Decoder, names []string, values []change.Value) error {
	for i := range values {
		values[i] = change.Null()
	}
	for {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() == '}' {
			return nil
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		// A reference's column may be asked for more than once, by names of any case.
		for i := range names {
			if names[i] == name || strings.EqualFold(names[i], name) && !slices.Contains(names, name) {
				if values[i], err = untyped(value); err != nil {
					return err
				}
			}
		}
	}
}

// untyped returns a JSON value as a message's without a schema.
func untyped(v jsontext.Value) (change.Value, error) {
	switch v.Kind() {
	case 'n':
		return change.Null(), nil
	case 't', 'f':
		return change.Bool(v.Kind() == 't'), nil
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		return change.Text(string(text)), err
	case '0':
		return change.Number(string(v)), nil
	default:
		return change.Raw(string(v)), nil
	}
}

// blunt returns the error of a file that can't be read as it is; one of its syntax
// without what it quotes.
func blunt(err error, offset int64) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("at byte %d: it is no JSON object", offset)
	}
	return err
}
