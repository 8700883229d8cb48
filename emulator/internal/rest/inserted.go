package rest

import (
	"sync"
	"time"

	"beamcdc/emulator/internal/engine"
)

const (
	insertIDLifetime = time.Minute
	maxInsertIDs     = 1_000_000 // about 100 MB
)

// inserted remembers the insertIds of the last minute, so that a row which is sent
// again isn't stored again. It is best effort, as BigQuery's: of more than maxInsertIDs
// the oldest are forgotten.
type inserted struct {
	mu  sync.Mutex
	ids map[insertID]time.Time
	// order has them by time. An ID that was forgotten and came back is there twice.
	order []insertID
}

type insertID struct {
	table engine.TableRef
	id    string
}

// claim says whether this is the first row of its ID within a minute.
func (s *inserted) claim(key insertID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.ids[key]; ok && now.Sub(at) < insertIDLifetime {
		return false
	}
	if s.ids == nil {
		s.ids = map[insertID]time.Time{}
	}
	drop := 0
	for drop < len(s.order) {
		oldest := s.order[drop]
		if at, ok := s.ids[oldest]; ok && len(s.order)-drop < maxInsertIDs && now.Sub(at) < insertIDLifetime {
			break
		}
		delete(s.ids, oldest)
		drop++
	}
	s.order = append(s.order[drop:], key)
	s.ids[key] = now
	return true
}

// release forgets IDs whose rows weren't stored.
func (s *inserted) release(keys []insertID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.ids, key)
	}
}
