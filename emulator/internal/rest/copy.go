package rest

import (
	"context"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// Copy jobs.
//
// Behavior:
//   - One source or several, to a table that is new, empty (WRITE_EMPTY, the default),
//     appended to or replaced. Several sources are copied one after the other, not at once.
//   - A source whose pending changes would have to be merged for it is refused, as
//     BigQuery documents it.
//   - operationType SNAPSHOT, CLONE and RESTORE are what CREATE SNAPSHOT TABLE and CREATE
//     TABLE … CLONE do, of one source, to a table that is new, or that WRITE_TRUNCATE
//     replaces. A snapshot's expiration time changes nothing.

func (s *Service) startCopy(j *query.Job, c *bq.JobConfigurationTableCopy, configuration map[string]any) error {
	statement, ok := map[string]string{
		"": "", "COPY": "", "OPERATION_TYPE_UNSPECIFIED": "", "SNAPSHOT": "SNAPSHOT TABLE", "CLONE": "TABLE", "RESTORE": "TABLE",
	}[c.OperationType]
	if !ok {
		return engine.Invalid("Invalid value for operationType: %s", engine.Clip(c.OperationType))
	}
	if err := checkDispositions(c.WriteDisposition, c.CreateDisposition); err != nil {
		return err
	}
	to, err := refOf(c.DestinationTable, j.Project, "destinationTable")
	if err != nil {
		return err
	}
	list := c.SourceTables
	if c.SourceTable != nil {
		list = append(list, c.SourceTable)
	}
	if len(list) == 0 {
		return engine.Invalid("Required parameter is missing: sourceTable")
	}
	sources := make([]engine.TableRef, len(list))
	for i, source := range list {
		if sources[i], err = refOf(source, j.Project, "sourceTable"); err != nil {
			return err
		}
	}
	if statement != "" && len(sources) > 1 {
		return engine.Invalid("A copy job of operationType %s takes one source table", c.OperationType)
	}
	j.Destination = &to
	return s.start(j, configuration, func(ctx context.Context) (outcome, error) {
		if statement != "" {
			return outcome{statistics: &bq.JobStatistics5{}}, s.cloneTable(ctx, statement, sources[0], to, c.WriteDisposition)
		}
		for i, from := range sources {
			write := c.WriteDisposition
			if i > 0 {
				write = "WRITE_APPEND"
			}
			if err := s.copyTable(ctx, from, to, write, c.CreateDisposition); err != nil {
				return outcome{}, err
			}
		}
		return outcome{statistics: &bq.JobStatistics5{}}, nil
	})
}

// cloneTable runs the statement that makes a snapshot or a clone.
func (s *Service) cloneTable(ctx context.Context, what string, from, to engine.TableRef, write string) error {
	create := "CREATE "
	if write == "WRITE_TRUNCATE" {
		create = "CREATE OR REPLACE "
	}
	_, err := s.options.Executor.Run(ctx, query.Request{
		SQL: create + what + " `" + to.Dotted() + "` CLONE `" + from.Dotted() + "`", Project: to.Project, User: defaultUser,
	})
	return err
}

func (s *Service) copyTable(ctx context.Context, from, to engine.TableRef, write, create string) error {
	_, err := s.engine.Table(to)
	switch {
	case err != nil && create == "CREATE_NEVER":
		return err
	case err != nil:
		return s.options.Executor.Copy(ctx, from, to, false)
	case write == "WRITE_TRUNCATE":
		return s.options.Executor.Copy(ctx, from, to, true)
	case write == "WRITE_APPEND":
		source, err := s.engine.Table(from)
		if err != nil {
			return err
		}
		if s.engine.CDCState(source).RuntimeMerge {
			return engine.Invalid("A table copy of %s is not supported while its pending changes have to be merged at query time; raise its max_staleness.", from)
		}
		_, err = s.options.Executor.Run(ctx, query.Request{
			SQL: "SELECT * FROM `" + from.Dotted() + "`", Project: from.Project, User: defaultUser, Destination: &to, WriteDisposition: write,
		})
		return err
	}
	empty, err := s.isEmpty(ctx, to)
	if err != nil {
		return err
	}
	if !empty {
		return engine.Duplicate("Already Exists: Table %s", to)
	}
	return s.options.Executor.Copy(ctx, from, to, true)
}
