package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wire is one scalar as the wire format has it, brought to one of four forms by
// its field's kind: signed integers and booleans in num's bits, unsigned ones in
// num, floats as the bits of a float64 in num, strings and bytes in data.
type wire struct {
	num  uint64
	data []byte // shares the request's memory
}

// convert turns a scalar into the value that is stored in a column.
type convert func(w wire) (any, error)

func signed(f func(int64) (any, error)) convert {
	return func(w wire) (any, error) { return f(int64(w.num)) }
}

func unsigned(f func(uint64) (any, error)) convert {
	return func(w wire) (any, error) { return f(w.num) }
}

func text(f func(string) (any, error)) convert {
	return func(w wire) (any, error) {
		if !utf8.Valid(w.data) {
			return nil, errUTF8
		}
		return f(string(w.data))
	}
}

var (
	errUTF8 = errors.New("it is not valid UTF-8")
	errJSON = errors.New("it is not valid JSON")
)

func rawString(w wire) (any, error) { return text(func(s string) (any, error) { return s, nil })(w) }

// class is how a protobuf kind's values come: what BigQuery accepts depends on no more.
type class uint8

const (
	classOther class = iota
	classBool
	classInt32
	classInt64
	classUint32
	classUint64
	classFloat
	classEnum
	classString
	classBytes
)

func classOf(k protoreflect.Kind) class {
	switch k {
	case protoreflect.BoolKind:
		return classBool
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return classInt32
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return classInt64
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return classUint32
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return classUint64
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return classFloat
	case protoreflect.EnumKind:
		return classEnum
	case protoreflect.StringKind:
		return classString
	case protoreflect.BytesKind:
		return classBytes
	default:
		return classOther
	}
}

// converter chooses the conversion of a scalar field for a column, nil where
// BigQuery takes none ("Supported protocol buffer data types").
func converter(c *column, fd protoreflect.FieldDescriptor) convert {
	k := classOf(fd.Kind())
	integer := k == classInt32 || k == classInt64 || k == classUint32
	switch c.kind {
	case kindBool:
		if integer || k == classBool || k == classUint64 {
			return unsigned(func(n uint64) (any, error) { return n != 0, nil })
		}
	case kindInt64:
		if integer || k == classEnum {
			return signed(func(n int64) (any, error) { return n, nil })
		}
	case kindFloat64:
		if k == classFloat {
			return unsigned(func(bits uint64) (any, error) { return math.Float64frombits(bits), nil })
		}
	case kindNumeric, kindBigNumeric:
		return decimalConverter(c, k)
	case kindString:
		if k == classEnum {
			return enumConverter(c, fd.Enum())
		}
		if k == classString {
			return text(c.stringValue)
		}
	case kindBytes:
		if k == classBytes || k == classString {
			return func(w wire) (any, error) { return c.bytesValue(w.data) }
		}
	case kindDate:
		return either(k, k == classInt32 || k == classInt64, signed(dateValue), parseDate)
	case kindTime:
		return either(k, k == classInt64, unsigned(unpackTime), parseTime)
	case kindDateTime:
		return either(k, k == classInt64, unsigned(unpackDateTime), parseDateTime)
	case kindTimestamp:
		if integer {
			return signed(timestampValue)
		}
	case kindInterval:
		return either(k, false, nil, parseInterval)
	case kindJSON:
		return either(k, false, nil, jsonValue)
	case kindGeography:
		return either(k, false, nil, func(s string) (any, error) { return s, nil })
	default: // STRUCT and RANGE are messages
	}
	return nil
}

// either is for the types that come as a literal too.
func either(k class, native bool, f convert, literal func(string) (any, error)) convert {
	switch {
	case native:
		return f
	case k == classString:
		return text(literal)
	default:
		return nil
	}
}

func (c *column) stringValue(s string) (any, error) {
	if c.maxLength > 0 {
		if n := int64(utf8.RuneCountInString(s)); n > c.maxLength {
			return nil, &lengthError{c.typeName(), c.maxLength, n}
		}
	}
	return s, nil
}

func (c *column) bytesValue(b []byte) (any, error) {
	if n := int64(len(b)); c.maxLength > 0 && n > c.maxLength {
		return nil, &lengthError{c.typeName(), c.maxLength, n}
	}
	// A copy, and never nil: nil is NULL.
	return append([]byte{}, b...), nil
}

// lengthError has BigQuery's own text.
type lengthError struct {
	typeName string
	limit    int64
	length   int64
}

func (e *lengthError) Error() string {
	return fmt.Sprintf("%s has maximum length %d but got a value with length %d", e.typeName, e.limit, e.length)
}

// jsonValue keeps the text as it was written.
func jsonValue(s string) (any, error) {
	if !json.Valid([]byte(s)) {
		return nil, errJSON
	}
	return s, nil
}

func enumConverter(c *column, enum protoreflect.EnumDescriptor) convert {
	return signed(func(n int64) (any, error) {
		v := enum.Values().ByNumber(protoreflect.EnumNumber(n))
		if n != int64(int32(n)) || v == nil {
			return nil, fmt.Errorf("enum %s has no value %d", enum.Name(), n)
		}
		return c.stringValue(string(v.Name()))
	})
}

func decimalConverter(c *column, k class) convert {
	scale := numericScale
	if c.kind == kindBigNumeric {
		scale = bigNumericScale
	}
	unit := pow10(int64(scale))
	switch k {
	case classInt32, classInt64:
		return signed(func(n int64) (any, error) { return c.decimalValue(new(big.Int).Mul(big.NewInt(n), unit)) })
	case classUint32, classUint64:
		return unsigned(func(n uint64) (any, error) {
			return c.decimalValue(new(big.Int).Mul(new(big.Int).SetUint64(n), unit))
		})
	case classFloat:
		return unsigned(func(bits uint64) (any, error) {
			n, err := decimalFromFloat(math.Float64frombits(bits), scale)
			if err != nil {
				return nil, err
			}
			return c.decimalValue(n)
		})
	case classString:
		return text(func(s string) (any, error) {
			n, err := parseDecimal(s, scale)
			if err != nil {
				return nil, err
			}
			return c.decimalValue(n)
		})
	case classBytes:
		return func(w wire) (any, error) {
			n, err := decimalFromBytes(w.data)
			if err != nil {
				return nil, err
			}
			return c.decimalValue(n)
		}
	default:
		return nil
	}
}

// defaultWire is a field's default value as the wire would have it.
func defaultWire(fd protoreflect.FieldDescriptor) wire {
	v := fd.Default()
	switch classOf(fd.Kind()) {
	case classBool:
		if v.Bool() {
			return wire{num: 1}
		}
	case classInt32, classInt64:
		return wire{num: uint64(v.Int())}
	case classUint32, classUint64:
		return wire{num: v.Uint()}
	case classFloat:
		return wire{num: math.Float64bits(v.Float())}
	case classEnum:
		return wire{num: uint64(int64(v.Enum()))}
	case classString:
		return wire{data: []byte(v.String())}
	case classBytes:
		return wire{data: v.Bytes()}
	case classOther:
	}
	return wire{}
}
