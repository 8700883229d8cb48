package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
)

// schema is the file's: the request's, the table's, or what is found in it. skip is
// how many of its leading rows aren't data.
func (l *load) schema(t *engine.Table) (schema *bq.TableSchema, skip int64, err error) {
	skip = l.c.SkipLeadingRows
	switch {
	case l.c.Schema != nil && len(l.c.Schema.Fields) > 0:
		return l.c.Schema, skip, nil
	case l.c.Autodetect && (t == nil || l.c.WriteDisposition == "WRITE_TRUNCATE" || len(t.Schema().Columns) == 0):
		return l.detect()
	case t != nil && len(t.Schema().Columns) > 0:
		if l.c.Autodetect && !l.isJSON() {
			_, skip, err = l.detect() // whether there is a header
		}
		return clonedSchema(t.Resource().Schema), skip, err
	}
	return nil, 0, engine.Invalid("No schema specified on job or table.")
}

// clonedSchema is a copy that the engine may write its own names of types into.
func clonedSchema(schema *bq.TableSchema) *bq.TableSchema {
	cloned := &bq.TableSchema{}
	text, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(text, cloned)
	}
	if err != nil {
		panic(err) // it was JSON before
	}
	return cloned
}

// extend gives a table the columns of the request's schema that it lacks.
func (l *load) extend(ctx context.Context, t *engine.Table) error {
	for _, option := range l.c.SchemaUpdateOptions {
		if !slices.Contains([]string{"ALLOW_FIELD_ADDITION", "ALLOW_FIELD_RELAXATION"}, option) {
			return engine.Invalid("Invalid value for schemaUpdateOptions: %s", engine.Clip(option))
		}
	}
	_, err := l.engine.ChangeTable(ctx, t.Ref(), func(current *bq.Table) (*bq.Table, error) {
		changed := *current
		changed.Schema = clonedSchema(l.c.Schema)
		return &changed, nil
	})
	return err
}

// columns are the file's, in its order, as the table has them.
func (l *load) columns(t *engine.Table, schema *bq.TableSchema, replaces bool) ([]*engine.Column, error) {
	resource := &bq.Table{Schema: clonedSchema(schema)}
	if replaces && t != nil {
		resource.TableConstraints = t.Resource().TableConstraints
	}
	file, err := engine.NewSchema(resource, nil, nil)
	if err != nil || replaces {
		if err != nil {
			return nil, err
		}
		return file.Columns, nil
	}
	of := t.Schema().Columns
	columns := make([]*engine.Column, len(file.Columns))
	for i, c := range file.Columns {
		j := slices.IndexFunc(of, func(o *engine.Column) bool { return strings.EqualFold(o.Name, c.Name) })
		switch {
		case j < 0:
			return nil, engine.Invalid("Provided Schema does not match Table %s. Cannot add fields (field: %s)", l.to, c.Name)
		case of[j].Kind != c.Kind:
			return nil, engine.Invalid("Provided Schema does not match Table %s. Field %s has changed type from %s to %s", l.to, c.Name, of[j].Kind, c.Kind)
		case of[j].Repeated != c.Repeated:
			return nil, engine.Invalid("Provided Schema does not match Table %s. Field %s has changed mode", l.to, c.Name)
		}
		columns[i] = of[j]
	}
	return columns, nil
}

// create makes the table that the rows go to, in the place of one that is there.
func (l *load) create(ctx context.Context, old *engine.Table, schema *bq.TableSchema) (*engine.Table, error) {
	resource := &bq.Table{}
	if old != nil {
		kept := *old.Resource()
		resource = &kept
	}
	resource.Schema = schema
	if l.c.TimePartitioning != nil {
		resource.TimePartitioning = l.c.TimePartitioning
	}
	if l.c.RangePartitioning != nil {
		resource.RangePartitioning = l.c.RangePartitioning
	}
	if l.c.Clustering != nil {
		resource.Clustering = l.c.Clustering
	}
	if p := l.c.DestinationTableProperties; p != nil {
		resource.Description = cmp.Or(p.Description, resource.Description)
		resource.FriendlyName = cmp.Or(p.FriendlyName, resource.FriendlyName)
		if p.Labels != nil {
			resource.Labels = p.Labels
		}
	}
	if _, _, err := l.engine.CreateTableAs(ctx, engine.TableAs{Ref: l.to, Resource: resource, Replace: old != nil}); err != nil {
		return nil, err
	}
	return l.engine.Table(l.to)
}

// sameSchema says whether a schema is a table's.
func sameSchema(schema, of *bq.TableSchema) bool {
	resource := &bq.Table{Schema: clonedSchema(schema)}
	if _, err := engine.NewSchema(resource, nil, nil); err != nil { // it writes the types' own names
		return false
	}
	a, err := json.Marshal(resource.Schema)
	b, errOf := json.Marshal(of)
	return err == nil && errOf == nil && string(a) == string(b)
}
