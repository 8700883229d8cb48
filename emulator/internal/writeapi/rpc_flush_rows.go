package writeapi

import (
	"context"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// FlushRows makes rows of a BUFFERED stream show.
//
// Behavior:
//   - The rows up to and with the one at the offset show from now on. Rows that
//     show already stay; an offset that has been flushed is no error.
//   - An offset without a row is OUT_OF_RANGE, no offset INVALID_ARGUMENT.
//   - Only BUFFERED streams can be flushed: INVALID_STREAM_TYPE.
func (s *Service) FlushRows(ctx context.Context, request *storagepb.FlushRowsRequest) (*storagepb.FlushRowsResponse, error) {
	name := request.GetWriteStream()
	stream, err := s.find(name, "FlushRows")
	if err != nil {
		return nil, err
	}
	if request.GetOffset() == nil {
		return nil, status.Errorf(codes.InvalidArgument, "FlushRows needs an offset.%s", entity(name))
	}
	offset := request.GetOffset().GetValue()
	if err := s.engine.Flush(ctx, stream, offset); err != nil {
		return nil, rpcError(name, err)
	}
	return &storagepb.FlushRowsResponse{Offset: offset}, nil
}
