package emulator

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/emulator/internal/rowtest"
)

// env is a server with a dataset "d" of project "p", and Google's clients for it.
type env struct {
	*Server
	t    testing.TB
	bq   *bigquery.Client
	conn *grpc.ClientConn
}

func newEnv(t testing.TB, o Options) *env {
	t.Helper()
	o.Project = "p"
	if testing.Verbose() {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return attach(t, s)
}

// attach makes clients for a server, and closes all at the test's end.
func attach(t testing.TB, s *Server) *env {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.CreateDataset(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	e := &env{Server: s, t: t}
	var err error
	e.bq, err = bigquery.NewClient(t.Context(), "p", option.WithEndpoint(s.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.bq.Close() })
	e.conn, err = grpc.NewClient(s.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.conn.Close() })
	return e
}

// table creates a table from "name TYPE [REQUIRED|REPEATED], …" and its key columns.
func (e *env) table(name, columns string, key ...string) {
	e.t.Helper()
	metadata := &bigquery.TableMetadata{Schema: parseTestSchema(columns)}
	if len(key) > 0 {
		metadata.TableConstraints = &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: key}}
	}
	if err := e.bq.Dataset("d").Table(name).Create(e.t.Context(), metadata); err != nil {
		e.t.Fatalf("creating table %s: %v", name, err)
	}
}

func parseTestSchema(columns string) bigquery.Schema {
	var schema bigquery.Schema
	for text := range strings.SplitSeq(columns, ",") {
		words := strings.Fields(text)
		f := &bigquery.FieldSchema{Name: words[0], Type: bigquery.FieldType(words[1])}
		for _, mode := range words[2:] {
			f.Required = f.Required || mode == "REQUIRED"
			f.Repeated = f.Repeated || mode == "REPEATED"
		}
		schema = append(schema, f)
	}
	return schema
}

// descriptor is a writer's schema for CDC rows, as a writer makes it: the table's
// columns, all optional, and the pseudo-columns.
func (e *env) descriptor(table string, cdc bool) *descriptorpb.DescriptorProto {
	e.t.Helper()
	client := storagepb.NewBigQueryWriteClient(e.conn)
	stream, err := client.GetWriteStream(e.t.Context(), &storagepb.GetWriteStreamRequest{
		Name: streamOf(table), View: storagepb.WriteStreamView_FULL,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	schema := proto.CloneOf(stream.GetTableSchema())
	for _, f := range schema.GetFields() {
		if f.GetMode() == storagepb.TableFieldSchema_REQUIRED {
			f.Mode = storagepb.TableFieldSchema_NULLABLE
		}
	}
	md, err := adapt.StorageSchemaToProto2Descriptor(schema, "row")
	if err != nil {
		e.t.Fatal(err)
	}
	message, err := adapt.NormalizeDescriptor(md.(protoreflect.MessageDescriptor))
	if err != nil {
		e.t.Fatal(err)
	}
	if cdc {
		message.Field = append(message.Field, rowtest.StringField("_CHANGE_TYPE", 9998), rowtest.StringField("_CHANGE_SEQUENCE_NUMBER", 9999))
	}
	return message
}

func streamOf(table string) string {
	return "projects/p/datasets/d/tables/" + table + "/streams/_default"
}

// writer is one AppendRows connection, spoken by hand.
type writer struct {
	env     *env
	stream  storagepb.BigQueryWrite_AppendRowsClient
	table   string
	message *descriptorpb.DescriptorProto
	first   bool
}

func (e *env) writer(table string, cdc bool) *writer {
	e.t.Helper()
	return e.writerWith(table, e.descriptor(table, cdc))
}

func (e *env) writerWith(table string, message *descriptorpb.DescriptorProto) *writer {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	e.t.Cleanup(cancel)
	stream, err := storagepb.NewBigQueryWriteClient(e.conn).AppendRows(ctx)
	if err != nil {
		e.t.Fatal(err)
	}
	return &writer{env: e, stream: stream, table: table, message: message, first: true}
}

// request makes a request; the first has the stream's name and schema.
func (w *writer) request(rows ...string) *storagepb.AppendRowsRequest {
	w.env.t.Helper()
	data := &storagepb.AppendRowsRequest_ProtoData{Rows: &storagepb.ProtoRows{}}
	for _, row := range rows {
		data.Rows.SerializedRows = append(data.Rows.SerializedRows, rowtest.Encode(w.env.t, w.message, row))
	}
	r := &storagepb.AppendRowsRequest{Rows: &storagepb.AppendRowsRequest_ProtoRows{ProtoRows: data}}
	if w.first {
		w.first = false
		r.WriteStream = streamOf(w.table)
		data.WriterSchema = &storagepb.ProtoSchema{ProtoDescriptor: w.message}
	}
	return r
}

func (w *writer) send(r *storagepb.AppendRowsRequest) *storagepb.AppendRowsResponse {
	w.env.t.Helper()
	if err := w.stream.Send(r); err != nil && !errors.Is(err, io.EOF) {
		w.env.t.Fatal(err)
	}
	response, err := w.stream.Recv()
	if err != nil {
		w.env.t.Fatal(err)
	}
	return response
}

// append sends rows and fails the test unless they are stored.
func (w *writer) append(rows ...string) {
	w.env.t.Helper()
	if r := w.send(w.request(rows...)); r.GetError() != nil {
		w.env.t.Fatalf("appending to %s: %v %v", w.table, r.GetError(), r.GetRowErrors())
	}
}

// sendLost sends requests whose responses are lost, waits for the table to have this many
// rows, and fails the test if the connection has said anything by then.
func (w *writer) sendLost(rows int, requests ...*storagepb.AppendRowsRequest) {
	w.env.t.Helper()
	for _, r := range requests {
		if err := w.stream.Send(r); err != nil {
			w.env.t.Fatal(err)
		}
	}
	received := make(chan error, 1)
	go func() {
		_, err := w.stream.Recv()
		received <- err
	}()
	deadline := time.Now().Add(time.Minute)
	for len(w.env.query("SELECT 1 FROM d."+w.table)) < rows {
		if time.Now().After(deadline) {
			w.env.t.Fatalf("table %s doesn't get its %d rows", w.table, rows)
		}
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case err := <-received:
		w.env.t.Errorf("a response came, %v", err)
	case <-time.After(50 * time.Millisecond):
	}
}

// want compares a table's rows with JSON objects, without blanks.
func (e *env) want(table string, rows ...string) {
	e.t.Helper()
	got, err := e.Rows(e.t.Context(), "d", table)
	if err != nil {
		e.t.Fatal(err)
	}
	var texts []string
	for _, row := range got {
		texts = append(texts, string(row))
	}
	if g, w := strings.Join(texts, "\n"), strings.Join(rows, "\n"); g != w {
		e.t.Errorf("rows of %s:\n%s\nwant:\n%s", table, g, w)
	}
}
