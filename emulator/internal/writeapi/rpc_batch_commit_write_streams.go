package writeapi

import (
	"context"
	"errors"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"beamcdc/emulator/internal/engine"
)

// BatchCommitWriteStreams makes the rows of PENDING streams show.
//
// Behavior:
//   - All streams are of the parent table, and are committed at once or not at all.
//   - Streams that can't be committed are listed in stream_errors, and then the
//     answer has no commit_time: STREAM_NOT_FOUND, INVALID_STREAM_TYPE,
//     INVALID_STREAM_STATE for one that isn't finalized, STREAM_ALREADY_COMMITTED.
//   - No stream, a malformed name, a stream of another table, or one that is named
//     twice: INVALID_ARGUMENT. An absent table: NOT_FOUND.
func (s *Service) BatchCommitWriteStreams(
	ctx context.Context, request *storagepb.BatchCommitWriteStreamsRequest,
) (*storagepb.BatchCommitWriteStreamsResponse, error) {
	ref, err := parseTablePath(request.GetParent())
	if err != nil {
		return nil, err
	}
	if _, err := s.table(ref); err != nil {
		return nil, rpcError(request.GetParent(), tableNotFound(request.GetParent()))
	}
	ids, err := idsOf(ref, request.GetWriteStreams())
	if err != nil {
		return nil, err
	}
	committed, err := s.engine.CommitStreams(ctx, ref, ids)
	if err == nil {
		return &storagepb.BatchCommitWriteStreamsResponse{CommitTime: timestamppb.New(committed)}, nil
	}
	var response storagepb.BatchCommitWriteStreamsResponse
	for _, err := range unjoin(err) {
		e, ok := errors.AsType[*engine.StreamError](err)
		if !ok {
			return nil, rpcError(request.GetParent(), err)
		}
		name := tablePath(ref) + "/streams/" + e.Stream
		p := streamProblems[e.Problem]
		if p.storage == storagepb.StorageError_STORAGE_ERROR_CODE_UNSPECIFIED {
			return nil, rpcError(name, err)
		}
		response.StreamErrors = append(response.StreamErrors, &storagepb.StorageError{Code: p.storage, Entity: name, ErrorMessage: e.Error() + entity(name)})
	}
	return &response, nil
}

// idsOf returns the IDs of streams of one table.
func idsOf(table engine.TableRef, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, status.Error(codes.InvalidArgument, "BatchCommitWriteStreams needs at least one stream.")
	}
	ids := make([]string, len(names))
	for i, name := range names {
		ref, id, err := parseStream(name)
		if err != nil {
			return nil, err
		}
		if ref != table {
			return nil, status.Errorf(codes.InvalidArgument, "The stream is not one of table %s.%s", table.Dotted(), entity(name))
		}
		ids[i] = id
	}
	return ids, nil
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
