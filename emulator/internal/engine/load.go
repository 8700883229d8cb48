package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"
)

// catalogDDL creates what the database keeps the catalog in. There are no
// indexes: the catalog is read once, when the database is opened.
const catalogDDL = `
CREATE TABLE IF NOT EXISTS emulator_state(opened BIGINT);
CREATE TABLE IF NOT EXISTS emulator_datasets(project VARCHAR, dataset VARCHAR, resource VARCHAR);
CREATE TABLE IF NOT EXISTS emulator_tables(id BIGINT, project VARCHAR, dataset VARCHAR, name VARCHAR, resource VARCHAR, columns VARCHAR, version BIGINT,
	settings VARCHAR, dropped BIGINT);
CREATE TABLE IF NOT EXISTS emulator_cdc(id BIGINT, watermark BIGINT, past BIGINT);
CREATE TABLE IF NOT EXISTS emulator_jobs(id VARCHAR, project VARCHAR, dataset VARCHAR, name VARCHAR, location VARCHAR,
	created BIGINT, started BIGINT, ended BIGINT, bytes BIGINT, changes BIGINT, slot_ms BIGINT);
CREATE TABLE IF NOT EXISTS emulator_streams(id UBIGINT, table_id BIGINT, kind UTINYINT, created BIGINT, next BIGINT, flushed BIGINT, finalized BOOLEAN, committed BIGINT);
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
	rows, err := e.db.QueryContext(ctx, `SELECT t.id, project, dataset, name, resource, columns, version, settings, coalesce(dropped, 0), coalesce(estimated_size, 0),
			coalesce(watermark, 0), coalesce(past, 0),
			coalesce((SELECT estimated_size FROM duckdb_tables() AS h WHERE h.table_name = 'h' || t.id), -1)
		FROM emulator_tables AS t LEFT JOIN emulator_cdc AS c ON c.id = t.id LEFT JOIN duckdb_tables() AS d ON d.table_name = 'b' || t.id`)
	if err != nil {
		return fmt.Errorf("reading the catalog's tables: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	now := e.now().UnixMicro()
	byID := map[int64]*Table{}
	for rows.Next() {
		t := &Table{resource: &bq.Table{}}
		var text, columns, settings string
		var version, dropped, size, watermark, past int64
		err := rows.Scan(&t.id, &t.ref.Project, &t.ref.Dataset, &t.ref.Table, &text, &columns, &version, &settings, &dropped, &size, &watermark, &past, &t.pastRows)
		if err != nil {
			return fmt.Errorf("reading the catalog's tables: %w", err)
		}
		t.hasHistory = t.pastRows >= 0
		t.pastRows = max(0, t.pastRows)
		ids := map[string]int{}
		if err := json.Unmarshal([]byte(text), t.resource); err != nil {
			return fmt.Errorf("reading table %s of the catalog: %w", t.ref, err)
		}
		if err := json.Unmarshal([]byte(settings), &t.settings); err != nil {
			return fmt.Errorf("reading settings of table %s of the catalog: %w", t.ref, err)
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
			t.pendingSince.Store(now)
		}
		t.watermark.Store(watermark)
		t.pastSince.Store(past)
		c.nextID = max(c.nextID, t.id)
		byID[t.id] = t
		if dropped > 0 {
			t.dropped = true
			c.dropped = append(c.dropped, droppedTable{t, dropped})
			continue
		}
		c.tables[t.ref] = t
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the catalog's tables: %w", err)
	}
	slices.SortFunc(c.dropped, func(a, b droppedTable) int { return cmp.Compare(a.at, b.at) })
	return e.loadStreams(ctx, byID)
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
