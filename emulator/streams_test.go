package emulator

import (
	"fmt"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"beamcdc/emulator/internal/rowtest"
)

// created is a stream of Google's writer that was created for a table, with a row
// encoder: what every test of such streams begins with.
type created struct {
	*managedwriter.ManagedStream
	e       *env
	message *descriptorpb.DescriptorProto
}

func (e *env) created(client *managedwriter.Client, kind managedwriter.StreamType) *created {
	e.t.Helper()
	message := e.descriptor("t", false)
	stream, err := client.NewManagedStream(e.t.Context(), managedwriter.WithDestinationTable("projects/p/datasets/d/tables/t"),
		managedwriter.WithType(kind), managedwriter.WithSchemaDescriptor(message))
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = stream.Close() })
	return &created{stream, e, message}
}

// append appends rows with these IDs at an offset; negative for none.
func (c *created) append(offset int64, ids ...int) (int64, error) {
	c.e.t.Helper()
	rows := make([][]byte, len(ids))
	for i, id := range ids {
		rows[i] = rowtest.Encode(c.e.t, c.message, fmt.Sprintf(`{"id":%d}`, id))
	}
	var options []managedwriter.AppendOption
	if offset >= 0 {
		options = append(options, managedwriter.WithOffset(offset))
	}
	result, err := c.AppendRows(c.e.t.Context(), rows, options...)
	if err != nil {
		c.e.t.Fatal(err)
	}
	return result.GetResult(c.e.t.Context())
}

func (c *created) mustAppend(offset, want int64, ids ...int) {
	c.e.t.Helper()
	if got, err := c.append(offset, ids...); err != nil || got != want {
		c.e.t.Fatalf("appending at %d: offset %d, error %v, want %d", offset, got, err, want)
	}
}

// wantStorageError checks the code that Google's libraries decide by.
func (e *env) wantStorageError(err error, code codes.Code, storage storagepb.StorageError_StorageErrorCode) {
	e.t.Helper()
	api, ok := apierror.FromError(err)
	if !ok || api.GRPCStatus().Code() != code {
		e.t.Errorf("error %v, want %s", err, code)
		return
	}
	var detail storagepb.StorageError
	if err := api.Details().ExtractProtoMessage(&detail); err != nil || detail.GetCode() != storage {
		e.t.Errorf("error %v has storage code %s, want %s", api, detail.GetCode(), storage)
	}
}

func ids(numbers ...int) []string {
	rows := make([]string, len(numbers))
	for i, n := range numbers {
		rows[i] = fmt.Sprintf(`{"id":"%d"}`, n)
	}
	return rows
}

