package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/envelope/internal/scan"
)

// appendBinary appends the binary encoding of a value in Avro's JSON encoding,
// which differs from the JSON of Kafka Connect: a union's value is an object
// that names its branch, and bytes are a string of the characters U+0000 to
// U+00FF. The text is one that a scan.Scanner has checked.
func appendBinary(dst []byte, n *node, raw string, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errTooDeep
	}
	switch n.kind {
	case kindNull:
		return dst, want(raw == "null", "null")
	case kindBool:
		if raw == "true" {
			return append(dst, 1), nil
		}
		return append(dst, 0), want(raw == "false", "true or false")
	case kindInt, kindLong:
		bits := 64
		if n.kind == kindInt {
			bits = 32
		}
		i, err := strconv.ParseInt(raw, 10, bits)
		return binary.AppendVarint(dst, i), want(err == nil, "an integer of "+strconv.Itoa(bits)+" bits")
	case kindFloat:
		f, err := parseFloat(raw, 32)
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(f))), err
	case kindDouble:
		f, err := parseFloat(raw, 64)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), err
	case kindString, kindEnum:
		text, err := unquote(raw)
		if err != nil || n.kind == kindString {
			return appendCounted(dst, text), err
		}
		i := slices.Index(n.symbols, text)
		return binary.AppendVarint(dst, int64(i)), want(i >= 0, "one of the enum's symbols")
	case kindBytes, kindBigDecimal, kindFixed, kindDuration, kindUUID:
		return appendCharacters(dst, n, raw)
	case kindArray:
		return appendArray(dst, n, raw, depth)
	case kindMap:
		return appendMap(dst, n, raw, depth)
	case kindUnion, kindOptional:
		return appendUnion(dst, n, raw, depth)
	case kindRecord, kindOnly, kindCivil, kindSpan:
		return appendRecord(dst, n, raw, depth)
	}
	return dst, errors.New("a type can't be read")
}

// want returns an error unless the value is what it is said to be.
func want(ok bool, what string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("the value is not %s", what)
}

func unquote(raw string) (string, error) {
	if raw[0] != '"' {
		return "", want(false, "a string")
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

func parseFloat(raw string, bits int) (float64, error) {
	switch raw {
	case `"NaN"`:
		return math.NaN(), nil
	case `"Infinity"`, `"INF"`:
		return math.Inf(1), nil
	case `"-Infinity"`, `"-INF"`:
		return math.Inf(-1), nil
	}
	f, err := strconv.ParseFloat(raw, bits)
	return f, want(err == nil, "a number of "+strconv.Itoa(bits)+" bits")
}

func appendCounted(dst []byte, text string) []byte {
	return append(binary.AppendVarint(dst, int64(len(text))), text...)
}

// appendCharacters appends the bytes that a string's characters stand for.
func appendCharacters(dst []byte, n *node, raw string) ([]byte, error) {
	text, err := unquote(raw)
	if err != nil {
		return dst, err
	}
	count := utf8.RuneCountInString(text)
	if n.kind == kindBytes || n.kind == kindBigDecimal {
		dst = binary.AppendVarint(dst, int64(count))
	} else if count != n.size {
		return dst, want(false, "a string of "+strconv.Itoa(n.size)+" characters")
	}
	for _, r := range text {
		if r > 0xFF {
			return dst, want(false, "a string of bytes")
		}
		dst = append(dst, byte(r))
	}
	return dst, nil
}

// one is a block of one element, zero the end of the blocks.
const one, zero = 2, 0

func appendArray(dst []byte, n *node, raw string, depth int) ([]byte, error) {
	if raw[0] != '[' {
		return dst, want(false, "an array")
	}
	var err error
	i := 0
	scan.EachElement(raw, func(element string) bool {
		if dst, err = appendBinary(append(dst, one), n.items, element, depth+1); err != nil {
			err = fmt.Errorf("element %d: %w", i, err)
		}
		i++
		return err == nil
	})
	return append(dst, zero), err
}

func appendMap(dst []byte, n *node, raw string, depth int) ([]byte, error) {
	if raw[0] != '{' {
		return dst, want(false, "an object")
	}
	var err error
	i := 0
	scan.EachMember(raw, func(quoted, value string) bool {
		var name string
		if name, err = unquote(quoted); err == nil {
			dst, err = appendBinary(appendCounted(append(dst, one), name), n.items, value, depth+1)
		}
		if err != nil {
			err = fmt.Errorf("value %d: %w", i, err)
		}
		i++
		return err == nil
	})
	return append(dst, zero), err
}

func appendUnion(dst []byte, n *node, raw string, depth int) ([]byte, error) {
	if raw == "null" {
		i := slices.IndexFunc(n.branches, func(b branch) bool { return b.kind == kindNull })
		return binary.AppendVarint(dst, int64(i)), want(i >= 0, "in the union, which has no null")
	}
	if raw[0] != '{' {
		return dst, want(false, "an object that names a branch of its union")
	}
	err, found := want(false, "an object that names a branch of its union"), 0
	scan.EachMember(raw, func(quoted, value string) bool {
		name, _ := unquote(quoted)
		i := slices.IndexFunc(n.branches, func(b branch) bool { return b.name == name && b.kind != kindNull })
		if found++; i < 0 || found > 1 {
			err = want(false, "an object that names a branch of its union")
			return false
		}
		dst, err = appendBinary(binary.AppendVarint(dst, int64(i)), n.branches[i].node, value, depth+1)
		return err == nil
	})
	return dst, err
}

// manyFields is from where on a map finds a field faster than a walk.
const manyFields = 16

func (n *node) index() map[string]int {
	index := make(map[string]int, len(n.fields))
	for i := range n.fields {
		index[n.fields[i].name] = i
	}
	return index
}

// appendRecord appends the fields in their schema's order, whichever theirs is.
func appendRecord(dst []byte, n *node, raw string, depth int) ([]byte, error) {
	if raw[0] != '{' {
		return dst, want(false, "an object")
	}
	var (
		err   error
		index map[string]int // of a record of many fields in another order
	)
	values, next := make([]string, len(n.fields)), 0
	scan.EachMember(raw, func(quoted, value string) bool {
		var name string
		if name, err = unquote(quoted); err != nil {
			return false
		}
		if next >= len(n.fields) || n.fields[next].name != name {
			if len(n.fields) > manyFields && index == nil {
				index = n.index()
			}
			if next = n.at(name, index); next < 0 {
				err = fmt.Errorf("the schema has no field %s", clip(name))
				return false
			}
		}
		values[next] = value
		next++
		return true
	})
	if err != nil {
		return dst, err
	}
	for i := range n.fields {
		f := &n.fields[i]
		if values[i] == "" {
			return dst, fmt.Errorf("field %s is missing", clip(f.name))
		}
		if dst, err = appendBinary(dst, f.node, values[i], depth+1); err != nil {
			return dst, fmt.Errorf("field %s: %w", clip(f.name), err)
		}
	}
	return dst, nil
}
