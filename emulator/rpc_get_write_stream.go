package emulator

import (
	"context"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// GetWriteStream
//
// Behavior:
//   - Every table has a default stream, projects/P/datasets/D/tables/T/streams/_default.
//     It is of type COMMITTED, was created with its table and has its dataset's location.
//   - view FULL adds the table's schema; the basic view doesn't.
//   - An absent table is NOT_FOUND, and so is any other stream: see GAPS.md.
func (s *writeService) GetWriteStream(_ context.Context, request *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	ref, id, err := parseStream(request.GetName())
	if err != nil {
		return nil, err
	}
	t, err := s.server.catalog.table(ref)
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "Requested entity was not found.%s", entity(request.GetName()))
	}
	if id != defaultStream {
		return nil, status.Errorf(codes.NotFound, "Requested entity was not found.%s", entity(request.GetName()))
	}
	t.mu.RLock()
	resource, schema := t.resource, t.schema
	t.mu.RUnlock()
	stream := &storagepb.WriteStream{
		Name:       request.GetName(),
		Type:       storagepb.WriteStream_COMMITTED,
		CreateTime: &timestamppb.Timestamp{Seconds: resource.CreationTime / 1000, Nanos: int32(resource.CreationTime % 1000 * 1_000_000)},
		WriteMode:  storagepb.WriteStream_INSERT,
		Location:   strings.ToLower(resource.Location),
	}
	if request.GetView() == storagepb.WriteStreamView_FULL {
		stream.TableSchema = storageSchema(schema)
	}
	return stream, nil
}

var storageTypes = map[kind]storagepb.TableFieldSchema_Type{
	kindBool: storagepb.TableFieldSchema_BOOL, kindInt64: storagepb.TableFieldSchema_INT64, kindFloat64: storagepb.TableFieldSchema_DOUBLE,
	kindNumeric: storagepb.TableFieldSchema_NUMERIC, kindBigNumeric: storagepb.TableFieldSchema_BIGNUMERIC,
	kindString: storagepb.TableFieldSchema_STRING, kindBytes: storagepb.TableFieldSchema_BYTES, kindDate: storagepb.TableFieldSchema_DATE,
	kindTime: storagepb.TableFieldSchema_TIME, kindDateTime: storagepb.TableFieldSchema_DATETIME,
	kindTimestamp: storagepb.TableFieldSchema_TIMESTAMP, kindJSON: storagepb.TableFieldSchema_JSON,
	kindGeography: storagepb.TableFieldSchema_GEOGRAPHY, kindInterval: storagepb.TableFieldSchema_INTERVAL,
	kindRange: storagepb.TableFieldSchema_RANGE, kindStruct: storagepb.TableFieldSchema_STRUCT,
}

// storageSchema is a schema as the Write API shows it.
func storageSchema(s *schema) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: storageFields(s.columns)}
}

func storageFields(columns []*column) []*storagepb.TableFieldSchema {
	fields := make([]*storagepb.TableFieldSchema, len(columns))
	for i, c := range columns {
		f := &storagepb.TableFieldSchema{
			Name: c.name, Type: storageTypes[c.kind], Mode: storagepb.TableFieldSchema_NULLABLE,
			MaxLength: c.maxLength, Precision: c.precision, Scale: c.scale, Fields: storageFields(c.fields),
		}
		switch {
		case c.repeated:
			f.Mode = storagepb.TableFieldSchema_REPEATED
		case c.required:
			f.Mode = storagepb.TableFieldSchema_REQUIRED
		}
		if c.kind == kindRange {
			f.RangeElementType = &storagepb.TableFieldSchema_FieldElementType{Type: storageTypes[c.element]}
		}
		fields[i] = f
	}
	return fields
}
