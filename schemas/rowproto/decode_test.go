package rowproto

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// columnsOf returns an INT64 key column "id" and the given columns.
func columnsOf(columns ...table.Column) []table.Column {
	return append([]table.Column{{Name: "id", Type: table.Int64, Mode: table.Required}}, columns...)
}

func tableOf(columns ...table.Column) *table.Table {
	return &table.Table{
		Name:       table.Name{Project: "p", Dataset: "d", Table: "t"},
		Columns:    columnsOf(columns...),
		PrimaryKey: []string{"id"},
	}
}

func compile(t testing.TB, columns ...table.Column) *Plan {
	t.Helper()
	p, err := Compile(tableOf(columns...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// messageType builds the type that a reader of the plan's rows would use.
func messageType(t testing.TB, p *Plan) protoreflect.MessageDescriptor {
	t.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("row.proto"), Syntax: new("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{p.Descriptor()},
		Dependency:  []string{"google/cloud/bigquery/storage/v1/annotations.proto"},
	}, annotations{})
	if err != nil {
		t.Fatalf("building the descriptor: %v", err)
	}
	return file.Messages().Get(0)
}

// annotations resolves the file that declares the column_name option.
type annotations struct{}

func (annotations) FindFileByPath(string) (protoreflect.FileDescriptor, error) {
	return storagepb.File_google_cloud_bigquery_storage_v1_annotations_proto, nil
}

func (annotations) FindDescriptorByName(protoreflect.FullName) (protoreflect.Descriptor, error) {
	return nil, protoregistry.NotFound
}

// read unmarshals a row and returns its columns by BigQuery's names.
func read(t testing.TB, md protoreflect.MessageDescriptor, row []byte) map[string]any {
	t.Helper()
	m := dynamicpb.NewMessage(md)
	if err := proto.Unmarshal(row, m); err != nil {
		t.Fatalf("unmarshalling the row: %v", err)
	}
	if len(m.GetUnknown()) > 0 {
		t.Fatalf("the row has fields that its descriptor has not: %x", m.GetUnknown())
	}
	return columnsIn(m)
}

func columnsIn(m protoreflect.Message) map[string]any {
	columns := map[string]any{}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(fd.Name())
		if annotated, ok := proto.GetExtension(fd.Options(), storagepb.E_ColumnName).(string); ok && annotated != "" {
			name = annotated
		}
		if fd.IsList() {
			list := make([]any, v.List().Len())
			for i := range list {
				list[i] = plain(fd, v.List().Get(i))
			}
			columns[name] = list
		} else {
			columns[name] = plain(fd, v)
		}
		return true
	})
	return columns
}

func plain(fd protoreflect.FieldDescriptor, v protoreflect.Value) any {
	if fd.Message() != nil {
		return columnsIn(v.Message())
	}
	return v.Interface()
}

var someSequence = change.NewSequence(1, 2, 3, 4)

// row returns the columns of a row with key 7.
func row(columns ...change.Column) []change.Column {
	return append([]change.Column{{Name: "id", Value: change.Int64(7)}}, columns...)
}
