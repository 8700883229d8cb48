package query

import (
	"context"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// createView runs CREATE VIEW.
func (s *run) createView(ctx context.Context, c *googlesql.CreateView) error {
	ref, err := s.tableRef(c.Table)
	if err != nil {
		return err
	}
	s.result.Target, s.result.Operation = &ref, "CREATE"
	old, err := s.engine.Table(ref)
	switch {
	case err != nil:
		old = nil
	case c.IfNotExists:
		s.result.Operation = "SKIP"
		return nil
	case !c.OrReplace:
		return engine.Duplicate("Already Exists: Table %s", ref)
	case !old.IsView():
		return engine.Invalid("%s is not a view", ref)
	default:
		s.result.Operation = "REPLACE"
	}
	resource := &bq.Table{View: &bq.ViewDefinition{Query: c.As.Text()}}
	s.defining = &ref
	if resource.Schema, err = s.viewSchema(ctx, c.As, c.Columns); err != nil {
		return err
	}
	if _, err := s.setOptions(ctx, resource, c.Options); err != nil {
		return err
	}
	if s.request.DryRun {
		return nil
	}
	if old != nil {
		if err := s.engine.DropTable(ctx, ref); err != nil {
			return err
		}
	}
	_, err = s.engine.CreateTable(ctx, ref, resource)
	return err
}

// viewSchema is the schema of a view's query, its columns renamed.
func (s *run) viewSchema(ctx context.Context, q *googlesql.Query, names []string) (*bq.TableSchema, error) {
	reads, err := s.collect(q.Tables(), 0)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.engine.Snapshot(ctx, reads)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	translation, err := q.Translate(s.options(&resolver{run: s, ctx: ctx, snapshot: snapshot}, snapshot.Time()))
	if err != nil {
		return nil, err
	}
	if len(names) > 0 && len(names) != len(translation.Columns) {
		return nil, engine.Invalid("View column list has %d columns, its query %d", len(names), len(translation.Columns))
	}
	schema := schemaOf(translation.Columns)
	for i, name := range names {
		schema.Fields[i].Name = name
	}
	return schema, nil
}

// ViewSchema is the schema of a view that REST creates.
func (x *Executor) ViewSchema(ctx context.Context, dataset engine.DatasetRef, text string) (*bq.TableSchema, error) {
	s := &run{Executor: x, request: Request{Project: dataset.Project}, result: &Result{}}
	statements, err := googlesql.Parse(text)
	if err != nil {
		return nil, statementError(err)
	}
	if len(statements) != 1 {
		return nil, engine.Invalid("The query of a view must be one SELECT")
	}
	q, ok := statements[0].(*googlesql.Query)
	if !ok {
		return nil, engine.Invalid("The query of a view must be one SELECT")
	}
	schema, err := s.viewSchema(ctx, q, nil)
	if err != nil {
		return nil, statementError(err)
	}
	return schema, nil
}
