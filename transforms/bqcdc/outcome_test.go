package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The texts are the real service's, as users have reported them.
func TestClassify(t *testing.T) {
	coded := func(code codes.Code, text string, storage storagepb.StorageError_StorageErrorCode) error {
		s, err := status.New(code, text).WithDetails(&storagepb.StorageError{Code: storage})
		if err != nil {
			t.Fatal(err)
		}
		return s.Err()
	}
	asAPIError := func(err error) error {
		api, ok := apierror.FromError(err)
		if !ok {
			t.Fatalf("%v is no API error", err)
		}
		return api
	}
	answered := &storagepb.AppendRowsResponse{}
	blamed := &storagepb.AppendRowsResponse{RowErrors: []*storagepb.RowError{{Index: 0}}}
	for _, test := range []struct {
		name     string
		response *storagepb.AppendRowsResponse
		err      error
		want     outcome
	}{
		{"stored", answered, nil, acknowledged},
		{"no answer and no error", nil, nil, transient},

		{"row errors", blamed, status.Error(codes.InvalidArgument, "Errors found while processing rows."), rejectedRows},
		{"row errors with OK", blamed, nil, rejectedRows},
		{"row errors with another code", blamed, status.Error(codes.Internal, "x"), rejectedRows},

		{"too large", answered, status.Error(codes.InvalidArgument, "AppendRows request too large: 11854265 limit 10485760 Entity: projects/p"), tooLarge},
		{"too large for gRPC", nil, status.Error(codes.ResourceExhausted, "grpc: received message larger than max (11854265 vs. 10485760)"), tooLarge},

		{
			"extra field", answered,
			coded(codes.InvalidArgument, "Input schema has more fields than BigQuery schema, extra fields: 'x'", storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS),
			schemaMismatch,
		},
		{"extra field by its code alone", answered, coded(codes.InvalidArgument, "x", storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS), schemaMismatch},
		{"extra field as an API error", answered, asAPIError(coded(codes.InvalidArgument, "x", storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS)), schemaMismatch},
		{"extra field, other text", nil, status.Error(codes.InvalidArgument, "Found incompatible fields: extra proto fields: 'x' extra bq fields: ''"), schemaMismatch},
		{"required column absent", nil, status.Error(codes.InvalidArgument, "The required field a is missing in the proto message"), schemaMismatch},
		{"table just created", nil, status.Error(codes.NotFound, "Requested entity was not found"), schemaMismatch},
		{"table created again", nil, status.Error(codes.NotFound, "Table 123:d.t is re-created. Entity: x"), schemaMismatch},
		{"table created again, other code", nil, status.Error(codes.FailedPrecondition, "Table 123:d.t is re-created."), schemaMismatch},
		{"stream not found", nil, coded(codes.FailedPrecondition, "x", storagepb.StorageError_STREAM_NOT_FOUND), schemaMismatch},
		{"not found while opening", nil, fmt.Errorf("opening: %w", &openError{status.New(codes.NotFound, "x")}), schemaMismatch},

		{"quota", answered, status.Error(codes.ResourceExhausted, "Exceeds 'AppendRows throughput' quota for x"), throttled},
		{"connections quota", nil, status.Error(codes.ResourceExhausted, "Exceeds 'concurrent connections' quota"), throttled},

		{"overloaded", nil, status.Error(codes.Unavailable, "Service overloaded, throttled: Task is overloaded (memory-protection)"), transient},
		{"idle", nil, status.Error(codes.Aborted, "Closing the stream because it has been inactive for 600 seconds"), transient},
		{"draining", nil, status.Error(codes.Unavailable, "the connection is draining"), transient},
		{"unexpected EOS", nil, status.Error(codes.Internal, "unexpected EOS on DATA frame"), transient},
		{"EOF", nil, io.EOF, transient},
		{"wrapped EOF", nil, fmt.Errorf("x: %w", io.EOF), transient},
		{"deadline of ours", nil, context.DeadlineExceeded, transient},
		{"cancelled", nil, status.Error(codes.Canceled, "client connection context was canceled"), transient},
		{"silence", nil, fmt.Errorf("opening: %w", errSilent), transient},
		{"deadline of the service", nil, status.Error(codes.DeadlineExceeded, "x"), transient},
		{"precondition", nil, status.Error(codes.FailedPrecondition, "x"), transient},
		{"unknown", nil, status.Error(codes.Unknown, "x"), transient},
		{"no status", nil, errors.New("writer \"x\" unknown"), transient},
		{"unreachable while opening", nil, &openError{status.New(codes.Unavailable, "connection refused")}, transient},
		{"key service", nil, coded(codes.Internal, "x", storagepb.StorageError_KMS_SERVICE_ERROR), transient},

		{"denied", nil, status.Error(codes.PermissionDenied, "Permission denied (or it may not exist)"), permanent},
		{"denied while opening", nil, fmt.Errorf("opening: %w", &openError{status.New(codes.PermissionDenied, "x")}), permanent},
		{"unauthenticated", nil, status.Error(codes.Unauthenticated, "x"), permanent},
		{"no primary key", nil, status.Error(codes.InvalidArgument, "The primary keys and clustering keys of the table p.d.t are required to create an upsert stream."), permanent},
		{"insert mode", nil, status.Error(codes.InvalidArgument, "The given value is not a valid CHANGE_TYPE in insert mode: UPSERT"), permanent},
		{"unimplemented", nil, status.Error(codes.Unimplemented, "x"), permanent},
		{"key denied", nil, coded(codes.Internal, "x", storagepb.StorageError_KMS_PERMISSION_DENIED), permanent},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := classify(test.response, test.err); got != test.want {
				t.Errorf("classify(%v, %v) = %v, want %v", test.response, test.err, got, test.want)
			}
		})
	}
}

// A hostile or chatty server can't fill logs and dead letters.
func TestClip(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	if got := clip(long); len(got) > 1010 || !strings.HasPrefix(long, strings.TrimSuffix(got, "…")) {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-10:])
	}
	if got := clip("short"); got != "short" {
		t.Errorf("clip changed a short text to %q", got)
	}
}
