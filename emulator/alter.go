package emulator

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"
)

// changeTable replaces a table's resource, and alters what is stored to fit it.
func (s *Server) changeTable(r *http.Request, change func(*bq.Table) (*bq.Table, error)) (any, error) {
	t, err := s.catalog.table(tableOf(r))
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped {
		return nil, notFound("Not found: Table %s", t.ref)
	}
	if err := checkETag(r, t.resource.Etag); err != nil {
		return nil, err
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
	next, err := newSchema(changed, t.schema, nil)
	if err != nil {
		return nil, err
	}
	if err := checkLayout(changed, next); err != nil {
		return nil, err
	}
	if err := checkSchemaChange(t.ref, t.schema.columns, next.columns, ""); err != nil {
		return nil, err
	}
	changed.CreationTime, changed.Location = t.resource.CreationTime, t.resource.Location
	s.finishTable(t, changed)
	next.version = t.schema.version
	if !sameSchema(t.schema, next) {
		next.version++
	}
	generations := t.generations()
	err = s.store.transact(ctx, func(tx *sql.Tx) error {
		var statements []string
		if len(generations) > 0 && !slices.Equal(t.schema.keyColumns(""), next.keyColumns("")) {
			statements = t.schema.mergeSQL(t.id, generations, s.store.forgotten())
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
func sameSchema(a, b *schema) bool {
	return slices.EqualFunc(a.columns, b.columns, sameColumn) && slices.Equal(a.key, b.key)
}

func sameColumn(a, b *column) bool {
	return a.id == b.id && a.name == b.name && a.kind == b.kind && a.repeated == b.repeated && a.required == b.required &&
		a.element == b.element && a.maxLength == b.maxLength && a.precision == b.precision && a.scale == b.scale &&
		(a.defaultValue == nil) == (b.defaultValue == nil) && slices.EqualFunc(a.fields, b.fields, sameColumn)
}

// checkSchemaChange refuses what BigQuery's tables.patch refuses.
func checkSchemaChange(ref tableRef, before, after []*column, path string) error {
	refuse := func(format string, args ...any) error {
		return &apiError{
			code: http.StatusBadRequest, reason: "invalid", status: "INVALID_ARGUMENT",
			message: fmt.Sprintf("Provided Schema does not match Table %s. ", ref) + fmt.Sprintf(format, args...),
		}
	}
	for _, old := range before {
		i := slices.IndexFunc(after, func(c *column) bool { return strings.EqualFold(c.name, old.name) })
		if i < 0 {
			return refuse("Field %s is missing in new schema", path+old.name)
		}
		c := after[i]
		switch {
		case c.kind != old.kind || c.element != old.element:
			return refuse("Field %s has changed type from %s to %s", path+old.name, old.kind, c.kind)
		case c.repeated != old.repeated || c.required && !old.required:
			return refuse("Field %s has changed mode from %s to %s", path+old.name, old.mode(), c.mode())
		case narrower(c.maxLength, old.maxLength) || narrower(c.precision, old.precision) || c.precision > 0 && c.scale < old.scale:
			return refuse("Field %s has changed type from %s to %s", path+old.name, old.typeName(), c.typeName())
		}
		if err := checkSchemaChange(ref, old.fields, c.fields, path+old.name+"."); err != nil {
			return err
		}
	}
	for _, c := range after {
		known := slices.ContainsFunc(before, func(old *column) bool { return strings.EqualFold(c.name, old.name) })
		if !known && c.required {
			return refuse("Cannot add required fields to an existing schema. (field: %s)", path+c.name)
		}
	}
	return nil
}

// narrower compares limits of which 0 is none.
func narrower(limit, before int64) bool { return limit > 0 && (before == 0 || limit < before) }

func (c *column) mode() string {
	switch {
	case c.repeated:
		return "REPEATED"
	case c.required:
		return "REQUIRED"
	}
	return "NULLABLE"
}

// alterSQL changes one of the table's DuckDB tables from one schema to the next.
func alterSQL(before, after *schema, name string) []string {
	var statements []string
	for _, c := range after.bySlot() {
		i := slices.IndexFunc(before.columns, func(old *column) bool { return old.id == c.id })
		if i < 0 {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", name, columnName(c), duckType(c)))
		} else if t := duckType(c); t != duckType(before.columns[i]) { // a STRUCT with more fields
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", name, columnName(c), t))
		}
	}
	return statements
}
