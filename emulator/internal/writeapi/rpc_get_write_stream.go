package writeapi

import (
	"context"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"beamcdc/emulator/internal/engine"
)

// GetWriteStream tells of a stream.
//
// Behavior:
//   - Every table has a default stream, projects/P/datasets/D/tables/T/streams/_default.
//     It is of type COMMITTED, was created with its table and has its dataset's location.
//   - view FULL adds the table's schema; the basic view doesn't.
//   - A stream that was created shows its type, and when it was committed.
//   - An absent table or stream is NOT_FOUND.
func (s *Service) GetWriteStream(_ context.Context, request *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	ref, id, err := parseStream(request.GetName())
	if err != nil {
		return nil, err
	}
	t, err := s.table(ref)
	if err != nil {
		return nil, rpcError(request.GetName(), tableNotFound(request.GetName()))
	}
	if id != defaultStream {
		stream, err := s.engine.Stream(ref, id)
		if err != nil {
			return nil, rpcError(request.GetName(), err)
		}
		return s.describeStream(stream, request.GetView()), nil
	}
	resource := t.Resource()
	stream := &storagepb.WriteStream{
		Name:       request.GetName(),
		Type:       storagepb.WriteStream_COMMITTED,
		CreateTime: &timestamppb.Timestamp{Seconds: resource.CreationTime / 1000, Nanos: int32(resource.CreationTime % 1000 * 1_000_000)},
		WriteMode:  storagepb.WriteStream_INSERT,
		Location:   strings.ToLower(resource.Location),
	}
	if request.GetView() == storagepb.WriteStreamView_FULL {
		stream.TableSchema = s.storageSchema(t)
	}
	return stream, nil
}

var storageTypes = map[engine.Kind]storagepb.TableFieldSchema_Type{
	engine.KindBool: storagepb.TableFieldSchema_BOOL, engine.KindInt64: storagepb.TableFieldSchema_INT64, engine.KindFloat64: storagepb.TableFieldSchema_DOUBLE,
	engine.KindNumeric: storagepb.TableFieldSchema_NUMERIC, engine.KindBigNumeric: storagepb.TableFieldSchema_BIGNUMERIC,
	engine.KindString: storagepb.TableFieldSchema_STRING, engine.KindBytes: storagepb.TableFieldSchema_BYTES, engine.KindDate: storagepb.TableFieldSchema_DATE,
	engine.KindTime: storagepb.TableFieldSchema_TIME, engine.KindDateTime: storagepb.TableFieldSchema_DATETIME,
	engine.KindTimestamp: storagepb.TableFieldSchema_TIMESTAMP, engine.KindJSON: storagepb.TableFieldSchema_JSON,
	engine.KindGeography: storagepb.TableFieldSchema_GEOGRAPHY, engine.KindInterval: storagepb.TableFieldSchema_INTERVAL,
	engine.KindRange: storagepb.TableFieldSchema_RANGE, engine.KindStruct: storagepb.TableFieldSchema_STRUCT,
}

// storageSchema is a schema as the Write API shows it.
func storageSchema(s *engine.Schema) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: storageFields(s.Columns)}
}

// storageSchema is a table's schema as the Write API knows it.
func (s *Service) storageSchema(t *engine.Table) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: storageFields(s.known(t.Ref(), t.Schema()))}
}

func storageFields(columns []*engine.Column) []*storagepb.TableFieldSchema {
	fields := make([]*storagepb.TableFieldSchema, len(columns))
	for i, c := range columns {
		f := &storagepb.TableFieldSchema{
			Name: c.Name, Type: storageTypes[c.Kind], Mode: storagepb.TableFieldSchema_NULLABLE,
			MaxLength: c.MaxLength, Precision: c.Precision, Scale: c.Scale, Fields: storageFields(c.Fields),
		}
		switch {
		case c.Repeated:
			f.Mode = storagepb.TableFieldSchema_REPEATED
		case c.Required:
			f.Mode = storagepb.TableFieldSchema_REQUIRED
		}
		if c.Kind == engine.KindRange {
			f.RangeElementType = &storagepb.TableFieldSchema_FieldElementType{Type: storageTypes[c.Element]}
		}
		fields[i] = f
	}
	return fields
}
