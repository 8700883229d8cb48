package emulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/faults"
	"beamcdc/emulator/internal/googlesql"
	"beamcdc/emulator/internal/query"
	"beamcdc/emulator/internal/rest"
	"beamcdc/emulator/internal/timeline"
	"beamcdc/emulator/internal/writeapi"
)

// Defaults of Options.
const (
	DefaultProject         = "local"
	DefaultAddr            = "127.0.0.1:0"
	DefaultMaxRequestBytes = 10_485_760
	DefaultIdleTimeout     = 10 * time.Minute
)

// Options says how a server runs. Its zero value is a server in memory, on free
// ports of the loopback interface.
type Options struct {
	// Project is the one that Rows reads. Requests may name any project.
	// Defaults to DefaultProject.
	Project string

	// GRPCAddr and RESTAddr are where the server listens, as host:port. Port 0 takes
	// a free one. Each defaults to DefaultAddr.
	GRPCAddr string
	RESTAddr string

	// DB is the file that holds the tables; it is created if it is absent, and no
	// other process may have it open. "" keeps the tables in memory.
	DB string

	// Now is the clock that rows are ingested and tables are changed by. Defaults to
	// Clock's. It is called from many goroutines.
	Now func() time.Time

	// Clock is the clock that the admin endpoint moves. Defaults to one of the server's
	// own, unless Now is given, and then to none.
	Clock *Clock

	// Buckets is the folder that stands for Cloud Storage in load and extract jobs:
	// gs://bucket/path is the file bucket/path in it. "" is for none.
	Buckets string

	// MaxRequestBytes is the largest AppendRows request that is accepted, in bytes of
	// its serialized form. Defaults to DefaultMaxRequestBytes.
	MaxRequestBytes int

	// IdleTimeout is how long an AppendRows connection may be idle, by Now, before it
	// is closed. Defaults to DefaultIdleTimeout; negative for any time.
	IdleTimeout time.Duration

	// OnCall, if it isn't nil, sees each call first, and says what goes wrong with it.
	// It is called from many goroutines. Faults that SetFaults has set count too, where
	// it says nothing.
	OnCall func(Call) Effect

	// Logger gets what the server has to say. Defaults to none.
	Logger *slog.Logger

	// OnAppend, if it isn't nil, sees each AppendRows request before the server does,
	// and can answer in its place: with handled true, err ends the connection with
	// that error (a gRPC status keeps its code), and otherwise resp is sent as it is;
	// a nil resp is a response that is lost: the connection sends none any more. With
	// handled false resp and err are ignored, and the server takes the request.
	//
	// Requests of one connection come in their order, one at a time; a call that
	// sleeps delays that connection alone. Connections call it at the same time. It
	// sees requests as they were sent: all but a connection's first may lack the
	// stream's name and the schema. What a handled request says sticks to nothing: a
	// connection whose first request is handled needs the stream's name again.
	OnAppend func(req *storagepb.AppendRowsRequest) (resp *storagepb.AppendRowsResponse, err error, handled bool)

	// mergeRows is the least number of pending changes that are merged without being
	// asked for, for tests. Defaults to the engine's.
	mergeRows int64
}

// Server is a running emulator. Close ends it.
type Server struct {
	options Options
	log     *slog.Logger
	engine  *engine.Engine
	writes  *writeapi.Service
	queries *query.Executor
	jobs    *query.Jobs
	// What WRITE_API_TIMELINE and STREAMING_TIMELINE show.
	writeLine, streamLine *timeline.Timeline
	faults                *faults.Set

	grpc         *grpc.Server
	grpcListener net.Listener
	api          *rest.Service
	rest         *http.Server
	restListener net.Listener
	serving      sync.WaitGroup
	closing      sync.Once
	closeErr     error
}

// New starts a server. Its error says which address or database can't be had.
func New(o Options) (*Server, error) {
	if o.Project == "" {
		o.Project = DefaultProject
	}
	if o.GRPCAddr == "" {
		o.GRPCAddr = DefaultAddr
	}
	if o.RESTAddr == "" {
		o.RESTAddr = DefaultAddr
	}
	if o.Now == nil {
		if o.Clock == nil {
			o.Clock = &Clock{}
		}
		o.Now = o.Clock.Now
	}
	if o.MaxRequestBytes <= 0 {
		o.MaxRequestBytes = DefaultMaxRequestBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.IdleTimeout == 0:
		o.IdleTimeout = DefaultIdleTimeout
	case o.IdleTimeout < 0:
		o.IdleTimeout = 0
	}
	ctx := context.Background()
	s := &Server{options: o, log: o.Logger, faults: faults.NewSet(o.Now, faultMethods())}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	var err error
	s.engine, err = engine.Open(ctx, engine.Options{
		DB: o.DB, Now: o.Now, Logger: o.Logger, Prepare: googlesql.Register, MergeRows: o.mergeRows, OnApply: s.applyFault,
	})
	if err != nil {
		return nil, errors.Join(err, s.closeListeners())
	}
	s.jobs, s.writeLine, s.streamLine = query.NewJobs(), &timeline.Timeline{}, &timeline.Timeline{}
	s.queries = query.New(s.engine, o.Now, s.jobs, s.writeLine, s.streamLine)
	s.writes = writeapi.New(s.engine, writeapi.Options{
		Logger: o.Logger, Now: o.Now, MaxRequestBytes: o.MaxRequestBytes, OnAppend: o.OnAppend, Effect: s.effect, Hidden: s.faults.Hidden,
		Timeline: s.writeLine, IdleTimeout: o.IdleTimeout,
	})
	s.serve()
	return s, nil
}

