package rest

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"beamcdc/emulator/internal/engine"
)

// fieldError is a value that a column can't take: BigQuery's text, and the field's path.
type fieldError struct{ path, message string }

func (e *fieldError) Error() string { return e.message }

// jsonObject is a JSON object's fields, each as it was written.
type jsonObject map[string]json.RawMessage

// rowReader reads rows of JSON for a table's columns.
type rowReader struct {
	columns       []*engine.Column
	ignoreUnknown bool
}

// row reads a row: its values by position, and which columns it doesn't have, so that
// they get their default value.
func (r *rowReader) row(text []byte) (values []any, missing []bool, err error) {
	object, err := objectOf(text)
	if err != nil {
		return nil, nil, &fieldError{"", "A row must be a JSON object"}
	}
	values, missing = make([]any, len(r.columns)), make([]bool, len(r.columns))
	return values, missing, r.fields(r.columns, object, "", func(i int, v any, present bool) {
		if values[i], missing[i] = v, !present; !present {
			values[i] = nil
		}
	})
}

func objectOf(text []byte) (jsonObject, error) {
	if !startsWith(text, '{') {
		return nil, errors.New("it is no object")
	}
	var object jsonObject
	return object, json.Unmarshal(text, &object)
}

func startsWith(text []byte, b byte) bool { return len(text) > 0 && text[0] == b }

// fields reads an object's fields: column names are of any case.
func (r *rowReader) fields(columns []*engine.Column, object jsonObject, path string, set func(i int, v any, present bool)) error {
	byName := make(map[string]json.RawMessage, len(object))
	for name, text := range object {
		byName[strings.ToLower(name)] = text
	}
	if len(byName) < len(object) {
		return &fieldError{strings.TrimSuffix(path, "."), "Duplicate field names, which differ in case alone"}
	}
	found := 0
	for i, c := range columns {
		text, present := byName[strings.ToLower(c.Name)]
		if present {
			found++
		}
		v, err := r.value(c, text, path+c.Name)
		if err != nil {
			return err
		}
		// A column of the table that isn't there may have a default value: see Batch.Add.
		if v == nil && c.Required && (present || path != "" || c.DefaultValue == nil) {
			return &fieldError{path + c.Name, "Missing required field: " + path + c.Name + "."}
		}
		set(i, v, present)
	}
	if found == len(byName) || r.ignoreUnknown {
		return nil
	}
	for name := range object {
		known := false
		for _, c := range columns {
			known = known || strings.EqualFold(c.Name, name)
		}
		if !known {
			return &fieldError{engine.Clip(path + name), "no such field: " + engine.Clip(path+name) + "."}
		}
	}
	return nil
}

// value reads a field's JSON; text is nil for none.
func (r *rowReader) value(c *engine.Column, text json.RawMessage, path string) (any, error) {
	if !c.Repeated {
		return r.single(c, text, path)
	}
	if isNull(text) {
		return []any{}, nil
	}
	if !startsWith(text, '[') {
		return nil, &fieldError{path, "Value specified for repeated field " + path + " is no array."}
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(text, &elements); err != nil {
		return nil, &fieldError{path, "Invalid JSON in field " + path + "."}
	}
	list := make([]any, len(elements))
	for i, element := range elements {
		v, err := r.single(c, element, path)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, &fieldError{path, "Only optional fields can be set to NULL. Field: " + path + "; Value: NULL"}
		}
		list[i] = v
	}
	return list, nil
}

func isNull(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }

func (r *rowReader) single(c *engine.Column, text json.RawMessage, path string) (any, error) {
	if isNull(text) {
		return nil, nil
	}
	isObject, isArray := startsWith(text, '{'), startsWith(text, '[')
	switch {
	case c.Kind == engine.KindJSON && !startsWith(text, '"'):
		return string(text), nil
	case isArray:
		return nil, &fieldError{path, "Array specified for non-repeated field: " + path + "."}
	case c.Kind == engine.KindStruct:
		if !isObject {
			return nil, &fieldError{path, "This field: " + path + " is a record."}
		}
		object, err := objectOf(text)
		if err != nil {
			return nil, &fieldError{path, "Invalid JSON in field " + path + "."}
		}
		values := map[string]any{}
		err = r.fields(c.Fields, object, path+".", func(i int, v any, _ bool) { values[c.Fields[i].Name] = v })
		return values, err
	case c.Kind == engine.KindRange && isObject:
		return jsonRange(c, text, path)
	case isObject:
		return nil, &fieldError{path, "This field: " + path + " is not a record."}
	}
	var v any
	var err error
	if startsWith(text, '"') {
		var s string
		if err = json.Unmarshal(text, &s); err == nil {
			v, err = textValue(c, s)
		}
	} else {
		v, err = bareValue(c, string(text))
	}
	if err != nil {
		return nil, valueError(c, path, err)
	}
	return v, nil
}

// valueError tells of a value that a column can't take, without the value.
func valueError(c *engine.Column, path string, err error) error {
	if length, ok := errors.AsType[*engine.LengthError](err); ok {
		return &fieldError{path, "Field " + path + ": " + length.Error()}
	}
	return &fieldError{path, "Cannot convert value to " + strings.ToLower(c.Kind.String()) + " (bad value) in field " + path + ": " + err.Error()}
}

func jsonRange(c *engine.Column, text json.RawMessage, path string) (any, error) {
	var bounds struct{ Start, End *string }
	if err := json.Unmarshal(text, &bounds); err != nil {
		return nil, &fieldError{path, "Invalid RANGE in field " + path + "."}
	}
	v, err := rangeValue(c, bounds.Start, bounds.End)
	if err != nil {
		return nil, valueError(c, path, err)
	}
	return v, nil
}

func rangeValue(c *engine.Column, start, end *string) (any, error) {
	element := &engine.Column{Kind: c.Element}
	value := map[string]any{"start": nil, "end": nil}
	for name, text := range map[string]*string{"start": start, "end": end} {
		if text == nil || strings.EqualFold(*text, "UNBOUNDED") || strings.EqualFold(*text, "NULL") {
			continue
		}
		v, err := textValue(element, *text)
		if err != nil {
			return nil, err
		}
		value[name] = v
	}
	if from, ok := value["start"].(time.Time); ok {
		if to, ok := value["end"].(time.Time); ok && !from.Before(to) {
			return nil, errors.New("its start is not before its end")
		}
	}
	return value, nil
}
