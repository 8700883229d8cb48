package query

import (
	"context"
	"errors"
	"fmt"
	"slices"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// maxResultRows bounds the rows of one result: they are kept until they are forgotten.
const maxResultRows = 5_000_000

// selectRows runs a SELECT, into its destination where it has one.
func (s *run) selectRows(ctx context.Context, q *googlesql.Query) error {
	reads, err := s.collect(q.Tables(), 0)
	if err != nil {
		return err
	}
	s.referenced(reads)
	begin := s.engine.Snapshot
	if slices.ContainsFunc(q.Tables(), func(ref *googlesql.TableRef) bool { return ref.Function != "" }) {
		begin = s.engine.SettledSnapshot // so that polling ranges misses nothing
	}
	snapshot, err := begin(ctx, reads)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	translation, err := (&resolver{run: s, ctx: ctx, snapshot: snapshot}).translate(q)
	if err != nil {
		return err
	}
	s.result.Schema = schemaOf(translation.Columns)
	for _, c := range translation.Columns {
		s.result.Columns = append(s.result.Columns, columnOf(c.Name, c.Type))
	}
	if s.request.DryRun {
		return nil
	}
	if s.request.Destination != nil {
		snapshot.Close()
		return s.selectInto(ctx, q, reads)
	}
	s.result.Rows, err = readRows(ctx, snapshot, translation.SQL, s.result.Columns)
	return err
}

func readRows(ctx context.Context, snapshot *engine.Snapshot, sql string, columns []*engine.Column) ([][]any, error) {
	rows, err := snapshot.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	result := [][]any{}
	for rows.Next() {
		values := make([]any, len(columns))
		pointers := make([]any, len(values))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, fmt.Errorf("reading a row: %w", err)
		}
		for i, c := range columns {
			if err := checkArray(c, values[i]); err != nil {
				return nil, err
			}
		}
		if result = append(result, values); len(result) > maxResultRows {
			return nil, engine.Invalid("The result has more than %d rows; write it to a table.", maxResultRows)
		}
	}
	return result, rows.Err()
}

// checkArray refuses an ARRAY with a NULL in it, which BigQuery has in no result.
func checkArray(c *engine.Column, value any) error {
	if !c.Repeated {
		return nil
	}
	list, _ := value.([]any)
	for _, element := range list {
		if element == nil {
			return engine.Invalid("Array cannot have a null element; error in writing field %s", c.Name)
		}
	}
	return nil
}

// selectInto writes a SELECT's rows to a table.
func (s *run) selectInto(ctx context.Context, q *googlesql.Query, reads []engine.TableRef) error {
	target := *s.request.Destination
	s.result.Target = &target
	build := func(snapshot *engine.Snapshot) (googlesql.Translation, error) {
		return (&resolver{run: s, ctx: ctx, snapshot: snapshot}).translate(q)
	}
	t, err := s.engine.Table(target)
	if err == nil && (s.request.WriteDisposition == "" || s.request.WriteDisposition == "WRITE_EMPTY") {
		snapshot, err := s.engine.Snapshot(ctx, []engine.TableRef{target})
		if err != nil {
			return err
		}
		relation, err := snapshot.Relation(target, engine.ReadOptions{Everything: true})
		var count any
		if err == nil {
			count, err = scalar(ctx, snapshot, "(SELECT count(*) FROM "+relation.SQL+")")
		}
		snapshot.Close()
		if err != nil {
			return err
		}
		if n, _ := count.(int64); n > 0 {
			return engine.Duplicate("Already Exists: Table %s", target)
		}
	}
	if err == nil && s.request.WriteDisposition == "WRITE_APPEND" {
		_, err := s.engine.Mutate(ctx, engine.Mutation{
			Target: target, Reads: reads,
			Build: func(snapshot *engine.Snapshot) (string, []any, []string, error) {
				translation, err := build(snapshot)
				if err != nil {
					return "", nil, nil, err
				}
				names := make([]string, len(translation.Columns))
				for i, c := range translation.Columns {
					names[i] = c.Name
				}
				return "SELECT 'INSERT', NULL::BIGINT, * FROM (" + translation.SQL + ")", nil, names, nil
			},
		})
		return err
	}
	var missing *engine.Error
	if err != nil && (!errors.As(err, &missing) || missing.Code != 404 || s.request.CreateDisposition == "CREATE_NEVER") {
		return err
	}
	resource := &bq.Table{Schema: s.result.Schema}
	if err == nil { // what its schema doesn't say stays
		kept := *t.Resource()
		kept.Schema = s.result.Schema
		resource = &kept
	}
	_, _, err = s.engine.CreateTableAs(ctx, engine.TableAs{
		Ref: target, Resource: resource, Reads: reads, Replace: true,
		Build: func(snapshot *engine.Snapshot) (string, []any, error) {
			translation, err := build(snapshot)
			return translation.SQL, nil, err
		},
	})
	return err
}
