package fill

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *readFn) dofn.Func { return dofn.Func5x1(f.ProcessElement) })
	register.Emitter3[beam.EventTime, []byte, change.RowChange]()
}

// readFn asks BigQuery for rows that this process has not asked for before, many at a
// time, before their changes are filled in. The versions of the values come with the
// row, so that it doesn't matter what else is remembered of it: a change that is older
// than a value doesn't win over it, and one that is later does.
//
// A new row isn't asked for, nor one that is deleted for good, not under another key:
// nothing that BigQuery may have is needed for them. But one that was published before
// this process began may be a change that comes again or late, of a row that a process
// before this one has written from later changes without it; what those were only
// BigQuery can tell.
type readFn struct {
	Config Config

	tables  tables
	asking  map[string]bool // keys that this bundle asks for
	pending []pendingChange
	wanted  int       // rows of them
	since   time.Time // when the first of them came
}

type pendingChange struct {
	at   beam.EventTime
	key  []byte
	c    change.RowChange
	asks bool
}

// maxPause is for how long changes wait for others to be asked for together, while
// more come.
const maxPause = time.Second

// Setup finds the process's catalog.
func (f *readFn) Setup(ctx context.Context) (err error) {
	f.tables, err = openTables(ctx, f.Config)
	return err
}

// StartBundle forgets a bundle that failed.
func (f *readFn) StartBundle(context.Context, func(beam.EventTime, []byte, change.RowChange)) {
	f.asking, f.pending, f.wanted = make(map[string]bool), nil, 0
}

// ProcessElement passes a change on, or lets it wait for its row.
func (f *readFn) ProcessElement(
	ctx context.Context, at beam.EventTime, key []byte, c change.RowChange, emit func(beam.EventTime, []byte, change.RowChange),
) error {
	s, err := f.tables.of(c.Event.Table)
	if err != nil {
		return err
	}
	asks := s.reads() && f.asks(s, &c) && !f.asking[string(key)] && !asked.has(string(key))
	if !asks && len(f.pending) == 0 {
		emit(at, key, c)
		return nil
	}
	// What comes after a change that waits waits too: the other way round a late
	// answer would only make more revisions.
	if len(f.pending) == 0 {
		f.since = time.Now()
	}
	f.pending = append(f.pending, pendingChange{at, key, c, asks})
	if asks {
		f.asking[string(key)] = true
		f.wanted++
	}
	if f.wanted >= catalog.MaxRows || time.Since(f.since) >= maxPause {
		return f.flush(ctx, emit)
	}
	return nil
}

// FinishBundle asks for the last rows. Only now they count as asked for: a bundle that
// fails comes again, without what it was told.
func (f *readFn) FinishBundle(ctx context.Context, emit func(beam.EventTime, []byte, change.RowChange)) error {
	if err := f.flush(ctx, emit); err != nil {
		return err
	}
	asked.add(f.asking)
	return nil
}

// asks reports whether what BigQuery has of the row may matter to the change.
func (f *readFn) asks(s *settings, c *change.RowChange) bool {
	switch {
	case c.Type == change.Delete:
		return s.soft != nil || s.fills && c.MovedTo != nil // the row goes on under another key
	case c.MovedFrom != nil:
		return true
	}
	return c.Event.Op != change.OpCreate && c.Event.Op != change.OpSnapshot || f.isEarly(c)
}

// began is when this process did, and skew by how much Pub/Sub's clock may be behind its
// own, and messages may be published in another order than that of their changes.
var began = time.Now()

const skew = time.Minute

// isEarly reports whether another process may have known changes of the row that are
// later than this one. What is published later was all taken by this process.
func (f *readFn) isEarly(c *change.RowChange) bool {
	at := c.Event.Message.PublishTime
	return !at.IsZero() && at.Before(began.Add(skew))
}

func (f *readFn) flush(ctx context.Context, emit func(beam.EventTime, []byte, change.RowChange)) error {
	type batch struct {
		match catalog.Match
		of    []*pendingChange
	}
	batches := make(map[string]*batch)
	for i := range f.pending {
		p := &f.pending[i]
		if !p.asks {
			continue
		}
		match, _ := f.tables.catalog.Route(p.c.Event.Table)
		if batches[p.c.Table] == nil {
			batches[p.c.Table] = &batch{match: match}
		}
		batches[p.c.Table].of = append(batches[p.c.Table].of, p)
	}
	for name, b := range batches {
		if err := f.readAll(ctx, b.match, b.of); err != nil {
			return fmt.Errorf("reading rows of %s: %w", name, err)
		}
	}
	for i := range f.pending {
		emit(f.pending[i].at, f.pending[i].key, f.pending[i].c)
	}
	f.pending, f.wanted = nil, 0
	return nil
}

// readAll reads the rows of changes of one table, again until RetryFor is over:
// invariant 7, a BigQuery out of reach is no fault of the change.
func (f *readFn) readAll(ctx context.Context, match catalog.Match, of []*pendingChange) error {
	const firstPause, longestPause, retryFor = 250 * time.Millisecond, 10 * time.Second, 10 * time.Minute
	patience := f.Config.RetryFor
	if patience == 0 {
		patience = retryFor
	}
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := f.readOnce(ctx, match, of)
		if err == nil || catalog.IsPermanent(err) || !time.Now().Add(pause).Before(end) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *readFn) readOnce(ctx context.Context, match catalog.Match, of []*pendingChange) error {
	d, err := f.tables.catalog.Destination(ctx, match)
	if err != nil {
		return err
	}
	keys := make([][]change.Value, len(of))
	for i, p := range of {
		if keys[i], err = change.Key(p.c.Key).Values(); err != nil {
			return err
		}
	}
	queriesCounter.Inc(ctx, 1)
	readCounter.Inc(ctx, int64(len(of)))
	rows, err := f.tables.catalog.Rows(ctx, d.Table, keys)
	if err != nil {
		return err
	}
	byKey := make(map[string][]change.Column, len(rows))
	for _, row := range rows {
		key, err := d.Plan.AppendKey(nil, row)
		if err != nil {
			return err
		}
		byKey[string(key)] = row
	}
	for _, p := range of {
		p.c.Read = true
		row, ok := byKey[string(p.c.Key)]
		if !ok {
			continue
		}
		foundCounter.Inc(ctx, 1)
		var key []change.Column
		for _, name := range d.Table.PrimaryKey {
			v, _ := find(row, name)
			key = append(key, change.Column{Name: name, Value: v})
		}
		p.c.Stored = change.AppendRowChange(nil, &change.RowChange{
			Event: change.Event{Table: p.c.Event.Table, Op: change.OpUpdate, Key: key, Partial: p.c.Event.Partial},
			Table: p.c.Table, Key: p.c.Key, Type: change.Upsert, Columns: row,
		})
	}
	return nil
}

// asked are the keys whose rows this process has asked for. What a process remembers
// of rows on a runner that keeps its state in memory is gone with it, and so is this.
var asked = keySet{keys: make(map[string]struct{})}

type keySet struct {
	mu   sync.Mutex
	keys map[string]struct{}
}

func (k *keySet) has(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.keys[key]
	return ok
}

// add remembers keys, as many as it has room for: asking again does no harm.
func (k *keySet) add(keys map[string]bool) {
	const most = 1_000_000
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.keys)+len(keys) > most {
		clear(k.keys)
	}
	for key := range keys {
		k.keys[key] = struct{}{}
	}
}
