package bqcdc

import (
	"context"
	"sync"
	"time"

	"beamcdc/internal/logs"
)

// faultsEvery is the least time between two log lines about one table and
// outcome: a broken connection fails hundreds of requests at once.
const faultsEvery = 30 * time.Second

// faultyTables is of how many tables one outcome is logged in that time: a shared
// connection, or BigQuery itself, fails thousands at once.
const faultyTables = 10

// faults logs what goes wrong with appends, one line a fault, not one a request.
type faults struct {
	mu   sync.Mutex
	seen [outcomes]sightings
}

// sightings are those of one outcome since a time.
type sightings struct {
	since    time.Time
	tables   map[string]struct{} // that were logged
	unlogged int                 // since then, and before
}

// note logs what will be tried again. err is the server's, and holds no
// row's values: those are in row errors, which are never logged.
func (f *faults) note(ctx context.Context, table string, o outcome, err error) {
	more, ok := f.see(table, o, time.Now())
	if !ok {
		return
	}
	logs.Warn(ctx, "an append is sent again", logs.Table.Of(table), logs.Outcome.Of(o), logs.Error.Of(err), logs.Suppressed.Of(more))
}

// see reports whether a fault is to be logged, and how many were not.
func (f *faults) see(table string, o outcome, now time.Time) (more int, logged bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.seen[o]
	if now.Sub(s.since) >= faultsEvery {
		s.since, s.tables = now, make(map[string]struct{})
	}
	if _, known := s.tables[table]; known || len(s.tables) >= faultyTables {
		s.unlogged++
		return 0, false
	}
	s.tables[table] = struct{}{}
	more, s.unlogged = s.unlogged, 0
	return more, true
}
