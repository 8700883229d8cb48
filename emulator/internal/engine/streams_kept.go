package engine

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// loadStreams reads the streams of a database that was just opened.
func (e *Engine) loadStreams(ctx context.Context, tables map[int64]*Table) error {
	rows, err := e.db.QueryContext(ctx, `SELECT id, table_id, kind, created, next, flushed, finalized, coalesce(committed, 0), estimated_size IS NOT NULL
		FROM emulator_streams LEFT JOIN duckdb_tables() ON table_name = 's' || id`)
	if err != nil {
		return fmt.Errorf("reading the catalog's streams: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	now := e.now().UnixMicro()
	for rows.Next() {
		s := &Stream{}
		var table, created, next, committed int64
		if err := rows.Scan(&s.id, &table, &s.kind, &created, &next, &s.flushed, &s.finalized, &committed, &s.stored); err != nil {
			return fmt.Errorf("reading the catalog's streams: %w", err)
		}
		if s.table = tables[table]; s.table == nil {
			continue
		}
		s.created = time.UnixMicro(created)
		s.next.Store(next)
		s.used.Store(now)
		if committed > 0 {
			s.committed = time.UnixMicro(committed)
		}
		if s.table.streams == nil {
			s.table.streams = map[uint64]*Stream{}
		}
		s.table.streams[s.id] = s
	}
	return rows.Err()
}

// forgetStreams forgets the table's streams that weren't used for streamLife.
func (e *Engine) forgetStreams(ctx context.Context, t *Table) error {
	before := e.now().Add(-streamLife).UnixMicro()
	t.mu.RLock()
	var old []*Stream
	for _, s := range t.streams {
		if s.used.Load() < before {
			old = append(old, s)
		}
	}
	t.mu.RUnlock()
	for _, s := range old {
		err := s.change(ctx, e, func(tx *sql.Tx) (func(), error) {
			err := execute(ctx, tx, []string{"DROP TABLE IF EXISTS " + streamTableName(s.id), fmt.Sprintf("DELETE FROM emulator_streams WHERE id = %d", s.id)})
			if err != nil {
				return nil, fmt.Errorf("forgetting stream %s: %w", s.ID(), err)
			}
			return func() { delete(t.streams, s.id) }, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