// "Rows are visible as soon as they are written. Appends can carry an offset, and the
// server only performs the write if the offset equals the next append offset."
func TestStreams_committed(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER")
	s := e.created(e.managed(), managedwriter.CommittedStream)
	s.mustAppend(0, 0, 1, 2)
	e.want("t", ids(1, 2)...)
	s.mustAppend(-1, 2, 3)
	_, err := s.append(1, 9) // "the earlier attempt succeeded": nothing is stored again
	e.wantStorageError(err, codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	_, err = s.append(5, 9) // "you skipped rows"
	e.wantStorageError(err, codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	s.mustAppend(3, 3, 4)
	rows, err := s.Finalize(t.Context())
	if err != nil || rows != 4 {
		t.Errorf("finalizing: %d rows, error %v, want 4", rows, err)
	}
	_, err = s.append(4, 5)
	e.wantStorageError(err, codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED)
	e.want("t", ids(1, 2, 3, 4)...)
}

// "Until the commit, nothing is visible; after it, everything is."
func TestStreams_pending(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER")
	client, ctx := e.managed(), t.Context()
	a, b := e.created(client, managedwriter.PendingStream), e.created(client, managedwriter.PendingStream)
	a.mustAppend(0, 0, 1, 2)
	b.mustAppend(0, 0, 3)
	committed := e.created(client, managedwriter.CommittedStream)
	commit := func(names ...string) *storagepb.BatchCommitWriteStreamsResponse {
		t.Helper()
		response, err := client.BatchCommitWriteStreams(ctx, &storagepb.BatchCommitWriteStreamsRequest{
			Parent: "projects/p/datasets/d/tables/t", WriteStreams: names,
		})
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	wantErrors := func(response *storagepb.BatchCommitWriteStreamsResponse, want ...storagepb.StorageError_StorageErrorCode) {
		t.Helper()
		if response.GetCommitTime() != nil || len(response.GetStreamErrors()) != len(want) {
			t.Errorf("response %v, want errors %v", response, want)
			return
		}
		for i, e := range response.GetStreamErrors() {
			if e.GetCode() != want[i] {
				t.Errorf("error %v, want %s", e, want[i])
			}
		}
	}
	if _, err := a.Finalize(ctx); err != nil {
		t.Fatal(err)
	}
	wantErrors(commit(a.StreamName(), b.StreamName(), committed.StreamName(), "projects/p/datasets/d/tables/t/streams/absent"),
		storagepb.StorageError_INVALID_STREAM_STATE, storagepb.StorageError_INVALID_STREAM_TYPE, storagepb.StorageError_STREAM_NOT_FOUND)
	e.want("t") // all or none
	if _, err := b.Finalize(ctx); err != nil {
		t.Fatal(err)
	}
	if response := commit(a.StreamName(), b.StreamName()); response.GetCommitTime() == nil || len(response.GetStreamErrors()) > 0 {
		t.Fatalf("response %v", response)
	}
	e.want("t", ids(1, 2, 3)...)
	wantErrors(commit(a.StreamName()), storagepb.StorageError_STREAM_ALREADY_COMMITTED)
	got, err := storagepb.NewBigQueryWriteClient(e.conn).GetWriteStream(ctx, &storagepb.GetWriteStreamRequest{Name: a.StreamName(), View: storagepb.WriteStreamView_FULL})
	if err != nil || got.GetType() != storagepb.WriteStream_PENDING || got.GetCommitTime() == nil || len(got.GetTableSchema().GetFields()) != 1 {
		t.Errorf("stream %v, error %v", got, err)
	}
}

// "Rows become visible only when you flush up to a row offset."
func TestStreams_buffered(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER")
	s := e.created(e.managed(), managedwriter.BufferedStream)
	s.mustAppend(-1, 0, 1, 2, 3)
	e.want("t")
	for _, step := range []struct {
		offset int64
		rows   []string
	}{{0, ids(1)}, {1, ids(1, 2)}, {0, ids(1, 2)}} { // what shows stays
		if offset, err := s.FlushRows(t.Context(), step.offset); err != nil || offset != step.offset {
			t.Fatalf("flushing to %d: %d, error %v", step.offset, offset, err)
		}
		e.want("t", step.rows...)
	}
	_, err := s.FlushRows(t.Context(), 3)
	e.wantStorageError(err, codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	if _, err := s.Finalize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.FlushRows(t.Context(), 2); err != nil {
		t.Errorf("a finalized stream can't be flushed: %v", err)
	}
	e.want("t", ids(1, 2, 3)...)
	committed := e.created(e.managed(), managedwriter.CommittedStream)
	_, err = committed.FlushRows(t.Context(), 0)
	e.wantStorageError(err, codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_TYPE)
}

// "You must use the Storage Write API in the default stream": others take no changes,
// and no connection gets another mode by them.
func TestStreams_takeNoChanges(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	client := storagepb.NewBigQueryWriteClient(e.conn)
	s, err := client.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: "projects/p/datasets/d/tables/t", WriteStream: &storagepb.WriteStream{Type: storagepb.WriteStream_COMMITTED},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := e.writer("t", true)
	change := w.request(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	plain := w.request(`{"id":2}`)
	for _, r := range []*storagepb.AppendRowsRequest{change, plain} {
		r.WriteStream = s.GetName()
	}
	response := w.send(proto.Clone(change).(*storagepb.AppendRowsRequest))
	wantError(t, response, codes.InvalidArgument, 0, "Errors found while processing rows.")
	if text := response.GetRowErrors()[0].GetMessage(); text != "The given value is not a valid CHANGE_TYPE in insert mode: UPSERT" {
		t.Errorf("row error %q", text)
	}
	plain.Offset = wrapperspb.Int64(0)
	if response := w.send(plain); response.GetAppendResult().GetOffset().GetValue() != 0 || response.GetError() != nil {
		t.Errorf("response %v", response)
	}
	e.want("t", ids(2)...)
}
