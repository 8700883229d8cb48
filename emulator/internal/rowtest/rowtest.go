// Package rowtest makes writers' messages and rows for the emulator's tests.
package rowtest

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// AddField adds a field to a message: its type is a protobuf scalar's name, "enum",
// "google.protobuf.Timestamp" or another well-known message, or "range int32", and the types
// that it needs.
func AddField(name string, number int32, typeName string, repeated bool, message *descriptorpb.DescriptorProto) {
	f := &descriptorpb.FieldDescriptorProto{
		Name: new(name), Number: new(number), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
	if repeated {
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	element, isRange := strings.CutPrefix(typeName, "range ")
	switch {
	case isRange:
		nested := &descriptorpb.DescriptorProto{Name: new("Range")}
		AddField("start", 1, element, false, nested)
		AddField("end", 2, element, false, nested)
		message.NestedType = append(message.NestedType, nested)
		f.TypeName = new("Range")
	case typeName == "enum":
		message.EnumType = append(message.EnumType, &descriptorpb.EnumDescriptorProto{
			Name: new("E"), Value: []*descriptorpb.EnumValueDescriptorProto{
				{Name: new("ZERO"), Number: new(int32(0))}, {Name: new("ONE"), Number: new(int32(1))},
			},
		})
		f.TypeName = new("E")
	case strings.HasPrefix(typeName, "google."):
		f.TypeName = new("." + typeName)
	default:
		f.Type = descriptorpb.FieldDescriptorProto_Type(descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(typeName)]).Enum()
	}
	message.Field = append(message.Field, f)
}

// StringField is an optional string field.
func StringField(name string, number int32) *descriptorpb.FieldDescriptorProto {
	return &descriptorpb.FieldDescriptorProto{
		Name: new(name), Number: new(number),
		Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
}

// Encode makes a row of protojson.
func Encode(t testing.TB, message *descriptorpb.DescriptorProto, text string) []byte {
	t.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("t.proto"), Syntax: new("proto2"), MessageType: []*descriptorpb.DescriptorProto{message},
		Dependency: []string{
			timestamppb.File_google_protobuf_timestamp_proto.Path(), durationpb.File_google_protobuf_duration_proto.Path(),
			wrapperspb.File_google_protobuf_wrappers_proto.Path(),
		},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	row := dynamicpb.NewMessage(file.Messages().Get(0))
	if err := protojson.Unmarshal([]byte(text), row); err != nil {
		t.Fatalf("encoding %s: %v", text, err)
	}
	b, err := proto.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
