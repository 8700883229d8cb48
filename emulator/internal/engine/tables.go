package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"

	bq "google.golang.org/api/bigquery/v2"
)

var tableName = regexp.MustCompile(`^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Zs}]+$`)

func checkTableName(name string) error {
	if len(name) > maxNameLen || !tableName.MatchString(name) {
		return Invalid("Invalid table ID. Table IDs must be alphanumeric (plus underscores, dashes and spaces) and must be at most 1024 characters long.")
	}
	return nil
}

// CreateTable creates an empty table, or a view, from its resource, whose reference
// it ignores. It returns the resource as it is kept. A view's schema is its caller's.
func (e *Engine) CreateTable(ctx context.Context, ref TableRef, resource *bq.Table) (*bq.Table, error) {
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	t, err := e.newTable(ref, resource, false)
	if err != nil {
		return nil, err
	}
	if err := e.transact(ctx, func(tx *sql.Tx) error { return t.create(ctx, tx) }); err != nil {
		return nil, err
	}
	e.catalog.put(t)
	return resource, nil
}

// newTable checks a resource and makes a table of it, which is nowhere yet; with
// replace there may be one of its name. The caller holds the catalog's ddl lock.
func (e *Engine) newTable(ref TableRef, resource *bq.Table, replace bool) (*Table, error) {
	if err := checkTableName(ref.Table); err != nil {
		return nil, err
	}
	d, err := e.catalog.dataset(ref.In())
	if err != nil {
		return nil, err
	}
	if _, err := e.catalog.table(ref); err == nil && !replace {
		return nil, Duplicate("Already Exists: Table %s", ref)
	}
	if err := checkTable(resource); err != nil {
		return nil, err
	}
	schema, err := NewSchema(resource, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := checkLayout(resource, schema); err != nil {
		return nil, err
	}
	schema.Version = 1
	e.catalog.nextID++
	t := &Table{ref: ref, id: e.catalog.nextID, schema: schema, resource: resource}
	resource.CreationTime, resource.Location = e.now().UnixMilli(), d.Location
	e.finishTable(t, resource)
	return t, nil
}

// create puts a new table into the database.
func (t *Table) create(ctx context.Context, tx *sql.Tx) error {
	if !t.isView() {
		if _, err := tx.ExecContext(ctx, t.schema.createSQL(baseName(t.id))); err != nil {
			return fmt.Errorf("creating table %s: %w", t.ref, err)
		}
	}
	return t.save(ctx, tx, t.resource, t.schema, t.settings)
}

// finishTable fills in what the engine decides.
func (e *Engine) finishTable(t *Table, resource *bq.Table) {
	resource.Kind, resource.Id, resource.Etag, resource.Type, resource.SelfLink = "bigquery#table", t.ref.String(), newETag(), "TABLE", ""
	if resource.View != nil {
		resource.Type = "VIEW"
	}
	resource.TableReference = &bq.TableReference{ProjectId: t.ref.Project, DatasetId: t.ref.Dataset, TableId: t.ref.Table}
	resource.LastModifiedTime = uint64(e.now().UnixMilli())
}

// save writes a table's entry of the catalog.
func (t *Table) save(ctx context.Context, tx *sql.Tx, resource *bq.Table, schema *Schema, s settings) error {
	text, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("marshaling table %s: %w", t.ref, err)
	}
	kept, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("marshaling the settings of table %s: %w", t.ref, err)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM emulator_tables WHERE id = ?", t.id); err != nil {
		return fmt.Errorf("saving table %s: %w", t.ref, err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO emulator_tables VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
		t.id, t.ref.Project, t.ref.Dataset, t.ref.Table, string(text), schema.columnIDs(), schema.Version, string(kept)); err != nil {
		return fmt.Errorf("saving table %s: %w", t.ref, err)
	}
	return nil
}

// Table finds a table or view.
func (e *Engine) Table(ref TableRef) (*Table, error) { return e.catalog.table(ref) }

