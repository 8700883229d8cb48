package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"

	"beamcdc/schemas/table"
)

// countingBigQuery is a BigQuery of one table that counts the rows it is sent,
// acknowledges them at once and forgets them.
type countingBigQuery struct {
	storagepb.UnimplementedBigQueryWriteServer

	grpcAddr, restAddr string
	rows, bytes        atomic.Int64 // acknowledged
}

// newCountingBigQuery starts one, which has the rule's table.
func newCountingBigQuery(tb testing.TB, rule *table.Rule) *countingBigQuery {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &countingBigQuery{grpcAddr: listener.Addr().String()}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(32 << 20))
	storagepb.RegisterBigQueryWriteServer(server, s)
	go func() { _ = server.Serve(listener) }() // it ends with Stop
	tb.Cleanup(server.Stop)
	description := describe(tb, rule)
	rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/datasets/shop/tables/orders") {
			http.Error(w, "there is one table, to be described", http.StatusNotImplemented)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(description) // the client finds out
	}))
	tb.Cleanup(rest.Close)
	s.restAddr = rest.URL
	return s
}

// describe renders the rule's table as tables.get does.
func describe(tb testing.TB, rule *table.Rule) []byte {
	tb.Helper()
	type field struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Mode string `json:"mode"`
	}
	var fields []field
	for _, c := range rule.Columns {
		mode := string(c.Mode)
		if mode == "" {
			mode = string(table.Nullable)
		}
		fields = append(fields, field{Name: c.Name, Type: fmt.Sprint(c.Type), Mode: mode})
	}
	text, err := json.Marshal(map[string]any{
		"kind": "bigquery#table", "type": "TABLE",
		"tableReference":   map[string]string{"projectId": project, "datasetId": "shop", "tableId": "orders"},
		"schema":           map[string]any{"fields": fields},
		"tableConstraints": map[string]any{"primaryKey": map[string]any{"columns": rule.PrimaryKey}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// GetWriteStream describes any default stream.
func (s *countingBigQuery) GetWriteStream(_ context.Context, r *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	return &storagepb.WriteStream{Name: r.GetName(), Location: "us"}, nil
}

// AppendRows counts and acknowledges.
func (s *countingBigQuery) AppendRows(connection storagepb.BigQueryWrite_AppendRowsServer) error {
	for {
		r, err := connection.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, row := range r.GetProtoRows().GetRows().GetSerializedRows() {
			s.rows.Add(1)
			s.bytes.Add(int64(len(row)))
		}
		if err := connection.Send(&storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_AppendResult_{}}); err != nil {
			return err
		}
	}
}
