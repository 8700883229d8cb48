package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
	"beamcdc/emulator/internal/timeline"
)

// Executor runs statements. It is safe for any number of goroutines.
type Executor struct {
	// Exporter writes the files of EXPORT DATA; nil refuses them. It is set before the
	// first statement runs.
	Exporter func(Export) error

	engine  *engine.Engine
	now     func() time.Time
	jobs    *Jobs
	writes  *timeline.Timeline // of the Storage Write API
	streams *timeline.Timeline // of tabledata.insertAll
}

// New returns an executor. The timelines are what WRITE_API_TIMELINE and
// STREAMING_TIMELINE show.
func New(e *engine.Engine, now func() time.Time, jobs *Jobs, writes, streams *timeline.Timeline) *Executor {
	return &Executor{engine: e, now: now, jobs: jobs, writes: writes, streams: streams}
}

// Request is one statement to run.
type Request struct {
	SQL     string
	Project string             // of names that have none
	Dataset *engine.DatasetRef // of tables whose names have none; nil for none
	User    string             // who SESSION_USER() is

	Named      map[string]googlesql.Parameter // by name, in lower case
	Positional []googlesql.Parameter

	DryRun bool // only says what it would be

	// Destination is the table that a SELECT's rows are written to; nil for none.
	Destination       *engine.TableRef
	WriteDisposition  string // WRITE_EMPTY, the default, WRITE_APPEND or WRITE_TRUNCATE
	CreateDisposition string // CREATE_IF_NEEDED, the default, or CREATE_NEVER
}

// Result is what came of a statement.
type Result struct {
	StatementType string

	// Columns and Rows are a SELECT's result. Values are as the engine reads them.
	Columns []*engine.Column
	Schema  *bq.TableSchema
	Rows    [][]any

	Changed   *engine.Changed  // of DML
	Operation string           // of DDL: CREATE, REPLACE, ALTER, DROP, SKIP
	Target    *engine.TableRef // of DML and DDL on a table

	Referenced   []engine.TableRef // tables that were read, views expanded
	RuntimeMerge bool              // pending changes were applied to answer it
	Bytes        int64             // of the tables that were read, about
}

// Run runs a statement. Errors that are its fault are *engine.Error.
func (x *Executor) Run(ctx context.Context, r Request) (*Result, error) {
	statements, err := googlesql.Parse(r.SQL)
	if err != nil {
		return nil, statementError(err)
	}
	switch len(statements) {
	case 0:
		return nil, engine.Invalid("Syntax error: Unexpected end of statement")
	case 1:
	default:
		return nil, engine.Unimplemented("scripts are not implemented by this emulator: give one statement at a time")
	}
	// A view that was given another query between the look for its tables and their
	// snapshot names one that the snapshot hasn't: nothing has happened yet, and the
	// statement begins again.
	const tries = 20
	for try := 1; ; try++ {
		s := &run{Executor: x, request: r, result: &Result{StatementType: statements[0].Type()}}
		err := s.execute(ctx, statements[0])
		switch {
		case err == nil:
			return s.result, nil
		case !errors.Is(err, engine.ErrNotInSnapshot) || try == tries:
			return nil, statementError(err)
		}
	}
}

// run is one statement's execution.
type run struct {
	*Executor
	request Request
	result  *Result
	// defining is the view that the statement creates: its query may not read it.
	defining *engine.TableRef
	// everything asks for all pending changes, whatever the tables' max_staleness.
	everything bool
	// references counts what collect meets, in the statement's views too.
	references *int
}

func (s *run) execute(ctx context.Context, statement googlesql.Statement) error {
	switch statement := statement.(type) {
	case *googlesql.Query:
		return s.selectRows(ctx, statement)
	case *googlesql.DML:
		return s.mutate(ctx, statement)
	case *googlesql.CreateTable:
		return s.createTable(ctx, statement)
	case *googlesql.AlterTable:
		return s.alterTable(ctx, statement)
	case *googlesql.CreateView:
		return s.createView(ctx, statement)
	case *googlesql.Drop:
		return s.drop(ctx, statement)
	case *googlesql.CreateSchema:
		return s.createSchema(ctx, statement)
	case *googlesql.AlterSchema:
		return s.alterSchema(ctx, statement)
	case *googlesql.Truncate:
		return s.truncate(ctx, statement)
	case *googlesql.CreateSearchIndex:
		return s.createSearchIndex(ctx, statement)
	case *googlesql.ExportData:
		return s.exportData(ctx, statement)
	case *googlesql.CreateReservation:
		// Capacity is nothing here: the statement is checked, and changes nothing.
		s.result.Operation = "CREATE"
		return nil
	}
	return engine.Unimplemented("%s is not implemented by this emulator", strings.ReplaceAll(statement.Type(), "_", " "))
}

