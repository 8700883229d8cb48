package rowproto

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// The field numbers of a RANGE's bounds. An unset bound is unbounded.
const (
	rangeStart protowire.Number = 1
	rangeEnd   protowire.Number = 2
)

func compileRange(f *field, c *table.Column) error {
	switch c.Element {
	case table.Date, table.DateTime, table.Timestamp:
	default:
		return fmt.Errorf("a RANGE is of DATE, DATETIME or TIMESTAMP, not of %q", c.Element)
	}
	bound := *c
	bound.Type, bound.Element, bound.Mode = c.Element, "", table.Nullable
	f.element = &field{name: c.Name, column: &bound, clamp: f.clamp, append: kinds[c.Element].append}
	return nil
}

func describeRange(name string, element table.Type) *descriptorpb.DescriptorProto {
	bound := func(name string, number protowire.Number) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name:   proto.String(name),
			Number: proto.Int32(int32(number)),
			Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:   kinds[element].proto.Enum(),
		}
	}
	return &descriptorpb.DescriptorProto{
		Name:  proto.String(name),
		Field: []*descriptorpb.FieldDescriptorProto{bound("start", rangeStart), bound("end", rangeEnd)},
	}
}

// appendRange appends a RANGE.
func appendRange(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	text := v.Text()
	if v.Kind() != change.KindText && v.Kind() != change.KindString || !strings.HasPrefix(text, "[") {
		return dst, mismatch(f, v)
	}
	return dst, mismatch(f, v)
}
