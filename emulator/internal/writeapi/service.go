// Package writeapi serves an engine's tables by the Storage Write API, gRPC's
// BigQueryWrite. A file that is named after an RPC tells its behavior on top.
package writeapi

import (
	"log/slog"
	"sync/atomic"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/faults"
	"beamcdc/emulator/internal/timeline"
)

// Options says how the Write API is served. The first three are required.
type Options struct {
	Logger *slog.Logger
	// Now is the clock that idle connections and what is new about a table go by.
	Now func() time.Time
	// MaxRequestBytes is the largest AppendRows request that is accepted, in bytes of
	// its serialized form.
	MaxRequestBytes int
	// OnAppend sees each AppendRows request first, and can answer in its place.
	OnAppend func(req *storagepb.AppendRowsRequest) (resp *storagepb.AppendRowsResponse, err error, handled bool)
	// Effect says what goes wrong with a call, nil for nothing ever.
	Effect func(faults.Call) faults.Effect
	// Hidden says for how long this API doesn't know what is new about a table,
	// "project.dataset.table"; nil for never.
	Hidden func(table string) time.Duration
	// Timeline counts the requests; nil for none.
	Timeline *timeline.Timeline
	// IdleTimeout is how long a connection may send nothing before it is closed; 0
	// for any time.
	IdleTimeout time.Duration
}

// Service is the gRPC service BigQueryWrite.
type Service struct {
	storagepb.UnimplementedBigQueryWriteServer
	engine  *engine.Engine
	options Options
	counts  counts
}

// New returns the service for an engine's tables.
func New(e *engine.Engine, o Options) *Service {
	return &Service{engine: e, options: o}
}

// Stats counts what the service has answered.
type Stats struct {
	Requests  int64 // AppendRows requests taken
	Errors    int64 // of those, answered with an error
	RowErrors int64 // rows that a row error named
}

type counts struct{ requests, errors, rowErrors atomic.Int64 }

// Stats returns the counts so far. They are taken one by one, not at one instant.
func (s *Service) Stats() Stats {
	return Stats{Requests: s.counts.requests.Load(), Errors: s.counts.errors.Load(), RowErrors: s.counts.rowErrors.Load()}
}
