package writeapi

import (
	"errors"
	"fmt"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// appendError is an error inside an AppendRows response: nothing of the request
// was stored, and the connection goes on.
type appendError struct {
	code      codes.Code
	storage   storagepb.StorageError_StorageErrorCode // unspecified: no StorageError in the details
	message   string
	rowErrors []*storagepb.RowError
}

func (e *appendError) Error() string { return e.message }

func invalidAppend(stream, format string, args ...any) error {
	return &appendError{code: codes.InvalidArgument, message: fmt.Sprintf(format, args...) + entity(stream)}
}

// entity is how BigQuery's messages end.
func entity(stream string) string { return " Entity: " + stream }

// errorResponse is the response that carries an error.
func errorResponse(stream string, err error) *storagepb.AppendRowsResponse {
	e, ok := errors.AsType[*appendError](err)
	if !ok {
		e = &appendError{code: codes.Internal, message: err.Error() + entity(stream)}
	}
	return &storagepb.AppendRowsResponse{
		Response:    &storagepb.AppendRowsResponse_Error{Error: e.status(stream).Proto()},
		RowErrors:   e.rowErrors,
		WriteStream: stream,
	}
}

// status is the error with BigQuery's code in its details, where there is one.
func (e *appendError) status(stream string) *status.Status {
	st := status.New(e.code, e.message)
	if e.storage == storagepb.StorageError_STORAGE_ERROR_CODE_UNSPECIFIED {
		return st
	}
	detailed, err := st.WithDetails(&storagepb.StorageError{Code: e.storage, Entity: stream, ErrorMessage: e.message})
	if err != nil { // a message of two strings and an enum always marshals
		return st
	}
	return detailed
}

// rowsError is the error for rows that can't be stored.
func rowsError(stream string, rowErrors []*storagepb.RowError) error {
	return &appendError{
		code: codes.InvalidArgument,
		message: "Errors found while processing rows. Please refer to the row_errors field for details. " +
			"The list may not be complete because of the size limitations." + entity(stream),
		rowErrors: rowErrors,
	}
}
