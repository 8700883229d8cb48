package writeapi

import (
	"context"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"beamcdc/emulator/internal/engine"
)

var streamTypes = map[storagepb.WriteStream_Type]engine.StreamType{
	storagepb.WriteStream_COMMITTED: engine.Committed,
	storagepb.WriteStream_PENDING:   engine.Pending,
	storagepb.WriteStream_BUFFERED:  engine.Buffered,
}

// CreateWriteStream creates a stream of a table.
//
// Behavior:
//   - Rows of a COMMITTED stream show at once, those of a PENDING one when it is
//     committed, those of a BUFFERED one when they are flushed. No type: INVALID_ARGUMENT.
//   - The answer has the stream's name, which nobody can guess, and the table's schema.
//   - With a database file, streams and their rows survive the process's death. A
//     stream is forgotten a week after its last use.
//   - A malformed table name is INVALID_ARGUMENT, an absent table NOT_FOUND, a view
//     INVALID_ARGUMENT.
func (s *Service) CreateWriteStream(ctx context.Context, request *storagepb.CreateWriteStreamRequest) (*storagepb.WriteStream, error) {
	ref, err := parseTablePath(request.GetParent())
	if err != nil {
		return nil, err
	}
	kind, ok := streamTypes[request.GetWriteStream().GetType()]
	if !ok {
		return nil, status.Errorf(codes.InvalidArgument, "Invalid stream type: %v.%s", request.GetWriteStream().GetType(), entity(request.GetParent()))
	}
	if _, err := s.table(ref); err != nil {
		return nil, rpcError(request.GetParent(), tableNotFound(request.GetParent()))
	}
	stream, err := s.engine.CreateStream(ctx, ref, kind)
	if err != nil {
		return nil, rpcError(request.GetParent(), err)
	}
	return s.describeStream(stream, storagepb.WriteStreamView_FULL), nil
}

// describeStream is a created stream as GetWriteStream tells of it.
func (s *Service) describeStream(stream *engine.Stream, view storagepb.WriteStreamView) *storagepb.WriteStream {
	t := stream.Table()
	resource := &storagepb.WriteStream{
		Name:       tablePath(t.Ref()) + "/streams/" + stream.ID(),
		Type:       typeOf(stream),
		CreateTime: timestamppb.New(stream.Created()),
		WriteMode:  storagepb.WriteStream_INSERT,
		Location:   strings.ToLower(t.Resource().Location),
	}
	if committed := stream.State().CommitTime; !committed.IsZero() {
		resource.CommitTime = timestamppb.New(committed)
	} else if stream.Type() == engine.Committed {
		resource.CommitTime = timestamppb.New(stream.Created().Truncate(time.Microsecond))
	}
	if view == storagepb.WriteStreamView_FULL {
		resource.TableSchema = s.storageSchema(t)
	}
	return resource
}

func typeOf(stream *engine.Stream) storagepb.WriteStream_Type {
	for name, kind := range streamTypes {
		if kind == stream.Type() {
			return name
		}
	}
	return storagepb.WriteStream_TYPE_UNSPECIFIED
}
