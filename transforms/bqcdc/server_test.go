package bqcdc

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
)

// writeServer is a Storage Write API that keeps the bytes of the rows it
// acknowledges. Its two hooks decide what it answers.
type writeServer struct {
	storagepb.UnimplementedBigQueryWriteServer

	addr string
	// get answers GetWriteStream with an error, unless it is nil or returns nil.
	get func(ctx context.Context, name string) error
	// answer answers one append: with a response, or by ending the connection with
	// an error. With neither the rows are stored and acknowledged.
	answer func(a *appendCall) (*storagepb.AppendRowsResponse, error)

	mu          sync.Mutex
	rows        map[string][][]byte // by table, in order of storage
	connections int
	live        int // connections that have not ended
	appends     int
	largest     int // bytes of the largest request
	first       []*storagepb.AppendRowsRequest
}

// appendCall is one request of one connection.
type appendCall struct {
	ctx        context.Context //nolint:containedctx // the connection's, as the call is one argument of a hook
	server     *writeServer
	connection int // from 1
	nth        int // request of the connection, from 1
	total      int // request of the server, from 1
	table      string
	descriptor string // the name of the message that describes the rows
	rows       [][]byte
}

// store keeps the call's rows without answering.
func (a *appendCall) store() {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	a.server.rows[a.table] = append(a.server.rows[a.table], a.rows...)
}

func newWriteServer(tb testing.TB, options ...grpc.ServerOption) *writeServer {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &writeServer{addr: listener.Addr().String(), rows: make(map[string][][]byte)}
	options = append([]grpc.ServerOption{grpc.MaxRecvMsgSize(64 << 20)}, options...)
	server := grpc.NewServer(options...)
	storagepb.RegisterBigQueryWriteServer(server, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	tb.Cleanup(func() { server.Stop(); <-done })
	return s
}

func (s *writeServer) GetWriteStream(ctx context.Context, r *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	if s.get != nil {
		if err := s.get(ctx, r.GetName()); err != nil {
			return nil, err
		}
	}
	return &storagepb.WriteStream{Name: r.GetName(), Location: "us"}, nil
}

func (s *writeServer) AppendRows(connection storagepb.BigQueryWrite_AppendRowsServer) error {
	s.mu.Lock()
	s.connections++
	s.live++
	call := appendCall{ctx: connection.Context(), server: s, connection: s.connections}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.live--
		s.mu.Unlock()
	}()
	for {
		r, err := connection.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		call.nth++
		s.mu.Lock()
		s.appends++
		call.total = s.appends
		s.largest = max(s.largest, proto.Size(r))
		if call.nth == 1 {
			s.first = append(s.first, r)
		}
		s.mu.Unlock()
		if name := r.GetWriteStream(); name != "" {
			parts := strings.Split(name, "/")
			if table := parts[1] + "." + parts[3] + "." + parts[5]; table != call.table {
				call.table, call.descriptor = table, ""
			}
		}
		if d := r.GetProtoRows().GetWriterSchema().GetProtoDescriptor(); d != nil {
			call.descriptor = d.GetName()
		}
		call.rows = r.GetProtoRows().GetRows().GetSerializedRows()
		if s.answer != nil {
			a := call
			response, err := s.answer(&a)
			if err != nil {
				return err
			}
			if response != nil {
				if err := connection.Send(response); err != nil {
					return err
				}
				continue
			}
		}
		call.store()
		if err := connection.Send(&storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_AppendResult_{}}); err != nil {
			return err
		}
	}
}

// stored returns the rows of a table as text, in order of storage.
func (s *writeServer) stored(table string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, row := range s.rows[table] {
		texts = append(texts, string(row))
	}
	return texts
}

func (s *writeServer) count() (connections, appends, largest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections, s.appends, s.largest
}

// waitLive waits until so many connections are left: the server hears of an end later.
func (s *writeServer) waitLive(t *testing.T, want int) {
	t.Helper()
	live := -1
	for deadline := time.Now().Add(30 * time.Second); live != want && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		live = s.live
		s.mu.Unlock()
	}
	if live != want {
		t.Errorf("%d connections are open, want %d", live, want)
	}
}

// refuse answers an append with a status in the response.
func refuse(code codes.Code, text string, details ...*storagepb.StorageError) *storagepb.AppendRowsResponse {
	s := status.New(code, text)
	for _, d := range details {
		s, _ = s.WithDetails(d)
	}
	return &storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_Error{Error: s.Proto()}}
}

