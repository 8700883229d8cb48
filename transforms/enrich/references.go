package enrich

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"beamcdc/internal/logs"
	"beamcdc/schemas/enrichment"
)

// joined is a lookup's table in this process, shared by all that look something up in it.
type joined struct {
	name    string // for logs and errors: the file, the table, "the query"
	read    reader
	refresh time.Duration
	index   atomic.Pointer[enrichment.Index]

	mu      sync.Mutex
	version string    // of what was read last; "" where that has none
	readAt  time.Time // when reading what serves began

	refreshes, failures atomic.Int64 // since they were counted last
}

// reader reads a reference. version is what it had when it was read last: where
// that is what it has still, the index is nil.
type reader func(ctx context.Context, version string) (index *enrichment.Index, now string, err error)

// errUnchanged says that a reference is what it was.
var errUnchanged = errors.New("it is unchanged")

// process has this process's references: Beam tears nothing down, and makes a DoFn
// instance for each bundle that runs at the same time, which must not have a table each.
var process = struct {
	sync.Mutex
	flight     singleflight.Group
	references map[string]*joined
}{references: make(map[string]*joined)}

// openReference returns the process's table for a lookup, read on first use.
func openReference(ctx context.Context, c Config, join enrichment.Join) (*joined, error) {
	id, err := json.Marshal(struct {
		Config    Config
		Sources   [5]string
		Nulls     string
		Refresh   time.Duration
		Reference *enrichment.Reference
	}{
		c,
		[5]string{join.Lookup.CSV, join.Lookup.JSONLines, join.Lookup.Parquet, join.Lookup.Table, join.Lookup.Query},
		join.Lookup.Nulls, join.Lookup.Refresh, join.Reference,
	})
	if err != nil {
		return nil, fmt.Errorf("marshalling a lookup: %w", err)
	}
	known := func() *joined {
		process.Lock()
		defer process.Unlock()
		return process.references[string(id)]
	}
	if r := known(); r != nil {
		return r, nil
	}
	// All who wait for the first read share it, and it goes on when the first of them
	// gives up: its context belongs to a bundle, the table does not.
	flight := process.flight.DoChan(string(id), func() (any, error) {
		if r := known(); r != nil {
			return r, nil
		}
		r := &joined{name: sourceName(join.Lookup), read: readerOf(c, join), refresh: join.Lookup.Refresh}
		loading, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.loadFor())
		defer cancel()
		if err := r.first(loading); err != nil {
			return nil, err
		}
		process.Lock()
		defer process.Unlock()
		process.references[string(id)] = r
		if r.refresh > 0 {
			go r.keep(context.WithoutCancel(ctx), c.loadFor())
		}
		return r, nil
	})
	select {
	case result := <-flight:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*joined), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// first reads the reference for the first time, again while the world may only be slow.
func (r *joined) first(ctx context.Context) error {
	const firstPause, longestPause = 250 * time.Millisecond, 10 * time.Second
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := r.load(ctx)
		if err == nil || !isTransient(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// load reads the reference. What served before serves until the new one is whole.
func (r *joined) load(ctx context.Context) error {
	start := time.Now()
	r.mu.Lock()
	version := r.version
	r.mu.Unlock()
	index, version, err := r.read(ctx, version)
	if err != nil && !errors.Is(err, errUnchanged) {
		return fmt.Errorf("reading the reference %s: %w", r.name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readAt = start
	if err == nil {
		r.version = version
		r.index.Store(index)
	}
	return nil
}

// keep reads the reference again on its period, for as long as the process lives. A
// failure is logged when it begins and when it is over, and counted each time.
func (r *joined) keep(ctx context.Context, loadFor time.Duration) {
	failing := false
	for range time.Tick(r.refresh) {
		loading, cancel := context.WithTimeout(ctx, loadFor)
		err := r.load(loading)
		cancel()
		switch {
		case err != nil:
			r.failures.Add(1)
			if !failing {
				logs.Warn(ctx, "a reference can't be read again; what was read before goes on serving", logs.Reference.Of(r.name), logs.Error.Of(err))
			}
			failing = true
		default:
			r.refreshes.Add(1)
			if failing {
				logs.Info(ctx, "a reference can be read again", logs.Reference.Of(r.name))
			}
			failing = false
		}
	}
}

// age returns how long ago what serves was known to be true.
func (r *joined) age() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.readAt)
}
