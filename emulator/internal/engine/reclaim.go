package engine

import "context"

// maxEnded is from how many deleted rows on their memory is given back.
const maxEnded = 1_000_000

// requestReclaim asks for the memory of deleted rows if there are many. DuckDB gives
// it back when it makes a checkpoint, which it does by itself for files alone.
func (e *Engine) requestReclaim() {
	if e.path != "" || e.ended.Load() < maxEnded {
		return
	}
	select {
	case e.reclaims <- struct{}{}:
	default:
	}
}

// reclaim makes a checkpoint. It is the committer's to do because DuckDB makes none
// while rows are written; while others write, it is tried again later.
func (c *committer) reclaim() {
	ended := c.e.ended.Load()
	if _, err := c.conn.ExecContext(context.Background(), "CHECKPOINT"); err != nil {
		c.e.log.Debug("giving memory back", "error", err)
		return
	}
	c.e.ended.Add(-ended)
}
