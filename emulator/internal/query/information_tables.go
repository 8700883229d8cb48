package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
)

// The views about datasets and tables.

const schemataColumns = `catalog_name STRING, schema_name STRING, schema_owner STRING, creation_time TIMESTAMP, last_modified_time TIMESTAMP, location STRING, ddl STRING`

func schemataRows(r *resolver, project string) [][]any {
	var rows [][]any
	for _, d := range r.engine.Datasets(project) {
		id := d.DatasetReference.DatasetId
		rows = append(rows, []any{
			project, id, nil, time.UnixMilli(d.CreationTime), time.UnixMilli(d.LastModifiedTime), strings.ToLower(d.Location),
			fmt.Sprintf("CREATE SCHEMA `%s.%s`;", project, id),
		})
	}
	return byName(rows, 2)
}

const tablesColumns = `table_catalog STRING, table_schema STRING, table_name STRING, table_type STRING, managed_table_type STRING, is_insertable_into STRING,
 is_fine_grained_mutations_enabled STRING, is_typed STRING, is_change_history_enabled STRING, creation_time TIMESTAMP, base_table_catalog STRING,
 base_table_schema STRING, base_table_name STRING, snapshot_time_ms TIMESTAMP, ddl STRING, default_collation_name STRING,
 upsert_stream_apply_watermark TIMESTAMP`

func tablesRows(r *resolver, tables []*engine.Table) [][]any {
	rows := make([][]any, len(tables))
	for i, t := range tables {
		kind, insertable := "BASE TABLE", true
		if t.IsView() {
			kind, insertable = "VIEW", false
		}
		ref := t.Ref()
		rows[i] = []any{
			ref.Project, ref.Dataset, ref.Table, kind, nil, yesNo(insertable), yesNo(false), yesNo(false), yesNo(t.ChangeHistory()),
			time.UnixMilli(t.Resource().CreationTime), nil, nil, nil, nil, ddlOf(t), "NULL", r.engine.CDCState(t).Watermark,
		}
	}
	return byName(rows, 3)
}

const tableOptionsColumns = `table_catalog STRING, table_schema STRING, table_name STRING, option_name STRING, option_type STRING, option_value STRING`

func tableOptionsRows(_ *resolver, tables []*engine.Table) [][]any {
	var rows [][]any
	for _, t := range tables {
		for _, o := range optionRows(t) {
			rows = append(rows, []any{t.Ref().Project, t.Ref().Dataset, t.Ref().Table, o[0], o[1], o[2]})
		}
	}
	return byName(rows, 4)
}

const columnsColumns = `table_catalog STRING, table_schema STRING, table_name STRING, column_name STRING, ordinal_position INT64, is_nullable STRING, data_type STRING,
 is_generated STRING, generation_expression STRING, is_stored STRING, is_hidden STRING, is_updatable STRING, is_system_defined STRING,
 is_partitioning_column STRING, clustering_ordinal_position INT64, collation_name STRING, column_default STRING, rounding_mode STRING`

func columnsRows(_ *resolver, tables []*engine.Table) [][]any {
	var rows [][]any
	for _, t := range tables {
		resource := t.Resource()
		if resource.Schema == nil {
			continue
		}
		for i, f := range resource.Schema.Fields {
			var clustering any
			if resource.Clustering != nil {
				if n := slices.IndexFunc(resource.Clustering.Fields, func(name string) bool { return strings.EqualFold(name, f.Name) }); n >= 0 {
					clustering = int64(n + 1)
				}
			}
			defaultValue := "NULL"
			if f.DefaultValueExpression != "" {
				defaultValue = f.DefaultValueExpression
			}
			rows = append(rows, []any{
				t.Ref().Project, t.Ref().Dataset, t.Ref().Table, f.Name, int64(i + 1), yesNo(f.Mode != "REQUIRED"), typeText(f), "NEVER", nil, nil,
				yesNo(false), nil, yesNo(false), yesNo(strings.EqualFold(partitionedBy(resource), f.Name)), clustering, "NULL", defaultValue, orNull(f.RoundingMode),
			})
		}
	}
	return rows
}

func partitionedBy(t *bq.Table) string {
	switch {
	case t.TimePartitioning != nil:
		return t.TimePartitioning.Field
	case t.RangePartitioning != nil:
		return t.RangePartitioning.Field
	}
	return ""
}

