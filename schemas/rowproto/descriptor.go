package rowproto

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"beamcdc/schemas/table"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// BigQuery's CDC pseudo-columns.
const (
	ChangeTypeColumn     = "_CHANGE_TYPE"
	SequenceNumberColumn = "_CHANGE_SEQUENCE_NUMBER"
)

// isPseudo says that a table can't have a column of this name: it would decide
// what a row does instead of being its data.
func isPseudo(name string) bool {
	return strings.EqualFold(name, ChangeTypeColumn) || strings.EqualFold(name, SequenceNumberColumn)
}

// rootName is the row's message name. Nested messages are named after their path.
const rootName = "root"

type kind struct {
	wire   protowire.Type
	proto  descriptorpb.FieldDescriptorProto_Type
	append appendFunc
}

// kinds is how each BigQuery type is written. Texts are taken where BigQuery
// takes them and they are exact: its packed civil times and scaled decimals
// save a few bytes and are harder to read in a dead letter.
// https://cloud.google.com/bigquery/docs/supported-data-types
var kinds map[table.Type]kind

func init() { // not a literal: the functions use the map
	const varint, fixed64, bytes = protowire.VarintType, protowire.Fixed64Type, protowire.BytesType
	kinds = map[table.Type]kind{
		table.Bool:       {varint, descriptorpb.FieldDescriptorProto_TYPE_BOOL, appendBool},
		table.Int64:      {varint, descriptorpb.FieldDescriptorProto_TYPE_INT64, appendInt64},
		table.Float64:    {fixed64, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, appendFloat64},
		table.Date:       {varint, descriptorpb.FieldDescriptorProto_TYPE_INT32, appendDate},
		table.Timestamp:  {varint, descriptorpb.FieldDescriptorProto_TYPE_INT64, appendTimestamp},
		table.Time:       {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendTime},
		table.DateTime:   {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendDateTime},
		table.String:     {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendText},
		table.Numeric:    {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendNumeric},
		table.BigNumeric: {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendNumeric},
		table.Interval:   {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendInterval},
		table.JSON:       {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendJSON},
		table.Geography:  {bytes, descriptorpb.FieldDescriptorProto_TYPE_STRING, appendGeography},
		table.Bytes:      {bytes, descriptorpb.FieldDescriptorProto_TYPE_BYTES, appendBytes},
		table.Struct:     {bytes, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, appendStruct},
		table.Range:      {bytes, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, appendRange},
	}
}

// describe returns the descriptor of a row, with the pseudo-columns of a CDC row or
// without: the normalized form, in which every message that the row uses is nested
// in it directly and fields are in the order of their numbers.
func describe(root *message, pseudo bool) *descriptorpb.DescriptorProto {
	d := &descriptorpb.DescriptorProto{Name: new(rootName)}
	nested := map[string]*descriptorpb.DescriptorProto{}
	d.Field = describeFields(root, rootName, nested)
	for name, number := range map[string]protowire.Number{ChangeTypeColumn: changeTypeNumber, SequenceNumberColumn: sequenceNumberNumber} {
		if !pseudo {
			break
		}
		d.Field = append(d.Field, &descriptorpb.FieldDescriptorProto{
			Name:   new(name),
			Number: new(int32(number)),
			Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:   descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
		})
	}
	slices.SortFunc(d.GetField(), func(a, b *descriptorpb.FieldDescriptorProto) int { return cmp.Compare(a.GetNumber(), b.GetNumber()) })
	for _, n := range nested {
		d.NestedType = append(d.NestedType, n)
	}
	slices.SortFunc(d.GetNestedType(), func(a, b *descriptorpb.DescriptorProto) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return d
}

// describeFields describes a message's fields, and into nested the messages that they use.
func describeFields(m *message, name string, nested map[string]*descriptorpb.DescriptorProto) []*descriptorpb.FieldDescriptorProto {
	taken := map[string]bool{}
	for i := range m.fields {
		taken[m.fields[i].name] = true
	}
	fields := make([]*descriptorpb.FieldDescriptorProto, len(m.fields))
	for i := range m.fields {
		f := &m.fields[i]
		d := &descriptorpb.FieldDescriptorProto{
			Name:   new(f.name),
			Number: new(int32(f.number)),
			// OPTIONAL for REQUIRED columns too: a DELETE has the key columns alone.
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:  kinds[f.column.Type].proto.Enum(),
		}
		if f.repeated {
			d.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		if f.packed {
			d.Options = &descriptorpb.FieldOptions{Packed: new(true)}
		}
		if !protoreflect.Name(f.name).IsValid() {
			annotate(d, f.name, taken)
		}
		switch f.column.Type {
		case table.Struct:
			n := &descriptorpb.DescriptorProto{Name: new(name + "__" + d.GetName())}
			for nested[n.GetName()] != nil { // a column a__b beside a field b of a
				n.Name = new(n.GetName() + "_")
			}
			nested[n.GetName()] = n
			n.Field = describeFields(f.message, n.GetName(), nested)
			d.TypeName = n.Name
		case table.Range:
			d.TypeName = new("rangemessage_range_" + strings.ToLower(string(f.column.Element)))
			nested[d.GetTypeName()] = describeRange(d.GetTypeName(), f.column.Element)
		default:
		}
		fields[i] = d
	}
	return fields
}

// annotate gives a field whose column's name is no protobuf identifier a name
// that is one, and tells BigQuery the column's in the column_name option.
func annotate(d *descriptorpb.FieldDescriptorProto, name string, taken map[string]bool) {
	safe := "col_" + hex.EncodeToString([]byte(name))
	for taken[safe] { // only a table that has a column of just this name
		safe += "_"
	}
	taken[safe] = true
	d.Name = new(safe)
	if d.GetOptions() == nil {
		d.Options = &descriptorpb.FieldOptions{}
	}
	proto.SetExtension(d.GetOptions(), storagepb.E_ColumnName, name)
}
