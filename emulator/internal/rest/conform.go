package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"beamcdc/emulator/internal/engine"
)

// unmarshal reads a resource's JSON as Google's servers do: a number may come as a
// string, and one that is documented as a string as a number. It returns
// the JSON as the documents have it, in which nothing that into doesn't know is lost.
func unmarshal(text []byte, into any) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errNotUTF8
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("there is more after the value")
		}
	}
	if err != nil {
		return nil, engine.Invalid("Invalid JSON payload received: %v", err)
	}
	value = conform(value, reflect.TypeOf(into), false)
	if text, err = json.Marshal(value); err != nil {
		return nil, fmt.Errorf("marshaling a request: %w", err)
	}
	if err := unmarshalAsIs(text, into); err != nil {
		return nil, err
	}
	object, _ := value.(map[string]any)
	return object, nil
}

var errNotUTF8 = engine.Invalid("Invalid JSON payload received: it is not UTF-8")

// unmarshalAsIs reads JSON that has to have the forms of Go's types. Text that isn't
// UTF-8 is refused: Go would put U+FFFD into its place.
func unmarshalAsIs(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errNotUTF8
	}
	err := json.Unmarshal(text, into)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text names types of Go's
		return engine.Invalid("Invalid JSON payload received: %q can't be of type %s", engine.Clip(e.Field), e.Value)
	}
	if err != nil {
		return engine.Invalid("Invalid JSON payload received: %v", err)
	}
	return nil
}

// conform gives a JSON value the form that a Go type of the API's wants. quoted is
// for numbers that its tag makes strings.
func conform(value any, t reflect.Type, quoted bool) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return value
	}
	switch t.Kind() {
	case reflect.Struct:
		if object, ok := value.(map[string]any); ok {
			conformStruct(object, t)
		}
	case reflect.Slice:
		if list, ok := value.([]any); ok {
			for i := range list {
				list[i] = conform(list[i], t.Elem(), false)
			}
		}
	case reflect.Map:
		if object, ok := value.(map[string]any); ok {
			for name := range object {
				object[name] = conform(object[name], t.Elem(), false)
			}
		}
	case reflect.Bool:
		switch value {
		case "true":
			return true
		case "false":
			return false
		}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		switch n := value.(type) {
		case json.Number:
			if quoted {
				return n.String()
			}
		case string:
			if _, err := strconv.ParseFloat(n, 64); err == nil && !quoted && json.Valid([]byte(n)) {
				return json.Number(n)
			}
		}
	default:
	}
	return value
}

func conformStruct(object map[string]any, t reflect.Type) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			conformStruct(object, f.Type)
			continue
		}
		if v, ok := object[name]; ok && name != "" {
			object[name] = conform(v, f.Type, strings.Contains(options, "string"))
		}
	}
}
