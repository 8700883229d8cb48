package engine

import (
	"slices"
	"strings"
	"sync"

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

// catalog holds what there is, as the database keeps it.
type catalog struct {
	ddl sync.Mutex // serializes what creates and deletes; taken before all others

	mu       sync.RWMutex
	datasets map[DatasetRef]*bq.Dataset // never modified: a change puts a new one in place
	tables   map[TableRef]*Table
	nextID   int64          // the ID that was given last; guarded by ddl
	dropped  []droppedTable // oldest first; guarded by ddl
}

// droppedTable is a table that was dropped, and when, in microseconds since the epoch.
type droppedTable struct {
	table *Table
	at    int64
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

// put makes a table known.
func (c *catalog) put(t *Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tables[t.ref] = t
}

// remove makes a table unknown.
func (c *catalog) remove(t *Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tables, t.ref)
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
