package bqcdc

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"golang.org/x/sync/semaphore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"

	address "beamcdc/internal/endpoint"
)

// endpoint is what two writers share a client by: where it leads, and the limits
// that hold for the process.
type endpoint struct {
	address, project, traceID             string
	plaintext, allowPlaintext             bool
	inflightRequests, inflightBytes       int
	ownConnections, sharedConnections     int
	openTimeout, idleTimeout, sweepPeriod time.Duration
	renewAfter                            time.Duration // the least age at which a shared connection is replaced
}

func endpointOf(c Config) endpoint {
	return endpoint{
		address: c.Catalog.GRPCEndpoint, project: c.Catalog.Project, traceID: c.TraceID, plaintext: c.Catalog.Plaintext, allowPlaintext: c.Catalog.AllowPlaintext,
		inflightRequests: c.MaxInflightRequests, inflightBytes: c.MaxInflightBytes,
		ownConnections: c.OwnConnections, sharedConnections: c.SharedConnections,
		openTimeout: c.AppendTimeout, idleTimeout: c.IdleTimeout, sweepPeriod: c.IdleTimeout / 8,
		renewAfter: min(4*c.InitialBackoff, c.MaxBackoff),
	}
}

var processStreams = struct {
	sync.Mutex
	byEndpoint map[endpoint]*streams
}{byEndpoint: make(map[endpoint]*streams)}

// streamsFor returns the process's client of the endpoint, made on first use. It
// does not connect.
func streamsFor(ctx context.Context, e endpoint) (*streams, error) {
	processStreams.Lock()
	defer processStreams.Unlock()
	if s := processStreams.byEndpoint[e]; s != nil {
		return s, nil
	}
	s, err := newStreams(ctx, e)
	if err != nil {
		return nil, err
	}
	processStreams.byEndpoint[e] = s
	return s, nil
}

// newStreams makes the client of the connections that are not shared.
func newStreams(ctx context.Context, e endpoint) (*streams, error) {
	const streamsPerChannel = 50 // of the hundred that the service allows: a stream that reconnects has two for a while
	own := newTrunk()
	var err error
	own.client, err = newClient(ctx, e, max(min(runtime.GOMAXPROCS(0), 4), (e.ownConnections+streamsPerChannel-1)/streamsPerChannel))
	if err != nil {
		return nil, err
	}
	return &streams{
		endpoint: e, own: own,
		requests: semaphore.NewWeighted(int64(e.inflightRequests)),
		bytes:    semaphore.NewWeighted(int64(e.inflightBytes)),
		room:     semaphore.NewWeighted(int64(e.ownConnections)),
		open:     make(map[streamKey]*stream),
		shared:   make(map[bool][]*trunk),
		apart:    make(map[streamKey]struct{}),
	}, nil
}

// newClient makes a client with so many channels. Its context outlives ctx, which
// belongs to a bundle.
func newClient(ctx context.Context, e endpoint, channels int, more ...option.ClientOption) (*managedwriter.Client, error) {
	options := append([]option.ClientOption{
		option.WithGRPCConnectionPool(channels),
		option.WithGRPCDialOption(grpc.WithChainStreamInterceptor(interceptStream(e.openTimeout))),
		option.WithGRPCDialOption(grpc.WithChainUnaryInterceptor(interceptUnary)),
	}, more...)
	where, err := address.GRPC(e.address, e.plaintext, e.allowPlaintext)
	if err != nil {
		return nil, fmt.Errorf("creating the Storage Write API client: %w", err)
	}
	options = append(options, where...)
	project := e.project
	if project == "" {
		project = "-" // every stream is named in full
	}
	client, err := managedwriter.NewClient(context.WithoutCancel(ctx), project, options...)
	if err != nil {
		return nil, fmt.Errorf("creating the Storage Write API client: %w", err)
	}
	return client, nil
}

// resourceName returns "projects/p/datasets/d/tables/t" for "p.d.t". A project
// may hold dots itself ("example.com:p").
func resourceName(table string) string {
	rest, name := cutLast(table)
	project, dataset := cutLast(rest)
	return managedwriter.TableParentFromParts(project, dataset, name)
}

func cutLast(text string) (before, after string) {
	i := strings.LastIndexByte(text, '.')
	return text[:max(i, 0)], text[i+1:]
}
