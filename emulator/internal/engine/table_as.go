package engine

import (
	"context"
	"database/sql"
	"fmt"

	bq "google.golang.org/api/bigquery/v2"
)

// TableAs is a table that is created with rows.
type TableAs struct {
	Ref      TableRef
	Resource *bq.Table // with the schema; its reference is ignored
	Reads    []TableRef
	// Replace drops a table of this name that is there.
	Replace bool
	// ChangeHistory sets enable_change_history.
	ChangeHistory bool
	// Build makes the query, which gives all columns, by position. Nil is for no rows.
	Build func(*Snapshot) (query string, args []any, err error)
}

// CreateTableAs creates a table with the rows of a query: all of it, or nothing. It
// returns the resource as it is kept, and the number of rows.
func (e *Engine) CreateTableAs(ctx context.Context, a TableAs) (*bq.Table, int64, error) {
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	old, err := e.catalog.table(a.Ref)
	if err != nil {
		old = nil
	} else if !a.Replace {
		return nil, 0, Duplicate("Already Exists: Table %s", a.Ref)
	}
	t, err := e.newTable(a.Ref, a.Resource, a.Replace)
	if err != nil {
		return nil, 0, err
	}
	if a.ChangeHistory {
		t.settings.HistorySince = e.now().UnixMicro()
	}
	snapshot, err := e.Snapshot(ctx, a.Reads)
	if err != nil {
		return nil, 0, err
	}
	defer snapshot.Close() // after a commit it does nothing
	if err := t.create(ctx, snapshot.tx); err != nil {
		return nil, 0, err
	}
	var rows int64
	if a.Build != nil {
		query, args, err := a.Build(snapshot)
		if err != nil {
			return nil, 0, err
		}
		names := make([]string, len(t.schema.Columns))
		for i, c := range t.schema.Columns {
			names[i] = c.Name
		}
		w := rewrite{e: e, f: &frozen{table: t, schema: t.schema}, tx: snapshot.tx, now: snapshot.at}
		if err := w.stage(ctx, "SELECT 'INSERT', NULL::BIGINT, * FROM ("+query+")", args, names); err != nil {
			return nil, 0, err
		}
		changed, err := w.check(ctx)
		if err != nil {
			return nil, 0, err
		}
		if err := w.replace(ctx, changed); err != nil {
			return nil, 0, err
		}
		rows = changed.Inserted
		t.rows.Store(rows)
	}
	if old != nil {
		return a.Resource, rows, e.dropFor(ctx, old, t, snapshot.tx)
	}
	if err := snapshot.tx.Commit(); err != nil {
		return nil, 0, fmt.Errorf("committing table %s: %w", a.Ref, err)
	}
	e.catalog.put(t)
	return a.Resource, rows, nil
}

// dropFor commits a transaction that has created the successor of a table of its
// name, and drops the table in it. The caller holds the catalog's ddl lock.
func (e *Engine) dropFor(ctx context.Context, old, next *Table, tx *sql.Tx) error {
	old.admin.Lock()
	defer old.admin.Unlock()
	old.mu.Lock()
	defer old.mu.Unlock()
	now := e.now().UnixMicro()
	if err := execute(ctx, tx, old.dropSQL(now)); err != nil {
		return fmt.Errorf("replacing table %s: %w", old.ref, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("replacing table %s: %w", old.ref, err)
	}
	e.gone(old, now)
	e.catalog.put(next)
	return nil
}
