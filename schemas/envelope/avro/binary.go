package avro

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// maxDepth bounds how deep values are nested: a type that holds itself nests
// them as deep as its bytes say.
const maxDepth = 200

var (
	errShort    = errors.New("the data ends too early")
	errTooLarge = errors.New("the value becomes too large")
	errTooDeep  = errors.New("values are nested too deep")
	errVarint   = errors.New("an integer has too many bits")
	errUTF8     = errors.New("a text is not in UTF-8")
)

// transcoder turns Avro's binary encoding into the JSON that Kafka Connect's JSON
// converter writes of the same value.
type transcoder struct {
	in    []byte
	at    int // where in it what is still to be read begins
	out   []byte
	left  int // how many bytes of JSON may still be written
	depth int
}

// rest returns what is still to be read.
func (t *transcoder) rest() []byte { return t.in[t.at:] }

// value writes the JSON of the next value.
func (t *transcoder) value(n *node) error {
	switch n.kind {
	case kindNull:
		t.out = append(t.out, "null"...)
	case kindBool:
		return t.bool()
	case kindInt, kindLong:
		i, err := t.integer(n)
		t.out = strconv.AppendInt(t.out, i, 10)
		return err
	case kindFloat:
		b, err := t.take(4)
		if err != nil {
			return err
		}
		t.out = appendFloat(t.out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32)
	case kindDouble:
		b, err := t.take(8)
		if err != nil {
			return err
		}
		t.out = appendFloat(t.out, math.Float64frombits(binary.LittleEndian.Uint64(b)), 64)
	case kindString:
		b, err := t.bytes()
		if err != nil {
			return err
		}
		return t.text(b)
	case kindBytes:
		b, err := t.bytes()
		t.base64(b)
		return err
	case kindFixed:
		b, err := t.take(n.size)
		t.base64(b)
		return err
	case kindEnum:
		i, err := t.index(len(n.symbols), "enum")
		if err != nil {
			return err
		}
		return t.text([]byte(n.symbols[i]))
	case kindOptional:
		i, err := t.index(2, "union")
		if err != nil {
			return err
		}
		if n.branches[i].kind != kindNull {
			return t.value(n.branches[i].node)
		}
		t.out = append(t.out, "null"...)
	default:
		return t.nested(n)
	}
	return nil
}

// nested writes a value that holds others.
func (t *transcoder) nested(n *node) error {
	if t.depth++; t.depth > maxDepth {
		return errTooDeep
	}
	var err error
	switch n.kind {
	case kindUnion:
		err = t.union(n)
	case kindArray:
		err = t.array(n)
	case kindMap:
		err = t.mapping(n)
	case kindRecord:
		err = t.record(n)
	default:
		err = t.special(n)
	}
	t.depth--
	return err
}

func (t *transcoder) record(n *node) error {
	t.out = append(t.out, '{')
	for i := range n.fields {
		f := &n.fields[i]
		if i > 0 {
			t.out = append(t.out, ',')
		}
		t.out = append(t.out, f.label...)
		if err := t.value(f.node); err != nil {
			return fmt.Errorf("field %s: %w", clip(f.name), err)
		}
	}
	t.out = append(t.out, '}')
	return t.check()
}

// check bounds what values come to: one that takes no bytes can be repeated at
// no cost, and types that hold others many times double them with each step.
func (t *transcoder) check() error {
	if len(t.out) > t.left {
		return errTooLarge
	}
	return nil
}

func (t *transcoder) union(n *node) error {
	i, err := t.index(len(n.branches), "union")
	if err != nil {
		return err
	}
	b := &n.branches[i]
	if !n.isChoice || b.kind == kindNull {
		return t.value(b.node)
	}
	t.out = append(t.out, '{')
	t.out = append(t.out, b.label...)
	err = t.value(b.node)
	t.out = append(t.out, '}')
	return err
}

