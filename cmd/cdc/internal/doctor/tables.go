package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// destination is a table that the pipeline is to write.
type destination struct {
	match    catalog.Match
	stored   table.Name // the table that rows go to: the one behind a view, else the destination
	location string
	resource *bq.Table            // nil: it does not exist
	ready    *catalog.Destination // nil: rows can't be written to it as it is
	reads    int64                // queries of the last day
}

func (d *destination) about() string {
	if d.stored != d.match.Name {
		return "table " + d.stored.String() + ", behind " + d.match.Name.String()
	}
	return "table " + d.stored.String()
}

// The permissions that writing a table takes, and what follows without them.
var tablePermissions = []permission{
	{"bigquery.tables.get", Fatal, "its schema can't be read"},
	{"bigquery.tables.updateData", Fatal, "no row can be written"},
}

// destinations looks at the tables whose names the configuration tells.
func (x *examination) destinations(ctx context.Context) {
	var err error
	if x.bigquery, err = warehouse.Open(ctx, x.options.CatalogConfig()); err != nil {
		x.add(Finding{Fatal, "BigQuery", err.Error(), ""})
		return
	}
	c := x.options.CatalogConfig()
	c.CreateTables = false // looking changes nothing
	tables, err := catalog.Open(ctx, c)
	if err != nil {
		x.add(Finding{Fatal, "the tables", err.Error(), ""})
		return
	}
	router, err := table.NewRouter(c.Project, c.Rules)
	if err != nil {
		x.add(Finding{Fatal, "the tables", err.Error(), ""})
		return
	}
	matches := router.Literals()
	if n := len(x.options.Tables) - len(matches); n > 0 {
		name := "rules name their destinations"
		if n == 1 {
			name = "rule names its destination"
		}
		x.add(Finding{Unknown, "the tables", fmt.Sprintf("%d %s by what messages hold: those are known when a message comes", n, name), "let the sample below be large enough (-messages)"})
	}
	if name := x.options.DeadLetters.Table; name != "" {
		x.letterTable(ctx, name)
	}
	for _, m := range matches {
		if ctx.Err() != nil {
			return
		}
		d := &destination{match: m, stored: m.Name}
		x.tables = append(x.tables, d)
		x.lookAt(ctx, tables, d)
		if m.History != (table.Name{}) {
			x.historyTable(ctx, m.History)
		}
	}
	x.checked("%s", counted(len(x.tables), "table"))
}

// lookAt looks at one table.
func (x *examination) lookAt(ctx context.Context, tables *catalog.Catalog, d *destination) {
	about := d.about()
	var err error
	if d.location, err = x.bigquery.Location(ctx, d.match.Name.Project, d.match.Name.Dataset); err != nil {
		x.add(Finding{Unknown, about, fmt.Sprintf("where its dataset is: %v", err), granting(err, "bigquery.datasets.get", "see whether BigQuery's address is right")})
	}
	if tables.IsView(d.match.Name.String()) {
		if !x.behind(ctx, tables, d) {
			return
		}
		about = d.about()
	}
	if d.resource, err = x.bigquery.Table(ctx, d.stored); err != nil {
		x.add(Finding{Fatal, about, fmt.Sprintf("it can't be read: %v", err), "see whether BigQuery's address is right, and the account has bigquery.tables.get"})
		return
	}
	if d.resource == nil {
		x.missing(d)
		return
	}
	needed := permissionsOfTable(d.match.Rule)
	granted, err := x.bigquery.Granted(ctx, d.stored, names(needed))
	if err != nil {
		x.add(Finding{Unknown, about, fmt.Sprintf("which permissions this account has: %v", err), ""})
	} else {
		x.add(lacking(about, needed, granted)...)
	}
	d.ready, err = tables.Destination(ctx, d.match)
	for _, e := range unjoin(err) {
		x.add(Finding{Fatal, about, e.Error(), ""})
	}
	x.add(judgeTable(d, x.request.Dataflow)...)
}

// behind finds the table behind the view of `truncates: recreate`. It reports false for
// what is missing or no view, which is told.
func (x *examination) behind(ctx context.Context, tables *catalog.Catalog, d *destination) bool {
	about := "view " + d.match.Name.String()
	view, err := x.bigquery.Table(ctx, d.match.Name)
	switch {
	case err != nil:
		x.add(Finding{Fatal, about, fmt.Sprintf("it can't be read: %v", err), "see whether BigQuery's address is right, and the account has bigquery.tables.get"})
		return false
	case view == nil:
		x.missing(d)
		return false
	case view.View == nil:
		x.add(Finding{Fatal, about, "it is a table, and truncates: recreate puts a view there over one table after the other", "rename it and let create_tables make the view, or set truncates: delete_keys"})
		return false
	}
	fence, err := tables.Fence(ctx, d.match.Name.String(), time.Time{})
	if err != nil {
		x.add(Finding{Unknown, about, fmt.Sprintf("which table is behind it: %v", err), ""})
		return false
	}
	d.stored.Table = catalog.Behind(d.stored.Table, fence.Truncated)
	return true
}

