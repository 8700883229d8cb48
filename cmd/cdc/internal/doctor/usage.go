package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/templates/operations"
)

// usage asks BigQuery's INFORMATION_SCHEMA, for each dataset, who else wrote and
// read the tables during the last day, and whether one has a search index.
func (x *examination) usage(ctx context.Context) {
	if x.bigquery == nil {
		return
	}
	type dataset struct{ project, name, location string }
	byDataset := map[dataset][]*destination{}
	for _, d := range x.tables {
		if d.resource != nil {
			of := dataset{d.match.Name.Project, d.match.Name.Dataset, d.location}
			byDataset[of] = append(byDataset[of], d)
		}
	}
	for of, tables := range byDataset {
		if ctx.Err() != nil {
			return
		}
		u := usageOf{x: x, project: of.project, dataset: of.name, location: of.location, tables: tables}
		u.searchIndexes(ctx)
		u.writers(ctx)
		u.jobs(ctx)
		u.applies(ctx)
	}
	x.checked("who else writes and reads the tables, of %s", counted(len(byDataset), "dataset"))
}

// usageOf is about one dataset's tables.
type usageOf struct {
	x                          *examination
	project, dataset, location string
	tables                     []*destination
}

func (u *usageOf) find(table string) *destination {
	i := slices.IndexFunc(u.tables, func(d *destination) bool { return d.stored.Table == table })
	if i < 0 {
		return nil
	}
	return u.tables[i]
}

func (u *usageOf) unknown(what, permission string, err error) {
	u.x.add(Finding{
		Unknown, fmt.Sprintf("dataset %s.%s", u.project, u.dataset), fmt.Sprintf("%s: %v", what, err),
		granting(err, permission, "look for yourself"),
	})
}

// view is a view of the project's region.
func (u *usageOf) view(name string) string {
	region := strings.ToLower(u.location)
	if region == "" {
		region = "us" // BigQuery's default
	}
	return warehouse.Quoted(u.project) + "." + warehouse.Quoted("region-"+region) + ".INFORMATION_SCHEMA." + name
}

func (u *usageOf) parameters() []bigquery.QueryParameter {
	return []bigquery.QueryParameter{{Name: "dataset", Value: u.dataset}}
}

func (u *usageOf) searchIndexes(ctx context.Context) {
	type row struct {
		Table string `bigquery:"table_name"`
		Index string `bigquery:"index_name"`
	}
	rows, err := warehouse.Query[row](ctx, u.x.bigquery, u.location,
		"SELECT table_name, index_name FROM "+warehouse.Quoted(u.project)+"."+warehouse.Quoted(u.dataset)+".INFORMATION_SCHEMA.SEARCH_INDEXES")
	if err != nil {
		u.unknown("whether its tables have search indexes", "bigquery.tables.get", err)
		return
	}
	for _, r := range rows {
		if d := u.find(r.Table); d != nil {
			u.x.add(Finding{Fatal, d.about(), fmt.Sprintf("it has a search index, %q: BigQuery takes no changes by primary key for it", r.Index), fmt.Sprintf("DROP SEARCH INDEX %s ON %s", warehouse.Quoted(r.Index), warehouse.Quoted(d.stored.String()))})
		}
	}
}

// writers are those of the Storage Write API. It does not tell rows with a
// _CHANGE_TYPE from plain ones; before a launch any row is somebody else's.
func (u *usageOf) writers(ctx context.Context) {
	type row struct {
		Table  string `bigquery:"table_id"`
		Stream string `bigquery:"stream_type"`
		Rows   int64  `bigquery:"written"`
	}
	rows, err := warehouse.Query[row](ctx, u.x.bigquery, u.location,
		"SELECT table_id, stream_type, SUM(total_rows) AS written FROM "+u.view("WRITE_API_TIMELINE_BY_PROJECT")+
			" WHERE start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY) AND dataset_id = @dataset AND table_id IS NOT NULL"+
			" GROUP BY table_id, stream_type HAVING SUM(total_rows) > 0 ORDER BY 1, 2", u.parameters()...)
	if err != nil {
		u.unknown("who wrote its tables", "bigquery.tables.list on the project (roles/bigquery.resourceViewer)", err)
		return
	}
	for _, r := range rows {
		d := u.find(r.Table)
		if d == nil {
			continue
		}
		problem := fmt.Sprintf("the last day's %s streams of the Storage Write API wrote %s to it", strings.ToLower(r.Stream), counted(int(r.Rows), "row"))
		if strings.EqualFold(r.Stream, "default") {
			u.x.add(Finding{
				Warning, d.about(), problem + ": if that was not this pipeline, its sequence numbers must be comparable with these",
				"stop the other writer, or give the rule a `sequence` that matches its numbers",
			})
			continue
		}
		u.x.add(Finding{Warning, d.about(), problem + ": their rows have no change type, and double those with the same key", "stop that writer before this pipeline starts"})
	}
}

