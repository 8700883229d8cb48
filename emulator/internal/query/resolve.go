package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// maxViews bounds how deep views may stand in each other, as BigQuery does.
const maxViews = 16

// maxReferences bounds the tables and views that a statement reads, views expanded.
// BigQuery counts each one once; here a view that reads others twice, as they do more,
// would grow without a bound.
const maxReferences = 1000

// collect finds the tables that references read, views expanded: what a snapshot has
// to be of.
func (s *run) collect(refs []*googlesql.TableRef, depth int) ([]engine.TableRef, error) {
	if depth == 0 {
		s.references = new(int)
	}
	var tables []engine.TableRef
	for _, ref := range refs {
		if _, ok := schemaView(ref.Path); ok {
			continue
		}
		if *s.references++; *s.references > maxReferences {
			return nil, engine.Invalid("The query refers to too many tables and views: at most %d, once views are expanded.", maxReferences)
		}
		name, err := s.tableRef(ref)
		if err != nil {
			return nil, err
		}
		if s.defining != nil && name == *s.defining {
			return nil, engine.Invalid("View %s refers to itself", name)
		}
		if ref.Wildcard {
			matching, err := s.wildcard(name)
			if err != nil {
				return nil, err
			}
			for _, t := range matching {
				tables = append(tables, t.Ref())
			}
			continue
		}
		t, err := s.engine.Table(name)
		if err != nil {
			return nil, err
		}
		if !t.IsView() {
			tables = append(tables, name)
			continue
		}
		inner, err := s.viewQuery(t, depth)
		if err != nil {
			return nil, err
		}
		more, err := s.within(name.In()).collect(inner.Tables(), depth+1)
		if err != nil {
			return nil, err
		}
		tables = append(tables, more...)
	}
	slices.SortFunc(tables, func(a, b engine.TableRef) int { return strings.Compare(a.Dotted(), b.Dotted()) })
	return slices.Compact(tables), nil
}

// within is the run for a view of a dataset: names of its query that have no
// project are of the dataset's.
func (s *run) within(dataset engine.DatasetRef) *run {
	inner := *s
	inner.request.Project = dataset.Project
	inner.request.Dataset = nil
	return &inner
}

func (s *run) viewQuery(t *engine.Table, depth int) (*googlesql.Query, error) {
	if depth >= maxViews {
		return nil, engine.Invalid("Views are nested too deeply, or refer to themselves: the maximum is %d levels.", maxViews)
	}
	statements, err := googlesql.Parse(t.Resource().View.Query)
	if err != nil {
		return nil, err
	}
	if len(statements) == 1 {
		if q, ok := statements[0].(*googlesql.Query); ok {
			return q, nil
		}
	}
	return nil, engine.Invalid("The query of view %s is not a SELECT.", t.Ref())
}

// wildcard lists the tables that a wildcard stands for.
func (s *run) wildcard(name engine.TableRef) ([]*engine.Table, error) {
	all, err := s.engine.Tables(name.In())
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(name.Table, "*")
	var matching []*engine.Table
	for _, t := range all {
		if !strings.HasPrefix(t.Ref().Table, prefix) || t.IsView() {
			continue
		}
		// "Tables with active CDC don't support: Querying wildcard tables".
		if state := s.engine.CDCState(t); state.Pending > 0 || state.ActiveStream {
			return nil, engine.Invalid("Querying wildcard tables is not supported for tables with active CDC: %s", t.Ref())
		}
		matching = append(matching, t)
	}
	if len(matching) == 0 {
		return nil, engine.NotFound("%s does not match any table.", name)
	}
	return matching, nil
}

// resolver finds a statement's tables in a snapshot.
type resolver struct {
	*run
	ctx      context.Context //nolint:containedctx // of one statement: googlesql's interface has no room for it
	snapshot *engine.Snapshot
	target   *googlesql.TableRef // of DML; nil otherwise
	depth    int
	scans    *scans // nil if nobody asks for them
}

// Table returns the relation that a reference names.
func (r *resolver) Table(ref *googlesql.TableRef) (googlesql.Relation, error) {
	if view, ok := schemaView(ref.Path); ok {
		return r.schemaRelation(view)
	}
	name, err := r.tableRef(ref)
	if err != nil {
		return googlesql.Relation{}, err
	}
	if ref.Wildcard {
		return r.wildcardRelation(ref, name)
	}
	t, err := r.engine.Table(name)
	if err != nil {
		return googlesql.Relation{}, err
	}
	if t.IsView() {
		return r.viewRelation(t)
	}
	if ref.Function != "" {
		return r.changes(ref, name)
	}
	// The target may be read elsewhere in the statement too, where the rows' names do no harm.
	isTarget := r.target != nil && slices.Equal(ref.Path, r.target.Path) && ref.AsOf == ""
	o := engine.ReadOptions{Rows: isTarget, Everything: isTarget || r.everything, Partitions: true}
	if ref.AsOf != "" {
		if o.AsOf, err = r.time(ref.AsOf); err != nil {
			return googlesql.Relation{}, err
		}
	}
	relation, err := r.snapshot.Relation(name, o)
	if err != nil {
		return googlesql.Relation{}, err
	}
	if relation.RuntimeMerge {
		r.result.RuntimeMerge = true
		// "Tables with active CDC that perform runtime merge jobs ... cannot support: the
		// requirePartitionFilter table option".
		if requiresFilter(t.Resource()) {
			return googlesql.Relation{}, engine.Invalid("Table %s requires a partition filter, which is not supported while its pending changes have to be merged at query time; "+
				"raise its max_staleness.", name)
		}
	}
	result := googlesql.Relation{SQL: relation.SQL, Columns: columnsOf(relation.Schema.Columns)}
	read := scanned{refs: []engine.TableRef{name}, schema: relation.Schema, options: o}
	if !relation.RuntimeMerge { // which reads all
		result.Partitioning = partitionColumns(t.Resource())
		read.filtered = t
	}
	r.note(ref, read)
	if engine.ByIngestion(t.Resource()) {
		result.Columns = append(result.Columns, pseudoColumns...)
	}
	if o.Rows {
		result.RowID = "_row"
		addDefaults(result.Columns, t.Resource().Schema)
	}
	return result, nil
}

