package emulator

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

// Stats returns the counts so far. They are taken one by one, not at one instant.
func (s *Server) Stats() Stats {
	stored, asked := s.engine.Stats(), s.writes.Stats()
	return Stats{
		Requests: asked.Requests, Errors: asked.Errors, Rows: stored.Rows, RowErrors: asked.RowErrors,
		Commits: stored.Commits, Merges: stored.Merges, Pending: stored.Pending, Tables: stored.Tables,
	}
}
