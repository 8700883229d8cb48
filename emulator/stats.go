package emulator

import "sync/atomic"

// Stats counts what a server has done since it started.
type Stats struct {
	Requests  int64 `json:"requests"`   // AppendRows requests taken
	Errors    int64 `json:"errors"`     // of those, answered with an error
	Rows      int64 `json:"rows"`       // rows stored: pending changes and plain rows
	RowErrors int64 `json:"row_errors"` // rows that a row error named
	Commits   int64 `json:"commits"`    // transactions that stored rows
	Merges    int64 `json:"merges"`     // times that pending changes were applied to a baseline
	Pending   int64 `json:"pending"`    // changes that wait to be applied
	Tables    int64 `json:"tables"`
}

type stats struct {
	requests, errors, rows, rowErrors, commits, merges atomic.Int64
}

// Stats returns the counts so far. They are taken one by one, not at one instant.
func (s *Server) Stats() Stats {
	c := &s.store.stats
	counts := Stats{
		Requests: c.requests.Load(), Errors: c.errors.Load(), Rows: c.rows.Load(), RowErrors: c.rowErrors.Load(),
		Commits: c.commits.Load(), Merges: c.merges.Load(),
	}
	for _, t := range s.catalog.all() {
		counts.Tables++
		counts.Pending += t.pendingRows.Load()
	}
	return counts
}
