package emulator

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/emulator/internal/rowtest"
)

// managed is Google's own writer, with nothing but its endpoint changed.
func (e *env) managed(options ...option.ClientOption) *managedwriter.Client {
	e.t.Helper()
	options = append(options, option.WithEndpoint(e.GRPCAddr()), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	client, err := managedwriter.NewClient(e.t.Context(), "p", options...)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = client.Close() })
	return client
}

func (e *env) managedStream(client *managedwriter.Client, table string, message *descriptorpb.DescriptorProto) *managedwriter.ManagedStream {
	e.t.Helper()
	stream, err := client.NewManagedStream(e.t.Context(), managedwriter.WithDestinationTable("projects/p/datasets/d/tables/"+table),
		managedwriter.WithSchemaDescriptor(message), managedwriter.EnableWriteRetries(true))
	if err != nil {
		e.t.Fatal(err)
	}
	return stream
}

// Requests in flight, sequences, the result without an offset.
func TestManagedWriter(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("orders", "id INTEGER, status STRING, at TIMESTAMP", "id")
	ctx := t.Context()
	message := e.descriptor("orders", true)
	stream := e.managedStream(e.managed(), "orders", message)
	var results []*managedwriter.AppendResult
	for i := range 20 {
		row := fmt.Sprintf(`{"id":%d,"status":"s%d","at":%d,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"%X"}`, i%3, i, time.Unix(int64(i), 0).UnixMicro(), i)
		result, err := stream.AppendRows(ctx, [][]byte{rowtest.Encode(t, message, row)})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, result)
	}
	for _, result := range results {
		if offset, err := result.GetResult(ctx); err != nil || offset != managedwriter.NoStreamOffset {
			t.Fatalf("offset %d, error %v", offset, err)
		}
	}
	if err := stream.Close(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	e.want("orders",
		`{"id":"0","status":"s18","at":"1970-01-01T00:00:18.000000Z"}`,
		`{"id":"1","status":"s19","at":"1970-01-01T00:00:19.000000Z"}`,
		`{"id":"2","status":"s17","at":"1970-01-01T00:00:17.000000Z"}`)
}

// Several tables share one connection.
func TestManagedWriter_Multiplexing(t *testing.T) {
	e := newEnv(t, Options{})
	client := e.managed(managedwriter.WithMultiplexing())
	var streams []*managedwriter.ManagedStream
	var messages []*descriptorpb.DescriptorProto
	for _, table := range []string{"a", "b", "c"} {
		e.table(table, "id INTEGER, "+table+" STRING", "id")
		message := e.descriptor(table, true)
		messages = append(messages, message)
		streams = append(streams, e.managedStream(client, table, message))
	}
	var results []*managedwriter.AppendResult
	for n := range 30 {
		i := n % len(streams)
		row := fmt.Sprintf(`{"id":%d,"%c":"v%d","_CHANGE_TYPE":"UPSERT"}`, n%2, 'a'+i, n)
		result, err := streams[i].AppendRows(t.Context(), [][]byte{rowtest.Encode(t, messages[i], row)})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, result)
	}
	for _, result := range results {
		if _, err := result.GetResult(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.want("a", `{"id":"0","a":"v24"}`, `{"id":"1","a":"v27"}`)
	e.want("b", `{"id":"0","b":"v28"}`, `{"id":"1","b":"v25"}`)
	e.want("c", `{"id":"0","c":"v26"}`, `{"id":"1","c":"v29"}`)
}

// Errors as the client shows them: row errors beside the error, the StorageError
// in its details; and the schema that changed.
func TestManagedWriter_Errors(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	e.table("t", "id INTEGER, v STRING", "id")
	client, message := e.managed(), e.descriptor("t", true)
	stream := e.managedStream(client, "t", message)
	send := func(stream *managedwriter.ManagedStream, rows ...string) (*storagepb.AppendRowsResponse, error) {
		t.Helper()
		var data [][]byte
		for _, row := range rows {
			data = append(data, rowtest.Encode(t, message, row))
		}
		result, err := stream.AppendRows(ctx, data)
		if err != nil {
			t.Fatal(err)
		}
		return result.FullResponse(ctx)
	}
	response, err := send(stream, `{"id":1,"v":"good","_CHANGE_TYPE":"UPSERT"}`, `{"v":"no key","_CHANGE_TYPE":"UPSERT"}`)
	if status.Code(err) != codes.InvalidArgument || len(response.GetRowErrors()) != 1 || response.GetRowErrors()[0].GetIndex() != 1 {
		t.Errorf("error %v, row errors %v", err, response.GetRowErrors())
	}
	if _, err := send(stream, `{"id":1,"v":"good","_CHANGE_TYPE":"UPSERT"}`); err != nil {
		t.Error(err)
	}
	e.want("t", `{"id":"1","v":"good"}`)

	if _, err := e.bq.Dataset("d").Table("t").Update(ctx, bigquery.TableMetadataToUpdate{Schema: parseTestSchema("id INTEGER, v STRING, w STRING")}, ""); err != nil {
		t.Fatal(err)
	}
	if response, err = send(stream, `{"id":2,"_CHANGE_TYPE":"UPSERT"}`); err != nil || len(response.GetUpdatedSchema().GetFields()) != 3 {
		t.Errorf("error %v, updated schema %v", err, response.GetUpdatedSchema())
	}

	message = e.descriptor("t", true)
	message.Field = append(message.Field, rowtest.StringField("extra", 500))
	_, err = send(e.managedStream(client, "t", message), `{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	var storage *storagepb.StorageError
	for _, detail := range status.Convert(err).Details() {
		storage, _ = detail.(*storagepb.StorageError)
	}
	if storage.GetCode() != storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS ||
		!strings.Contains(storage.GetErrorMessage(), "extra fields: 'extra'") {
		t.Errorf("error %v, details %v", err, storage)
	}
	_, err = client.NewManagedStream(ctx, managedwriter.WithDestinationTable("projects/p/datasets/d/tables/absent"))
	if status.Code(err) != codes.NotFound {
		t.Errorf("a stream of an absent table: %v", err)
	}
}
