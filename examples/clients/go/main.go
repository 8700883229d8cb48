// Command go writes CDC rows with Google's own Go clients, reads the table back, and
// shows what the errors look like. Nothing of the clients is changed but where they
// connect to.
//
//	go run ./cmd/emulator --project demo --dataset shop
//	go run ./examples/clients/go
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var (
	grpcAddr = flag.String("grpc", "127.0.0.1:9060", "the emulator's gRPC address")
	restURL  = flag.String("rest", "http://127.0.0.1:9050", "the emulator's REST address")
	project  = flag.String("project", "demo", "the project")
	dataset  = flag.String("dataset", "shop", "the dataset; its table orders is made anew")
)

// columns are the table's. Against BigQuery itself drop the options in run.
var columns = bigquery.Schema{
	{Name: "order_id", Type: bigquery.IntegerFieldType, Required: true},
	{Name: "status", Type: bigquery.StringFieldType},
}

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	bq, err := bigquery.NewClient(ctx, *project, option.WithEndpoint(*restURL), option.WithoutAuthentication())
	if err != nil {
		return err
	}
	defer func() { _ = bq.Close() }()
	writer, err := managedwriter.NewClient(ctx, *project, option.WithEndpoint(*grpcAddr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		return err
	}
	defer func() { _ = writer.Close() }()

	// CDC needs a primary key, which BigQuery doesn't enforce.
	table := bq.Dataset(*dataset).Table("orders")
	_ = table.Delete(ctx) // it may not be there
	if err := table.Create(ctx, &bigquery.TableMetadata{
		Schema:           columns,
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"order_id"}}},
	}); err != nil {
		return err
	}

	// The rows' schema is the table's and CDC's two pseudo-columns; the stream is the default one.
	schema := append(slices.Clone(columns),
		&bigquery.FieldSchema{Name: "_CHANGE_TYPE", Type: bigquery.StringFieldType},
		&bigquery.FieldSchema{Name: "_CHANGE_SEQUENCE_NUMBER", Type: bigquery.StringFieldType})
	descriptor, message, err := describe(schema)
	if err != nil {
		return err
	}
	open := func(name string) (*managedwriter.ManagedStream, error) {
		return writer.NewManagedStream(ctx, managedwriter.WithSchemaDescriptor(message),
			managedwriter.WithDestinationTable(managedwriter.TableParentFromParts(*project, *dataset, name)))
	}
	stream, err := open("orders")
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	send := func(rows ...string) error { return appendRows(ctx, stream, descriptor, rows...) }

	// A change log as it arrives: not in order, and one change twice. For each order the
	// highest sequence wins; sections are compared as numbers, so 10/200 is after F/FFFFFF00.
	if err := send(
		`{"order_id":1, "status":"placed",    "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"F/FFFF0000"}`,
		`{"order_id":2, "status":"placed",    "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"F/FFFF0100"}`,
		`{"order_id":1, "status":"cancelled", "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"10/200"}`,
		`{"order_id":1, "status":"shipped",   "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"F/FFFFFF00"}`,
		`{"order_id":2, "status":"placed",    "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"F/FFFF0100"}`,
	); err != nil {
		return err
	}
	if err := send(
		`{"order_id":3, "_CHANGE_TYPE":"DELETE", "_CHANGE_SEQUENCE_NUMBER":"10/1A00"}`, // the key is enough
		`{"order_id":3, "status":"placed", "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"10/9A0"}`,
	); err != nil {
		return err
	}
	if err := printOrders(ctx, bq); err != nil {
		return err
	}

	// Row errors: nothing of the request is stored, so leave the bad rows out and send it again.
	fmt.Println("bad change type:", send(
		`{"order_id":4, "status":"placed", "_CHANGE_TYPE":"UPSERT", "_CHANGE_SEQUENCE_NUMBER":"11/0"}`,
		`{"order_id":5, "status":"placed", "_CHANGE_TYPE":"REPLACE", "_CHANGE_SEQUENCE_NUMBER":"11/0"}`))
	fmt.Println("plain row on a CDC connection:", send(`{"order_id":6, "status":"placed"}`))
	_, err = open("absent")
	fmt.Println("absent table:", status.Code(err))
	return nil
}

// describe makes the row's message of a schema, for us and in the form that is sent.
func describe(schema bigquery.Schema) (protoreflect.MessageDescriptor, *descriptorpb.DescriptorProto, error) {
	storage, err := adapt.BQSchemaToStorageTableSchema(schema)
	if err != nil {
		return nil, nil, err
	}
	descriptor, err := adapt.StorageSchemaToProto2Descriptor(storage, "row")
	if err != nil {
		return nil, nil, err
	}
	message := descriptor.(protoreflect.MessageDescriptor)
	normalized, err := adapt.NormalizeDescriptor(message)
	return message, normalized, err
}

// appendRows sends rows, which are JSON here, in one request and waits for the answer.
func appendRows(ctx context.Context, stream *managedwriter.ManagedStream, descriptor protoreflect.MessageDescriptor, rows ...string) error {
	encoded := make([][]byte, len(rows))
	for i, text := range rows {
		row := dynamicpb.NewMessage(descriptor)
		if err := protojson.Unmarshal([]byte(text), row); err != nil {
			return err
		}
		var err error
		if encoded[i], err = proto.Marshal(row); err != nil {
			return err
		}
	}
	result, err := stream.AppendRows(ctx, encoded)
	if err != nil {
		return err
	}
	response, err := result.FullResponse(ctx)
	for _, bad := range response.GetRowErrors() {
		return fmt.Errorf("row %d: %s", bad.GetIndex(), bad.GetMessage())
	}
	return err
}

func printOrders(ctx context.Context, bq *bigquery.Client) error {
	rows, err := bq.Query("SELECT order_id, status FROM " + *dataset + ".orders ORDER BY order_id").Read(ctx)
	if err != nil {
		return err
	}
	for {
		var order struct {
			ID     int64  `bigquery:"order_id"`
			Status string `bigquery:"status"`
		}
		switch err := rows.Next(&order); {
		case errors.Is(err, iterator.Done):
			return nil
		case err != nil:
			return err
		}
		fmt.Printf("order %d: %s\n", order.ID, order.Status)
	}
}
