package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// outcome is what one append came to. Everything the writer does next follows
// from it and from nothing else; the package comment has the table.
type outcome uint8

const (
	acknowledged   outcome = iota // BigQuery has the rows
	transient                     // the way to BigQuery failed; the rows may or may not have been stored
	throttled                     // BigQuery wants less for a while
	schemaMismatch                // the Write API does not know the table, or its columns, as the catalog does
	rejectedRows                  // row_errors names rows; none of the request was stored
	tooLarge                      // the request is above the server's limit
	permanent                     // no repetition will help
	outcomes       = iota
)

var outcomeNames = [outcomes]string{
	"acknowledged", "transient", "throttled", "schema_mismatch", "rejected_rows", "too_large", "permanent",
}

func (o outcome) String() string { return outcomeNames[o] }

// errSilent ends an append to which BigQuery says nothing.
var errSilent = errors.New("no answer from the Storage Write API")

// errAside ends the wait for an append whose rows can wait elsewhere.
var errAside = errors.New("no answer from the Storage Write API so far")

// openError is an error of a call that opens something, marked so that no layer
// below the writer takes it for a status and retries it on its own: see
// [interceptStream].
type openError struct{ status *status.Status }

func (e *openError) Error() string { return e.status.Err().Error() }

// classify tells what an append came to from its response and its error, both of
// which FullResponse may return together. It is the only place that looks at
// codes and texts. The texts are those of the real service (it has no code for
// them), compared in lower case.
func classify(response *storagepb.AppendRowsResponse, err error) outcome {
	if len(response.GetRowErrors()) > 0 {
		return rejectedRows // whatever the status says, OK included: nothing was stored
	}
	if err == nil {
		if response == nil {
			return transient
		}
		return acknowledged
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errSilent) || errors.Is(err, errAside) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return transient
	}
	s := statusOf(err)
	text := strings.ToLower(s.Message())
	if isTooLarge(text) {
		return tooLarge
	}
	if isSchemaMismatch(text) {
		return schemaMismatch
	}
	switch storageCode(s) {
	case storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS, storagepb.StorageError_TABLE_NOT_FOUND, storagepb.StorageError_STREAM_NOT_FOUND:
		return schemaMismatch
	case storagepb.StorageError_KMS_SERVICE_ERROR:
		return transient
	case storagepb.StorageError_CMEK_NOT_PROVIDED, storagepb.StorageError_INVALID_CMEK_PROVIDED,
		storagepb.StorageError_CMEK_ENCRYPTION_ERROR, storagepb.StorageError_KMS_PERMISSION_DENIED,
		storagepb.StorageError_INVALID_STREAM_TYPE:
		return permanent
	default: // the status's code tells
	}
	switch s.Code() {
	case codes.ResourceExhausted:
		return throttled
	case codes.NotFound: // a table just created or created again; a missing one is the catalog's to tell
		return schemaMismatch
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented, codes.AlreadyExists, codes.OutOfRange:
		return permanent
	default: // Unavailable, Internal, Aborted, Canceled, DeadlineExceeded, FailedPrecondition, DataLoss, Unknown
		return transient
	}
}

// isTooLarge knows "AppendRows request too large: 11854265 limit 10485760" and
// gRPC's "received message larger than max (11854265 vs. 10485760)".
func isTooLarge(text string) bool {
	return strings.Contains(text, "request too large") || strings.Contains(text, "message larger than max")
}

// isSchemaMismatch knows the forms in which the Write API says that it has not
// seen a change of the table yet, minutes after tables.get has.
func isSchemaMismatch(text string) bool {
	for _, form := range []string{
		"input schema has more fields than bigquery schema",
		"found incompatible fields",
		"missing in the proto message",
		"proto field mismatched with bigquery field",
		"is re-created",
	} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

// statusOf returns the gRPC status of err; one of code Unknown for an error that has none.
func statusOf(err error) *status.Status {
	if open := new(openError); errors.As(err, &open) {
		return open.status
	}
	return status.Convert(err)
}

func storageCode(s *status.Status) storagepb.StorageError_StorageErrorCode {
	for _, detail := range s.Details() {
		if storage, ok := detail.(*storagepb.StorageError); ok {
			return storage.GetCode()
		}
	}
	return storagepb.StorageError_STORAGE_ERROR_CODE_UNSPECIFIED
}

// rowErrors returns BigQuery's complaint about each row that response names,
// by the row's index in the request that was sent.
func rowErrors(response *storagepb.AppendRowsResponse, rows int) (map[int]string, error) {
	complaints := make(map[int]string, len(response.GetRowErrors()))
	for _, e := range response.GetRowErrors() {
		if index := e.GetIndex(); 0 <= index && index < int64(rows) {
			complaints[int(index)] = clip(e.GetMessage())
		}
	}
	if len(complaints) == 0 {
		return nil, fmt.Errorf("row_errors names row %d of a request of %d rows", response.GetRowErrors()[0].GetIndex(), rows)
	}
	return complaints, nil
}

// clip bounds the server's text: it goes into logs and dead letters.
func clip(text string) string {
	const limit = 1000
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
