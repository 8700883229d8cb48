package writeapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"beamcdc/emulator/internal/engine"
)

// What of a connection may wait to be stored: the request that is one more isn't
// read before the first is. In bytes too, since a stored value takes a multiple of
// what it took on the wire.
const (
	maxWaiting      = 64
	maxWaitingBytes = 32 << 20
)

// AppendRows stores rows.
//
// Behavior:
//   - Options.OnAppend sees each request first.
//   - Responses come in the order of the requests. While one request is being
//     stored the next ones are read, up to maxWaiting of them and maxWaitingBytes.
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
//   - A connection on which nothing came or went for Options.IdleTimeout ends with
//     ABORTED.
//   - A fault may do all sorts of things: see package faults.
//   - A table whose schema has changed since the connection was opened answers with
//     updated_schema once.
//   - A stream that was created takes plain rows alone, and answers with the offset
//     of the first. A request that names an offset is stored only if that is the
//     stream's next: OFFSET_ALREADY_EXISTS (ALREADY_EXISTS) says that it was stored
//     before, OFFSET_OUT_OF_RANGE (OUT_OF_RANGE) that rows before it are missing.
func (s *Service) AppendRows(stream storagepb.BigQueryWrite_AppendRowsServer) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	c := &connection{service: s, room: semaphore.NewWeighted(maxWaitingBytes), holds: &upsertHolds{}, idle: &idleness{now: s.options.Now, limit: s.options.IdleTimeout}}
	c.idle.touch()
	defer c.holds.release()
	replies := make(chan reply, maxWaiting)
	received := make(chan error, 1)
	// Apart from the sender, which must be able to end the connection while this
	// one waits for a request: it is freed when AppendRows returns.
	go func() {
		received <- c.receive(ctx, stream, replies)
		close(replies)
	}()
	if err := sendReplies(ctx, stream, c.idle, replies); err != nil {
		return err
	}
	return <-received
}

// reply is a response that is known once its rows are durable. A nil one is lost.
type reply func(ctx context.Context) (*storagepb.AppendRowsResponse, error)