func (s *Server) listen(ctx context.Context) error {
	var config net.ListenConfig
	var err error
	if s.grpcListener, err = config.Listen(ctx, "tcp", s.options.GRPCAddr); err != nil {
		return fmt.Errorf("listening for gRPC: %w", err)
	}
	if s.restListener, err = config.Listen(ctx, "tcp", s.options.RESTAddr); err != nil {
		return errors.Join(fmt.Errorf("listening for REST: %w", err), s.grpcListener.Close())
	}
	return nil
}

func (s *Server) closeListeners() error {
	return errors.Join(s.grpcListener.Close(), s.restListener.Close())
}

func (s *Server) serve() {
	s.grpc = grpc.NewServer(
		// A request that is too large for BigQuery still has to arrive, to be refused.
		grpc.MaxRecvMsgSize(max(64<<20, 2*s.options.MaxRequestBytes)),
		grpc.MaxConcurrentStreams(1<<20),
		// Google's clients ping each minute; gRPC's default allows one ping in five.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
		grpc.UnaryInterceptor(s.writes.Intercept),
	)
	storagepb.RegisterBigQueryWriteServer(s.grpc, s.writes)
	storagepb.RegisterBigQueryReadServer(s.grpc, writeapi.NewReads(s.engine))
	s.api = rest.New(s.engine, rest.Options{
		Logger: s.log, Project: s.options.Project, BaseURL: s.RESTAddr(), Stats: func() any { return s.Stats() }, Now: s.options.Now,
		Executor: s.queries, Jobs: s.jobs, Streams: s.streamLine, Effect: s.effect, Buckets: s.options.Buckets,
	})
	s.rest = &http.Server{
		Handler:           s.admin(s.api),
		ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.serving.Go(func() {
		if err := s.grpc.Serve(s.grpcListener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			s.log.Error("serving gRPC", "error", err)
		}
	})
	s.serving.Go(func() {
		if err := s.rest.Serve(s.restListener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("serving REST", "error", err)
		}
	})
}

// GRPCAddr is where BigQueryWrite is served, as host:port, without TLS.
func (s *Server) GRPCAddr() string { return s.grpcListener.Addr().String() }

// RESTAddr is where BigQuery's REST API is served, as http://host:port.
func (s *Server) RESTAddr() string { return "http://" + s.restListener.Addr().String() }

// Close ends all connections, waits for what is being stored, and closes the
// database. More calls do nothing and return the first one's error.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.grpc.Stop()
		err := s.rest.Close()
		s.serving.Wait()
		s.api.Close()
		s.closeErr = errors.Join(err, s.engine.Close())
	})
	return s.closeErr
}

// ApplyDue applies the pending changes of all tables for which that is due by
// Options.Now, and forgets what is too old to be kept; it returns when that is done.
// The server does so too, each second: tests that step the clock needn't wait for that.
//
// Changes of a table with max_staleness are due once nine tenths of it are over since
// the last apply, those of another after ten minutes; both earlier if there are many.
func (s *Server) ApplyDue(ctx context.Context) error { return s.engine.ApplyDue(ctx) }

// Apply applies a table's pending changes now, whether that is due or not and whether
// applies are held or not. The table is of Options.Project and has a primary key.
func (s *Server) Apply(ctx context.Context, dataset, table string) error {
	return s.applyTable(ctx, engine.TableRef{Project: s.options.Project, Dataset: dataset, Table: table})
}

func (s *Server) applyTable(ctx context.Context, ref engine.TableRef) error {
	t, err := s.engine.Table(ref)
	if err != nil {
		return err
	}
	if len(t.Schema().Key) == 0 {
		return fmt.Errorf("table %s has no primary key: there is nothing to apply to it", ref)
	}
	return s.engine.Apply(ctx, t)
}

// HoldApplies holds background applies back, as BigQuery's may fall behind, or lets
// them go on. ApplyDue is held too. What is due meanwhile is a job that waits.
func (s *Server) HoldApplies(hold bool) { s.engine.HoldApplies(hold) }

// CreateDataset creates an empty dataset of Options.Project; one that exists
// already is left as it is. For the command line and tests.
func (s *Server) CreateDataset(ctx context.Context, name string) error {
	ref := engine.DatasetRef{Project: s.options.Project, Dataset: name}
	if _, err := s.engine.Dataset(ref); err == nil {
		return nil
	}
	_, err := s.engine.CreateDataset(ctx, ref, &bq.Dataset{})
	return err
}

// Rows returns all current rows of a table of Options.Project, pending changes
// applied, in the order of their keys; rows of a table without a primary key come
// in the order of their ingestion. Each is a JSON object with all columns in the
// table's order:
//
//	BOOL                        true, false
//	INT64, NUMERIC, BIGNUMERIC  a string, without trailing zeros
//	FLOAT64                     a number, or "NaN", "Infinity", "-Infinity"
//	STRING, GEOGRAPHY           a string
//	JSON                        a string: its text as it was written
//	BYTES                       a string in base64
//	DATE                        "2025-03-09"
//	TIME                        "08:07:06.005004"
//	DATETIME                    "2025-03-09T08:07:06.005004"
//	TIMESTAMP                   "2025-03-09T08:07:06.005004Z"
//	INTERVAL                    "1-2 3 4:5:6.789", BigQuery's canonical form
//	RANGE                       "[2025-03-09, UNBOUNDED)", its bounds as above
//	ARRAY                       an array, never null
//	STRUCT                      an object, its fields in order
//	NULL                        null
//
// A view's rows come in the order of their texts. An absent dataset or table is an
// error that says so.
func (s *Server) Rows(ctx context.Context, dataset, table string) ([]json.RawMessage, error) {
	return s.queries.Rows(ctx, engine.TableRef{Project: s.options.Project, Dataset: dataset, Table: table})
}
