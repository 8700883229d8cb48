// Package cdctest is a BigQuery for the tests of what looks at one: an emulator whose
// clock stands still until a test moves it, with tables that changes are written to.
package cdctest

import (
	"fmt"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/emulator"
)

// Project is the emulator's.
const Project = "p"

// World is an emulator and its clients.
type World struct {
	*emulator.Server
	Clock *emulator.Clock
	SQL   *bigquery.Client

	t      *testing.T
	writer storagepb.BigQueryWriteClient
}

// Start starts an emulator with these datasets. Its clock stands at at.
func Start(t *testing.T, at time.Time, datasets ...string) *World {
	t.Helper()
	w := &World{t: t, Clock: &emulator.Clock{}}
	w.Clock.Freeze(at)
	var err error
	if w.Server, err = emulator.New(emulator.Options{Project: Project, Clock: w.Clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	for _, d := range datasets {
		if err := w.CreateDataset(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if w.SQL, err = bigquery.NewClient(t.Context(), Project, option.WithEndpoint(w.RESTAddr()), option.WithoutAuthentication()); err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(w.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	w.writer = storagepb.NewBigQueryWriteClient(connection)
	return w
}

// Run runs a statement.
func (w *World) Run(format string, args ...any) {
	w.t.Helper()
	statement := fmt.Sprintf(format, args...)
	job, err := w.SQL.Query(statement).Run(w.t.Context())
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
	if s, err := job.Wait(w.t.Context()); err != nil || s.Err() != nil {
		w.t.Fatalf("%s: %v, %v", statement, err, s)
	}
}

// Table makes a table with the columns id INT64, the key, and name STRING. maxStaleness
// is in minutes; 0 is none.
func (w *World) Table(name string, maxStaleness int) {
	w.t.Helper()
	options := ""
	if maxStaleness > 0 {
		options = fmt.Sprintf(" OPTIONS (max_staleness = INTERVAL %d MINUTE)", maxStaleness)
	}
	w.Run("CREATE TABLE %s (id INT64 NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED) CLUSTER BY id%s", name, options)
}

// Upsert writes rows with the keys 1 to n in one request, and returns what it is
// answered with.
func (w *World) Upsert(dataset, table string, n int) error {
	w.t.Helper()
	stream, err := w.writer.AppendRows(w.t.Context())
	if err != nil {
		return err
	}
	var rows [][]byte
	for id := 1; id <= n; id++ {
		row := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(id))
		row = protowire.AppendString(protowire.AppendTag(row, 2, protowire.BytesType), "n")
		rows = append(rows, protowire.AppendString(protowire.AppendTag(row, 3, protowire.BytesType), "UPSERT"))
	}
	err = stream.Send(&storagepb.AppendRowsRequest{
		WriteStream: fmt.Sprintf("projects/%s/datasets/%s/tables/%s/streams/_default", Project, dataset, table),
		Rows: &storagepb.AppendRowsRequest_ProtoRows{ProtoRows: &storagepb.AppendRowsRequest_ProtoData{
			WriterSchema: &storagepb.ProtoSchema{ProtoDescriptor: descriptor()},
			Rows:         &storagepb.ProtoRows{SerializedRows: rows},
		}},
	})
	if err != nil {
		return err
	}
	answer, err := stream.Recv()
	_ = stream.CloseSend() // it is answered
	if err != nil {
		return err
	}
	if e := answer.GetError(); e != nil {
		return status.Error(codes.Code(e.GetCode()), e.GetMessage()) //nolint:gosec // a code is small
	}
	return nil
}

func descriptor() *descriptorpb.DescriptorProto {
	message := &descriptorpb.DescriptorProto{Name: new("Row")}
	for i, name := range []string{"id", "name", "_CHANGE_TYPE"} {
		kind := descriptorpb.FieldDescriptorProto_TYPE_STRING
		if i == 0 {
			kind = descriptorpb.FieldDescriptorProto_TYPE_INT64
		}
		message.Field = append(message.Field, &descriptorpb.FieldDescriptorProto{
			Name: new(name), Number: new(int32(i + 1)), Type: kind.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	return message
}