// statementError makes an error of the parts below one of BigQuery's.
func statementError(err error) error {
	if _, ok := errors.AsType[*engine.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*googlesql.Error](err); ok {
		return &engine.Error{Code: 400, Reason: "invalidQuery", Status: "INVALID_ARGUMENT", Message: err.Error(), Location: "query"}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &engine.Error{Code: 400, Reason: "invalidQuery", Status: "INVALID_ARGUMENT", Message: googlesql.RuntimeError(err), Location: "query"}
}

// tableRef completes a table's name.
func (s *run) tableRef(ref *googlesql.TableRef) (engine.TableRef, error) {
	switch p := ref.Path; len(p) {
	case 1:
		if s.request.Dataset == nil {
			return engine.TableRef{}, engine.Invalid("Table %q must be qualified with a dataset (e.g. dataset.table).", engine.Clip(p[0]))
		}
		return engine.TableRef{Project: s.request.Dataset.Project, Dataset: s.request.Dataset.Dataset, Table: p[0]}, nil
	case 2:
		return engine.TableRef{Project: s.request.Project, Dataset: p[0], Table: p[1]}, nil
	case 3:
		return engine.TableRef{Project: p[0], Dataset: p[1], Table: p[2]}, nil
	default:
		return engine.TableRef{}, engine.Invalid("Invalid table name: %q", engine.Clip(strings.Join(p, ".")))
	}
}

// datasetRef completes a dataset's name.
func (s *run) datasetRef(ref *googlesql.TableRef) (engine.DatasetRef, error) {
	switch p := ref.Path; len(p) {
	case 1:
		return engine.DatasetRef{Project: s.request.Project, Dataset: p[0]}, nil
	case 2:
		return engine.DatasetRef{Project: p[0], Dataset: p[1]}, nil
	default:
		return engine.DatasetRef{}, engine.Invalid("Invalid dataset name: %q", engine.Clip(strings.Join(p, ".")))
	}
}

// options are what a translation depends on.
func (s *run) options(r googlesql.Resolver, now time.Time) googlesql.Options {
	return googlesql.Options{Resolver: r, Now: now, Named: s.request.Named, Positional: s.request.Positional, User: s.request.User}
}

// evaluate computes an option's value, NULL as nil.
func (s *run) evaluate(ctx context.Context, o googlesql.Option) (any, error) {
	if v, ok := o.Constant(); ok {
		return v, nil
	}
	snapshot, err := s.engine.Snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	sql, _, err := o.SQL(s.options(noTables{}, snapshot.Time()))
	if err != nil {
		return nil, err
	}
	return scalar(ctx, snapshot, sql)
}

// scalar computes an expression without columns.
func scalar(ctx context.Context, snapshot *engine.Snapshot, expression string) (any, error) {
	rows, err := snapshot.Query(ctx, "SELECT "+expression)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	var value any
	for rows.Next() {
		if err := rows.Scan(&value); err != nil {
			return nil, fmt.Errorf("reading a value: %w", err)
		}
	}
	return value, rows.Err()
}

// noTables resolves no table.
type noTables struct{}

func (noTables) Table(ref *googlesql.TableRef) (googlesql.Relation, error) {
	return googlesql.Relation{}, engine.Invalid("Table %s can't be read here", engine.Clip(strings.Join(ref.Path, ".")))
}

// referenced notes the tables that were read.
func (s *run) referenced(refs []engine.TableRef) {
	for _, ref := range refs {
		if !slices.Contains(s.result.Referenced, ref) {
			s.result.Referenced = append(s.result.Referenced, ref)
		}
	}
}
