package emulator

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

// datasetRef and tableRef name things as BigQuery does: case counts.
type datasetRef struct{ project, dataset string }

type tableRef struct{ project, dataset, table string }

func (r datasetRef) String() string { return r.project + ":" + r.dataset }
func (r tableRef) String() string   { return r.project + ":" + r.dataset + "." + r.table }
func (r tableRef) dotted() string   { return r.project + "." + r.dataset + "." + r.table }
func (r tableRef) path() string {
	return fmt.Sprintf("projects/%s/datasets/%s/tables/%s", r.project, r.dataset, r.table)
}
func (r tableRef) in() datasetRef { return datasetRef{r.project, r.dataset} }

// dataset is a dataset's resource, never modified: a change puts a new one in place.
type dataset struct {
	resource *bq.Dataset
}

// table is one table.
//
// Lock order: admin, then mu. admin is held by what rewrites a table (a merge, a
// schema change, its end) for as long as that takes; mu is held for writing only
// while the result takes effect, and for reading while a commit appends to the
// table or a query takes its snapshot.
type table struct {
	ref tableRef
	id  int64

	admin sync.Mutex
	mu    sync.RWMutex
	// All below are guarded by mu.
	dropped    bool
	resource   *bq.Table // never modified: a change puts a new one in place
	schema     *schema
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

// generations returns the generations that hold rows.
func (t *table) generations() []generation {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	return slices.Clone(t.pending)
}

// hasGeneration reports whether the generation that takes rows exists in the database.
func (t *table) hasGeneration() bool {
	t.pendingMu.Lock()
	defer t.pendingMu.Unlock()
	return len(t.pending) > 0 && t.pending[len(t.pending)-1].number == t.generation
}

// addPending counts rows that were added to the generation that takes rows.
func (t *table) addPending(rows int64) {
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
func (t *table) dropPending(last int64) {
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
	datasets map[datasetRef]*dataset
	tables   map[tableRef]*table
	nextID   int64 // the ID that was given last; guarded by ddl
}

func (c *catalog) dataset(ref datasetRef) (*dataset, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if d, ok := c.datasets[ref]; ok {
		return d, nil
	}
	return nil, notFound("Not found: Dataset %s", ref)
}

func (c *catalog) table(ref tableRef) (*table, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if t, ok := c.tables[ref]; ok {
		return t, nil
	}
	if _, ok := c.datasets[ref.in()]; !ok {
		return nil, notFound("Not found: Dataset %s", ref.in())
	}
	return nil, notFound("Not found: Table %s", ref)
}

// listDatasets returns a project's datasets by name.
func (c *catalog) listDatasets(project string) []*bq.Dataset {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var list []*bq.Dataset
	for ref, d := range c.datasets {
		if ref.project == project {
			list = append(list, d.resource)
		}
	}
	slices.SortFunc(list, func(a, b *bq.Dataset) int {
		return strings.Compare(a.DatasetReference.DatasetId, b.DatasetReference.DatasetId)
	})
	return list
}

// listTables returns a dataset's tables by name.
func (c *catalog) listTables(ref datasetRef) []*table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var list []*table
	for r, t := range c.tables {
		if r.in() == ref {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *table) int { return strings.Compare(a.ref.table, b.ref.table) })
	return list
}

// all returns every table, in no order.
func (c *catalog) all() []*table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]*table, 0, len(c.tables))
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
func (s *schema) columnIDs() string {
	ids := map[string]int{}
	for _, c := range s.columns {
		ids[strings.ToLower(c.name)] = c.id
	}
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // a map of numbers
	}
	return string(text)
}

// loadCatalog reads the catalog of a database that was just opened.
func (st *store) loadCatalog(ctx context.Context) (*catalog, error) {
	c := &catalog{datasets: map[datasetRef]*dataset{}, tables: map[tableRef]*table{}}
	rows, err := st.db.QueryContext(ctx, "SELECT project, dataset, resource FROM emulator_datasets")
	if err != nil {
		return nil, fmt.Errorf("reading the catalog's datasets: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	for rows.Next() {
		var ref datasetRef
		var text string
		if err := rows.Scan(&ref.project, &ref.dataset, &text); err != nil {
			return nil, fmt.Errorf("reading the catalog's datasets: %w", err)
		}
		d := &dataset{resource: &bq.Dataset{}}
		if err := json.Unmarshal([]byte(text), d.resource); err != nil {
			return nil, fmt.Errorf("reading dataset %s of the catalog: %w", ref, err)
		}
		c.datasets[ref] = d
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the catalog's datasets: %w", err)
	}
	return c, st.loadTables(ctx, c)
}

func (st *store) loadTables(ctx context.Context, c *catalog) error {
	pending, err := st.pendingTables(ctx)
	if err != nil {
		return err
	}
	rows, err := st.db.QueryContext(ctx, `SELECT id, project, dataset, name, resource, columns, version, coalesce(estimated_size, 0)
		FROM emulator_tables LEFT JOIN duckdb_tables() ON table_name = 'b' || id`)
	if err != nil {
		return fmt.Errorf("reading the catalog's tables: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	for rows.Next() {
		t := &table{resource: &bq.Table{}}
		var text, columns string
		var version, size int64
		if err := rows.Scan(&t.id, &t.ref.project, &t.ref.dataset, &t.ref.table, &text, &columns, &version, &size); err != nil {
			return fmt.Errorf("reading the catalog's tables: %w", err)
		}
		ids := map[string]int{}
		if err := json.Unmarshal([]byte(text), t.resource); err != nil {
			return fmt.Errorf("reading table %s of the catalog: %w", t.ref, err)
		}
		if err := json.Unmarshal([]byte(columns), &ids); err != nil {
			return fmt.Errorf("reading columns of table %s of the catalog: %w", t.ref, err)
		}
		if t.schema, err = newSchema(t.resource, nil, ids); err != nil {
			return fmt.Errorf("reading table %s of the catalog: %w", t.ref, err)
		}
		t.schema.version = version
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
func (st *store) pendingTables(ctx context.Context) (map[int64][]generation, error) {
	rows, err := st.db.QueryContext(ctx, `SELECT table_name, estimated_size FROM duckdb_tables() WHERE regexp_matches(table_name, '^p\d+_\d+$')`)
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
