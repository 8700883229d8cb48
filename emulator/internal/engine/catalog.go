package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	bq "google.golang.org/api/bigquery/v2"
)

// DatasetRef names a dataset as BigQuery does: case counts.
type DatasetRef struct{ Project, Dataset string }

// TableRef names a table as BigQuery does: case counts.
type TableRef struct{ Project, Dataset, Table string }

func (r DatasetRef) String() string { return r.Project + ":" + r.Dataset }
func (r TableRef) String() string   { return r.Project + ":" + r.Dataset + "." + r.Table }

// Dotted is the name as the Write API's messages print it: "p.d.t".
func (r TableRef) Dotted() string { return r.Project + "." + r.Dataset + "." + r.Table }

// In is the table's dataset.
func (r TableRef) In() DatasetRef { return DatasetRef{r.Project, r.Dataset} }

// Table is one table.
//
// Lock order: admin, then mu. admin is held by what rewrites a table (a merge, a
// schema change, its end) for as long as that takes; mu is held for writing only
// while the result takes effect, and for reading while a commit appends to the
// Table or a query takes its snapshot.
type Table struct {
	ref TableRef
	id  int64

	admin sync.Mutex
	mu    sync.RWMutex
	// All below are guarded by mu.
	dropped    bool
	resource   *bq.Table // never modified: a change puts a new one in place
	schema     *Schema
	generation int64 // the number of the one that takes rows now

	// pending lists the generations that hold rows, oldest first. The committer adds
	// to it under mu's read lock, so it has a lock of its own; what it lists is
	// removed under mu's write lock alone.
	pendingMu sync.Mutex
	pending   []generation

	rows        atomic.Int64 // in the baseline, about: decides when a merge pays
	pendingRows atomic.Int64

	mergeRequested atomic.Bool

	// Whether changes with and without a sequence were stored since the server started.
	sequenced, unsequenced, warned atomic.Bool
}

// Ref is the table's name, which stays the same.
func (t *Table) Ref() TableRef { return t.ref }

// Schema is the table's schema as it is now. A later change puts a new one in place.
func (t *Table) Schema() *Schema {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.schema
}

// Resource is the table's resource as it is now. Nobody may modify it.
func (t *Table) Resource() *bq.Table {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.resource
}

// PendingChanges is the number of changes that wait to be applied.
func (t *Table) PendingChanges() int64 { return t.pendingRows.Load() }

// generations returns the generations that hold rows.
func (t *Table) generations() []generation {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	return slices.Clone(t.pending)
}

// hasGeneration reports whether the generation that takes rows exists in the database.
func (t *Table) hasGeneration() bool {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	return len(t.pending) > 0 && t.pending[len(t.pending)-1].number == t.generation
}

// addPending counts rows that were added to the generation that takes rows.
func (t *Table) addPending(rows int64) {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	if n := len(t.pending); n == 0 || t.pending[n-1].number != t.generation {
		t.pending = append(t.pending, generation{number: t.generation})
	}
	t.pending[len(t.pending)-1].rows += rows
	t.pendingRows.Add(rows)
}

// dropPending forgets the generations up to this one, which were merged. The
// caller holds mu for writing.
func (t *Table) dropPending(last int64) {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	t.pending = slices.DeleteFunc(t.pending, func(g generation) bool {
		if g.number > last {
			return false
		}
		t.pendingRows.Add(-g.rows)
		return true
	})
}

// generation is one DuckDB table of pending changes. A merge closes the one that
// takes rows, so that what it reads stands still while appends go on.
type generation struct {
	number int64
	rows   int64
}

// catalog holds what there is, as the database keeps it.
type catalog struct {
	ddl sync.Mutex // serializes what creates and deletes; taken before all others

	mu       sync.RWMutex
	datasets map[DatasetRef]*bq.Dataset // never modified: a change puts a new one in place
	tables   map[TableRef]*Table
	nextID   int64 // the ID that was given last; guarded by ddl
}

func (c *catalog) dataset(ref DatasetRef) (*bq.Dataset, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if d, ok := c.datasets[ref]; ok {
		return d, nil
	}
	return nil, NotFound("Not found: Dataset %s", ref)
}

func (c *catalog) table(ref TableRef) (*Table, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if t, ok := c.tables[ref]; ok {
		return t, nil
	}
	if _, ok := c.datasets[ref.In()]; !ok {
		return nil, NotFound("Not found: Dataset %s", ref.In())
	}
	return nil, NotFound("Not found: Table %s", ref)
}

// listDatasets returns a project's datasets by name.
func (c *catalog) listDatasets(project string) []*bq.Dataset {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var list []*bq.Dataset
	for ref, d := range c.datasets {
		if ref.Project == project {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *bq.Dataset) int {
		return strings.Compare(a.DatasetReference.DatasetId, b.DatasetReference.DatasetId)
	})
	return list
}

// listTables returns a dataset's tables by name.
func (c *catalog) listTables(ref DatasetRef) []*Table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var list []*Table
	for r, t := range c.tables {
		if r.In() == ref {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *Table) int { return strings.Compare(a.ref.Table, b.ref.Table) })
	return list
}

