package emulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// maxWaiting is how many requests of a connection may wait to be stored: one more
// isn't read before the first is.
const maxWaiting = 64

// AppendRows: the default stream.
//
// Behavior:
//   - Options.OnAppend sees each request first.
//   - Responses come in the order of the requests. While one request is being
//     stored the next ones are read, up to maxWaiting of them.
//   - An acknowledged request is durable (with a database file): it is committed.
//   - All rows of a request are stored, or none.
//   - The stream's name, the writer's schema, the trace ID and the default missing
//     value interpretation stick to the connection; missing value interpretations
//     by column count for one request. A new stream's name needs a schema with it.
//   - A request that can't be stored gets a response with an error in it, with a
//     StorageError in the details where BigQuery has a code for it, and the
//     connection goes on. A connection whose first request names no stream, or
//     one with a malformed name, ends with INVALID_ARGUMENT.
//   - Rows are UPSERTs and DELETEs on one connection, or plain rows (INSERT, or
//     nothing in _CHANGE_TYPE) on another, by the first row that the connection
//     stores.
//   - A table whose schema has changed since the connection was opened answers with
//     updated_schema once.
//   - Streams other than the default: see GAPS.md.
func (s *writeService) AppendRows(stream storagepb.BigQueryWrite_AppendRowsServer) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	c := &connection{server: s.server}
	replies := make(chan reply, maxWaiting)
	received := make(chan error, 1)
	// Apart from the sender, which must be able to end the connection while this
	// one waits for a request: it is freed when AppendRows returns.
	go func() {
		received <- c.receive(ctx, stream, replies)
		close(replies)
	}()
	if err := sendReplies(ctx, stream, replies); err != nil {
		return err
	}
	return <-received
}

// reply is a response that is known once its rows are durable. A nil one sends nothing.
type reply func(ctx context.Context) (*storagepb.AppendRowsResponse, error)

