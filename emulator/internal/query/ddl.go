package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// createTable runs CREATE TABLE in all its forms.
func (s *run) createTable(ctx context.Context, c *googlesql.CreateTable) error {
	ref, err := s.tableRef(c.Table)
	if err != nil {
		return err
	}
	s.result.Target, s.result.Operation = &ref, "CREATE"
	switch _, err := s.engine.Table(ref); {
	case c.Temporary:
		return engine.Unimplemented("temporary tables are not implemented by this emulator")
	case err != nil:
	case c.IfNotExists:
		s.result.Operation = "SKIP"
		return nil
	case !c.OrReplace:
		return engine.Duplicate("Already Exists: Table %s", ref)
	default:
		s.result.Operation = "REPLACE"
	}
	if source := firstRef(c.Copy, c.Clone, c.Like); source != nil {
		return s.createLike(ctx, c, ref, source)
	}
	resource := &bq.Table{Schema: &bq.TableSchema{}}
	if err := s.describe(ctx, c, resource); err != nil {
		return err
	}
	history, err := s.setOptions(ctx, resource, c.Options)
	if err != nil {
		return err
	}
	a := engine.TableAs{Ref: ref, Resource: resource, Replace: c.OrReplace, ChangeHistory: history != nil && *history}
	if c.As != nil {
		if err := s.createAs(ctx, c, &a); err != nil {
			return err
		}
	}
	if s.request.DryRun {
		return nil
	}
	_, rows, err := s.engine.CreateTableAs(ctx, a)
	if err == nil && c.As != nil {
		s.result.Changed = &engine.Changed{Inserted: rows}
	}
	return err
}

func firstRef(refs ...*googlesql.TableRef) *googlesql.TableRef {
	for _, ref := range refs {
		if ref != nil {
			return ref
		}
	}
	return nil
}

// describe puts what CREATE TABLE says of columns, key and layout into a resource.
func (s *run) describe(ctx context.Context, c *googlesql.CreateTable, t *bq.Table) error {
	for _, column := range c.Columns {
		f, err := s.field(ctx, column)
		if err != nil {
			return err
		}
		t.Schema.Fields = append(t.Schema.Fields, f)
	}
	if c.PrimaryKey != nil {
		t.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: c.PrimaryKey.Columns}}
	}
	if len(c.ClusterBy) > 0 {
		t.Clustering = &bq.Clustering{Fields: c.ClusterBy}
	}
	if p := c.Partitioning; p != nil {
		switch column := p.Column; {
		case p.Unit == "":
			t.RangePartitioning = &bq.RangePartitioning{Field: column, Range: &bq.RangePartitioningRange{
				Start: p.Start, End: p.End, Interval: p.Interval, ForceSendFields: []string{"Start"},
			}}
		case strings.EqualFold(column, "_PARTITIONDATE"), strings.EqualFold(column, "_PARTITIONTIME"):
			t.TimePartitioning = &bq.TimePartitioning{Type: p.Unit}
		default:
			t.TimePartitioning = &bq.TimePartitioning{Type: p.Unit, Field: column}
		}
	}
	return nil
}

// field is a column's definition as a resource has it.
func (s *run) field(ctx context.Context, c googlesql.ColumnDefinition) (*bq.TableFieldSchema, error) {
	f := fieldOf(c.Name, c.Type)
	if c.NotNull {
		f.Mode = "REQUIRED"
	}
	f.DefaultValueExpression = c.Default
	return f, s.setColumnOptions(ctx, f, c.Options)
}

func (s *run) setColumnOptions(ctx context.Context, f *bq.TableFieldSchema, options []googlesql.Option) error {
	for _, o := range options {
		value, err := s.evaluate(ctx, o)
		if err != nil {
			return err
		}
		text, isText := value.(string)
		switch name := strings.ToLower(o.Name); {
		case !isText && value != nil:
			return wrongType(name, "STRING")
		case name == "description":
			f.Description = text
		case name == "rounding_mode":
			f.RoundingMode = text
		default:
			return engine.Invalid("Unknown option: %s", engine.Clip(o.Name))
		}
	}
	return nil
}

// createAs adds CREATE TABLE AS SELECT's query.
func (s *run) createAs(ctx context.Context, c *googlesql.CreateTable, a *engine.TableAs) error {
	reads, err := s.collect(c.As.Tables(), 0)
	if err != nil {
		return err
	}
	s.referenced(reads)
	translate := func(snapshot *engine.Snapshot) (googlesql.Translation, error) {
		return (&resolver{run: s, ctx: ctx, snapshot: snapshot}).translate(c.As)
	}
	snapshot, err := s.engine.Snapshot(ctx, reads)
	if err != nil {
		return err
	}
	translation, err := translate(snapshot)
	snapshot.Close()
	if err != nil {
		return err
	}
	schema := schemaOf(translation.Columns)
	switch {
	case len(c.Columns) == 0:
		a.Resource.Schema = schema
	case len(c.Columns) != len(schema.Fields):
		return engine.Invalid("The number of columns in the column definition list does not match the number of columns produced by the query")
	}
	a.Reads = reads
	a.Build = func(snapshot *engine.Snapshot) (string, []any, error) {
		translation, err := translate(snapshot)
		return translation.SQL, nil, err
	}
	return nil
}

