package writeapi

import (
	"context"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// FinalizeWriteStream ends a stream.
//
// Behavior:
//   - A finalized stream takes no more rows: STREAM_FINALIZED. The answer tells how
//     many it has. Finalizing it again does nothing else.
//   - A BUFFERED stream can still be flushed, a PENDING one be committed.
//   - The default stream can't be finalized: INVALID_ARGUMENT.
func (s *Service) FinalizeWriteStream(ctx context.Context, request *storagepb.FinalizeWriteStreamRequest) (*storagepb.FinalizeWriteStreamResponse, error) {
	stream, err := s.find(request.GetName(), "FinalizeWriteStream")
	if err != nil {
		return nil, err
	}
	rows, err := s.engine.Finalize(ctx, stream)
	if err != nil {
		return nil, rpcError(request.GetName(), err)
	}
	return &storagepb.FinalizeWriteStreamResponse{RowCount: rows}, nil
}