func (t *transcoder) array(n *node) error {
	t.out = append(t.out, '[')
	count := 0
	err := t.blocks(func() error {
		if count++; count > 1 {
			t.out = append(t.out, ',')
		}
		if err := t.value(n.items); err != nil {
			return fmt.Errorf("element %d: %w", count-1, err)
		}
		return t.check()
	})
	t.out = append(t.out, ']')
	return err
}

func (t *transcoder) mapping(n *node) error {
	t.out = append(t.out, '{')
	seen := make(map[string]struct{})
	err := t.blocks(func() error {
		name, err := t.bytes()
		if err != nil {
			return err
		}
		if _, ok := seen[string(name)]; ok {
			return errors.New("a map repeats a key")
		}
		seen[string(name)] = struct{}{}
		if len(seen) > 1 {
			t.out = append(t.out, ',')
		}
		if err := t.text(name); err != nil {
			return err
		}
		t.out = append(t.out, ':')
		if err := t.value(n.items); err != nil {
			return fmt.Errorf("value %d: %w", len(seen)-1, err)
		}
		return t.check()
	})
	t.out = append(t.out, '}')
	return err
}

// blocks calls each for every element of an array or a map.
func (t *transcoder) blocks(each func() error) error {
	for {
		n, err := t.long()
		if err != nil || n == 0 {
			return err
		}
		if n < 0 { // the block's length in bytes follows, for those who skip it
			if n == math.MinInt64 {
				return errShort
			}
			n = -n
			if _, err := t.long(); err != nil {
				return err
			}
		}
		for range n {
			if err := each(); err != nil {
				return err
			}
		}
	}
}

// index reads the number of a union's branch or an enum's symbol.
func (t *transcoder) index(n int, what string) (int, error) {
	i, err := t.long()
	if err != nil {
		return 0, err
	}
	if i < 0 || i >= int64(n) {
		return 0, fmt.Errorf("the %s of %d has no %d", what, n, i)
	}
	return int(i), nil
}

func (t *transcoder) bool() error {
	b, err := t.take(1)
	switch {
	case err != nil:
		return err
	case b[0] > 1:
		return errors.New("a boolean is neither 0 nor 1")
	case b[0] == 1:
		t.out = append(t.out, "true"...)
	default:
		t.out = append(t.out, "false"...)
	}
	return nil
}

// integer reads an int or a long.
func (t *transcoder) integer(n *node) (int64, error) {
	i, err := t.long()
	if err == nil && n.kind == kindInt && int64(int32(i)) != i {
		err = errVarint
	}
	return i, err
}

// long reads a zig-zag varint.
func (t *transcoder) long() (int64, error) {
	if t.at < len(t.in) && t.in[t.at] < 0x80 { // most are lengths and branches
		n := int64(t.in[t.at])
		t.at++
		return n>>1 ^ -(n & 1), nil
	}
	n, size := binary.Varint(t.in[t.at:])
	switch {
	case size == 0:
		return 0, errShort
	case size < 0:
		return 0, errVarint
	}
	t.at += size
	return n, nil
}

// bytes reads a length and as many bytes.
func (t *transcoder) bytes() ([]byte, error) {
	n, err := t.long()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(t.in)-t.at) {
		return nil, errShort
	}
	return t.take(int(n))
}

// take reads n bytes.
func (t *transcoder) take(n int) ([]byte, error) {
	if n > len(t.in)-t.at {
		return nil, errShort
	}
	t.at += n
	return t.in[t.at-n : t.at], nil
}

// text writes a JSON string.
func (t *transcoder) text(b []byte) error {
	var ok bool
	if t.out, ok = appendText(t.out, b); !ok {
		return errUTF8
	}
	return nil
}

func (t *transcoder) base64(b []byte) {
	t.out = append(t.out, '"')
	t.out = base64.StdEncoding.AppendEncode(t.out, b)
	t.out = append(t.out, '"')
}
