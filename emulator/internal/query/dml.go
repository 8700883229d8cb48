package query

import (
	"context"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// mutate runs an INSERT, UPDATE, DELETE or MERGE.
func (s *run) mutate(ctx context.Context, d *googlesql.DML) error {
	target, err := s.tableRef(d.Target)
	if err != nil {
		return err
	}
	reads, err := s.collect(d.Tables(), 0)
	if err != nil {
		return err
	}
	s.referenced(reads)
	s.result.Target = &target
	t, err := s.engine.Table(target)
	if err != nil {
		return err
	}
	if t.IsView() {
		return engine.Invalid("%s is not allowed for this operation because it is currently a VIEW.", target)
	}
	mutation := engine.Mutation{Target: target, Reads: reads, Build: func(snapshot *engine.Snapshot) (string, []any, []string, error) {
		translation, err := (&resolver{run: s, ctx: ctx, snapshot: snapshot, target: d.Target}).translate(d)
		if err != nil {
			return "", nil, nil, err
		}
		names := make([]string, len(translation.Columns))
		for i, c := range translation.Columns {
			names[i] = c.Name
		}
		return translation.SQL, nil, names, nil
	}}
	if d.Type() != "INSERT" {
		mutation.Statement = d.Type()
	}
	if s.request.DryRun {
		snapshot, err := s.engine.Snapshot(ctx, append(reads, target))
		if err != nil {
			return err
		}
		defer snapshot.Close()
		_, _, _, err = mutation.Build(snapshot)
		return err
	}
	changed, err := s.engine.Mutate(ctx, mutation)
	if err != nil {
		return err
	}
	s.result.Changed = &changed
	return nil
}

// truncate runs TRUNCATE TABLE.
func (s *run) truncate(ctx context.Context, statement *googlesql.Truncate) error {
	target, err := s.tableRef(statement.Table)
	if err != nil {
		return err
	}
	s.result.Target = &target
	if s.request.DryRun {
		_, err := s.engine.Table(target)
		return err
	}
	deleted, err := s.engine.Truncate(ctx, target)
	if err != nil {
		return err
	}
	s.result.Changed = &engine.Changed{Deleted: deleted}
	return nil
}
