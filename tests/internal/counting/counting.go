// Package counting is a BigQuery that counts the rows it is sent, acknowledges them
// and forgets them: for measuring what comes before it.
package counting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"

	"beamcdc/schemas/table"
)

// BigQuery is a running server. It speaks plain text.
type BigQuery struct {
	GRPCAddr string // host:port of the Storage Write API
	RESTAddr string // URL of the REST API

	Rows, Bytes, Requests atomic.Int64 // acknowledged
	Streams               atomic.Int64 // AppendRows calls that are open
	Opened                atomic.Int64 // AppendRows calls that ever were

	describe func(dataset, name string) *table.Rule
	grpc     *grpc.Server
	rest     *httptest.Server
	pace     pace

	mu     sync.Mutex
	tables map[string]int64 // rows by table, "dataset.table"
}

// Start starts a BigQuery. describe tells the rule whose columns and primary key a
// table has, nil where there is no such table; it is called from several goroutines.
func Start(describe func(dataset, name string) *table.Rule) (*BigQuery, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a counting BigQuery: %w", err)
	}
	s := &BigQuery{
		GRPCAddr: listener.Addr().String(), describe: describe,
		grpc: grpc.NewServer(grpc.MaxRecvMsgSize(32 << 20)), tables: make(map[string]int64),
		pace: pace{changed: make(chan struct{})},
	}
	storagepb.RegisterBigQueryWriteServer(s.grpc, &writer{BigQuery: s})
	go func() { _ = s.grpc.Serve(listener) }() // it ends with Close
	s.rest = httptest.NewServer(http.HandlerFunc(s.get))
	s.RESTAddr = s.rest.URL
	return s, nil
}

// Close ends the server and its connections.
func (s *BigQuery) Close() {
	s.grpc.Stop()
	s.rest.Close()
}

// Limit makes the server take that many rows a second, all connections together, from
// now on; 0 means no limit. A request waits for its answer until its rows have been taken.
func (s *BigQuery) Limit(rowsPerSecond int) { s.pace.set(rowsPerSecond) }

// Tables returns the rows acknowledged by table, as "dataset.table".
func (s *BigQuery) Tables() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.tables)
}

// get serves tables.get alone.
func (s *BigQuery) get(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	// …/projects/P/datasets/D/tables/T
	if n := len(parts); r.Method != http.MethodGet || n < 6 || parts[n-2] != "tables" || parts[n-4] != "datasets" {
		http.Error(w, "tables can be described, and nothing else", http.StatusNotImplemented)
		return
	}
	n := len(parts)
	rule := s.describe(parts[n-3], parts[n-1])
	w.Header().Set("Content-Type", "application/json")
	if rule == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":404,"message":"Not found: Table","errors":[{"reason":"notFound"}]}}`)
		return
	}
	_ = json.NewEncoder(w).Encode(description(rule, parts[n-5], parts[n-3], parts[n-1])) // the client finds out
}

// description is the rule's table as tables.get renders it.
func description(rule *table.Rule, project, dataset, name string) any {
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
	return map[string]any{
		"kind": "bigquery#table", "type": "TABLE",
		"tableReference":   map[string]string{"projectId": project, "datasetId": dataset, "tableId": name},
		"schema":           map[string]any{"fields": fields},
		"tableConstraints": map[string]any{"primaryKey": map[string]any{"columns": rule.PrimaryKey}},
	}
}

// writer serves the RPCs.
type writer struct {
	storagepb.UnimplementedBigQueryWriteServer
	*BigQuery
}

// GetWriteStream describes any default stream.
func (*writer) GetWriteStream(_ context.Context, r *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	return &storagepb.WriteStream{Name: r.GetName(), Location: "us"}, nil
}

// AppendRows counts and acknowledges, in order.
func (s *writer) AppendRows(connection storagepb.BigQueryWrite_AppendRowsServer) error {
	s.Streams.Add(1)
	s.Opened.Add(1)
	defer s.Streams.Add(-1)
	stream, name := "", "" // of the latest request that named one
	for {
		r, err := connection.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rows := r.GetProtoRows().GetRows().GetSerializedRows()
		if err := s.pace.wait(connection.Context(), len(rows)); err != nil {
			return err
		}
		bytes := 0
		for _, row := range rows {
			bytes += len(row)
		}
		if r.GetWriteStream() != "" && r.GetWriteStream() != stream {
			stream = r.GetWriteStream()
			name = tableOf(stream)
		}
		s.Rows.Add(int64(len(rows)))
		s.Bytes.Add(int64(bytes))
		s.Requests.Add(1)
		s.mu.Lock()
		s.tables[name] += int64(len(rows))
		s.mu.Unlock()
		if err := connection.Send(&storagepb.AppendRowsResponse{
			WriteStream: stream, Response: &storagepb.AppendRowsResponse_AppendResult_{},
		}); err != nil {
			return err
		}
	}
}

// tableOf returns "d.t" of "projects/p/datasets/d/tables/t/streams/_default".
func tableOf(stream string) string {
	parts := strings.Split(stream, "/")
	if len(parts) < 6 {
		return stream
	}
	return parts[3] + "." + parts[5]
}

// pace is a queue that takes so many rows a second.
type pace struct {
	mu      sync.Mutex
	rows    int           // a second; 0 means any number
	free    time.Time     // when those that were let in are done
	changed chan struct{} // closed when the pace changes
}

func (p *pace) set(rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows, p.free = rows, time.Time{}
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait waits until so many rows have been taken at the pace, or it changes.
func (p *pace) wait(ctx context.Context, rows int) error {
	p.mu.Lock()
	if p.rows == 0 {
		p.mu.Unlock()
		return nil
	}
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(rows) * time.Second / time.Duration(p.rows))
	until, changed := p.free, p.changed
	p.mu.Unlock()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed: // those who wait are let in at once
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
