package bqcdc

import (
	"context"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// faultsEvery is the least time between two log lines about one table and
// outcome: a broken connection fails hundreds of requests at once.
const faultsEvery = 30 * time.Second

// faults logs what goes wrong with appends, one line a fault, not one a request.
type faults struct {
	mu   sync.Mutex
	seen map[fault]*sighting
}

type fault struct {
	table   string
	outcome outcome
}

type sighting struct {
	logged time.Time
	since  int // as many since then, not logged
}

// note logs what will be tried again. err is the server's, and holds no
// row's values: those are in row errors, which are never logged.
func (f *faults) note(ctx context.Context, table string, o outcome, err error) {
	f.mu.Lock()
	if f.seen == nil {
		f.seen = make(map[fault]*sighting)
	}
	s := f.seen[fault{table, o}]
	if s == nil {
		s = new(sighting)
		f.seen[fault{table, o}] = s
	}
	now := time.Now()
	if now.Sub(s.logged) < faultsEvery {
		s.since++
		f.mu.Unlock()
		return
	}
	more := s.since
	s.logged, s.since = now, 0
	f.mu.Unlock()
	log.Warnf(ctx, "bqcdc: writing to table %s is tried again (%s; %d more since the last such line): %s", table, o, more, clip(err.Error()))
}