// standardNames are GoogleSQL's names of the types that REST names otherwise.
var standardNames = map[string]string{"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "RECORD": "STRUCT"}

// typeText is a field's type as GoogleSQL writes it.
func typeText(f *bq.TableFieldSchema) string {
	text := f.Type
	if name, ok := standardNames[text]; ok {
		text = name
	}
	switch {
	case text == "STRUCT":
		fields := make([]string, len(f.Fields))
		for i, inner := range f.Fields {
			fields[i] = inner.Name + " " + typeText(inner)
		}
		text += "<" + strings.Join(fields, ", ") + ">"
	case text == "RANGE" && f.RangeElementType != nil:
		text += "<" + f.RangeElementType.Type + ">"
	case f.MaxLength > 0:
		text += fmt.Sprintf("(%d)", f.MaxLength)
	case f.Precision > 0 && f.Scale > 0:
		text += fmt.Sprintf("(%d, %d)", f.Precision, f.Scale)
	case f.Precision > 0:
		text += fmt.Sprintf("(%d)", f.Precision)
	}
	if f.Mode == "REPEATED" {
		text = "ARRAY<" + text + ">"
	}
	return text
}

const tableConstraintsColumns = `constraint_catalog STRING, constraint_schema STRING, constraint_name STRING, table_catalog STRING, table_schema STRING, table_name STRING,
 constraint_type STRING, is_deferrable STRING, initially_deferred STRING, enforced STRING`

func tableConstraintsRows(_ *resolver, tables []*engine.Table) [][]any {
	var rows [][]any
	for _, t := range tables {
		if len(keyOf(t)) > 0 {
			ref := t.Ref()
			rows = append(rows, []any{ref.Project, ref.Dataset, ref.Table + ".pk$", ref.Project, ref.Dataset, ref.Table, "PRIMARY KEY", "NO", "NO", "NO"})
		}
	}
	return byName(rows, 3)
}

const keyColumnUsageColumns = `constraint_catalog STRING, constraint_schema STRING, constraint_name STRING, table_catalog STRING, table_schema STRING, table_name STRING,
 column_name STRING, ordinal_position INT64, position_in_unique_constraint INT64`

func keyColumnUsageRows(_ *resolver, tables []*engine.Table) [][]any {
	var rows [][]any
	for _, t := range tables {
		ref := t.Ref()
		for i, name := range keyOf(t) {
			rows = append(rows, []any{ref.Project, ref.Dataset, ref.Table + ".pk$", ref.Project, ref.Dataset, ref.Table, name, int64(i + 1), nil})
		}
	}
	return byName(rows, 3)
}

func keyOf(t *engine.Table) []string {
	if c := t.Resource().TableConstraints; c != nil && c.PrimaryKey != nil {
		return c.PrimaryKey.Columns
	}
	return nil
}

const viewsColumns = `table_catalog STRING, table_schema STRING, table_name STRING, view_definition STRING, check_option STRING, use_standard_sql STRING`

func viewsRows(_ *resolver, tables []*engine.Table) [][]any {
	var rows [][]any
	for _, t := range tables {
		if t.IsView() {
			rows = append(rows, []any{t.Ref().Project, t.Ref().Dataset, t.Ref().Table, t.Resource().View.Query, nil, "YES"})
		}
	}
	return byName(rows, 3)
}

const searchIndexesColumns = `index_catalog STRING, index_schema STRING, table_name STRING, index_name STRING, index_status STRING, creation_time TIMESTAMP, coverage_percentage INT64`

func searchIndexesRows(_ *resolver, tables []*engine.Table) [][]any {
	var rows [][]any
	for _, t := range tables {
		for _, index := range t.SearchIndexes() {
			rows = append(rows, []any{t.Ref().Project, t.Ref().Dataset, t.Ref().Table, index.Name, "ACTIVE", time.UnixMilli(index.Created), int64(100)})
		}
	}
	return rows
}

// ddlOf is the statement that creates the table anew.
func ddlOf(t *engine.Table) string {
	r, ref := t.Resource(), t.Ref()
	if t.IsView() {
		return fmt.Sprintf("CREATE VIEW `%s`\nAS %s;", ref.Dotted(), r.View.Query)
	}
	var lines []string
	if r.Schema != nil {
		for _, f := range r.Schema.Fields {
			line := "  " + f.Name + " " + typeText(f)
			if f.Mode == "REQUIRED" {
				line += " NOT NULL"
			}
			if f.DefaultValueExpression != "" {
				line += " DEFAULT " + f.DefaultValueExpression
			}
			lines = append(lines, line)
		}
	}
	if key := keyOf(t); len(key) > 0 {
		lines = append(lines, "  PRIMARY KEY ("+strings.Join(key, ", ")+") NOT ENFORCED")
	}
	ddl := fmt.Sprintf("CREATE TABLE `%s`\n(\n%s\n)", ref.Dotted(), strings.Join(lines, ",\n"))
	if p := partitionText(r); p != "" {
		ddl += "\nPARTITION BY " + p
	}
	if r.Clustering != nil {
		ddl += "\nCLUSTER BY " + strings.Join(r.Clustering.Fields, ", ")
	}
	var options []string
	for _, o := range optionRows(t) {
		value := o[2]
		if o[0] == "max_staleness" {
			value = "INTERVAL '" + value + "' YEAR TO SECOND"
		}
		options = append(options, "  "+o[0]+"="+value)
	}
	if len(options) > 0 {
		ddl += "\nOPTIONS(\n" + strings.Join(options, ",\n") + "\n)"
	}
	return ddl + ";"
}

// partitionText is PARTITION BY's expression.
func partitionText(t *bq.Table) string {
	switch p := t.TimePartitioning; {
	case p != nil && p.Field == "":
		if p.Type == "DAY" {
			return "_PARTITIONDATE"
		}
		return "TIMESTAMP_TRUNC(_PARTITIONTIME, " + p.Type + ")"
	case p != nil:
		for _, f := range t.Schema.Fields {
			if !strings.EqualFold(f.Name, p.Field) {
				continue
			}
			switch {
			case f.Type == "DATE" && p.Type == "DAY":
				return p.Field
			case p.Type == "DAY" && f.Type == "TIMESTAMP":
				return "DATE(" + p.Field + ")"
			}
			return f.Type + "_TRUNC(" + p.Field + ", " + p.Type + ")"
		}
	case t.RangePartitioning != nil:
		r := t.RangePartitioning
		return fmt.Sprintf("RANGE_BUCKET(%s, GENERATE_ARRAY(%d, %d, %d))", r.Field, r.Range.Start, r.Range.End, r.Range.Interval)
	}
	return ""
}
