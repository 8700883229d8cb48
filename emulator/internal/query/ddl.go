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

// createSchema runs CREATE SCHEMA.
func (s *run) createSchema(ctx context.Context, c *googlesql.CreateSchema) error {
	ref, err := s.datasetRef(c.Name)
	if err != nil {
		return err
	}
	s.result.Operation = "CREATE"
	if _, err := s.engine.Dataset(ref); err == nil && c.IfNotExists {
		s.result.Operation = "SKIP"
		return nil
	}
	resource := &bq.Dataset{}
	if err := s.setDatasetOptions(ctx, resource, c.Options); err != nil || s.request.DryRun {
		return err
	}
	_, err = s.engine.CreateDataset(ctx, ref, resource)
	return err
}

// alterSchema runs ALTER SCHEMA … SET OPTIONS.
func (s *run) alterSchema(ctx context.Context, a *googlesql.AlterSchema) error {
	ref, err := s.datasetRef(a.Name)
	if err != nil {
		return err
	}
	s.result.Operation = "ALTER"
	if _, err := s.engine.Dataset(ref); err != nil && a.IfExists {
		s.result.Operation = "SKIP"
		return nil
	}
	_, err = s.engine.ChangeDataset(ctx, ref, func(current *bq.Dataset) (*bq.Dataset, error) {
		changed := *current
		return &changed, s.setDatasetOptions(ctx, &changed, a.Options)
	})
	return err
}

func (s *run) setDatasetOptions(ctx context.Context, d *bq.Dataset, options []googlesql.Option) error {
	for _, o := range options {
		value, err := s.evaluate(ctx, o)
		if err != nil {
			return err
		}
		text, _ := value.(string)
		switch strings.ToLower(o.Name) {
		case "description":
			d.Description = text
		case "friendly_name":
			d.FriendlyName = text
		case "location":
			d.Location = text
		case "labels":
			if d.Labels, err = labelsOf(value); err != nil {
				return err
			}
		case "default_table_expiration_days":
			days, ok := number(value)
			if !ok && value != nil {
				return wrongType(o.Name, "FLOAT64")
			}
			d.DefaultTableExpirationMs = int64(days * 24 * 60 * 60 * 1000)
		default:
			return engine.Invalid("Unknown option: %s", engine.Clip(o.Name))
		}
	}
	return nil
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
