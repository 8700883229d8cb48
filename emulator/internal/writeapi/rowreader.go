package writeapi

import (
	"errors"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"beamcdc/emulator/internal/engine"
)

var errWire = errors.New("the row is no valid protocol buffer message")

// changeRow is a row as its writer encoded it.
type changeRow struct {
	values       []any // by position in the schema; nil is NULL
	changeType   string
	hasSequence  bool
	sequenceText string
}

// read reads one row. Columns that the row lacks are NULL, or empty if repeated.
func (p *plan) read(b []byte) (changeRow, error) {
	row := changeRow{values: make([]any, len(p.schema.Columns))}
	pseudo := [...]any{roleChangeType: nil, roleSequence: nil}
	if err := p.root.readInto(b, row.values, pseudo[:]); err != nil {
		return changeRow{}, err
	}
	if v, ok := pseudo[roleChangeType].(string); ok {
		row.changeType = v
	}
	row.sequenceText, row.hasSequence = pseudo[roleSequence].(string)
	return row, nil
}

// read reads a STRUCT's message.
func (m *messagePlan) read(b []byte, values []any) error { return m.readInto(b, values, nil) }

// readInto reads a message as protobuf says: the last one of a singular field
// counts, singular messages that come more than once are merged, repeated
// scalars come packed or not, fields that the descriptor lacks are skipped.
func (m *messagePlan) readInto(b []byte, values, pseudo []any) error {
	var messages map[*fieldPlan][]byte // singular messages, joined
	var seen map[*fieldPlan]bool       // fields that proto2 requires
	err := eachField(b, func(number protowire.Number, kind protowire.Type, v wire) error {
		f := m.field(number)
		if f == nil {
			return nil
		}
		if f.required {
			if seen == nil {
				seen = map[*fieldPlan]bool{}
			}
			seen[f] = true
		}
		switch {
		case f.scalar == nil && kind != protowire.BytesType:
			return nil // another type than the descriptor's: unknown, as to any protobuf parser
		case f.scalar == nil && !f.repeated:
			if messages == nil {
				messages = map[*fieldPlan][]byte{}
			}
			// Clipped, the first one is copied before another follows it: it is the row's.
			// What is joined grows in place then, however many there are.
			if earlier, ok := messages[f]; ok {
				messages[f] = append(earlier, v.data...)
			} else {
				messages[f] = slices.Clip(v.data)
			}
			return nil
		case f.scalar == nil:
			return f.add(values, func() (any, error) { return f.readMessage(v.data) })
		}
		if want := wireType(f.kind); kind != want {
			if f.repeated && kind == protowire.BytesType && want != protowire.BytesType {
				return f.readPacked(v.data, want, values)
			}
			return nil
		}
		v = normalize(f.kind, v)
		if f.repeated {
			return f.add(values, func() (any, error) { return f.scalar(v) })
		}
		value, err := f.scalar(v)
		if err != nil {
			return engine.NewValueError(f.path, err)
		}
		if f.role != roleColumn {
			pseudo[f.role] = value
		} else {
			values[f.slot] = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	for f, data := range messages {
		value, err := f.readMessage(data)
		if err != nil {
			return err
		}
		values[f.slot] = value
	}
	return m.complete(values, seen)
}

// complete fills in what the message lacks.
func (m *messagePlan) complete(values []any, seen map[*fieldPlan]bool) error {
	for _, f := range m.list {
		if f.required && !seen[f] {
			return engine.NewValueError(f.path, errors.New("the proto field is required and isn't set"))
		}
		if f.def != nil && f.role == roleColumn && values[f.slot] == nil {
			values[f.slot] = f.def
		}
	}
	return nil
}

// add appends an element to a repeated column.
func (f *fieldPlan) add(values []any, element func() (any, error)) error {
	value, err := element()
	if err != nil {
		return f.locate(err)
	}
	list, _ := values[f.slot].([]any)
	values[f.slot] = append(list, value)
	return nil
}

func (f *fieldPlan) readPacked(b []byte, kind protowire.Type, values []any) error {
	for len(b) > 0 {
		v, n := consumeScalar(b, kind)
		if n < 0 {
			return errWire
		}
		b = b[n:]
		if err := f.add(values, func() (any, error) { return f.scalar(normalize(f.kind, v)) }); err != nil {
			return err
		}
	}
	return nil
}

// locate adds the column to an error that lacks it.
func (f *fieldPlan) locate(err error) error {
	if _, ok := errors.AsType[*engine.ValueError](err); ok || err == nil || errors.Is(err, errWire) {
		return err
	}
	return engine.NewValueError(f.path, err)
}

// readMessage reads a STRUCT, a RANGE or a well-known message.
func (f *fieldPlan) readMessage(b []byte) (any, error) {
	if f.special != nil {
		value, err := f.special(b)
		return value, f.locate(err)
	}
	fields := make([]any, f.message.columns)
	if err := f.message.read(b, fields); err != nil {
		return nil, err
	}
	value := make(map[string]any, len(fields))
	for i, c := range f.column.Fields {
		if err := c.Check(fields[i], f.path+"."); err != nil {
			return nil, err
		}
		value[c.Name] = c.Stored(fields[i])
	}
	return value, nil
}

// eachField calls f for each field of a message. Groups are skipped.
func eachField(b []byte, f func(protowire.Number, protowire.Type, wire) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errWire
		}
		b = b[n:]
		if kind == protowire.StartGroupType || kind == protowire.EndGroupType {
			n = protowire.ConsumeFieldValue(number, kind, b)
			if n < 0 {
				return errWire
			}
			b = b[n:]
			continue
		}
		v, n := consumeScalar(b, kind)
		if n < 0 {
			return errWire
		}
		b = b[n:]
		if err := f(number, kind, v); err != nil {
			return err
		}
	}
	return nil
}

func consumeScalar(b []byte, kind protowire.Type) (v wire, n int) {
	switch kind {
	case protowire.VarintType:
		v.num, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var x uint32
		x, n = protowire.ConsumeFixed32(b)
		v.num = uint64(x)
	case protowire.Fixed64Type:
		v.num, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		v.data, n = protowire.ConsumeBytes(b)
	default:
		n = -1
	}
	return v, n
}

// wireType is the wire type of a kind that isn't packed.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	default:
		return protowire.VarintType
	}
}

// normalize brings a scalar to the form that convert expects.
func normalize(k protoreflect.Kind, v wire) wire {
	switch k {
	case protoreflect.Int32Kind, protoreflect.EnumKind, protoreflect.Sfixed32Kind:
		v.num = uint64(int64(int32(v.num)))
	case protoreflect.Sint32Kind:
		v.num = uint64(int64(int32(protowire.DecodeZigZag(v.num & math.MaxUint32))))
	case protoreflect.Sint64Kind:
		v.num = uint64(protowire.DecodeZigZag(v.num))
	case protoreflect.Uint32Kind:
		v.num = uint64(uint32(v.num))
	case protoreflect.FloatKind:
		v.num = math.Float64bits(float64(math.Float32frombits(uint32(v.num))))
	default:
	}
	return v
}
