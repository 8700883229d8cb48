package query

import (
	"context"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// Export is a file that EXPORT DATA writes.
type Export struct {
	Options map[string]any // as the statement has them, NULL as nil
	Columns []*engine.Column
	Rows    [][]any
}

// exportData runs EXPORT DATA. "To export the full table, use an EXPORT DATA statement":
// it reads every change, whatever the tables' max_staleness.
func (s *run) exportData(ctx context.Context, statement *googlesql.ExportData) error {
	if s.Exporter == nil {
		return engine.Unimplemented("EXPORT DATA is not implemented by this emulator")
	}
	export := Export{Options: map[string]any{}}
	for _, o := range statement.Options {
		value, err := s.evaluate(ctx, o)
		if err != nil {
			return err
		}
		export.Options[o.Name] = value
	}
	s.everything = true
	s.request.Destination = nil // the rows are the file's
	if err := s.selectRows(ctx, statement.As); err != nil {
		return err
	}
	export.Columns, export.Rows = s.result.Columns, s.result.Rows
	s.result.Columns, s.result.Rows, s.result.Schema = nil, nil, nil
	if s.request.DryRun {
		return nil
	}
	return s.Exporter(export)
}