func requiresFilter(t *bq.Table) bool {
	return t.RequirePartitionFilter || t.TimePartitioning != nil && t.TimePartitioning.RequirePartitionFilter
}

// addDefaults adds the values that INSERT gives where the statement doesn't.
func addDefaults(columns []googlesql.Column, schema *bq.TableSchema) {
	for i := range columns {
		for _, f := range schema.Fields {
			if strings.EqualFold(f.Name, columns[i].Name) {
				columns[i].Default = f.DefaultValueExpression
			}
		}
	}
}

// viewRelation is a view's query as a relation.
func (r *resolver) viewRelation(t *engine.Table) (googlesql.Relation, error) {
	q, err := r.viewQuery(t, r.depth)
	if err != nil {
		return googlesql.Relation{}, err
	}
	inner := *r
	inner.run, inner.depth, inner.target = r.within(t.Ref().In()), r.depth+1, nil
	translation, err := q.Translate(r.options(&inner, r.snapshot.Time()))
	if err != nil {
		return googlesql.Relation{}, fmt.Errorf("view %s: %w", t.Ref(), err)
	}
	if r.scans != nil {
		r.scans.ofViews = append(r.scans.ofViews, translation.Scans...)
	}
	var names []string
	if schema := t.Resource().Schema; schema != nil {
		for _, f := range schema.Fields {
			names = append(names, f.Name)
		}
	}
	return translation.Relation(names), nil
}

// changes is APPENDS or CHANGES of a table.
func (r *resolver) changes(ref *googlesql.TableRef, name engine.TableRef) (googlesql.Relation, error) {
	start, err := r.time(ref.Start)
	if err != nil {
		return googlesql.Relation{}, err
	}
	end, err := r.time(ref.End)
	if err != nil {
		return googlesql.Relation{}, err
	}
	function := r.snapshot.Appends
	if ref.Function == "CHANGES" {
		function = r.snapshot.Changes
	}
	relation, err := function(name, start, end)
	if err != nil {
		return googlesql.Relation{}, err
	}
	r.note(ref, scanned{refs: []engine.TableRef{name}, schema: relation.Schema, options: engine.ReadOptions{Baseline: true}})
	columns := append(columnsOf(relation.Schema.Columns),
		googlesql.Column{Name: "_CHANGE_TYPE", Type: googlesql.Of(googlesql.String)},
		googlesql.Column{Name: "_CHANGE_TIMESTAMP", Type: googlesql.Of(googlesql.Timestamp)})
	return googlesql.Relation{SQL: relation.SQL, Columns: columns}, nil
}

// time computes a time of a reference; "" and NULL are the zero time.
func (r *resolver) time(expression string) (time.Time, error) {
	if expression == "" {
		return time.Time{}, nil
	}
	value, err := scalar(r.ctx, r.snapshot, expression)
	if err != nil {
		return time.Time{}, err
	}
	at, _ := value.(time.Time)
	return at, nil
}

// wildcardRelation is the tables whose names begin alike, with the columns of the
// one that was created last, and the rest of each name as _TABLE_SUFFIX.
func (r *resolver) wildcardRelation(ref *googlesql.TableRef, name engine.TableRef) (googlesql.Relation, error) {
	matching, err := r.wildcard(name)
	if err != nil {
		return googlesql.Relation{}, err
	}
	latest := slices.MaxFunc(matching, func(a, b *engine.Table) int { return int(a.Resource().CreationTime - b.Resource().CreationTime) })
	columns := latest.Schema().Columns
	read := scanned{schema: latest.Schema()}
	var selects []string
	for _, t := range matching {
		read.refs = append(read.refs, t.Ref())
		relation, err := r.snapshot.Relation(t.Ref(), engine.ReadOptions{})
		if err != nil {
			return googlesql.Relation{}, err
		}
		suffix := strings.TrimPrefix(t.Ref().Table, strings.TrimSuffix(name.Table, "*"))
		selects = append(selects, fmt.Sprintf("SELECT %s, %s AS _TABLE_SUFFIX FROM %s", sharedColumns(columns, relation.Schema), literal(suffix, googlesql.Of(googlesql.String)), relation.SQL))
	}
	r.note(ref, read)
	result := googlesql.Relation{SQL: "(" + strings.Join(selects, " UNION ALL ") + ")", Columns: columnsOf(columns)}
	result.Columns = append(result.Columns, googlesql.Column{Name: "_TABLE_SUFFIX", Type: googlesql.Of(googlesql.String), Hidden: true})
	return result, nil
}

// sharedColumns selects the columns of one schema from a table of another: NULL for
// those that it hasn't.
func sharedColumns(columns []*engine.Column, schema *engine.Schema) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = "NULL::" + c.DuckDBType() + " AS " + quote(c.Name)
		for _, other := range schema.Columns {
			if strings.EqualFold(other.Name, c.Name) && other.DuckDBType() == c.DuckDBType() {
				names[i] = quote(other.Name) + " AS " + quote(c.Name)
			}
		}
	}
	return strings.Join(names, ", ")
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
