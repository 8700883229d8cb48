package decode

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"beamcdc/schemas/change"
)

func TestWatcher(t *testing.T) {
	type step struct {
		position uint64
		commit   int // seconds
		op       change.Op
		found    bool
	}
	const c, r = change.OpCreate, change.OpSnapshot
	for name, steps := range map[string][]step{
		"in order":        {{10, 0, c, false}, {20, 100, c, false}},
		"delivered again": {{10, 0, c, false}, {20, 100, c, false}, {10, 0, c, false}},
		"out of order, within a long transaction's time": {{20, 0, c, false}, {10, 59, c, false}},
		"failover":                              {{900, 0, c, false}, {880, 60, c, true}, {890, 61, c, true}, {901, 62, c, false}, {895, 100, c, false}},
		"a snapshot's rows have their own rule": {{900, 0, c, false}, {880, 60, r, false}},
		"a snapshot's rows tell nothing":        {{900, 0, r, false}, {880, 600, c, false}, {870, 700, c, true}},
		"an older commit with a later position": {{900, 600, c, false}, {910, 0, c, false}, {905, 601, c, false}},
	} {
		t.Run(name, func(t *testing.T) {
			w := watcher{tables: make(map[watched]*highest)}
			for i, s := range steps {
				e := change.Event{Table: "t", Op: s.op, Sequence: change.NewSequence(0, s.position), CommitTime: time.Unix(int64(s.commit), 0)}
				if _, found, _ := w.backwards(0, &e, time.Now); found != s.found {
					t.Errorf("step %d: found %v", i, found)
				}
			}
		})
	}
}

// One table is warned of once in a while; another epoch, and another table, is
// another matter.
func TestWatcher_warns(t *testing.T) {
	w := watcher{tables: make(map[watched]*highest)}
	see := func(epoch uint64, table string, position uint64, commit, now int64) (found, warn bool) {
		e := change.Event{Table: table, Op: change.OpUpdate, Sequence: change.NewSequence(epoch, position), CommitTime: time.Unix(commit, 0)}
		_, found, warn = w.backwards(epoch, &e, func() time.Time { return time.Unix(now, 0) })
		return found, warn
	}
	see(0, "t", 900, 0, 1000)
	for _, step := range []struct {
		now  int64
		warn bool
	}{{1000, true}, {1059, false}, {1060, true}, {1061, false}} {
		if found, warn := see(0, "t", 800, 600, step.now); !found || warn != step.warn {
			t.Errorf("at %d: found %v, warn %v, want true, %v", step.now, found, warn, step.warn)
		}
	}
	if found, _ := see(1, "t", 800, 600, 2000); found {
		t.Error("a raised epoch didn't start anew")
	}
	if found, _ := see(0, "other", 800, 600, 2000); found {
		t.Error("one table was held against another")
	}
	for i := range 2 * maxWatched {
		see(0, fmt.Sprint(i), 1, 0, 2000)
	}
	if n := len(w.tables); n > maxWatched {
		t.Errorf("%d tables are watched, more than %d", n, maxWatched)
	}
}

// What is remembered of a table must not keep the message that told of it.
func TestWatcher_keepsNoMessage(t *testing.T) {
	w := watcher{tables: make(map[watched]*highest)}
	message := "table 0/1 and ten megabytes more"
	for i := range 2 {
		e := change.Event{Table: message[:5], Position: message[6:9], Op: change.OpUpdate, Sequence: change.NewSequence(0, uint64(i)), CommitTime: time.Unix(1, 0)}
		w.backwards(0, &e, time.Now)
	}
	if len(w.tables) != 1 {
		t.Fatalf("%d tables, want 1", len(w.tables))
	}
	for of, h := range w.tables {
		if unsafe.StringData(of.table) == unsafe.StringData(message) || string(h.position) != "0/1" || &h.position[0] == unsafe.StringData(message[6:]) {
			t.Errorf("table %q at %q: its memory is the message's", of.table, h.position)
		}
	}
}
