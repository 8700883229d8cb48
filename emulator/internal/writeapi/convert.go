package writeapi

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"beamcdc/emulator/internal/engine"
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

var errUTF8 = errors.New("it is not valid UTF-8")

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
func converter(c *engine.Column, fd protoreflect.FieldDescriptor) convert {
	k := classOf(fd.Kind())
	integer := k == classInt32 || k == classInt64 || k == classUint32
	switch c.Kind {
	case engine.KindBool:
		if integer || k == classBool || k == classUint64 {
			return unsigned(func(n uint64) (any, error) { return n != 0, nil })
		}
	case engine.KindInt64:
		if integer || k == classEnum {
			return signed(func(n int64) (any, error) { return n, nil })
		}
	case engine.KindFloat64:
		if k == classFloat {
			return unsigned(func(bits uint64) (any, error) { return math.Float64frombits(bits), nil })
		}
	case engine.KindNumeric, engine.KindBigNumeric:
		return decimalConverter(c, k)
	case engine.KindString:
		if k == classEnum {
			return enumConverter(c, fd.Enum())
		}
		if k == classString {
			return text(c.StringValue)
		}
	case engine.KindBytes:
		if k == classBytes || k == classString {
			return func(w wire) (any, error) { return c.BytesValue(w.data) }
		}
	case engine.KindDate:
		return either(k, k == classInt32 || k == classInt64, signed(engine.DateValue), engine.ParseDate)
	case engine.KindTime:
		return either(k, k == classInt64, unsigned(engine.UnpackTime), engine.ParseTime)
	case engine.KindDateTime:
		return either(k, k == classInt64, unsigned(engine.UnpackDateTime), engine.ParseDateTime)
	case engine.KindTimestamp:
		if integer {
			return signed(engine.TimestampValue)
		}
	case engine.KindInterval:
		return either(k, false, nil, engine.ParseInterval)
	case engine.KindJSON:
		return either(k, false, nil, engine.ParseJSON)
	case engine.KindGeography:
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

func enumConverter(c *engine.Column, enum protoreflect.EnumDescriptor) convert {
	return signed(func(n int64) (any, error) {
		v := enum.Values().ByNumber(protoreflect.EnumNumber(n))
		if n != int64(int32(n)) || v == nil {
			return nil, fmt.Errorf("enum %s has no value %d", enum.Name(), n)
		}
		return c.StringValue(string(v.Name()))
	})
}

func decimalConverter(c *engine.Column, k class) convert {
	switch k {
	case classInt32, classInt64:
		return signed(func(n int64) (any, error) { return c.DecimalInteger(big.NewInt(n)) })
	case classUint32, classUint64:
		return unsigned(func(n uint64) (any, error) { return c.DecimalInteger(new(big.Int).SetUint64(n)) })
	case classFloat:
		return unsigned(func(bits uint64) (any, error) { return c.DecimalFloat(math.Float64frombits(bits)) })
	case classString:
		return text(c.DecimalLiteral)
	case classBytes:
		return func(w wire) (any, error) { return c.DecimalBytes(w.data) }
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
