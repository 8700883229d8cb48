package writeapi

import (
	"context"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// CreateWriteStream, FinalizeWriteStream, FlushRows, BatchCommitWriteStreams
//
// Behavior:
//   - A malformed or absent table is INVALID_ARGUMENT or NOT_FOUND, as ever.
//   - The default stream can't be finalized or flushed: INVALID_ARGUMENT.
//   - Else UNIMPLEMENTED: this emulator has the default stream alone, the only one
//     that takes CDC rows. See GAPS.md.

// CreateWriteStream refuses to create a stream.
func (s *Service) CreateWriteStream(_ context.Context, request *storagepb.CreateWriteStreamRequest) (*storagepb.WriteStream, error) {
	ref, err := parseTablePath(request.GetParent())
	if err != nil {
		return nil, err
	}
	if _, err := s.engine.Table(ref); err != nil {
		return nil, status.Errorf(codes.NotFound, "Requested entity was not found.%s", entity(request.GetParent()))
	}
	return nil, noStreams("CreateWriteStream")
}

// FinalizeWriteStream refuses to finalize a stream.
func (s *Service) FinalizeWriteStream(_ context.Context, request *storagepb.FinalizeWriteStreamRequest) (*storagepb.FinalizeWriteStreamResponse, error) {
	return nil, s.refuseStream(request.GetName(), "FinalizeWriteStream")
}

// FlushRows refuses to flush a stream.
func (s *Service) FlushRows(_ context.Context, request *storagepb.FlushRowsRequest) (*storagepb.FlushRowsResponse, error) {
	return nil, s.refuseStream(request.GetWriteStream(), "FlushRows")
}

// BatchCommitWriteStreams refuses to commit streams.
func (s *Service) BatchCommitWriteStreams(_ context.Context, request *storagepb.BatchCommitWriteStreamsRequest) (*storagepb.BatchCommitWriteStreamsResponse, error) {
	if _, err := parseTablePath(request.GetParent()); err != nil {
		return nil, err
	}
	return nil, noStreams("BatchCommitWriteStreams")
}

func (s *Service) refuseStream(name, method string) error {
	ref, id, err := parseStream(name)
	if err != nil {
		return err
	}
	if _, err := s.engine.Table(ref); err != nil {
		return status.Errorf(codes.NotFound, "Requested entity was not found.%s", entity(name))
	}
	if id == defaultStream {
		return status.Errorf(codes.InvalidArgument, "%s is not supported for the default stream.%s", method, entity(name))
	}
	return noStreams(method)
}

func noStreams(method string) error {
	return status.Errorf(codes.Unimplemented, "%s: this emulator has the default stream alone", method)
}