// jobs are the DML statements and the queries of the last day.
func (u *usageOf) jobs(ctx context.Context) {
	type row struct {
		Table string `bigquery:"table_id"`
		DML   int64  `bigquery:"dml"`
		Reads int64  `bigquery:"reads"`
	}
	const statement = `SELECT t.table_id AS table_id,
 COUNT(DISTINCT IF(statement_type IN ('INSERT', 'UPDATE', 'DELETE', 'MERGE', 'TRUNCATE_TABLE') AND destination_table.table_id = t.table_id, job_id, NULL)) AS dml,
 COUNT(DISTINCT IF(statement_type = 'SELECT', job_id, NULL)) AS reads
FROM %s, UNNEST(ARRAY_CONCAT(IFNULL(referenced_tables, []), [destination_table])) AS t
WHERE creation_time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY) AND NOT STARTS_WITH(job_id, 'cdc_background') AND t.dataset_id = @dataset
GROUP BY 1 ORDER BY 1`
	rows, err := warehouse.Query[row](ctx, u.x.bigquery, u.location, fmt.Sprintf(statement, u.view("JOBS_BY_PROJECT")), u.parameters()...)
	if err != nil {
		u.unknown("which statements use its tables", "bigquery.jobs.listAll on the project (roles/bigquery.resourceViewer)", err)
		return
	}
	for _, r := range rows {
		d := u.find(r.Table)
		if d == nil {
			continue
		}
		d.reads = r.Reads
		if r.DML > 0 {
			u.x.add(Finding{
				Warning, d.about(), fmt.Sprintf("%s of DML changed it during the last day: BigQuery refuses UPDATE, DELETE and MERGE while changes are pending", counted(int(r.DML), "statement")),
				"let corrections go through the stream (`cdc diff -repair`)",
			})
		}
		if d.ready != nil && d.ready.Table.MaxStaleness == 0 && r.Reads > 0 {
			u.x.add(Finding{
				Warning, d.about(), fmt.Sprintf("%s read it during the last day: without max_staleness each will apply all pending changes", queries(r.Reads)),
				"set max_staleness to the age that its readers bear",
			})
		}
	}
}

func queries(n int64) string {
	if n == 1 {
		return "1 query"
	}
	return fmt.Sprintf("%d queries", n)
}

// applies holds max_staleness against how long background applies of the last week
// took, where anybody reads: a staleness that is shorter makes queries apply what is pending.
func (u *usageOf) applies(ctx context.Context) {
	type row struct {
		Table       string               `bigquery:"table_name"`
		Seconds     bigquery.NullFloat64 `bigquery:"p95_background_apply_duration_in_seconds"`
		Recommended bigquery.NullFloat64 `bigquery:"recommended_max_staleness_with_buffer_in_minutes"`
	}
	statement, err := operations.Query(operations.ApplyDuration, operations.Place{Project: u.project, Region: u.location, Dataset: u.dataset})
	var rows []row
	if err == nil {
		rows, err = warehouse.Query[row](ctx, u.x.bigquery, u.location, statement, append(u.parameters(), bigquery.QueryParameter{Name: "days", Value: 7})...)
	}
	if err != nil {
		u.unknown("how long applies of its tables take", "bigquery.jobs.listAll on the project (roles/bigquery.resourceViewer)", err)
		return
	}
	for _, r := range rows {
		d := u.find(r.Table)
		if d == nil || d.ready == nil || !r.Recommended.Valid {
			continue
		}
		set, recommended := d.ready.Table.MaxStaleness, time.Duration(r.Recommended.Float64)*time.Minute
		if set > 0 && set < recommended && d.reads > 0 {
			u.x.add(Finding{
				Warning, d.about(), fmt.Sprintf("%s read it during the last day, and of 100 background applies of its changes 5 took longer than %v: with a max_staleness of %v such queries apply what is pending by themselves",
					queries(d.reads), time.Duration(r.Seconds.Float64*float64(time.Second)).Round(time.Second), set),
				fmt.Sprintf("ALTER TABLE %s SET OPTIONS (max_staleness = INTERVAL %.0f MINUTE), if its readers bear that; or give applies more slots", warehouse.Quoted(d.stored.String()), r.Recommended.Float64),
			})
		}
	}
}
