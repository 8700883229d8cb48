package engine

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// timeTravel is how long a table's past is kept, and a table that was dropped.
const timeTravel = 7 * 24 * time.Hour

// maxDropped bounds how many dropped tables are kept; the oldest go first.
const maxDropped = 100

// DropTable drops a table or view. Undrop brings a table back.
func (e *Engine) DropTable(ctx context.Context, ref TableRef) error {
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	t, err := e.catalog.table(ref)
	if err != nil {
		return err
	}
	if err := e.drop(ctx, t); err != nil {
		return err
	}
	return e.purgeDropped(ctx)
}

// drop drops a table. The caller holds the catalog's ddl lock.
func (e *Engine) drop(ctx context.Context, t *Table) error {
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	now := e.now().UnixMicro()
	err := e.transact(ctx, func(tx *sql.Tx) error {
		if err := execute(ctx, tx, t.dropSQL(now)); err != nil {
			return fmt.Errorf("dropping table %s: %w", t.ref, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.gone(t, now)
	return nil
}

// dropSQL makes a table one that was dropped at this time. The caller holds mu.
func (t *Table) dropSQL(now int64) []string {
	return append(t.endStreamsSQL(), fmt.Sprintf("UPDATE emulator_tables SET dropped = %d WHERE id = %d", now, t.id))
}

// gone makes known that a table was dropped. The caller holds its mu for writing.
func (e *Engine) gone(t *Table, now int64) {
	t.dropped, t.streams = true, nil
	e.catalog.remove(t)
	e.catalog.dropped = append(e.catalog.dropped, droppedTable{t, now})
}

// endStreamsSQL forgets the table's streams. The caller holds mu.
func (t *Table) endStreamsSQL() []string {
	var statements []string
	for _, s := range t.streams {
		if s.stored {
			statements = append(statements, "DROP TABLE "+streamTableName(s.id))
		}
	}
	if len(t.streams) > 0 {
		statements = append(statements, fmt.Sprintf("DELETE FROM emulator_streams WHERE table_id = %d", t.id))
	}
	return statements
}

// Undrop brings back the table that had this name at a time, as it was when it was
// dropped, under the name to.
func (e *Engine) Undrop(ctx context.Context, ref TableRef, at time.Time, to TableRef) error {
	if err := checkTableName(to.Table); err != nil {
		return err
	}
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	if err := e.purgeDropped(ctx); err != nil {
		return err
	}
	if _, err := e.catalog.dataset(to.In()); err != nil {
		return err
	}
	if _, err := e.catalog.table(to); err == nil {
		return Duplicate("Already Exists: Table %s", to)
	}
	i := slices.IndexFunc(e.catalog.dropped, func(d droppedTable) bool {
		return d.table.ref == ref && d.at >= at.UnixMicro() && d.table.resource.CreationTime <= at.UnixMilli()
	})
	if i < 0 {
		return NotFound("Not found: Table %s at %s", ref, at.UTC().Format(time.RFC3339Nano))
	}
	old := e.catalog.dropped[i].table
	next := old.successor(to)
	resource := *old.resource
	next.resource = &resource
	e.finishTable(next, next.resource)
	if err := e.transact(ctx, func(tx *sql.Tx) error { return next.save(ctx, tx, next.resource, next.schema, next.settings) }); err != nil {
		return err
	}
	e.catalog.dropped = slices.Delete(e.catalog.dropped, i, i+1)
	e.catalog.put(next)
	return nil
}

// purgeDropped ends the dropped tables that are too old or too many. The caller holds
// the catalog's ddl lock.
func (e *Engine) purgeDropped(ctx context.Context) error {
	before := e.now().Add(-timeTravel).UnixMicro()
	for len(e.catalog.dropped) > 0 && (e.catalog.dropped[0].at < before || len(e.catalog.dropped) > maxDropped) {
		if err := e.purge(ctx, e.catalog.dropped[0].table); err != nil {
			return err
		}
		e.catalog.dropped = e.catalog.dropped[1:]
	}
	return nil
}

// purge ends a dropped table for good.
func (e *Engine) purge(ctx context.Context, t *Table) error {
	statements := []string{
		"DROP TABLE IF EXISTS " + baseName(t.id), "DROP TABLE IF EXISTS " + historyName(t.id),
		fmt.Sprintf("DELETE FROM emulator_tables WHERE id = %d", t.id), fmt.Sprintf("DELETE FROM emulator_cdc WHERE id = %d", t.id),
	}
	for _, g := range t.generations() {
		statements = append(statements, "DROP TABLE "+pendingName(t.id, g.number))
	}
	return e.transact(ctx, func(tx *sql.Tx) error {
		if err := execute(ctx, tx, statements); err != nil {
			return fmt.Errorf("ending table %s: %w", t.ref, err)
		}
		return nil
	})
}
