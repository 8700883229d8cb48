package writeapi

import (
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"beamcdc/emulator/internal/engine"
)

// The pseudo-columns of a CDC row. Case doesn't count.
const (
	changeTypeColumn     = "_CHANGE_TYPE"
	changeSequenceColumn = "_CHANGE_SEQUENCE_NUMBER"
)

// wellKnownFiles are what a writer's descriptor may refer to without bringing it.
var wellKnownFiles = []string{
	timestamppb.File_google_protobuf_timestamp_proto.Path(),
	durationpb.File_google_protobuf_duration_proto.Path(),
	wrapperspb.File_google_protobuf_wrappers_proto.Path(),
}

// buildDescriptor makes a message descriptor of what a writer sent: one message
// that nests all that it refers to, in proto2's syntax.
func buildDescriptor(message *descriptorpb.DescriptorProto) (_ protoreflect.MessageDescriptor, err error) {
	defer func() {
		// protodesc doesn't promise to survive any input, and this one is a stranger's.
		if r := recover(); r != nil {
			err = badSchema("Invalid proto schema: %v", r)
		}
	}()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name:        new("writer_schema.proto"),
		Syntax:      new("proto2"),
		Dependency:  wellKnownFiles,
		MessageType: []*descriptorpb.DescriptorProto{message},
	}, protoregistry.GlobalFiles)
	if err != nil {
		return nil, badSchema("Invalid proto schema: %v", err)
	}
	return file.Messages().Get(0), nil
}

// role is what a field of the writer's message holds.
type role uint8

const (
	roleColumn role = iota
	roleChangeType
	roleSequence
)

// messagePlan reads one message type into the values of a row or STRUCT.
type messagePlan struct {
	fields  map[protowire.Number]*fieldPlan
	low     []*fieldPlan // by number, those whose numbers aren't above their count: in most messages all
	list    []*fieldPlan
	columns int // length of the row or STRUCT
}

// field is the field with this number, nil for one that isn't read.
func (m *messagePlan) field(number protowire.Number) *fieldPlan {
	if n := int(number); n < len(m.low) {
		return m.low[n]
	}
	return m.fields[number]
}

// fieldPlan reads one field of the writer's message.
type fieldPlan struct {
	path     string // of the column, for messages: "address.city"
	role     role
	slot     int // position of the column in its row or STRUCT
	column   *engine.Column
	repeated bool
	required bool // in proto2's sense
	kind     protoreflect.Kind
	scalar   convert      // nil for messages
	message  *messagePlan // STRUCT
	special  func(b []byte) (any, error)
	// def is the value of a field that isn't set; nil for NULL. A proto3 message
	// normalized for BigQuery has its zero values here.
	def any
}

// plan reads the rows that a writer encodes by one descriptor, for one version of
// one table's schema.
type plan struct {
	schema *engine.Schema
	root   *messagePlan
}

// schemaError is a writer's schema that is no schema, or not the table's, in
// BigQuery's words.
type schemaError struct {
	code    storagepb.StorageError_StorageErrorCode // unspecified where BigQuery has none
	message string
}

func (e *schemaError) Error() string { return e.message }

func badSchema(format string, args ...any) error {
	return &schemaError{message: engine.Clip(fmt.Sprintf(format, args...))}
}

// compilePlan matches the writer's fields with the table's columns: by name,
// without regard to case, the column_name annotation first.
func compilePlan(s *engine.Schema, message *descriptorpb.DescriptorProto) (*plan, error) {
	md, err := buildDescriptor(message)
	if err != nil {
		return nil, err
	}
	p := &plan{schema: s}
	root, err := compileMessage(md, s.Columns, "", p)
	if err != nil {
		return nil, err
	}
	p.root = root
	present := make([]bool, len(s.Columns))
	for _, f := range root.list {
		if f.role == roleColumn {
			present[f.slot] = true
		}
	}
	for i, c := range s.Columns {
		if !present[i] && c.Required && c.DefaultValue == nil {
			return nil, badSchema("The required field %s is missing in the proto message", c.Name)
		}
	}
	return p, nil
}

// fieldName is the column that a field is for.
func fieldName(fd protoreflect.FieldDescriptor) string {
	if o, ok := fd.Options().(*descriptorpb.FieldOptions); ok && proto.HasExtension(o, storagepb.E_ColumnName) {
		if name, ok := proto.GetExtension(o, storagepb.E_ColumnName).(string); ok && name != "" {
			return name
		}
	}
	return string(fd.Name())
}

