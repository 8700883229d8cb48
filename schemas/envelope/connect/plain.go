package connect

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
)

// The ways in which a value doesn't fit its schema.
var (
	errNotString = errors.New("is no JSON string")
	errNotNumber = errors.New("is no JSON number")
	errNotBool   = errors.New("is neither true nor false")
	errNotArray  = errors.New("is no JSON array")
	errNotObject = errors.New("is no JSON object")
	errNotBase64 = errors.New("is not in base64")
)

func readBool(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
	switch raw[0] {
	case 't':
		return change.Bool(true), nil
	case 'f':
		return change.Bool(false), nil
	}
	return change.Value{}, errNotBool
}

// readInt reads integers of the given bits. A number with a fraction or an
// exponent is none: the converter writes digits.
func readInt(bits int) reader {
	return func(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
		n, err := parseInt(raw, bits)
		return change.Int64(n), err
	}
}

func parseInt(raw string, bits int) (int64, error) {
	if raw[0] == '"' || raw[0] == '{' || raw[0] == '[' || raw[0] == 't' || raw[0] == 'f' {
		return 0, errNotNumber
	}
	n, err := strconv.ParseInt(raw, 10, bits)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("is no integer of %d bits", bits)
	}
	if err != nil {
		return 0, errors.New("is no integer")
	}
	return n, nil
}

// readFloat reads a number, or one of the texts that stand for what JSON has no
// numbers for.
func readFloat(_ *Schema, raw string, _ *slab.Arena) (change.Value, error) {
	switch raw[0] {
	case '{', '[', 't', 'f':
		return change.Value{}, errNotNumber
	case '"':
		switch raw {
		case `"NaN"`:
			return change.Float64(math.NaN()), nil
		case `"Infinity"`, `"+Infinity"`:
			return change.Float64(math.Inf(+1)), nil
		case `"-Infinity"`:
			return change.Float64(math.Inf(-1)), nil
		}
		return change.Value{}, errNotNumber
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return change.Value{}, errors.New("is beyond the numbers of 64 bits")
	}
	return change.Float64(f), nil
}

func readString(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	return change.String(text), err
}

func parseString(raw string, a *slab.Arena) (string, error) {
	if raw[0] != '"' {
		return "", errNotString
	}
	return a.Unquote(raw)
}

func readJSON(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	return change.JSON(text), err
}

func readBytes(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	b, err := parseBytes(raw, a)
	return change.Bytes(b), err
}

// parseBytes reads base64. It is strict: what another encoder wrote (hex, the
// alphabet for URLs) has the type string.
func parseBytes(raw string, a *slab.Arena) (string, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return "", err
	}
	b, err := appendBase64(a.Reserve(base64.StdEncoding.DecodedLen(len(text))), text)
	return a.Keep(b), err
}

var strictBase64 = base64.StdEncoding.Strict()

func appendBase64(dst []byte, text string) ([]byte, error) {
	b, err := strictBase64.AppendDecode(dst, unsafe.Slice(unsafe.StringData(text), len(text)))
	if err != nil {
		return nil, errNotBase64
	}
	return b, nil
}

func readRaw(_ *Schema, raw string, a *slab.Arena) (change.Value, error) { return a.Untyped(raw) }

func readArray(s *Schema, raw string, a *slab.Arena) (change.Value, error) {
	if raw[0] != '[' {
		return change.Value{}, errNotArray
	}
	if scan.TrimSpace(raw[1:])[0] == ']' {
		return change.Array(nil), nil
	}
	var fault error
	elems := make([]change.Column, 0, 4)
	scan.EachElement(raw, func(element string) bool {
		v, err := s.items.Value(element, a)
		if err != nil {
			fault = fmt.Errorf("element %d (%s) %w", len(elems), s.items, err)
			return false
		}
		elems = append(elems, change.Column{Value: v})
		return true
	})
	if fault != nil {
		return change.Value{}, fault
	}
	return change.Array(elems), nil
}

func readStruct(s *Schema, raw string, a *slab.Arena) (change.Value, error) {
	if raw[0] != '{' {
		return change.Value{}, errNotObject
	}
	fields := make([]change.Column, 0, len(s.fields))
	err := members(raw, a, func(name, value string) error {
		field := s.Field(name, len(fields))
		v, err := field.Value(value, a)
		if err != nil {
			return fmt.Errorf("field %s (%s) %w", clip(name), field, err)
		}
		fields = append(fields, change.Column{Name: name, Value: v})
		return nil
	})
	if err != nil {
		return change.Value{}, err
	}
	return change.Struct(fields), nil
}

// members calls read for each member of an object, until it returns an error.
func members(raw string, a *slab.Arena, read func(name, value string) error) error {
	if raw[0] != '{' {
		return errNotObject
	}
	var fault error
	scan.EachMember(raw, func(quoted, value string) bool {
		name, err := a.Unquote(quoted)
		if err == nil {
			err = read(name, value)
		}
		fault = err
		return err == nil
	})
	return fault
}
