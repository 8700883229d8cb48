package decode

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"beamcdc/internal/logs"
	"beamcdc/schemas/change"
	"beamcdc/transforms/metric"
)

// backwardsAfter is by how much a change must have been committed later than the
// one with the highest position for its lower position to be worth a word. Pub/Sub
// delivers out of order and again, but time and position then agree; transactions
// that take long to commit make them disagree by as long as they take.
const backwardsAfter = time.Minute

// warnEvery is how often one table is warned of.
const warnEvery = time.Minute

// maxWatched bounds the tables that are watched: their names come from messages.
const maxWatched = 10_000

var backwardsCounter = metrics.Counter("positions_backwards", metric.Changes, "Changes that were committed a minute and more after others with higher positions: a source that failed over may have sent them, and BigQuery will not let them win.")

// watcher notices that the positions of a source run backwards, as they do after
// a failover to a replica that was behind, with a recreated slot, or on a
// restored server: later changes then lose to earlier ones in BigQuery. It can
// tell by the time at which the changes were committed. It changes nothing and
// drops nothing: what to do is for the operator to say.
type watcher struct {
	mu     sync.Mutex
	tables map[watched]*highest
}

type watched struct {
	epoch uint64
	table string
}

// highest is what is known of the change with the highest position.
type highest struct {
	sequence change.Sequence
	position []byte // a copy, of which the memory is used again: an event's keeps its whole message
	commit   time.Time
	warned   time.Time // when it was last warned of
}

// watch is the process's: bundles have decoders of their own, and see a part of
// the changes each.
var watch = watcher{tables: make(map[watched]*highest)}

// backwards reports whether the change runs backwards, from which change, and
// whether that is to be said now.
func (w *watcher) backwards(epoch uint64, e *change.Event, now func() time.Time) (from highest, found, warn bool) {
	if e.Op == change.OpSnapshot || e.Sequence.IsZero() || e.CommitTime.IsZero() {
		return highest{}, false, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.tables[watched{epoch, e.Table}]
	switch {
	case h == nil && len(w.tables) >= maxWatched:
		return highest{}, false, false
	case h == nil:
		w.tables[watched{epoch, strings.Clone(e.Table)}] = &highest{e.Sequence, []byte(e.Position), e.CommitTime, time.Time{}}
		return highest{}, false, false
	case e.Sequence.Compare(h.sequence) >= 0:
		h.sequence, h.position = e.Sequence, append(h.position[:0], e.Position...)
		if e.CommitTime.After(h.commit) {
			h.commit = e.CommitTime
		}
		return highest{}, false, false
	case e.CommitTime.Before(h.commit.Add(backwardsAfter)):
		return highest{}, false, false
	}
	if at := now(); at.Sub(h.warned) >= warnEvery {
		h.warned, warn = at, true
	}
	from = *h
	from.position = bytes.Clone(h.position)
	return from, true, warn
}

// watchPositions counts and reports changes whose positions run backwards.
func (f *decodeFn) watchPositions(ctx context.Context, events []change.Event) {
	for i := range events {
		e := &events[i]
		from, found, warn := watch.backwards(f.Config.Envelope.Epoch, e, time.Now)
		if !found {
			continue
		}
		backwardsCounter.Inc(ctx, 1)
		if warn {
			logs.Warn(ctx, "positions run backwards; if the source failed over, its slot was recreated or its server restored, BigQuery keeps the older rows: raise source.epoch and start again",
				logs.SourceTable.Of(e.Table), logs.Position.Of(e.Position), logs.CommitTime.Of(e.CommitTime.UTC().Format(time.RFC3339)),
				logs.Before.Of(string(from.position)), logs.BeforeTime.Of(from.commit.UTC().Format(time.RFC3339)), logs.Epoch.Of(f.Config.Envelope.Epoch))
		}
	}
}
