package engine

import "sync/atomic"

// Stats counts what an engine has done since it was opened, and what it holds.
type Stats struct {
	Rows    int64 // rows stored: pending changes and plain rows
	Commits int64 // transactions that stored rows
	Merges  int64 // times that pending changes were applied to a baseline
	Pending int64 // changes that wait to be applied
	Tables  int64
}

type counts struct {
	rows, commits, merges atomic.Int64
}

// Stats returns the counts so far. They are taken one by one, not at one instant.
func (e *Engine) Stats() Stats {
	s := Stats{Rows: e.counts.rows.Load(), Commits: e.counts.commits.Load(), Merges: e.counts.merges.Load()}
	for _, t := range e.catalog.all() {
		s.Tables++
		s.Pending += t.pendingRows.Load()
	}
	return s
}
