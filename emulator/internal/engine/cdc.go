package engine

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// upsertIdle is how long after its last change an open connection still counts as an
// active upsert stream. BigQuery doesn't document its own.
const upsertIdle = 30 * time.Minute

// CDCState is what CDC makes of a table at a moment.
type CDCState struct {
	Pending      int64         // changes that aren't applied to the baseline
	ActiveStream bool          // a connection is open that sent changes, the last of them within half an hour
	Watermark    time.Time     // upsert_stream_apply_watermark: up to when changes are applied; zero before the first apply
	MaxStaleness time.Duration // 0 for none
	RuntimeMerge bool          // a read now applies the pending changes for itself
}

// CDCState tells how the table's changes stand.
func (e *Engine) CDCState(t *Table) CDCState {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := CDCState{Pending: t.pendingRows.Load(), ActiveStream: e.activeStream(t), MaxStaleness: t.maxStaleness()}
	if w := t.watermark.Load(); w > 0 {
		s.Watermark = time.UnixMicro(w)
	}
	s.RuntimeMerge = s.Pending > 0 && t.stale(e.now())
	return s
}

// HoldUpserts says that a connection has sent changes for the table; the connection
// calls release when it ends.
func (e *Engine) HoldUpserts(t *Table) (release func()) {
	t.upsertHolds.Add(1)
	return sync.OnceFunc(func() { t.upsertHolds.Add(-1) })
}

func (e *Engine) activeStream(t *Table) bool {
	return t.upsertHolds.Load() > 0 && e.now().Sub(time.UnixMicro(t.lastUpsert.Load())) < upsertIdle
}

// activeCDC says whether BigQuery would call the table "active with CDC".
func (e *Engine) activeCDC(t *Table) bool { return t.pendingRows.Load() > 0 || e.activeStream(t) }

// maxStaleness is the table's max_staleness. A month counts as 30 days. The caller
// holds mu.
func (t *Table) maxStaleness() time.Duration {
	if t.resource.MaxStaleness == "" {
		return 0
	}
	v, err := ParseInterval(t.resource.MaxStaleness)
	i, ok := v.(duckdb.Interval)
	if err != nil || !ok { // checkTable refuses such
		return 0
	}
	return time.Duration(i.Months)*30*24*time.Hour + time.Duration(i.Days)*24*time.Hour + time.Duration(i.Micros)*time.Microsecond
}

// stale says whether the baseline is too old to be read at this moment: the pending
// changes must be applied for the read. The caller holds mu.
//
// Within the window since the last apply a read sees the baseline. Before the first
// apply there is no such window, and neither is there one before an apply of the
// future: the clock was set back, as a moved one is when the process starts again.
func (t *Table) stale(now time.Time) bool {
	watermark := t.watermark.Load()
	limit := t.maxStaleness()
	since := now.Sub(time.UnixMicro(watermark))
	return limit <= 0 || watermark == 0 || since < 0 || since > limit
}

// checkMutable refuses statements that change rows while CDC does. The caller holds mu.
func (e *Engine) checkMutable(t *Table, statement string) error {
	var reason string
	switch n := t.pendingRows.Load(); {
	case n > 0:
		reason = fmt.Sprintf("%d streamed changes have not been applied yet", n)
	case e.activeStream(t):
		reason = "an upsert stream is active"
	default:
		return nil
	}
	return &Error{
		Code: http.StatusBadRequest, Reason: "invalidQuery", Status: "INVALID_ARGUMENT",
		Message: fmt.Sprintf("%s is not supported on table %s with active CDC: %s.", statement, t.ref, reason),
	}
}

// CheckCDC refuses tables that can't take changes by primary key, with the reason.
func (t *Table) CheckCDC() error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	switch {
	case t.isView():
		return Invalid("%s is a view", t.ref)
	case len(t.schema.Columns) > MaxCDCColumns:
		return Invalid("The table %s has %d top-level columns; a table with active CDC can't have more than %d.", t.ref.Dotted(), len(t.schema.Columns), MaxCDCColumns)
	case len(t.settings.SearchIndexes) > 0:
		return Invalid("The table %s has a search index, which a table with active CDC can't have.", t.ref.Dotted())
	}
	return nil
}
