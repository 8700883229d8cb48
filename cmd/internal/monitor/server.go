package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"beamcdc/internal/counters"
	"beamcdc/pipeline"
)

// DefaultPatience is how long nothing may move before a pipeline that has something to
// do is unhealthy.
const DefaultPatience = 5 * time.Minute

// Patience returns how long nothing may move in a pipeline that is to be given at least so
// long: a message is acked no sooner than its window ends, or what completes its row comes.
func Patience(least time.Duration, o *pipeline.Options) time.Duration {
	return least + o.Window + o.HoldsFor()
}

// Bounds of a request's times: nobody holds a connection.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = 30 * time.Second
	idleTimeout    = 2 * time.Minute
)

// Server serves /metrics and /healthz.
type Server struct {
	listener net.Listener
	server   *http.Server
	health   health
}

// CheckAddress returns the address to listen at: without a host it is this machine's
// alone, 127.0.0.1. To be reached from others, an address names a host, such as 0.0.0.0.
func CheckAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q is no address to listen at, host:port", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Start listens at an address that [CheckAddress] has returned, and serves in the
// background. patience is that of the health; counters must be enabled.
func Start(address string, patience time.Duration) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serving metrics: %w", err)
	}
	s := &Server{listener: listener, health: health{patience: patience}}
	s.server = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout,
		WriteTimeout: requestTimeout, IdleTimeout: idleTimeout,
	}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("serving metrics ended", "error", err)
		}
	}()
	return s, nil
}

// Addr returns the address that is listened at.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Watch makes /healthz tell of a job from now on. On a nil server it does nothing.
func (s *Server) Watch(j Job) {
	if s != nil {
		s.health.watch(j)
	}
}

// Close ends the serving at once. A nil server has none to end.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	return s.server.Close()
}

func (s *Server) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collector{counters.Values}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "beamcdc_healthy", Help: "1 while /healthz answers 200, else 0."}, func() float64 {
			if s.health.now(time.Now()).Status == OK {
				return 1
			}
			return 0
		}),
	)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", s.serveHealth)
	return mux
}

func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	state := s.health.now(time.Now())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if state.Status != OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(state) // whoever asked has gone
}
