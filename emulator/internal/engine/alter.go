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

// Alteration is a change of a table.
type Alteration struct {
	// Change returns the resource that takes the current one's place. Its error leaves
	// all as it is. A resource without a schema keeps the table's.
	Change func(current *bq.Table) (*bq.Table, error)
	// Renamed has the old name of each top-level column that gets a new one, by that.
	Renamed map[string]string
	// DropColumns lets Change leave columns out. Else that is refused, as tables.patch does.
	DropColumns bool
	// WidenTypes lets Change turn a top-level INTEGER into NUMERIC or FLOAT, and a
	// NUMERIC into FLOAT. Else that is refused, as tables.patch does.
	WidenTypes bool
	// ChangeHistory sets enable_change_history; nil leaves it.
	ChangeHistory *bool
}

// ChangeTable replaces a table's resource by what change makes of it, and alters
// what is stored to fit it; an error of change leaves all as it is.
func (e *Engine) ChangeTable(ctx context.Context, ref TableRef, change func(current *bq.Table) (*bq.Table, error)) (*bq.Table, error) {
	return e.AlterTable(ctx, ref, Alteration{Change: change})
}

// AlterTable changes a table, and alters what is stored to fit it.
func (e *Engine) AlterTable(ctx context.Context, ref TableRef, a Alteration) (*bq.Table, error) {
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
	changed := new(bq.Table)
	if *changed = *t.resource; a.Change != nil {
		if changed, err = a.Change(t.resource); err != nil {
			return nil, err
		}
	}
	next, err := t.alteredSchema(changed, a)
	if err != nil {
		return nil, err
	}
	for _, c := range next.Columns { // still its maker's alone
		c.Added = e.now()
		if i := slices.IndexFunc(t.schema.Columns, func(old *Column) bool { return old.id == c.id }); i >= 0 {
			c.Added = t.schema.Columns[i].Added
		}
	}
	changed.CreationTime, changed.Location = t.resource.CreationTime, t.resource.Location
	e.finishTable(t, changed)
	kept := t.settings
	if a.ChangeHistory != nil && *a.ChangeHistory != (kept.HistorySince > 0) {
		if kept.HistorySince = 0; *a.ChangeHistory {
			kept.HistorySince = e.now().UnixMicro()
		}
	}
	generations := t.generations()
	apply := len(generations) > 0 && !slices.Equal(t.schema.keyColumns(""), next.keyColumns(""))
	started := e.now()
	job := t.applyJob(started)
	job.Started = started
	err = e.transact(ctx, func(tx *sql.Tx) error {
		if apply { // by the key that they were sent for
			if job, err = e.applySQL(ctx, tx, t, generations, job); err != nil {
				return err
			}
			generations = nil
		}
		if !t.isView() {
			var statements []string
			for _, name := range t.storedTables(generations) {
				statements = append(statements, alterSQL(t.schema, next, name)...)
			}
			if err := execute(ctx, tx, statements); err != nil {
				return fmt.Errorf("altering table %s: %w", t.ref, err)
			}
		}
		return t.save(ctx, tx, changed, next, kept)
	})
	if err != nil {
		return nil, err
	}
	if apply {
		t.dropPending(t.generation)
		t.generation++
		t.applied(started)
		t.apply.Store(nil)
		e.jobs.add(job)
		e.counts.merges.Add(1)
	}
	t.resource, t.schema, t.settings = changed, next, kept
	return changed, nil
}

// alteredSchema checks a changed resource, and makes the schema that it has.
func (t *Table) alteredSchema(changed *bq.Table, a Alteration) (*Schema, error) {
	if changed.Schema == nil {
		changed.Schema = t.resource.Schema
	}
	if (changed.View != nil) != t.isView() {
		return nil, Invalid("Table %s can't be changed from a table to a view or back", t.ref)
	}
	if err := checkTable(changed); err != nil {
		return nil, err
	}
	ids := map[string]int{}
	before := slices.Clone(t.schema.Columns)
	for to, from := range a.Renamed {
		i, ok := t.schema.find(from)
		if !ok {
			return nil, Invalid("Column not found in table %s: %s", t.ref, Clip(from))
		}
		ids[strings.ToLower(to)] = t.schema.Columns[i].id
		renamed := *t.schema.Columns[i]
		renamed.Name = to
		before[i] = &renamed
	}
	next, err := NewSchema(changed, t.schema, ids)
	if err != nil {
		return nil, err
	}
	if err := checkLayout(changed, next); err != nil {
		return nil, err
	}
	if t.isView() {
		next.Version = t.schema.Version + 1
		return next, nil
	}
	if a.DropColumns {
		before = slices.DeleteFunc(before, func(c *Column) bool { _, ok := next.find(c.Name); return !ok })
	}
	if err := checkSchemaChange(t.ref, before, next.Columns, "", a.WidenTypes); err != nil {
		return nil, err
	}
	next.Version = t.schema.Version
	if !sameSchema(t.schema, next) {
		next.Version++
	}
	return next, nil
}

// storedTables are the DuckDB tables that hold rows of the table. The caller holds mu.
func (t *Table) storedTables(generations []generation) []string {
	names := []string{baseName(t.id)}
	for _, g := range generations {
		names = append(names, pendingName(t.id, g.number))
	}
	for _, s := range t.streams {
		if s.stored {
			names = append(names, streamTableName(s.id))
		}
	}
	if t.hasHistory {
		names = append(names, historyName(t.id))
	}
	return names
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

// checkSchemaChange refuses what BigQuery's tables.patch refuses; with widen, all of
// that but a type that holds more.
func checkSchemaChange(ref TableRef, before, after []*Column, path string, widen bool) error {
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
		case widen && wider(c, old):
		case c.Kind != old.Kind || c.Element != old.Element:
			return refuse("Field %s has changed type from %s to %s", path+old.Name, old.Kind, c.Kind)
		case c.Repeated != old.Repeated || c.Required && !old.Required:
			return refuse("Field %s has changed mode from %s to %s", path+old.Name, old.mode(), c.mode())
		case narrower(c.MaxLength, old.MaxLength) || narrower(c.Precision, old.Precision) || c.Precision > 0 && c.Scale < old.Scale:
			return refuse("Field %s has changed type from %s to %s", path+old.Name, old.typeName(), c.typeName())
		}
		if err := checkSchemaChange(ref, old.Fields, c.Fields, path+old.Name+".", false); err != nil {
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

// wider reports whether BigQuery coerces a column to the other's type, as long as it
// stays what it is else.
func wider(c, old *Column) bool {
	if c.Repeated || old.Repeated || c.Required && !old.Required || c.Precision > 0 {
		return false
	}
	return c.Kind == KindFloat64 && (old.Kind == KindInt64 || old.Kind == KindNumeric) || c.Kind == KindNumeric && old.Kind == KindInt64
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
	for _, old := range before.Columns {
		if !slices.ContainsFunc(after.Columns, func(c *Column) bool { return c.id == old.id }) {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", name, columnName(old)))
		}
	}
	for _, c := range after.bySlot() {
		i := slices.IndexFunc(before.Columns, func(old *Column) bool { return old.id == c.id })
		if i < 0 {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", name, columnName(c), duckType(c)))
		} else if t := duckType(c); t != duckType(before.Columns[i]) { // a STRUCT with more fields, a number that holds more
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", name, columnName(c), t))
		}
	}
	return statements
}