// createLike runs CREATE TABLE LIKE, COPY and CLONE, and CREATE SNAPSHOT TABLE.
func (s *run) createLike(ctx context.Context, c *googlesql.CreateTable, ref engine.TableRef, source *googlesql.TableRef) error {
	from, err := s.tableRef(source)
	if err != nil {
		return err
	}
	what := "table copy"
	switch {
	case c.Snapshot:
		what = "table snapshot"
	case c.Clone != nil:
		what = "table clone"
	case c.Like != nil:
		what = ""
	}
	a, err := s.copyOf(from, ref, what)
	if err != nil {
		return err
	}
	a.Replace = c.OrReplace
	history, err := s.setOptions(ctx, a.Resource, c.Options)
	if err != nil {
		return err
	}
	a.ChangeHistory = history != nil && *history
	s.referenced(a.Reads)
	if s.request.DryRun {
		return nil
	}
	_, _, err = s.engine.CreateTableAs(ctx, a)
	return err
}

// copyOf is a table as another is: with its rows, unless what is "". what is what an
// error calls it: "Tables with active CDC that perform runtime merge jobs ... cannot
// support: Table copy operations, Table clone operations, Table snapshot operations".
func (x *Executor) copyOf(from, to engine.TableRef, what string) (engine.TableAs, error) {
	t, err := x.engine.Table(from)
	if err != nil {
		return engine.TableAs{}, err
	}
	if t.IsView() {
		return engine.TableAs{}, engine.Invalid("%s is not allowed for this operation because it is currently a VIEW.", from)
	}
	resource := cloned(t.Resource())
	a := engine.TableAs{Ref: to, Resource: resource}
	if what == "" {
		return a, nil
	}
	if x.engine.CDCState(t).RuntimeMerge {
		return a, engine.Invalid("A %s of %s is not supported while its pending changes have to be merged at query time; raise its max_staleness.", what, from)
	}
	a.Reads = []engine.TableRef{from}
	a.Build = func(snapshot *engine.Snapshot) (string, []any, error) {
		relation, err := snapshot.Relation(from, engine.ReadOptions{})
		return "SELECT * FROM " + relation.SQL, nil, err
	}
	return a, nil
}

// Copy copies a table, with its rows, for a copy job.
func (x *Executor) Copy(ctx context.Context, from, to engine.TableRef, replace bool) error {
	a, err := x.copyOf(from, to, "table copy")
	if err != nil {
		return err
	}
	a.Replace = replace
	_, _, err = x.engine.CreateTableAs(ctx, a)
	return err
}

// cloned is a copy of a resource that may be modified.
func cloned(t *bq.Table) *bq.Table {
	text, err := json.Marshal(t)
	result := &bq.Table{}
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		panic(err) // it was JSON before
	}
	return result
}

// drop runs DROP TABLE, VIEW, SCHEMA, SNAPSHOT TABLE, SEARCH INDEX, and of capacity.
func (s *run) drop(ctx context.Context, d *googlesql.Drop) error {
	s.result.Operation = "DROP"
	var err error
	switch d.Kind {
	case "SCHEMA":
		var ref engine.DatasetRef
		if ref, err = s.datasetRef(d.Name); err == nil && !s.request.DryRun {
			err = s.engine.DeleteDataset(ctx, ref, d.Cascade)
		}
	case "SEARCH INDEX":
		var ref engine.TableRef
		if ref, err = s.tableRef(d.On); err == nil && !s.request.DryRun {
			err = s.engine.DropSearchIndex(ctx, ref, d.Name.Path[len(d.Name.Path)-1])
		}
	case "TABLE", "VIEW", "SNAPSHOT TABLE":
		err = s.dropTable(ctx, d)
	default: // capacity
		return nil
	}
	var missing *engine.Error
	if d.IfExists && errors.As(err, &missing) && missing.Code == 404 {
		s.result.Operation = "SKIP"
		return nil
	}
	return err
}

func (s *run) dropTable(ctx context.Context, d *googlesql.Drop) error {
	ref, err := s.tableRef(d.Name)
	if err != nil {
		return err
	}
	s.result.Target = &ref
	t, err := s.engine.Table(ref)
	if err != nil {
		return err
	}
	if wantView := d.Kind == "VIEW"; t.IsView() != wantView {
		return engine.Invalid("%s is not allowed for this operation because it is not a %s.", ref, d.Kind)
	}
	if s.request.DryRun {
		return nil
	}
	return s.engine.DropTable(ctx, ref)
}

// createSearchIndex runs CREATE SEARCH INDEX.
func (s *run) createSearchIndex(ctx context.Context, c *googlesql.CreateSearchIndex) error {
	ref, err := s.tableRef(c.Table)
	if err != nil {
		return err
	}
	s.result.Target, s.result.Operation = &ref, "CREATE"
	if s.request.DryRun {
		return nil
	}
	err = s.engine.CreateSearchIndex(ctx, ref, engine.SearchIndex{Name: c.Name, Columns: c.Columns})
	var there *engine.Error
	if c.IfNotExists && errors.As(err, &there) && there.Code == 409 {
		s.result.Operation = "SKIP"
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating search index %s: %w", engine.Clip(c.Name), err)
	}
	return nil
}