// sendReplies sends responses in the order of the requests. After one that is lost it sends
// no more: clients tell by the order alone which request a response is to.
func sendReplies(ctx context.Context, stream storagepb.BigQueryWrite_AppendRowsServer, idle *idleness, replies <-chan reply) error {
	watch := time.NewTicker(idleWatch)
	defer watch.Stop()
	silent := false
	for {
		var r reply
		var more bool
		select {
		case r, more = <-replies:
		case <-watch.C:
			if err := idle.over(); err != nil {
				return err
			}
			continue
		case <-ctx.Done(): // a hook may keep the receiver
			return ctx.Err()
		}
		if !more {
			return nil
		}
		response, err := r(ctx)
		if err != nil {
			return err
		}
		idle.touch()
		if silent = silent || response == nil; silent {
			continue
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
}

// connection is one AppendRows connection, and what sticks to it.
type connection struct {
	service  *Service
	room     *semaphore.Weighted // bytes of requests that may still wait
	idle     *idleness
	stream   string // "" before the first request
	ref      engine.TableRef
	id       string                        // of the stream within its table
	message  *descriptorpb.DescriptorProto // nil before the first schema
	plan     *plan                         // of message, nil before the first use and after a change
	traceID  string
	missing  storagepb.AppendRowsRequest_MissingValueInterpretation
	mode     mode
	holds    *upsertHolds
	notified map[engine.TableRef]int64 // the latest schema version that the client knows of

	// compiled holds the schemas that came by stream. A client that multiplexes sends
	// them again with each change of stream.
	compiled map[string]compiledSchema
}

type compiledSchema struct {
	message *descriptorpb.DescriptorProto
	plan    *plan
}

// maxCompiled bounds what one connection makes the server remember.
const maxCompiled = 1000

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
		c.idle.touch()
		size := min(int64(proto.Size(request)), maxWaitingBytes)
		if err := c.room.Acquire(ctx, size); err != nil {
			return err
		}
		r, err := c.handle(ctx, request)
		if err != nil {
			return err
		}
		waiting := func(ctx context.Context) (*storagepb.AppendRowsResponse, error) {
			defer c.room.Release(size)
			return r(ctx)
		}
		select {
		case replies <- waiting:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle takes one request. Its error ends the connection.
func (c *connection) handle(ctx context.Context, request *storagepb.AppendRowsRequest) (reply, error) {
	counts := &c.service.counts
	counts.requests.Add(1)
	if hook := c.service.options.OnAppend; hook != nil {
		if response, err, handled := hook(request); handled {
			counts.errors.Add(1)
			return func(context.Context) (*storagepb.AppendRowsResponse, error) { return response, err }, nil
		}
	}
	effect, err := c.service.effect(ctx, "AppendRows", cmp.Or(request.GetWriteStream(), c.stream), request)
	if err != nil {
		return nil, err
	}
	if err := c.stick(request); err != nil {
		return nil, err
	}
	r, err := c.faulty(request, &effect)
	if r == nil && err == nil {
		r, err = c.store(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	return losing(c.counted(request, r), &effect), nil
}

// store takes a request's rows.
func (c *connection) store(ctx context.Context, request *storagepb.AppendRowsRequest) (reply, error) {
	batch, err := c.read(request)
	if err == nil {
		err = c.service.engine.Append(ctx, batch)
	}
	if errors.Is(err, engine.ErrClosed) || ctx.Err() != nil {
		return nil, errShutdown
	}
	if err != nil {
		return c.fail(err), nil
	}
	updated := c.updatedSchema(batch)
	// The sender's: what sticks to the connection may have changed by then.
	then := *c
	then.notified, then.compiled = maps.Clone(c.notified), nil
	return func(ctx context.Context) (*storagepb.AppendRowsResponse, error) {
		err := batch.Wait(ctx)
		for errors.Is(err, engine.ErrSchemaChanged) {
			// Between reading the rows and storing them: read them anew.
			if batch, err = then.read(request); err == nil {
				updated = then.updatedSchema(batch)
				if err = then.service.engine.Append(ctx, batch); err == nil {
					err = batch.Wait(ctx)
				}
			}
		}
		switch {
		case err == nil:
			result := &storagepb.AppendRowsResponse_AppendResult{}
			if then.id != defaultStream {
				result.Offset = wrapperspb.Int64(batch.Offset())
			}
			return &storagepb.AppendRowsResponse{
				Response:      &storagepb.AppendRowsResponse_AppendResult_{AppendResult: result},
				UpdatedSchema: updated,
				WriteStream:   then.stream,
			}, nil
		case errors.Is(err, engine.ErrClosed):
			return nil, errShutdown
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, engine.ErrTableDropped):
			err = tableNotFound(then.stream)
		}
		return then.fail(streamError(then.stream, err))(ctx)
	}, nil
}

var errShutdown = status.Error(codes.Unavailable, "The server is shutting down.")

func (c *connection) fail(err error) reply {
	name := c.stream
	c.service.counts.errors.Add(1)
	c.service.options.Logger.Debug("refusing rows", "stream", name, "error", err)
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
		// The name sticks even if the request is refused: it is looked up for each.
		c.stream, c.ref, c.id, c.message, c.plan = name, ref, id, nil, nil
	}
	if message := request.GetProtoRows().GetWriterSchema().GetProtoDescriptor(); message != nil {
		c.message, c.plan = message, nil
		if known, ok := c.compiled[c.stream]; ok && proto.Equal(known.message, message) {
			c.message, c.plan = known.message, known.plan
		}
	}
	if id := request.GetTraceId(); id != "" {
		c.traceID = id
	}
	if m := request.GetDefaultMissingValueInterpretation(); m != storagepb.AppendRowsRequest_MISSING_VALUE_INTERPRETATION_UNSPECIFIED {
		c.missing = m
	}
	return nil
}
