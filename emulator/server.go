package emulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// Defaults of Options.
const (
	DefaultProject         = "local"
	DefaultAddr            = "127.0.0.1:0"
	DefaultMaxRequestBytes = 10_485_760
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
	// time.Now. It is called from many goroutines.
	Now func() time.Time

	// MaxRequestBytes is the largest AppendRows request that is accepted, in bytes of
	// its serialized form. Defaults to DefaultMaxRequestBytes.
	MaxRequestBytes int

	// Logger gets what the server has to say. Defaults to none.
	Logger *slog.Logger

	// OnAppend, if it isn't nil, sees each AppendRows request before the server does,
	// and can answer in its place: with handled true, err ends the connection with
	// that error (a gRPC status keeps its code), and otherwise resp is sent as it is;
	// a nil resp sends nothing, like a response that is lost. With handled false resp
	// and err are ignored, and the server takes the request.
	//
	// Requests of one connection come in their order, one at a time; a call that
	// sleeps delays that connection alone. Connections call it at the same time. It
	// sees requests as they were sent: all but a connection's first may lack the
	// stream's name and the schema. What a handled request says sticks to nothing: a
	// connection whose first request is handled needs the stream's name again.
	OnAppend func(req *storagepb.AppendRowsRequest) (resp *storagepb.AppendRowsResponse, err error, handled bool)

	// mergeRows is the least number of pending changes that are merged without being
	// asked for, for tests. Defaults to defaultMergeRows.
	mergeRows int64
}

// Server is a running emulator. Close ends it.
type Server struct {
	options Options
	log     *slog.Logger
	store   *store
	catalog *catalog

	grpc         *grpc.Server
	grpcListener net.Listener
	rest         *http.Server
	restListener net.Listener
	serving      sync.WaitGroup
	closing      sync.Once
	closeErr     error
}

// writeService is the gRPC service, apart from Server so that its methods aren't Server's.
type writeService struct {
	storagepb.UnimplementedBigQueryWriteServer
	server *Server
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
		o.Now = time.Now
	}
	if o.MaxRequestBytes <= 0 {
		o.MaxRequestBytes = DefaultMaxRequestBytes
	}
	if o.mergeRows == 0 {
		o.mergeRows = defaultMergeRows
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	ctx := context.Background()
	s := &Server{options: o, log: o.Logger}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	st, err := openStore(ctx, o.DB, o.Logger, o.Now)
	if err != nil {
		return nil, errors.Join(err, s.closeListeners())
	}
	s.store, st.mergeRows = st, o.mergeRows
	if s.catalog, err = st.loadCatalog(ctx); err == nil {
		err = st.start(ctx)
	}
	if err != nil {
		st.release()
		return nil, errors.Join(err, st.db.Close(), s.closeListeners())
	}
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
	)
	storagepb.RegisterBigQueryWriteServer(s.grpc, &writeService{server: s})
	s.rest = &http.Server{Handler: s.routes(), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)}
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
		s.closeErr = errors.Join(err, s.store.close())
	})
	return s.closeErr
}
