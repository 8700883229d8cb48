package engine

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"
)

// ChangeTable replaces a table's resource by what change makes of it, and alters
// what is stored to fit it; an error of change leaves all as it is.
func (e *Engine) ChangeTable(ctx context.Context, ref TableRef, change func(current *bq.Table) (*bq.Table, error)) (*bq.Table, error) {
	t, err := e.catalog.table(ref)
	if err != nil {
		return nil, err
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped {
		return nil, NotFound("Not found: Table %s", t.ref)
	}
	changed, err := change(t.resource)
	if err != nil {
		return nil, err
	}
	if changed.Schema == nil {
		changed.Schema = t.resource.Schema
	}
	if err := checkTable(changed); err != nil {
		return nil, err
	}
	next, err := NewSchema(changed, t.schema, nil)
	if err != nil {
		return nil, err
	}
	if err := checkLayout(changed, next); err != nil {
		return nil, err
	}
	if err := checkSchemaChange(t.ref, t.schema.Columns, next.Columns, ""); err != nil {
		return nil, err
	}
	changed.CreationTime, changed.Location = t.resource.CreationTime, t.resource.Location
	e.finishTable(t, changed)
	next.Version = t.schema.Version
	if !sameSchema(t.schema, next) {
		next.Version++
	}
	generations := t.generations()
	err = e.transact(ctx, func(tx *sql.Tx) error {
		var statements []string
		if len(generations) > 0 && !slices.Equal(t.schema.keyColumns(""), next.keyColumns("")) {
			statements = t.schema.mergeSQL(t.id, generations, e.forgotten())
			generations = nil
		}
		statements = append(statements, alterSQL(t.schema, next, baseName(t.id))...)
		for _, g := range generations {
			statements = append(statements, alterSQL(t.schema, next, pendingName(t.id, g.number))...)
		}
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("altering table %s: %w", t.ref, err)
			}
		}
		return saveTable(ctx, tx, t, changed, next)
	})
	if err != nil {
		return nil, err
	}
	if generations == nil && t.hasGeneration() {
		t.dropPending(t.generation)
		t.generation++
	}
	t.resource, t.schema = changed, next
	return changed, nil
}

// sameSchema reports whether rows read for one schema can be stored for the other.
func sameSchema(a, b *Schema) bool {
	return slices.EqualFunc(a.Columns, b.Columns, sameColumn) && slices.Equal(a.Key, b.Key)
}

func sameColumn(a, b *Column) bool {
	return a.id == b.id && a.Name == b.Name && a.Kind == b.Kind && a.Repeated == b.Repeated && a.Required == b.Required &&
		a.Element == b.Element && a.MaxLength == b.MaxLength && a.Precision == b.Precision && a.Scale == b.Scale &&
		(a.DefaultValue == nil) == (b.DefaultValue == nil) && slices.EqualFunc(a.Fields, b.Fields, sameColumn)
}

// checkSchemaChange refuses what BigQuery's tables.patch refuses.
func checkSchemaChange(ref TableRef, before, after []*Column, path string) error {
	refuse := func(format string, args ...any) error {
		return &Error{
			Code: http.StatusBadRequest, Reason: "invalid", Status: "INVALID_ARGUMENT",
			Message: fmt.Sprintf("Provided Schema does not match Table %s. ", ref) + fmt.Sprintf(format, args...),
		}
	}
	for _, old := range before {
		i := slices.IndexFunc(after, func(c *Column) bool { return strings.EqualFold(c.Name, old.Name) })
		if i < 0 {
			return refuse("Field %s is missing in new schema", path+old.Name)
		}
		c := after[i]
		switch {
		case c.Kind != old.Kind || c.Element != old.Element:
			return refuse("Field %s has changed type from %s to %s", path+old.Name, old.Kind, c.Kind)
		case c.Repeated != old.Repeated || c.Required && !old.Required:
			return refuse("Field %s has changed mode from %s to %s", path+old.Name, old.mode(), c.mode())
		case narrower(c.MaxLength, old.MaxLength) || narrower(c.Precision, old.Precision) || c.Precision > 0 && c.Scale < old.Scale:
			return refuse("Field %s has changed type from %s to %s", path+old.Name, old.typeName(), c.typeName())
		}
		if err := checkSchemaChange(ref, old.Fields, c.Fields, path+old.Name+"."); err != nil {
			return err
		}
	}
	for _, c := range after {
		known := slices.ContainsFunc(before, func(old *Column) bool { return strings.EqualFold(c.Name, old.Name) })
		if !known && c.Required {
			return refuse("Cannot add required fields to an existing schema. (field: %s)", path+c.Name)
		}
	}
	return nil
}

// narrower compares limits of which 0 is none.
func narrower(limit, before int64) bool { return limit > 0 && (before == 0 || limit < before) }

func (c *Column) mode() string {
	switch {
	case c.Repeated:
		return "REPEATED"
	case c.Required:
		return "REQUIRED"
	}
	return "NULLABLE"
}

// alterSQL changes one of the table's DuckDB tables from one schema to the next.
func alterSQL(before, after *Schema, name string) []string {
	var statements []string
	for _, c := range after.bySlot() {
		i := slices.IndexFunc(before.Columns, func(old *Column) bool { return old.id == c.id })
		if i < 0 {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", name, columnName(c), duckType(c)))
		} else if t := duckType(c); t != duckType(before.Columns[i]) { // a STRUCT with more fields
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", name, columnName(c), t))
		}
	}
	return statements
}