// blame answers an append with row errors for the rows whose text is bad, at
// most limit of them.
func blame(a *appendCall, limit int, bad ...string) *storagepb.AppendRowsResponse {
	r := refuse(codes.InvalidArgument, "Errors found while processing rows. Please refer to the row_errors field for details.")
	for i, row := range a.rows {
		for _, b := range bad {
			if string(row) == b && len(r.GetRowErrors()) < limit {
				r.RowErrors = append(r.RowErrors, &storagepb.RowError{
					Index: int64(i), Code: storagepb.RowError_FIELDS_ERROR, Message: "Field a: STRING(1) has maximum length 1 but got a value with length 2",
				})
			}
		}
	}
	if len(r.GetRowErrors()) == 0 {
		return nil
	}
	return r
}

// testConfig writes to s, with pauses that suit a test.
func testConfig(s *writeServer) Config {
	return Config{
		Catalog:        catalog.Config{Project: "p", GRPCEndpoint: s.addr, Plaintext: true},
		InitialBackoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond,
		AppendTimeout: 5 * time.Second, RetryFor: 5 * time.Second, FinishFor: 20 * time.Second,
	}
}

// newTestWriter returns a writer to c's endpoint that knows every schema but 0.
func newTestWriter(tb testing.TB, c Config) *writer {
	tb.Helper()
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		tb.Fatal(err)
	}
	s, err := newStreams(tb.Context(), endpointOf(c))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { shutdown(s) })
	w := &writer{config: c, streams: s}
	w.grows, w.young = func(string) bool { return false }, func(string) bool { return false }
	w.fits = func(context.Context, streamKey) (bool, error) { return true, nil }
	w.describe = func(_ context.Context, key streamKey) (*schema, error) {
		if key.schema == 0 {
			return nil, errUnknownSchema
		}
		return newSchema(key, testDescriptor(), c.TraceID), nil
	}
	return w
}

func testDescriptor() *descriptorpb.DescriptorProto {
	return &descriptorpb.DescriptorProto{Name: new("t"), Field: []*descriptorpb.FieldDescriptorProto{{
		Name: new("a"), Number: new(int32(1)),
		Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}}}
}

// testRow is a row whose bytes are text and whose receipt is token.
func testRow(table, text string, token uint64) change.Row {
	return change.Row{
		Table: table, Schema: 1, Key: []byte(text), Type: change.Upsert, Sequence: change.NewSequence(token),
		Data: []byte(text), Message: change.Message{ID: text, Token: token}, Receipts: []change.Receipt{{Token: token, Parts: 1}},
	}
}

// outcomeOf is what a bundle's rows came to, by text.
type outcomeOf struct {
	acknowledged []string
	rejected     map[string]string // reason
	texts        map[string]string // BigQuery's complaint
	repeats      [outcomes]int
	requests     int
}

// write sends rows as one bundle.
func write(tb testing.TB, w *writer, rows ...change.Row) (outcomeOf, error) {
	tb.Helper()
	got := outcomeOf{rejected: make(map[string]string), texts: make(map[string]string)}
	take := func(r *result) {
		for _, rows := range r.acknowledged {
			for _, p := range rows {
				got.acknowledged = append(got.acknowledged, p.id)
			}
		}
		for _, x := range r.rejected {
			if _, twice := got.rejected[x.id]; twice {
				tb.Errorf("row %.20s was rejected twice", x.id)
			}
			got.rejected[x.id] = x.reason
			got.texts[x.id] = x.text
		}
		for o, n := range r.repeats {
			got.repeats[o] += n
		}
		got.requests += len(r.appends)
	}
	b := w.begin(tb.Context())
	for i := range rows {
		if err := b.collect(take); err != nil {
			return got, err
		}
		if err := b.add(&rows[i], 0); err != nil {
			return got, err
		}
	}
	return got, b.finish(take)
}

// shut are the streams that were shut down: writers of one endpoint share theirs.
var shut sync.Map

// shutdown closes a process's streams and client, which live for ever otherwise.
func shutdown(s *streams) {
	if _, twice := shut.LoadOrStore(s, true); twice {
		return
	}
	processStreams.Lock()
	if processStreams.byEndpoint[s.endpoint] == s {
		delete(processStreams.byEndpoint, s.endpoint)
	}
	processStreams.Unlock()
	// The requests of failed bundles end too, some time after their bundle.
	_ = s.requests.Acquire(context.Background(), int64(s.endpoint.inflightRequests))
	for open := true; open || !s.room.TryAcquire(int64(s.endpoint.ownConnections)); {
		s.mu.Lock()
		for _, st := range s.open {
			if st.users == 0 {
				s.drop(st)
			}
		}
		open = len(s.open) > 0
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	_ = s.own.client.Close()
}
