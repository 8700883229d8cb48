package engine

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	bq "google.golang.org/api/bigquery/v2"
)

// Table is one table.
//
// Lock order: admin, then mu. admin is held by what rewrites a table (an apply, a
// schema change, its end) for as long as that takes; mu is held for writing only
// while the result takes effect, and for reading while a commit appends to the
// Table or a query takes its snapshot.
type Table struct {
	ref TableRef
	id  int64

	admin sync.Mutex
	mu    sync.RWMutex
	// All below are guarded by mu.
	dropped    bool
	resource   *bq.Table // never modified: a change puts a new one in place
	schema     *Schema
	generation int64 // the number of the one that takes rows now

	// pending lists the generations that hold rows, oldest first. The committer adds
	// to it under mu's read lock, so it has a lock of its own; what it lists is
	// removed under mu's write lock alone.
	pendingMu sync.Mutex
	pending   []generation

	settings settings
	streams  map[uint64]*Stream // nil for none

	hasHistory bool  // whether h<id> exists
	pastRows   int64 // in h<id>, about

	rows        atomic.Int64 // in the baseline, about: decides when an apply pays
	pendingRows atomic.Int64

	applyRequested atomic.Bool
	apply          atomic.Pointer[ApplyJob] // that is asked for, or runs; nil for none

	// Times in microseconds since the epoch, 0 for never.
	watermark    atomic.Int64 // up to when changes are applied
	pendingSince atomic.Int64 // when the oldest of the pending changes was ingested, about
	lastUpsert   atomic.Int64 // when a change was stored last
	upsertHolds  atomic.Int64 // connections that have stored changes
	applyFailed  atomic.Int64 // when a background apply failed last
	pastSince    atomic.Int64 // what the table was before isn't known any more

	// Whether changes with and without a sequence were stored since the server started.
	sequenced, unsequenced, warned atomic.Bool
	warnedTies                     atomic.Bool // of changes that watchTies finds
}

// inOrder lists tables, each once, in the order in which whoever locks several locks
// them. A writer that waits keeps new readers out, so that even two readers who hold
// one of two tables each would wait for each other's.
func inOrder(all []*Table) []*Table {
	seen := make(map[*Table]bool, len(all))
	var tables []*Table
	for _, t := range all {
		if !seen[t] {
			seen[t] = true
			tables = append(tables, t)
		}
	}
	slices.SortFunc(tables, func(a, b *Table) int { return cmp.Compare(a.id, b.id) })
	return tables
}

// lockForReading locks tables' mu for reading; unlock unlocks them.
func lockForReading(tables []*Table) (unlock func()) {
	tables = inOrder(tables)
	for _, t := range tables {
		t.mu.RLock()
	}
	return func() {
		for _, t := range tables {
			t.mu.RUnlock()
		}
	}
}

// settings is what a table has beside its resource, as the catalog keeps it.
type settings struct {
	// HistorySince is since when enable_change_history is set, in microseconds since
	// the epoch; 0 while it isn't.
	HistorySince  int64         `json:"historySince,omitempty"`
	SearchIndexes []SearchIndex `json:"searchIndexes,omitempty"`
}

// SearchIndex is a search index of a table. It speeds nothing up here.
type SearchIndex struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns,omitempty"` // empty for all
	Created int64    `json:"created"`           // milliseconds since the epoch
}

// IsView says whether this is a view: a query in its resource, without rows of its own.
func (t *Table) IsView() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.isView()
}

// isView is IsView for a caller that holds mu.
func (t *Table) isView() bool { return t.resource.View != nil }

// ChangeHistory says whether enable_change_history is set.
func (t *Table) ChangeHistory() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.settings.HistorySince > 0
}

// SearchIndexes lists the table's search indexes.
func (t *Table) SearchIndexes() []SearchIndex {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.settings.SearchIndexes
}

// Ref is the table's name, which stays the same.
func (t *Table) Ref() TableRef { return t.ref }

// Schema is the table's schema as it is now. A later change puts a new one in place.
func (t *Table) Schema() *Schema {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.schema
}

// Resource is the table's resource as it is now. Nobody may modify it.
func (t *Table) Resource() *bq.Table {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.resource
}

// PendingChanges is the number of changes that wait to be applied.
func (t *Table) PendingChanges() int64 { return t.pendingRows.Load() }

// generations returns the generations that hold rows.
func (t *Table) generations() []generation {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	return slices.Clone(t.pending)
}

// hasGeneration reports whether the generation that takes rows exists in the database.
func (t *Table) hasGeneration() bool {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	return len(t.pending) > 0 && t.pending[len(t.pending)-1].number == t.generation
}

// addPending counts rows that were added to the generation that takes rows.
func (t *Table) addPending(rows int64) {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	if n := len(t.pending); n == 0 || t.pending[n-1].number != t.generation {
		t.pending = append(t.pending, generation{number: t.generation})
	}
	t.pending[len(t.pending)-1].rows += rows
	t.pendingRows.Add(rows)
}

// dropPending forgets the generations up to this one, which were merged. The
// caller holds mu for writing.
func (t *Table) dropPending(last int64) {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	t.pending = slices.DeleteFunc(t.pending, func(g generation) bool {
		if g.number > last {
			return false
		}
		t.pendingRows.Add(-g.rows)
		return true
	})
}

// generation is one DuckDB table of pending changes. An apply closes the one that
// takes rows, so that what it reads stands still while appends go on.
type generation struct {
	number int64
	rows   int64
}