// all returns every table, in no order.
func (c *catalog) all() []*Table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*Table, 0, len(c.tables))
	for _, t := range c.tables {
		list = append(list, t)
	}
	return list
}

// catalogDDL creates what the database keeps the catalog in. There are no
// indexes: the catalog is read once, when the database is opened.
const catalogDDL = `
CREATE TABLE IF NOT EXISTS emulator_state(opened BIGINT);
CREATE TABLE IF NOT EXISTS emulator_datasets(project VARCHAR, dataset VARCHAR, resource VARCHAR);
CREATE TABLE IF NOT EXISTS emulator_tables(id BIGINT, project VARCHAR, dataset VARCHAR, name VARCHAR, resource VARCHAR, columns VARCHAR, version BIGINT);
INSERT INTO emulator_state SELECT 0 WHERE NOT EXISTS (FROM emulator_state);
UPDATE emulator_state SET opened = opened + 1;
`

// columnIDs is the catalog's form of which DuckDB column holds which column.
func (s *Schema) columnIDs() string {
	ids := map[string]int{}
	for _, c := range s.Columns {
		ids[strings.ToLower(c.Name)] = c.id
	}
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // a map of numbers
	}
	return string(text)
}

// loadCatalog reads the catalog of a database that was just opened.
func (e *Engine) loadCatalog(ctx context.Context) (*catalog, error) {
	c := &catalog{datasets: map[DatasetRef]*bq.Dataset{}, tables: map[TableRef]*Table{}}
	rows, err := e.db.QueryContext(ctx, "SELECT project, dataset, resource FROM emulator_datasets")
	if err != nil {
		return nil, fmt.Errorf("reading the catalog's datasets: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	for rows.Next() {
		var ref DatasetRef
		var text string
		if err := rows.Scan(&ref.Project, &ref.Dataset, &text); err != nil {
			return nil, fmt.Errorf("reading the catalog's datasets: %w", err)
		}
		d := &bq.Dataset{}
		if err := json.Unmarshal([]byte(text), d); err != nil {
			return nil, fmt.Errorf("reading dataset %s of the catalog: %w", ref, err)
		}
		c.datasets[ref] = d
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the catalog's datasets: %w", err)
	}
	return c, e.loadTables(ctx, c)
}

func (e *Engine) loadTables(ctx context.Context, c *catalog) error {
	pending, err := e.pendingTables(ctx)
	if err != nil {
		return err
	}
	rows, err := e.db.QueryContext(ctx, `SELECT id, project, dataset, name, resource, columns, version, coalesce(estimated_size, 0)
		FROM emulator_tables LEFT JOIN duckdb_tables() ON table_name = 'b' || id`)
	if err != nil {
		return fmt.Errorf("reading the catalog's tables: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	for rows.Next() {
		t := &Table{resource: &bq.Table{}}
		var text, columns string
		var version, size int64
		if err := rows.Scan(&t.id, &t.ref.Project, &t.ref.Dataset, &t.ref.Table, &text, &columns, &version, &size); err != nil {
			return fmt.Errorf("reading the catalog's tables: %w", err)
		}
		ids := map[string]int{}
		if err := json.Unmarshal([]byte(text), t.resource); err != nil {
			return fmt.Errorf("reading table %s of the catalog: %w", t.ref, err)
		}
		if err := json.Unmarshal([]byte(columns), &ids); err != nil {
			return fmt.Errorf("reading columns of table %s of the catalog: %w", t.ref, err)
		}
		if t.schema, err = NewSchema(t.resource, nil, ids); err != nil {
			return fmt.Errorf("reading table %s of the catalog: %w", t.ref, err)
		}
		t.schema.Version = version
		t.pending = pending[t.id]
		t.rows.Store(size)
		for _, g := range t.pending {
			t.generation = max(t.generation, g.number)
			t.pendingRows.Add(g.rows)
		}
		c.nextID = max(c.nextID, t.id)
		c.tables[t.ref] = t
	}
	return rows.Err()
}

// pendingTables finds the pending changes that a database was left with.
func (e *Engine) pendingTables(ctx context.Context) (map[int64][]generation, error) {
	rows, err := e.db.QueryContext(ctx, `SELECT table_name, estimated_size FROM duckdb_tables() WHERE regexp_matches(table_name, '^p\d+_\d+$')`)
	if err != nil {
		return nil, fmt.Errorf("finding pending changes: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	found := map[int64][]generation{}
	for rows.Next() {
		var name string
		var g generation
		var id int64
		if err := rows.Scan(&name, &g.rows); err != nil {
			return nil, fmt.Errorf("finding pending changes: %w", err)
		}
		if _, err := fmt.Sscanf(name, "p%d_%d", &id, &g.number); err != nil {
			return nil, fmt.Errorf("finding pending changes in %s: %w", name, err)
		}
		found[id] = append(found[id], g)
	}
	for _, generations := range found {
		slices.SortFunc(generations, func(a, b generation) int { return int(a.number - b.number) })
	}
	return found, rows.Err()
}
