package writeapi

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/faults"
)

// errCut is how a client sees a connection that is cut.
var errCut = status.Error(codes.Unavailable, "The connection was cut.")

const (
	defaultFault    = "The emulator was told to fail."
	defaultRejected = "The emulator was told to reject this row."
	throughputQuota = "Exceeds 'AppendRows throughput' quota"
)

// effect asks what goes wrong with a call, and waits for as long as that says.
func (s *Service) effect(ctx context.Context, method, stream string, request proto.Message) (faults.Effect, error) {
	if s.options.Effect == nil {
		return faults.Effect{}, nil
	}
	call := faults.Call{Method: method, Request: request}
	if ref, err := tableOf(stream); err == nil {
		call.Table = ref.Dotted()
	}
	e := s.options.Effect(call)
	if e.Delay > 0 {
		select {
		case <-time.After(e.Delay):
		case <-ctx.Done():
			return e, ctx.Err()
		}
	}
	return e, nil
}

// Methods returns the names of the RPCs that faults reach: all but ReadRows, which is
// a stream that Intercept doesn't see.
func Methods() []string {
	names := []string{path.Base(storagepb.BigQueryWrite_AppendRows_FullMethodName)}
	for _, service := range []grpc.ServiceDesc{storagepb.BigQueryWrite_ServiceDesc, storagepb.BigQueryRead_ServiceDesc} {
		for _, method := range service.Methods {
			names = append(names, method.MethodName)
		}
	}
	return names
}

// tableOf reads the table that a stream's name, or a table's path, begins with.
func tableOf(name string) (engine.TableRef, error) {
	if ref, _, err := parseStream(name); err == nil {
		return ref, nil
	}
	return parseTablePath(name)
}

// faultError is the error that a fault asks for.
func faultError(stream string, e *faults.Effect) *appendError {
	return &appendError{code: e.GRPCCode(), storage: e.StorageCode(), message: cmp.Or(e.Message, defaultFault) + entity(stream)}
}

// faulty does what a fault wants of an AppendRows request. It returns nil if the
// request is to be taken as ever, and then the effect says what becomes of its
// response.
func (c *connection) faulty(request *storagepb.AppendRowsRequest, e *faults.Effect) (reply, error) {
	switch {
	case e.Cut == "before":
		return nil, errCut
	case e.Code != "" && e.EndConnection:
		return nil, faultError(c.stream, e).status(c.stream).Err()
	case e.Code != "":
		return c.fail(faultError(c.stream, e)), nil
	case e.Throttle > 0:
		return c.fail(&appendError{code: codes.ResourceExhausted, message: throughputQuota + entity(c.stream)}), nil
	case len(e.RejectRows) > 0:
		rows := len(request.GetProtoRows().GetRows().GetSerializedRows())
		var rejected rowErrors
		for _, row := range e.RejectRows {
			if row < rows {
				rejected.add(row, errors.New(cmp.Or(e.RejectMessage, defaultRejected)))
			}
		}
		if err := rejected.error(c); err != nil {
			return c.fail(err), nil
		}
	}
	return nil, nil
}

// losing is a reply whose rows are stored and whose response is lost, with its
// connection or without.
func losing(r reply, e *faults.Effect) reply {
	if e.Cut != "after" && !e.LoseResponse {
		return r
	}
	cut := e.Cut == "after"
	return func(ctx context.Context) (*storagepb.AppendRowsResponse, error) {
		if _, err := r(ctx); err != nil {
			return nil, err
		}
		if cut {
			return nil, errCut
		}
		return nil, nil
	}
}

// Intercept lets faults at the calls that are no AppendRows.
func (s *Service) Intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	stream := ""
	switch r := request.(type) {
	case *storagepb.GetWriteStreamRequest:
		stream = r.GetName()
	case *storagepb.FinalizeWriteStreamRequest:
		stream = r.GetName()
	case *storagepb.FlushRowsRequest:
		stream = r.GetWriteStream()
	case *storagepb.CreateWriteStreamRequest:
		stream = r.GetParent()
	case *storagepb.BatchCommitWriteStreamsRequest:
		stream = r.GetParent()
	case *storagepb.CreateReadSessionRequest:
		stream = r.GetReadSession().GetTable()
	}
	message, _ := request.(proto.Message)
	e, err := s.effect(ctx, path.Base(info.FullMethod), stream, message)
	switch {
	case err != nil:
		return nil, err
	case e.Cut == "before":
		return nil, errCut
	case e.Code != "":
		return nil, faultError(stream, &e).status(stream).Err()
	}
	response, err := handler(ctx, request)
	if err == nil && e.Cut == "after" {
		return nil, errCut
	}
	return response, err
}

// known is a table's schema as the Write API knows it: for a while it may not know a
// new column.
func (s *Service) known(ref engine.TableRef, schema *engine.Schema) []*engine.Column {
	if s.options.Hidden == nil {
		return schema.Columns
	}
	hidden := s.options.Hidden(ref.Dotted())
	if hidden == 0 {
		return schema.Columns
	}
	now := s.options.Now()
	return slices.DeleteFunc(slices.Clone(schema.Columns), func(c *engine.Column) bool { return !c.Added.IsZero() && now.Before(c.Added.Add(hidden)) })
}

// checkKnown refuses a writer's schema with columns that aren't known yet.
func (p *plan) checkKnown(known []*engine.Column) error {
	var extra []string
	for _, f := range p.root.list {
		if f.role == roleColumn && !slices.Contains(known, f.column) {
			extra = append(extra, f.column.Name)
		}
	}
	return extraFields(extra)
}

// table finds a table as the Write API knows it: for a while it may not know a new one.
func (s *Service) table(ref engine.TableRef) (*engine.Table, error) {
	t, err := s.engine.Table(ref)
	if err != nil || s.options.Hidden == nil {
		return t, err
	}
	created := time.UnixMilli(t.Resource().CreationTime)
	if hidden := s.options.Hidden(ref.Dotted()); hidden > 0 && s.options.Now().Before(created.Add(hidden)) {
		return nil, engine.NotFound("Not found: Table %s", ref)
	}
	return t, nil
}