// Tables returns a dataset's tables and views by name.
func (e *Engine) Tables(ref DatasetRef) ([]*Table, error) {
	if _, err := e.catalog.dataset(ref); err != nil {
		return nil, err
	}
	return e.catalog.listTables(ref), nil
}

// RenameTable gives a table another name in its dataset. Streams of the old name end.
func (e *Engine) RenameTable(ctx context.Context, ref TableRef, name string) error {
	if err := checkTableName(name); err != nil {
		return err
	}
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	t, err := e.catalog.table(ref)
	if err != nil {
		return err
	}
	to := TableRef{ref.Project, ref.Dataset, name}
	if _, err := e.catalog.table(to); err == nil {
		return Duplicate("Already Exists: Table %s", to)
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.successor(to)
	resource := *t.resource
	next.resource = &resource
	e.finishTable(next, next.resource)
	err = e.transact(ctx, func(tx *sql.Tx) error {
		if err := execute(ctx, tx, t.endStreamsSQL()); err != nil {
			return fmt.Errorf("renaming table %s: %w", ref, err)
		}
		return next.save(ctx, tx, next.resource, next.schema, next.settings)
	})
	if err != nil {
		return err
	}
	t.dropped, t.streams = true, nil
	e.catalog.remove(t)
	e.catalog.put(next)
	return nil
}

// successor is a table that has this one's rows, under any name. What holds on to
// this one finds it dropped. The caller holds mu.
func (t *Table) successor(ref TableRef) *Table {
	next := &Table{ref: ref, id: t.id, resource: t.resource, schema: t.schema, generation: t.generation, settings: t.settings, pending: t.generations(), hasHistory: t.hasHistory, pastRows: t.pastRows}
	next.rows.Store(t.rows.Load())
	next.pendingRows.Store(t.pendingRows.Load())
	next.watermark.Store(t.watermark.Load())
	next.pendingSince.Store(t.pendingSince.Load())
	next.lastUpsert.Store(t.lastUpsert.Load())
	next.pastSince.Store(t.pastSince.Load())
	return next
}

// CreateSearchIndex adds a search index to a table that isn't for CDC.
func (e *Engine) CreateSearchIndex(ctx context.Context, ref TableRef, index SearchIndex) error {
	return e.changeSettings(ctx, ref, func(t *Table, s *settings) error {
		for _, name := range index.Columns {
			if _, ok := t.schema.find(name); !ok {
				return Invalid("Column not found in table %s: %s", ref, Clip(name))
			}
		}
		if len(s.SearchIndexes) > 0 { // BigQuery has one for a table
			return Invalid("Table %s has a search index already: %s", ref, s.SearchIndexes[0].Name)
		}
		if e.activeCDC(t) {
			return Invalid("Search indexes are not supported on tables with active CDC: table %s", ref)
		}
		index.Created = e.now().UnixMilli()
		s.SearchIndexes = []SearchIndex{index}
		return nil
	})
}

// DropSearchIndex removes a search index.
func (e *Engine) DropSearchIndex(ctx context.Context, ref TableRef, name string) error {
	return e.changeSettings(ctx, ref, func(_ *Table, s *settings) error {
		if len(s.SearchIndexes) == 0 || s.SearchIndexes[0].Name != name {
			return NotFound("Not found: Search index %s of table %s", Clip(name), ref)
		}
		s.SearchIndexes = nil
		return nil
	})
}

func (e *Engine) changeSettings(ctx context.Context, ref TableRef, change func(*Table, *settings) error) error {
	t, err := e.catalog.table(ref)
	if err != nil {
		return err
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped {
		return NotFound("Not found: Table %s", ref)
	}
	next := t.settings
	if err := change(t, &next); err != nil {
		return err
	}
	if err := e.transact(ctx, func(tx *sql.Tx) error { return t.save(ctx, tx, t.resource, t.schema, next) }); err != nil {
		return err
	}
	t.settings = next
	return nil
}