// missing looks at a table that is to be created, or can't be.
func (x *examination) missing(d *destination) {
	if !x.options.CreateTables {
		x.add(Finding{Fatal, d.about(), "it does not exist", "create it, or set create_tables"})
		return
	}
	if len(d.match.Rule.PrimaryKey) == 0 {
		return // the first message names the key
	}
	if _, err := table.FromRule(d.match.Name, d.match.Rule); err != nil {
		for _, e := range unjoin(err) {
			x.add(Finding{Fatal, d.about(), "it can't be created: " + e.Error(), ""})
		}
	}
}

// historyTable looks whether the table of a history is there, or will be.
func (x *examination) historyTable(ctx context.Context, name table.Name) {
	about := "history table " + name.String()
	t, err := x.bigquery.Table(ctx, name)
	switch {
	case err != nil:
		x.add(Finding{Fatal, about, fmt.Sprintf("it can't be read: %v", err), ""})
	case t == nil && !x.options.CreateTables:
		x.add(Finding{Fatal, about, "it does not exist", "set create_tables, or create it as the documentation of transforms/history says"})
	default:
		x.checked("%s", about)
	}
}

// counted is a number of things, in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func (x *examination) letterTable(ctx context.Context, destination string) {
	name, err := table.ParseName(destination, x.options.CatalogConfig().Project)
	if err != nil {
		return // Validate has said so
	}
	about := "dead letters' table " + name.String()
	t, err := x.bigquery.Table(ctx, name)
	switch {
	case err != nil:
		x.add(Finding{Fatal, about, fmt.Sprintf("it can't be read: %v", err), ""})
	case t == nil && !x.options.CreateTables:
		rule := deadletter.TableRule(destination)
		wanted, _ := table.FromRule(name, &rule)
		x.add(Finding{Fatal, about, "it does not exist: no dead letter can be stored, and then no message acked", "set create_tables, or create it:\n" + wanted.DDL()})
	default:
		x.checked("%s", about)
	}
}

// judgeTable returns what would hurt about a table that rows can be written to.
func judgeTable(d *destination, job Dataflow) []Finding {
	var found []Finding
	report := func(level Level, problem, mend string) {
		found = append(found, Finding{level, d.about(), problem, mend})
	}
	t := d.resource
	if job.Region != "" && d.location != "" && !near(d.location, job.Region) {
		report(Warning, fmt.Sprintf("its dataset is in %s, and the job in %s: every row crosses between them, which costs money and time", d.location, job.Region),
			"run the job in a region of the dataset's location")
	}
	var key []string
	if t.TableConstraints != nil && t.TableConstraints.PrimaryKey != nil {
		key = t.TableConstraints.PrimaryKey.Columns
	}
	var clustered []string
	if t.Clustering != nil {
		clustered = t.Clustering.Fields
	}
	if len(key) > 0 && (len(clustered) == 0 || !slices.ContainsFunc(key, func(k string) bool { return strings.EqualFold(k, clustered[0]) })) {
		report(Warning, "it is not clustered by its primary key: applying changes reads the whole table each time",
			fmt.Sprintf("cluster it by %s (tables.patch takes a new clustering)", strings.Join(key[:min(4, len(key))], ", ")))
	}
	if d.ready != nil && d.ready.Table.MaxStaleness == 0 {
		report(Warning, "it has no max_staleness: every query applies all pending changes by itself, and pays for that",
			fmt.Sprintf("set the age that readers bear: ALTER TABLE %s SET OPTIONS (max_staleness = INTERVAL 15 MINUTE)", warehouse.Quoted(d.stored.String())))
	}
	if t.RequirePartitionFilter {
		report(Warning, "it requires a partition filter, and BigQuery refuses queries that would have to apply pending changes then",
			"set max_staleness, so that queries read what is applied; or leave require_partition_filter out")
	}
	if t.ExpirationTime > 0 {
		report(Warning, fmt.Sprintf("it is deleted on %s, and then takes no row", time.UnixMilli(t.ExpirationTime).UTC().Format(time.DateOnly)),
			"ALTER TABLE … SET OPTIONS (expiration_timestamp = NULL)")
	}
	if p := t.TimePartitioning; p != nil && p.ExpirationMs > 0 {
		report(Warning, fmt.Sprintf("its partitions are deleted after %v: rows vanish that the source still has", time.Duration(p.ExpirationMs)*time.Millisecond),
			"ALTER TABLE … SET OPTIONS (partition_expiration_days = NULL)")
	}
	return found
}

// near says whether a region is in a dataset's location: the same one, or the
// multi-region that holds it.
func near(location, region string) bool {
	location, region = strings.ToLower(location), strings.ToLower(region)
	switch location {
	case "us":
		return strings.HasPrefix(region, "us-")
	case "eu":
		return strings.HasPrefix(region, "europe-")
	default:
		return location == region
	}
}

func names(permissions []permission) []string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = p.name
	}
	return names
}

// unjoin returns the errors that were joined, none for nil.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if many, ok := e.(interface{ Unwrap() []error }); ok {
			return many.Unwrap()
		}
	}
	return []error{err}
}
