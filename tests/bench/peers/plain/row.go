package main

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// schema is that of the orders' tables.
var schema = bigquery.Schema{
	{Name: "order_id", Type: bigquery.IntegerFieldType, Required: true},
	{Name: "customer_id", Type: bigquery.IntegerFieldType},
	{Name: "status", Type: bigquery.StringFieldType},
	{Name: "currency", Type: bigquery.StringFieldType},
	{Name: "total", Type: bigquery.NumericFieldType},
	{Name: "tax", Type: bigquery.NumericFieldType},
	{Name: "placed_at", Type: bigquery.TimestampFieldType},
	{Name: "paid_at", Type: bigquery.DateTimeFieldType},
	{Name: "shipped_at", Type: bigquery.DateTimeFieldType},
	{Name: "note", Type: bigquery.StringFieldType},
	{Name: "address", Type: bigquery.JSONFieldType},
	{Name: "tags", Type: bigquery.StringFieldType, Repeated: true},
	{Name: "priority", Type: bigquery.IntegerFieldType},
	{Name: "is_gift", Type: bigquery.BooleanFieldType},
	{Name: "weight", Type: bigquery.FloatFieldType},
	{Name: "email", Type: bigquery.StringFieldType},
	{Name: "updated_at", Type: bigquery.TimestampFieldType},
}

// describe returns the rows' descriptor, CDC's two pseudo-columns included.
func describe() (protoreflect.MessageDescriptor, *descriptorpb.DescriptorProto, error) {
	stored, err := adapt.BQSchemaToStorageTableSchema(schema)
	if err != nil {
		return nil, nil, err
	}
	for _, field := range stored.GetFields() {
		if field.GetType() == storagepb.TableFieldSchema_NUMERIC || field.GetType() == storagepb.TableFieldSchema_DATETIME {
			field.Type = storagepb.TableFieldSchema_STRING // BigQuery reads them from text too
		}
	}
	for _, name := range []string{"_CHANGE_TYPE", "_CHANGE_SEQUENCE_NUMBER"} {
		stored.Fields = append(stored.Fields, &storagepb.TableFieldSchema{
			Name: name, Type: storagepb.TableFieldSchema_STRING, Mode: storagepb.TableFieldSchema_NULLABLE,
		})
	}
	descriptor, err := adapt.StorageSchemaToProto2Descriptor(stored, "row")
	if err != nil {
		return nil, nil, err
	}
	message, ok := descriptor.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, nil, fmt.Errorf("%s is no message", descriptor.FullName())
	}
	return message, protodesc.ToDescriptorProto(message), nil
}

// encode makes the row of a change.
func encode(descriptor protoreflect.MessageDescriptor, e *event) ([]byte, error) {
	row := dynamicpb.NewMessage(descriptor)
	image, kind := e.After, "UPSERT"
	if e.Op == "d" {
		image, kind = map[string]any{"order_id": e.Before["order_id"]}, "DELETE"
	}
	set := func(name string, v protoreflect.Value) {
		row.Set(descriptor.Fields().ByName(protoreflect.Name(name)), v)
	}
	for _, column := range schema {
		value, ok := image[column.Name]
		if !ok || value == nil {
			continue
		}
		if list, ok := value.([]any); ok && column.Repeated {
			into := row.Mutable(descriptor.Fields().ByName(protoreflect.Name(column.Name))).List()
			for _, v := range list {
				into.Append(protoreflect.ValueOf(v))
			}
			continue
		}
		v, err := convert(column.Type, value)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", column.Name, err)
		}
		set(column.Name, v)
	}
	set("_CHANGE_TYPE", protoreflect.ValueOfString(kind))
	set("_CHANGE_SEQUENCE_NUMBER", protoreflect.ValueOfString(fmt.Sprintf("%X", e.Source.LSN)))
	return proto.Marshal(row)
}

// convert takes numbers as encoding/json gives them, float64: an integer beyond 2^53 is
// not exact.
func convert(kind bigquery.FieldType, value any) (protoreflect.Value, error) {
	number, isNumber := value.(float64)
	text, isText := value.(string)
	switch {
	case kind == bigquery.IntegerFieldType && isNumber, kind == bigquery.TimestampFieldType && isNumber:
		return protoreflect.ValueOfInt64(int64(number)), nil
	case kind == bigquery.TimestampFieldType && isText:
		at, err := time.Parse(time.RFC3339Nano, text)
		return protoreflect.ValueOfInt64(at.UnixMicro()), err
	case kind == bigquery.DateTimeFieldType && isNumber:
		return protoreflect.ValueOfString(time.UnixMicro(int64(number)).UTC().Format("2006-01-02T15:04:05.000000")), nil
	case kind == bigquery.NumericFieldType && isText:
		unscaled, err := base64.StdEncoding.DecodeString(text)
		n := new(big.Int).SetBytes(unscaled)
		if len(unscaled) > 0 && unscaled[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(unscaled))))
		}
		return protoreflect.ValueOfString(new(big.Rat).SetFrac(n, big.NewInt(100)).FloatString(2)), err
	case kind == bigquery.FloatFieldType && isNumber:
		return protoreflect.ValueOfFloat64(number), nil
	case isText && (kind == bigquery.StringFieldType || kind == bigquery.JSONFieldType):
		return protoreflect.ValueOfString(text), nil
	}
	if b, ok := value.(bool); ok && kind == bigquery.BooleanFieldType {
		return protoreflect.ValueOfBool(b), nil
	}
	return protoreflect.Value{}, fmt.Errorf("a %T can't be a %s", value, kind)
}
