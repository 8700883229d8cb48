// Package timeline counts what was ingested, minute by minute, for the views
// WRITE_API_TIMELINE and STREAMING_TIMELINE.
package timeline

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// maxIntervals bounds what is kept: the latest intervals. BigQuery keeps 180 days.
const maxIntervals = 20_000

// Key is what requests are counted by, within one minute.
type Key struct {
	Project, Dataset, Table string
	StreamType              string // DEFAULT, COMMITTED, …; "" for insertAll
	ErrorCode               string // OK for requests that were stored
}

// Interval is the counts of one minute.
type Interval struct {
	Key
	Start    time.Time
	Requests int64
	Rows     int64
	Bytes    int64
}

// Timeline is the counts. Its zero value is ready; it is safe for any number of
// goroutines.
type Timeline struct {
	mu        sync.Mutex
	intervals map[minute]*Interval
}

type minute struct {
	Key
	at int64
}

// Add counts a request.
func (t *Timeline) Add(now time.Time, key Key, rows, bytes int64) {
	start := now.UTC().Truncate(time.Minute)
	m := minute{key, start.Unix()}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.intervals[m]
	if i == nil {
		if t.intervals == nil {
			t.intervals = map[minute]*Interval{}
		}
		if len(t.intervals) >= maxIntervals {
			t.forget()
		}
		i = &Interval{Key: key, Start: start}
		t.intervals[m] = i
	}
	i.Requests++
	i.Rows += rows
	i.Bytes += bytes
}

// forget drops the older half.
func (t *Timeline) forget() {
	times := make([]int64, 0, len(t.intervals))
	for m := range t.intervals {
		times = append(times, m.at)
	}
	slices.Sort(times)
	middle := times[len(times)/2]
	dropped := 0
	for m := range t.intervals {
		if m.at <= middle && dropped <= len(times)/2 {
			delete(t.intervals, m)
			dropped++
		}
	}
}

// Intervals returns what is kept, oldest first.
func (t *Timeline) Intervals() []Interval {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Interval, 0, len(t.intervals))
	for _, i := range t.intervals {
		list = append(list, *i)
	}
	slices.SortFunc(list, func(a, b Interval) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Dataset, b.Dataset), cmp.Compare(a.Table, b.Table),
			cmp.Compare(a.StreamType, b.StreamType), cmp.Compare(a.ErrorCode, b.ErrorCode), cmp.Compare(a.Project, b.Project))
	})
	return list
}
