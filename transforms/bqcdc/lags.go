package bqcdc

import (
	"sync"
	"sync/atomic"
	"time"
)

// lags are the streams of the process that BigQuery did not take rows of when it was last
// asked: its writers did not know the schema, or the table was in trouble. Who has rows of
// such a stream doesn't ask again for a while: it lets them wait aside, or waits where
// nobody else has to. What is known of one ends by itself, since those who ask may be gone.
type lags struct {
	known atomic.Int32 // a look at it saves taking mu for every row

	mu    sync.Mutex
	until map[streamKey]lag
}

// lag is what is known of a stream.
type lag struct {
	until  time.Time
	schema bool // its schema was unknown
}

// note says that BigQuery did not take rows of the stream, for the next d; schema says
// that its writers did not know theirs.
func (l *lags) note(key streamKey, d time.Duration, schema bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = make(map[streamKey]lag)
	}
	now := time.Now()
	for other, known := range l.until {
		if now.After(known.until) {
			delete(l.until, other)
		}
	}
	l.until[key] = lag{now.Add(d), schema}
	l.known.Store(int32(len(l.until)))
}

// over says that BigQuery answers for the stream.
func (l *lags) over(key streamKey) {
	if l.known.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, key)
	l.known.Store(int32(len(l.until)))
}

// of reports whether BigQuery did not take rows of the stream a moment ago, and whether
// that was because it did not know their schema.
func (l *lags) of(key streamKey) (lags, schema bool) {
	if l.known.Load() == 0 {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.until[key]
	lags = ok && time.Now().Before(known.until)
	return lags, lags && known.schema
}