// compileMessage compiles a row (p isn't nil) or a STRUCT. The table's schema
// bounds how deep it goes, so a message that contains itself ends too.
func compileMessage(md protoreflect.MessageDescriptor, columns []*engine.Column, path string, p *plan) (*messagePlan, error) {
	if md.IsMapEntry() && p != nil {
		return nil, badSchema("Invalid proto schema: the message is a map entry")
	}
	m := &messagePlan{fields: map[protowire.Number]*fieldPlan{}, low: make([]*fieldPlan, md.Fields().Len()+1), columns: len(columns)}
	byName := map[string]int{}
	for i, c := range columns {
		byName[strings.ToLower(c.Name)] = i
	}
	used := map[string]bool{}
	var extra []string
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		name := fieldName(fd)
		lower := strings.ToLower(name)
		if used[lower] {
			return nil, badSchema("Invalid proto schema: more than one field is for the column %q", path+name)
		}
		used[lower] = true
		f := &fieldPlan{path: path + name, kind: fd.Kind(), required: fd.Cardinality() == protoreflect.Required, repeated: fd.IsList() || fd.IsMap()}
		switch slot, ok := byName[lower]; {
		case p != nil && (strings.EqualFold(name, changeTypeColumn) || strings.EqualFold(name, changeSequenceColumn)):
			if fd.Kind() != protoreflect.StringKind || f.repeated {
				return nil, mismatch(fd, "STRING")
			}
			f.role = roleChangeType
			if strings.EqualFold(name, changeSequenceColumn) {
				f.role = roleSequence
			}
			f.scalar = rawString
		case !ok:
			extra = append(extra, name)
			continue
		default:
			f.slot, f.column, f.path = slot, columns[slot], path+columns[slot].Name
			if err := f.compile(fd); err != nil {
				return nil, err
			}
		}
		m.fields[fd.Number()] = f
		if n := int(fd.Number()); n < len(m.low) {
			m.low[n] = f
		}
		m.list = append(m.list, f)
	}
	if err := extraFields(extra); err != nil {
		return nil, err
	}
	return m, nil
}

// maxExtraFields bounds the bytes of the names that an error lists: clients take
// answers of 4 MB.
const maxExtraFields = 10_000

// extraFields is the error for fields that the table doesn't have; nil if there are none.
func extraFields(names []string) error {
	if len(names) == 0 {
		return nil
	}
	list := strings.Join(names, ",")
	if len(list) > maxExtraFields {
		list = strings.ToValidUTF8(list[:maxExtraFields], "") + "…"
	}
	return &schemaError{
		storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS,
		fmt.Sprintf("Input schema has more fields than BigQuery schema, extra fields: '%s'", list),
	}
}

// mismatch is the error for a field whose type can't hold the column's values.
func mismatch(fd protoreflect.FieldDescriptor, bigQuery string) error {
	kind := fd.Kind().String()
	if fd.IsList() {
		kind = "repeated " + kind
	}
	return badSchema("The proto field mismatched with BigQuery field at %s, the proto field type %s, BigQuery field type %s",
		fd.FullName(), kind, bigQuery)
}

// compile chooses how the field's values are converted to the column's.
func (f *fieldPlan) compile(fd protoreflect.FieldDescriptor) error {
	c := f.column
	bigQuery := c.Kind.String()
	if c.Repeated {
		bigQuery = "REPEATED " + bigQuery
	}
	if c.Repeated != f.repeated {
		return mismatch(fd, bigQuery)
	}
	if fd.Kind() == protoreflect.GroupKind {
		return mismatch(fd, bigQuery)
	}
	if fd.Kind() != protoreflect.MessageKind {
		f.scalar = converter(c, fd)
		if f.scalar == nil {
			return mismatch(fd, bigQuery)
		}
		if fd.HasDefault() && !f.repeated {
			var err error
			if f.def, err = f.scalar(defaultWire(fd)); err != nil {
				return badSchema("Invalid proto schema: default value of %s: %v", fd.FullName(), err)
			}
		}
		return nil
	}
	var err error
	switch c.Kind {
	case engine.KindStruct:
		f.message, err = compileMessage(fd.Message(), c.Fields, f.path+".", nil)
		if err == nil {
			err = f.message.checkRequired(c.Fields, f.path+".")
		}
	case engine.KindRange:
		f.special, err = compileRange(c, fd)
	default:
		f.special, err = compileWellKnown(c, fd, bigQuery)
	}
	return err
}

// checkRequired refuses a message that lacks a STRUCT's required fields.
func (m *messagePlan) checkRequired(fields []*engine.Column, path string) error {
	present := make([]bool, len(fields))
	for _, f := range m.list {
		present[f.slot] = true
	}
	for i, c := range fields {
		if c.Required && !present[i] {
			return badSchema("The required field %s is missing in the proto message", path+c.Name)
		}
	}
	return nil
}
