package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// How a row of the past ended.
const (
	endDeleted  = iota // by a DELETE, TRUNCATE or overwrite
	endReplaced        // by another row: an UPDATE, a change of its key
)

// createHistorySQL creates the table that keeps a table's past (h<id>): the rows that
// were live once, with when they ended, in microseconds since the epoch, and how.
func (s *Schema) createHistorySQL(id int64) string {
	return strings.Replace(s.createSQL(historyName(id)), metaDDL, metaDDL+", _ended BIGINT, _end UTINYINT", 1)
}

// defaultMaxPast bounds the rows of the past that a table keeps without
// enable_change_history: all go when there are more.
const defaultMaxPast = 1_000_000

func (t *Table) keepsPast() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.hasHistory && !t.dropped
}

// trimHistory forgets what the table was before the time-travel window.
func (e *Engine) trimHistory(ctx context.Context, t *Table) error {
	if !t.keepsPast() { // without waiting for what is under way
		return nil
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	if !t.keepsPast() {
		return nil
	}
	result, err := e.db.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE _ended < %d", historyName(t.id), e.now().Add(-timeTravel).UnixMicro()))
	if err != nil {
		return fmt.Errorf("trimming the history of %s: %w", t.ref, err)
	}
	trimmed, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("trimming the history of %s: %w", t.ref, err)
	}
	e.ended.Add(trimmed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pastRows -= trimmed
	return nil
}

// pastSQL selects the columns of the rows that the baseline had at a time, and rowMeta.
func (s *Snapshot) pastSQL(f *frozen, at time.Time) (string, error) {
	micros, now := at.UnixMicro(), s.at.UnixMicro()
	switch {
	case micros > now:
		return "", Invalid("Cannot query table %s at %s, which is in the future.", f.table.ref, at.UTC().Format(time.RFC3339Nano))
	case micros < now-timeTravel.Microseconds():
		return "", Invalid("Invalid snapshot time %s for table %s: it is before the time travel window of seven days.", at.UTC().Format(time.RFC3339Nano), f.table.ref)
	case at.UnixMilli() < f.created:
		return "", NotFound("Not found: Table %s at %s", f.table.ref, at.UTC().Format(time.RFC3339Nano))
	case micros < f.pastSince:
		return "", Unimplemented("table %s at %s is not known: without enable_change_history this emulator keeps nothing that a change by primary key replaced, and not all else",
			f.table.ref, at.UTC().Format(time.RFC3339Nano))
	}
	names := make([]string, 0, len(f.schema.Columns)+1)
	for _, c := range f.schema.Columns {
		names = append(names, columnName(c))
	}
	columns := strings.Join(append(names, rowMeta), ", ")
	query := fmt.Sprintf("SELECT %s FROM %s WHERE _kind > 0 AND _at <= %d", columns, baseName(f.table.id), micros)
	if f.hasHistory {
		query += fmt.Sprintf(" UNION ALL SELECT %s FROM %s WHERE _at <= %d AND _ended > %d", columns, historyName(f.table.id), micros, micros)
	}
	return query, nil
}
