package logs

import (
	"sync"
	"time"
)

// Seldom lets a line of a kind through now and then, for what may happen for each row or
// request: a line tells a fault, not a row. The zero value is ready for use, by any
// goroutine; it must not be copied.
type Seldom struct {
	mu   sync.Mutex
	seen map[string]*sighting
}

// Every is how often a line of a kind is let through.
const Every = 30 * time.Second

// maxKinds bounds what is remembered: a kind may have a name that comes from a message.
const maxKinds = 10_000

type sighting struct {
	logged     time.Time
	suppressed int // since then
}

// Ask reports whether it is time for a line of this kind, and how many were not let
// through since the last.
func (s *Seldom) Ask(kind string) (suppressed int, ok bool) { return s.ask(kind, time.Now()) }

func (s *Seldom) ask(kind string, now time.Time) (suppressed int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || len(s.seen) >= maxKinds {
		s.seen = make(map[string]*sighting)
	}
	of := s.seen[kind]
	if of == nil {
		of = new(sighting)
		s.seen[kind] = of
	}
	if now.Sub(of.logged) < Every {
		of.suppressed++
		return 0, false
	}
	suppressed = of.suppressed
	of.logged, of.suppressed = now, 0
	return suppressed, true
}
