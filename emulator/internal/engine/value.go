package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ValueError is a value that its column can't hold.
type ValueError struct {
	path string
	err  error
}

// NewValueError says that the column at this path can't hold a value.
func NewValueError(path string, err error) error { return &ValueError{path, err} }

func (e *ValueError) Error() string {
	if length, ok := errors.AsType[*LengthError](e.err); ok {
		return fmt.Sprintf("Field %s: %v", e.path, length)
	}
	return fmt.Sprintf("Field %s: invalid value: %v", e.path, e.err)
}

func (e *ValueError) Unwrap() error { return e.err }

var errJSON = errors.New("it is not valid JSON")

// StringValue is a STRING as it is stored, if it isn't too long.
func (c *Column) StringValue(s string) (any, error) {
	if c.MaxLength > 0 {
		if n := int64(utf8.RuneCountInString(s)); n > c.MaxLength {
			return nil, &LengthError{c.typeName(), c.MaxLength, n}
		}
	}
	return s, nil
}

// BytesValue is a copy of BYTES as they are stored, if they aren't too long.
func (c *Column) BytesValue(b []byte) (any, error) {
	if n := int64(len(b)); c.MaxLength > 0 && n > c.MaxLength {
		return nil, &LengthError{c.typeName(), c.MaxLength, n}
	}
	// A copy, and never nil: nil is NULL.
	return append([]byte{}, b...), nil
}

// LengthError has BigQuery's own text.
type LengthError struct {
	typeName string
	limit    int64
	length   int64
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%s has maximum length %d but got a value with length %d", e.typeName, e.limit, e.length)
}

// ParseJSON keeps the text as it was written.
func ParseJSON(s string) (any, error) {
	if !json.Valid([]byte(s)) {
		return nil, errJSON
	}
	return s, nil
}

// Check refuses NULL for a required column.
func (c *Column) Check(value any, path string) error {
	if value == nil && c.Required {
		return &ValueError{path + c.Name, errors.New("it is required, and NULL")}
	}
	return nil
}

// Stored is the value as it is stored: an ARRAY is never NULL.
func (c *Column) Stored(value any) any {
	if value == nil && c.Repeated {
		return []any{}
	}
	return value
}