// sendReplies sends responses in the order of the requests.
func sendReplies(ctx context.Context, stream storagepb.BigQueryWrite_AppendRowsServer, replies <-chan reply) error {
	for r := range replies {
		response, err := r(ctx)
		if err != nil {
			return err
		}
		if response == nil {
			continue
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
	return nil
}

// connection is one AppendRows connection, and what sticks to it.
type connection struct {
	server   *Server
	stream   string // "" before the first request
	ref      tableRef
	message  *descriptorpb.DescriptorProto // nil before the first schema
	plan     *plan                         // of message, nil before the first use and after a change
	traceID  string
	missing  storagepb.AppendRowsRequest_MissingValueInterpretation
	mode     mode
	notified map[tableRef]int64 // the latest schema version that the client knows of
}

// mode is what rows a connection is for.
type mode uint8

const (
	modeUnknown mode = iota
	modeInsert
	modeCDC
)

func (c *connection) receive(ctx context.Context, stream storagepb.BigQueryWrite_AppendRowsServer, replies chan<- reply) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := c.handle(ctx, request)
		if err != nil {
			return err
		}
		select {
		case replies <- r:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle takes one request. Its error ends the connection.
func (c *connection) handle(ctx context.Context, request *storagepb.AppendRowsRequest) (reply, error) {
	counts := &c.server.store.stats
	counts.requests.Add(1)
	if hook := c.server.options.OnAppend; hook != nil {
		if response, err, handled := hook(request); handled {
			counts.errors.Add(1)
			return func(context.Context) (*storagepb.AppendRowsResponse, error) { return response, err }, nil
		}
	}
	if err := c.stick(request); err != nil {
		return nil, err
	}
	batch, err := c.read(request)
	if err == nil {
		err = c.server.store.append(ctx, batch)
	}
	if errors.Is(err, errClosed) || ctx.Err() != nil {
		return nil, errShutdown
	}
	if err != nil {
		return c.fail(err), nil
	}
	updated := c.updatedSchema(batch)
	// The sender's: what sticks to the connection may have changed by then.
	then := *c
	then.notified = maps.Clone(c.notified)
	return func(ctx context.Context) (*storagepb.AppendRowsResponse, error) {
		err := batch.wait(ctx)
		for errors.Is(err, errSchemaChanged) {
			// Between reading the rows and storing them: read them anew.
			if batch, err = then.read(request); err == nil {
				updated = then.updatedSchema(batch)
				if err = then.server.store.append(ctx, batch); err == nil {
					err = batch.wait(ctx)
				}
			}
		}
		switch {
		case err == nil:
			return &storagepb.AppendRowsResponse{
				Response:      &storagepb.AppendRowsResponse_AppendResult_{AppendResult: &storagepb.AppendRowsResponse_AppendResult{}},
				UpdatedSchema: updated,
				WriteStream:   then.stream,
			}, nil
		case errors.Is(err, errClosed):
			return nil, errShutdown
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errTableDropped):
			err = tableNotFound(then.stream)
		}
		return then.fail(err)(ctx)
	}, nil
}

var errShutdown = status.Error(codes.Unavailable, "The server is shutting down.")

func (c *connection) fail(err error) reply {
	name := c.stream
	c.server.store.stats.errors.Add(1)
	c.server.log.Debug("refusing rows", "stream", name, "error", err)
	return func(context.Context) (*storagepb.AppendRowsResponse, error) { return errorResponse(name, err), nil }
}

// stick keeps what a request says for those that follow.
func (c *connection) stick(request *storagepb.AppendRowsRequest) error {
	name := request.GetWriteStream()
	if name == "" && c.stream == "" {
		return status.Error(codes.InvalidArgument, "The first request of a connection must name its write stream.")
	}
	if name != "" && name != c.stream {
		ref, id, err := parseStream(name)
		if err != nil {
			return err
		}
		_ = id // checked for each request: the name sticks even if it is refused
		c.stream, c.ref, c.message, c.plan = name, ref, nil, nil
	}
	if message := request.GetProtoRows().GetWriterSchema().GetProtoDescriptor(); message != nil {
		c.message, c.plan = message, nil
	}
	if id := request.GetTraceId(); id != "" {
		c.traceID = id
	}
	if m := request.GetDefaultMissingValueInterpretation(); m != storagepb.AppendRowsRequest_MISSING_VALUE_INTERPRETATION_UNSPECIFIED {
		c.missing = m
	}
	return nil
}

func tableNotFound(stream string) error {
	return &appendError{
		code: codes.NotFound, storage: storagepb.StorageError_TABLE_NOT_FOUND,
		message: "Requested entity was not found." + entity(stream),
	}
}

// read reads a request's rows for its table.
func (c *connection) read(request *storagepb.AppendRowsRequest) (*appendBatch, error) {
	limit := c.server.options.MaxRequestBytes
	if size := proto.Size(request); size > limit {
		return nil, invalidAppend(c.stream, "AppendRows request too large: %d limit %d", size, limit)
	}
	if request.GetArrowRows() != nil {
		return nil, invalidAppend(c.stream, "Arrow rows are not supported: this emulator takes protocol buffer rows.")
	}
	if request.GetProtoRows() == nil {
		return nil, invalidAppend(c.stream, "Request failed: data format unspecified")
	}
	if _, id, err := parseStream(c.stream); err != nil || id != defaultStream {
		return nil, &appendError{
			code: codes.NotFound, storage: storagepb.StorageError_STREAM_NOT_FOUND,
			message: "Requested entity was not found." + entity(c.stream),
		}
	}
	if request.GetOffset() != nil {
		return nil, invalidAppend(c.stream, "Offset is not supported for the default stream.")
	}
	t, err := c.server.catalog.table(c.ref)
	if err != nil {
		return nil, tableNotFound(c.stream)
	}
	if err := c.compile(t); err != nil {
		return nil, err
	}
	rows, err := c.readRows(request)
	if err != nil {
		return nil, err
	}
	return c.batch(t, request, rows)
}

// compile makes the plan for the table's current schema.
func (c *connection) compile(t *table) error {
	t.mu.RLock()
	s := t.schema
	t.mu.RUnlock()
	if c.notified == nil {
		c.notified = map[tableRef]int64{}
	}
	if _, ok := c.notified[c.ref]; !ok {
		c.notified[c.ref] = s.version
	}
	if c.plan != nil && c.plan.schema == s {
		return nil
	}
	if c.message == nil {
		return invalidAppend(c.stream, "Invalid proto schema: the first request of a stream must have a writer schema.")
	}
	p, err := compilePlan(s, c.message)
	if mismatch, ok := errors.AsType[*schemaError](err); ok {
		return &appendError{code: codes.InvalidArgument, storage: mismatch.code, message: mismatch.message + entity(c.stream)}
	}
	c.plan = p
	return err
}

// updatedSchema is the table's schema, if it changed since the client last saw it.
func (c *connection) updatedSchema(b *appendBatch) *storagepb.TableSchema {
	if c.notified[c.ref] == b.version {
		return nil
	}
	c.notified[c.ref] = b.version
	return storageSchema(c.plan.schema)
}

// readRows decodes the rows; rows that can't be are errors all at once.
func (c *connection) readRows(request *storagepb.AppendRowsRequest) ([]changeRow, error) {
	encoded := request.GetProtoRows().GetRows().GetSerializedRows()
	rows := make([]changeRow, 0, len(encoded))
	var failed rowErrors
	for i, b := range encoded {
		row, err := c.plan.read(b)
		if err != nil {
			failed.add(i, err)
		}
		rows = append(rows, row)
	}
	return rows, failed.error(c)
}

// rowErrors collects the errors of a request's rows.
type rowErrors []*storagepb.RowError

// maxRowErrors bounds the list: BigQuery's "may not be complete" either.
const maxRowErrors = 1000

func (r *rowErrors) add(index int, err error) {
	if len(*r) < maxRowErrors {
		*r = append(*r, &storagepb.RowError{Index: int64(index), Code: storagepb.RowError_FIELDS_ERROR, Message: clip(err.Error())})
	}
}

func (r rowErrors) error(c *connection) error {
	if len(r) == 0 {
		return nil
	}
	c.server.store.stats.rowErrors.Add(int64(len(r)))
	return rowsError(c.stream, r)
}

// rowMode says what a row's change type makes it.
func rowMode(changeType string) mode {
	switch strings.ToUpper(changeType) {
	case "UPSERT", "DELETE":
		return modeCDC
	case "", "INSERT":
		return modeInsert
	}
	return modeUnknown
}

// checkModes finds out which mode the request is of, and refuses what doesn't fit it.
func (c *connection) checkModes(rows []changeRow) (mode, error) {
	m := c.mode
	var failed rowErrors
	for i := range rows {
		r := rowMode(rows[i].changeType)
		if m == modeUnknown {
			m = r
		}
		if r == m && r != modeUnknown {
			continue
		}
		given := rows[i].changeType
		if given == "" {
			given = "unspecified"
		}
		text := "The given value is not a valid CHANGE_TYPE"
		if m == modeInsert {
			text += " in insert mode"
		}
		failed.add(i, fmt.Errorf("%s: %s", text, clip(given)))
	}
	return m, failed.error(c)
}
