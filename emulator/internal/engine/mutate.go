package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Mutation is a statement that changes a table's rows: DML, or a query or load that
// appends or overwrites. One query says what becomes of which rows.
type Mutation struct {
	Target TableRef
	Reads  []TableRef // what else the query reads
	// Statement is what error messages call it: UPDATE, DELETE, MERGE. "" is for an
	// INSERT and the like, which CDC doesn't stand in the way of.
	Statement string
	// Overwrite deletes all rows first.
	Overwrite bool
	// Build makes the query, which gives first
	//
	//	_op   VARCHAR: INSERT, UPDATE or DELETE
	//	_row  BIGINT: which row, by ReadOptions.Rows; NULL for an INSERT
	//
	// and then the new values of these columns, by position. Names are not looked at,
	// and neither are a DELETE's values. If there may be an UPDATE, all columns are
	// given; else those that aren't get their default values.
	Build func(*Snapshot) (query string, args []any, columns []string, err error)
}

// Changed counts the rows that a mutation changed.
type Changed struct{ Inserted, Updated, Deleted int64 }

// Mutate runs a mutation: all of it, or nothing. Appends and reads go on meanwhile.
func (e *Engine) Mutate(ctx context.Context, m Mutation) (Changed, error) {
	t, err := e.catalog.table(m.Target)
	if err != nil {
		return Changed{}, err
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	if m.Statement != "" || m.Overwrite {
		t.mu.RLock()
		err := e.checkMutable(t, cmp.Or(m.Statement, "Overwriting rows"))
		t.mu.RUnlock()
		if err != nil {
			return Changed{}, err
		}
	}
	snapshot, err := e.Snapshot(ctx, append(slices.Clone(m.Reads), m.Target))
	if err != nil {
		return Changed{}, err
	}
	defer snapshot.Close() // after a commit it does nothing
	f, err := snapshot.own(t)
	if err != nil {
		return Changed{}, err
	}
	query, args, columns, err := m.Build(snapshot)
	if err != nil {
		return Changed{}, err
	}
	w := rewrite{e: e, f: f, tx: snapshot.tx, now: snapshot.at}
	if err := w.stage(ctx, query, args, columns); err != nil {
		return Changed{}, err
	}
	changed, err := w.check(ctx)
	if err != nil {
		return Changed{}, err
	}
	deleted := changed.Deleted
	if m.Overwrite {
		if deleted, err = w.deleteAll(ctx); err != nil {
			return Changed{}, err
		}
	}
	if err := w.replace(ctx, changed); err != nil {
		return Changed{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := snapshot.tx.Commit(); err != nil {
		return Changed{}, fmt.Errorf("committing changes of table %s: %w", t.ref, err)
	}
	t.rows.Add(changed.Inserted - deleted)
	e.ended.Add(deleted + changed.Updated)
	w.done()
	return changed, nil
}

// Truncate deletes all rows of a table, and returns how many there were.
func (e *Engine) Truncate(ctx context.Context, ref TableRef) (int64, error) {
	t, err := e.catalog.table(ref)
	if err != nil {
		return 0, err
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.RLock()
	err = e.checkMutable(t, "TRUNCATE TABLE")
	t.mu.RUnlock()
	if err != nil {
		return 0, err
	}
	snapshot, err := e.Snapshot(ctx, []TableRef{ref})
	if err != nil {
		return 0, err
	}
	defer snapshot.Close() // after a commit it does nothing
	f, err := snapshot.own(t)
	if err != nil {
		return 0, err
	}
	w := rewrite{e: e, f: f, tx: snapshot.tx, now: snapshot.at}
	deleted, err := w.deleteAll(ctx)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := snapshot.tx.Commit(); err != nil {
		return 0, fmt.Errorf("truncating table %s: %w", ref, err)
	}
	t.rows.Add(-deleted)
	e.ended.Add(deleted)
	w.done()
	return deleted, nil
}
