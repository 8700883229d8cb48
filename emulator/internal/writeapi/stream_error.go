package writeapi

import (
	"errors"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/emulator/internal/engine"
)

// streamProblems are BigQuery's codes for what can be wrong with a stream.
var streamProblems = map[engine.StreamProblem]struct {
	code    codes.Code
	storage storagepb.StorageError_StorageErrorCode
}{
	engine.StreamNotFound:     {codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND},
	engine.StreamFinalized:    {codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED},
	engine.StreamNotFinalized: {codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_STATE},
	engine.StreamCommitted:    {codes.InvalidArgument, storagepb.StorageError_STREAM_ALREADY_COMMITTED},
	engine.StreamWrongType:    {codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_TYPE},
	engine.OffsetExists:       {codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS},
	engine.OffsetOutOfRange:   {codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE},
	engine.StreamTwice:        {codes.InvalidArgument, storagepb.StorageError_STORAGE_ERROR_CODE_UNSPECIFIED},
}

// streamError gives an engine's refusal its code, with the stream's full name.
// Other errors stay as they are.
func streamError(stream string, err error) error {
	e, ok := errors.AsType[*engine.StreamError](err)
	if !ok {
		return err
	}
	p := streamProblems[e.Problem]
	message := e.Error()
	if e.Problem == engine.StreamNotFound {
		message = "Requested entity was not found."
	}
	return &appendError{code: p.code, storage: p.storage, message: message + entity(stream)}
}

// rpcError is the status of a call that is no AppendRows.
func rpcError(stream string, err error) error {
	err = streamError(stream, err)
	if e, ok := errors.AsType[*appendError](err); ok {
		return e.status(stream).Err()
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		code := codes.InvalidArgument
		if e.Status == "NOT_FOUND" {
			code = codes.NotFound
		}
		return status.Error(code, e.Message+entity(stream))
	}
	return status.Error(codes.Internal, err.Error()+entity(stream))
}

// find returns a stream that a client has created. The default stream isn't one:
// method, which isn't for it, says so.
func (s *Service) find(name, method string) (*engine.Stream, error) {
	ref, id, err := parseStream(name)
	if err != nil {
		return nil, err
	}
	if _, err := s.table(ref); err != nil {
		return nil, rpcError(name, tableNotFound(name))
	}
	if id == defaultStream {
		return nil, rpcError(name, &appendError{
			code: codes.InvalidArgument, storage: storagepb.StorageError_INVALID_STREAM_TYPE,
			message: method + " is not supported for the default stream." + entity(name),
		})
	}
	stream, err := s.engine.Stream(ref, id)
	if err != nil {
		return nil, rpcError(name, err)
	}
	return stream, nil
}
