package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	bq "google.golang.org/api/bigquery/v2"
)

var tableName = regexp.MustCompile(`^[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Zs}]+$`)

func validTableName(name string) bool { return len(name) <= maxNameLen && tableName.MatchString(name) }

// CreateTable creates an empty table from its resource, whose reference it
// ignores. It returns the resource as it is kept.
func (e *Engine) CreateTable(ctx context.Context, ref TableRef, resource *bq.Table) (*bq.Table, error) {
	if !validTableName(ref.Table) {
		return nil, Invalid("Invalid table ID. Table IDs must be alphanumeric (plus underscores, dashes and spaces) and must be at most 1024 characters long.")
	}
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	d, err := e.catalog.dataset(ref.In())
	if err != nil {
		return nil, err
	}
	if _, err := e.catalog.table(ref); err == nil {
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
	err = e.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema.createSQL(baseName(t.id))); err != nil {
			return fmt.Errorf("creating table %s: %w", ref, err)
		}
		return saveTable(ctx, tx, t, resource, schema)
	})
	if err != nil {
		return nil, err
	}
	e.catalog.mu.Lock()
	defer e.catalog.mu.Unlock()
	e.catalog.tables[ref] = t
	return resource, nil
}

// finishTable fills in what the engine decides.
func (e *Engine) finishTable(t *Table, resource *bq.Table) {
	resource.Kind, resource.Id, resource.Etag, resource.Type, resource.SelfLink = "bigquery#table", t.ref.String(), newETag(), "TABLE", ""
	resource.TableReference = &bq.TableReference{ProjectId: t.ref.Project, DatasetId: t.ref.Dataset, TableId: t.ref.Table}
	resource.LastModifiedTime = uint64(e.now().UnixMilli())
}

// saveTable writes a table's entry of the catalog.
func saveTable(ctx context.Context, tx *sql.Tx, t *Table, resource *bq.Table, schema *Schema) error {
	text, err := json.Marshal(resource)
	if err != nil {
		return fmt.Errorf("marshaling table %s: %w", t.ref, err)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM emulator_tables WHERE id = ?", t.id); err != nil {
		return fmt.Errorf("saving table %s: %w", t.ref, err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO emulator_tables VALUES (?, ?, ?, ?, ?, ?, ?)",
		t.id, t.ref.Project, t.ref.Dataset, t.ref.Table, string(text), schema.columnIDs(), schema.Version); err != nil {
		return fmt.Errorf("saving table %s: %w", t.ref, err)
	}
	return nil
}

// Table finds a table.
func (e *Engine) Table(ref TableRef) (*Table, error) { return e.catalog.table(ref) }

// Tables returns a dataset's tables by name.
func (e *Engine) Tables(ref DatasetRef) ([]*Table, error) {
	if _, err := e.catalog.dataset(ref); err != nil {
		return nil, err
	}
	return e.catalog.listTables(ref), nil
}

// DropTable drops a table and its rows.
func (e *Engine) DropTable(ctx context.Context, ref TableRef) error {
	e.catalog.ddl.Lock()
	defer e.catalog.ddl.Unlock()
	t, err := e.catalog.table(ref)
	if err != nil {
		return err
	}
	return e.drop(ctx, t)
}

// drop drops a table. The caller holds the catalog's ddl lock.
func (e *Engine) drop(ctx context.Context, t *Table) error {
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	var statements strings.Builder
	fmt.Fprintf(&statements, "DROP TABLE %s; DELETE FROM emulator_tables WHERE id = %d;", baseName(t.id), t.id)
	for _, g := range t.generations() {
		fmt.Fprintf(&statements, "DROP TABLE %s;", pendingName(t.id, g.number))
	}
	err := e.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statements.String()); err != nil {
			return fmt.Errorf("dropping table %s: %w", t.ref, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.dropped = true
	t.dropPending(t.generation)
	e.catalog.mu.Lock()
	defer e.catalog.mu.Unlock()
	delete(e.catalog.tables, t.ref)
	return nil
}
