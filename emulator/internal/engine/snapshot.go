package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Snapshot is tables as they are at one instant, whatever is appended, applied or
// altered after it. It is for one goroutine; Close ends it.
type Snapshot struct {
	e      *Engine
	tx     *sql.Tx
	at     time.Time
	tables map[TableRef]*frozen
}

// frozen is a table in a snapshot.
type frozen struct {
	table       *Table
	schema      *Schema
	generations []generation
	stale       bool
	hasHistory  bool
	isView      bool
	created     int64 // milliseconds since the epoch
	// ingestionUnit is that of partitions by the time of ingestion: hour; "" for others.
	ingestionUnit string
	historySince,
	pastSince, pastRows int64
}

// Snapshot begins a snapshot of tables. Views have no rows: their queries are the
// caller's to expand, before.
func (e *Engine) Snapshot(ctx context.Context, refs []TableRef) (*Snapshot, error) {
	tables, err := e.find(refs)
	if err != nil {
		return nil, err
	}
	defer lockForReading(tables)()
	return e.freeze(ctx, tables)
}

// SettledSnapshot is Snapshot for Appends and Changes: it waits for what is under way,
// so that no change shows later whose time is before the snapshot's. A mutation's Build
// must not call it.
func (e *Engine) SettledSnapshot(ctx context.Context, refs []TableRef) (*Snapshot, error) {
	tables, err := e.find(refs)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		t.admin.Lock()
		defer t.admin.Unlock()
	}
	for _, t := range tables {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	return e.freeze(ctx, tables)
}

// find finds tables, each once, in the order in which they are locked.
func (e *Engine) find(refs []TableRef) ([]*Table, error) {
	var tables []*Table
	for _, ref := range refs {
		t, err := e.catalog.table(ref)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return inOrder(tables), nil
}

// freeze begins a snapshot of tables whose mu the caller holds.
func (e *Engine) freeze(ctx context.Context, tables []*Table) (*Snapshot, error) {
	s := &Snapshot{e: e, at: e.now(), tables: make(map[TableRef]*frozen, len(tables))}
	for _, t := range tables {
		if t.dropped {
			return nil, NotFound("Not found: Table %s", t.ref)
		}
		// Before the transaction: what it lists was committed, and is in the snapshot.
		s.tables[t.ref] = t.freeze(s.at)
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	// DuckDB takes a transaction's snapshot when it first looks at the database.
	var ignored sql.NullInt64
	if err := tx.QueryRowContext(ctx, "SELECT max(opened) FROM emulator_state").Scan(&ignored); err != nil {
		return nil, rollback(tx, fmt.Errorf("taking a snapshot: %w", err))
	}
	s.tx = tx
	return s, nil
}

// freeze returns the table as it is now. The caller holds mu.
func (t *Table) freeze(now time.Time) *frozen {
	f := &frozen{
		table: t, schema: t.schema, generations: t.generations(), stale: t.stale(now),
		isView: t.isView(), created: t.resource.CreationTime,
		hasHistory: t.hasHistory, historySince: t.settings.HistorySince, pastSince: t.pastSince.Load(), pastRows: t.pastRows,
	}
	if ByIngestion(t.resource) {
		f.ingestionUnit = t.resource.TimePartitioning.Type
	}
	return f
}

// Close ends the snapshot.
func (s *Snapshot) Close() {
	// Nothing was written, or is to be kept: there is nothing that a failed rollback could lose.
	_ = s.tx.Rollback()
}

// Time is the snapshot's instant.
func (s *Snapshot) Time() time.Time { return s.at }

// Query runs a DuckDB query in which relations of the snapshot may occur. The rows
// have to be closed before another one runs.
func (s *Snapshot) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("running a query: %w", err)
	}
	return rows, nil
}

// ReadOptions says how a table is read.
type ReadOptions struct {
	// Everything asks for a runtime merge, whatever the table's max_staleness.
	Everything bool
	// Baseline asks for what was applied alone, as BigQuery's extract jobs do.
	Baseline bool
	// AsOf asks for the baseline at an earlier time; the zero time is the snapshot's.
	AsOf time.Time
	// Rows adds the column _row, a BIGINT that names the row for a Mutation.
	Rows bool
	// Partitions adds _PARTITIONTIME, TIMESTAMPTZ, and _PARTITIONDATE, DATE, to a table
	// that is partitioned by the time of ingestion.
	Partitions bool
}

// Relation is a table as DuckDB can query it.
type Relation struct {
	// SQL is a query in parentheses, whose columns have BigQuery's names and the types
	// that Column.DuckDBType tells.
	SQL    string
	Table  *Table
	Schema *Schema
	// RuntimeMerge says that the query applies pending changes.
	RuntimeMerge bool
}

// ErrNotInSnapshot is the error of asking a snapshot for a table that it was not begun
// with.
var ErrNotInSnapshot = errors.New("the snapshot is not")

// frozen finds a table that the snapshot was begun with.
func (s *Snapshot) frozen(ref TableRef) (*frozen, error) {
	f, ok := s.tables[ref]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w of table %s", ErrNotInSnapshot, ref)
	case f.isView:
		return nil, Invalid("%s is a view", ref)
	case len(f.schema.Columns) == 0:
		return nil, Invalid("Table %s does not have a schema.", ref)
	}
	return f, nil
}

// own is frozen for a caller that holds the table's admin: a table that has taken its
// name since is another one, which may be rewritten meanwhile.
func (s *Snapshot) own(t *Table) (*frozen, error) {
	f, err := s.frozen(t.ref)
	if err == nil && f.table != t {
		return nil, NotFound("Not found: Table %s: it was replaced as the statement began", t.ref)
	}
	return f, err
}

// Relation is one of the tables that the snapshot was begun with, by default as
// BigQuery shows it at the snapshot's instant: the baseline within max_staleness of
// the last apply, else with all pending changes.
func (s *Snapshot) Relation(ref TableRef, o ReadOptions) (Relation, error) {
	f, err := s.frozen(ref)
	if err != nil {
		return Relation{}, err
	}
	generations := s.generations(f, o)
	r := Relation{Table: f.table, Schema: f.schema}
	var from string
	if o.AsOf.IsZero() {
		r.RuntimeMerge = len(generations) > 0
		from = f.schema.currentSQL(f.table.id, generations, s.e.forgotten())
	} else if from, err = s.pastSQL(f, o.AsOf); err != nil {
		return Relation{}, err
	}
	names := f.schema.namedColumns()
	if o.Partitions {
		names = append(names, f.partitionColumns(s.at)...)
	}
	if o.Rows {
		names = append(names, "_ord AS _row")
	}
	r.SQL = fmt.Sprintf("(SELECT %s FROM (%s))", strings.Join(names, ", "), from)
	return r, nil
}

// generations are those that a read has to merge.
func (s *Snapshot) generations(f *frozen, o ReadOptions) []generation {
	if o.Baseline || !o.AsOf.IsZero() || !o.Everything && !f.stale || len(f.schema.Key) == 0 {
		return nil
	}
	return f.generations
}

// namedColumns selects the columns under their BigQuery names. An ARRAY is never
// NULL, also in rows that are older than the column.
func (s *Schema) namedColumns() []string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		name := columnName(c)
		if c.Repeated {
			name = "coalesce(" + name + ", [])"
		}
		names[i] = name + " AS " + quote(c.Name)
	}
	return names
}

// DuckDBType is the DuckDB type that holds the column's values exactly, and in
// BigQuery's order: what relations have.
func (c *Column) DuckDBType() string { return duckType(c) }
