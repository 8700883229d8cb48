package query

import (
	"cmp"
	"slices"
	"strings"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// qualifiedView is a view of INFORMATION_SCHEMA as a statement names it.
type qualifiedView struct {
	name      string   // in upper case
	qualifier []string // what stands before INFORMATION_SCHEMA
}

// schemaView reports whether a table's path is one of INFORMATION_SCHEMA.
func schemaView(path []string) (qualifiedView, bool) {
	n := len(path) - 2
	if n < 0 || !strings.EqualFold(path[n], "INFORMATION_SCHEMA") {
		return qualifiedView{}, false
	}
	return qualifiedView{strings.ToUpper(path[n+1]), path[:n]}, true
}

// schemaTable is one view: its columns and what makes its rows.
type schemaTable struct {
	columns string // "name TYPE, …", in GoogleSQL
	// ofDatasets makes the rows of some datasets' tables; it is for views that are
	// qualified by a dataset or a region.
	ofDatasets func(r *resolver, tables []*engine.Table) [][]any
	// ofProject makes the rows of a project.
	ofProject func(r *resolver, project string) [][]any
}

// schemaTables are the views. Those that end in _BY_PROJECT and so on are the same:
// there is one project's data to see, and nobody else's.
var schemaTables map[string]schemaTable

func init() { // not initialized above, so that a view's function may run a query
	schemaTables = map[string]schemaTable{
		"SCHEMATA":           {columns: schemataColumns, ofProject: schemataRows},
		"TABLES":             {columns: tablesColumns, ofDatasets: tablesRows},
		"TABLE_OPTIONS":      {columns: tableOptionsColumns, ofDatasets: tableOptionsRows},
		"COLUMNS":            {columns: columnsColumns, ofDatasets: columnsRows},
		"TABLE_CONSTRAINTS":  {columns: tableConstraintsColumns, ofDatasets: tableConstraintsRows},
		"KEY_COLUMN_USAGE":   {columns: keyColumnUsageColumns, ofDatasets: keyColumnUsageRows},
		"VIEWS":              {columns: viewsColumns, ofDatasets: viewsRows},
		"SEARCH_INDEXES":     {columns: searchIndexesColumns, ofDatasets: searchIndexesRows},
		"JOBS":               {columns: jobsColumns, ofProject: jobsRows},
		"JOBS_TIMELINE":      {columns: jobsTimelineColumns, ofProject: jobsTimelineRows},
		"WRITE_API_TIMELINE": {columns: writeTimelineColumns, ofProject: writeTimelineRows},
		"STREAMING_TIMELINE": {columns: streamingTimelineColumns, ofProject: streamingTimelineRows},
	}
}

// schemaRelation is a view as a relation.
func (r *resolver) schemaRelation(v qualifiedView) (googlesql.Relation, error) {
	name := v.name
	for _, suffix := range []string{"_BY_PROJECT", "_BY_USER", "_BY_FOLDER", "_BY_ORGANIZATION"} {
		name = strings.TrimSuffix(name, suffix)
	}
	table, ok := schemaTables[name]
	if !ok {
		return googlesql.Relation{}, engine.Unimplemented("INFORMATION_SCHEMA.%s is not implemented by this emulator", engine.Clip(v.name))
	}
	columns, err := parseColumns(table.columns)
	if err != nil {
		return googlesql.Relation{}, err
	}
	project, dataset, err := r.qualify(v)
	if err != nil {
		return googlesql.Relation{}, err
	}
	if table.ofProject != nil {
		return values(columns, table.ofProject(r, project)), nil
	}
	datasets := []engine.DatasetRef{{Project: project, Dataset: dataset}}
	if dataset == "" {
		datasets = nil
		for _, d := range r.engine.Datasets(project) {
			datasets = append(datasets, engine.DatasetRef{Project: project, Dataset: d.DatasetReference.DatasetId})
		}
	}
	var tables []*engine.Table
	for _, d := range datasets {
		some, err := r.engine.Tables(d)
		if err != nil {
			return googlesql.Relation{}, err
		}
		tables = append(tables, some...)
	}
	return values(columns, table.ofDatasets(r, tables)), nil
}

// qualify reads what stands before INFORMATION_SCHEMA: a dataset, a region, or
// nothing, each after a project or not. dataset is "" for all of the project's.
func (r *resolver) qualify(v qualifiedView) (project, dataset string, err error) {
	project = r.request.Project
	q := v.qualifier
	if len(q) > 1 {
		project, q = q[0], q[1:]
	}
	switch {
	case len(q) > 1:
		return "", "", engine.Invalid("Invalid qualifier of INFORMATION_SCHEMA: %s", engine.Clip(strings.Join(v.qualifier, ".")))
	case len(q) == 0 && r.request.Dataset != nil:
		return r.request.Dataset.Project, r.request.Dataset.Dataset, nil
	case len(q) == 0 || isRegion(q[0]):
		return project, "", nil
	case len(v.qualifier) == 1 && r.isProject(q[0]):
		return q[0], "", nil
	}
	return project, q[0], nil
}

// isRegion reports whether a qualifier is one of a region: all regions have the same data here.
func isRegion(name string) bool { return len(name) > 7 && strings.EqualFold(name[:7], "region-") }

// isProject reports whether a lone qualifier names a project rather than a dataset.
func (r *resolver) isProject(name string) bool {
	if _, err := r.engine.Dataset(engine.DatasetRef{Project: r.request.Project, Dataset: name}); err == nil {
		return false
	}
	return len(r.engine.Datasets(name)) > 0
}

// parseColumns reads "name TYPE, …".
func parseColumns(text string) ([]googlesql.Column, error) {
	t, err := googlesql.ParseType("STRUCT<" + text + ">")
	if err != nil {
		return nil, err
	}
	columns := make([]googlesql.Column, len(t.Fields))
	for i, f := range t.Fields {
		columns[i] = googlesql.Column{Name: f.Name, Type: f.Type}
	}
	return columns, nil
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// orNull is NULL for an empty text.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// byName orders rows by their leading texts, so that results are the same each time.
func byName(rows [][]any, columns int) [][]any {
	slices.SortStableFunc(rows, func(a, b []any) int {
		for i := range columns {
			x, _ := a[i].(string)
			y, _ := b[i].(string)
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}
