package status

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/googleapi"

	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/schemas/table"
	"beamcdc/templates/operations"
)

// dataset asks about the tables of one dataset.
type dataset struct {
	client   *warehouse.Client
	request  Request
	name     table.Name // without a table
	location string
	tables   []*Table
}

// The permissions that the views take.
const (
	tablesPermission   = "bigquery.tables.get and bigquery.tables.list on the dataset (roles/bigquery.metadataViewer)"
	timelinePermission = "bigquery.tables.list on the project (roles/bigquery.metadataViewer)"
	jobsPermission     = "bigquery.jobs.listAll on the project (roles/bigquery.resourceViewer)"
)

func (d *dataset) examine(ctx context.Context) {
	var err error
	d.location, err = d.client.Location(ctx, d.name.Project, d.name.Dataset)
	switch {
	case err != nil:
		d.unknown("where the dataset is", "bigquery.datasets.get", err)
		return
	case d.location == "":
		d.unknown("how it stands", "", fmt.Errorf("there is no dataset %s.%s", d.name.Project, d.name.Dataset))
		return
	}
	d.watermarks(ctx)
	d.pending(ctx)
	d.applies(ctx)
	d.writeErrors(ctx)
	d.applyErrors(ctx)
	d.baseline(ctx)
}

// unknown notes at each table what could not be looked at.
func (d *dataset) unknown(what, permission string, err error) {
	text := fmt.Sprintf("%s: %v", what, err)
	if forbidden(err) && permission != "" {
		text += "; it takes " + permission
	}
	for _, t := range d.tables {
		t.Unknown = append(t.Unknown, text)
	}
}

func forbidden(err error) bool {
	e, ok := errors.AsType[*googleapi.Error](err)
	return ok && e.Code == http.StatusForbidden
}

func (d *dataset) find(name string) *Table {
	i := slices.IndexFunc(d.tables, func(t *Table) bool { return t.name.Table == name })
	if i < 0 {
		return nil
	}
	return d.tables[i]
}

// question is one of the queries.
type question struct {
	query      string
	what       string // what is not known without an answer
	permission string // that it takes
	parameters map[string]any
}

// ask runs a query. It reports false where there is no answer, which is noted.
func ask[T any](ctx context.Context, d *dataset, q question) ([]T, bool) {
	statement, err := operations.Query(q.query, operations.Place{Project: d.name.Project, Region: d.location, Dataset: d.name.Dataset})
	var rows []T
	if err == nil {
		var given []bigquery.QueryParameter
		for name, value := range q.parameters {
			given = append(given, bigquery.QueryParameter{Name: name, Value: value})
		}
		rows, err = warehouse.Query[T](ctx, d.client, d.location, statement, given...)
	}
	if err != nil {
		d.unknown(q.what, q.permission, err)
		return nil, false
	}
	for _, t := range d.tables {
		t.answered = true
	}
	return rows, true
}

// watermarks tells of each table when it was last applied. A table without a primary
// key, or that is missing, has no row.
func (d *dataset) watermarks(ctx context.Context) {
	type row struct {
		Table     string                 `bigquery:"table_name"`
		Watermark bigquery.NullTimestamp `bigquery:"watermark"`
		Lag       bigquery.NullFloat64   `bigquery:"watermark_lag_in_seconds"`
		Staleness bigquery.NullString    `bigquery:"max_staleness"`
	}
	rows, ok := ask[row](ctx, d, question{operations.Watermark, "when changes were last applied", tablesPermission, nil})
	if !ok {
		return
	}
	for _, r := range rows {
		t := d.find(r.Table)
		if t == nil {
			continue
		}
		t.exists = true
		if r.Watermark.Valid {
			t.Watermark, t.LagSeconds = &r.Watermark.Timestamp, &r.Lag.Float64
		}
		if interval, err := bigquery.ParseInterval(r.Staleness.StringVal); r.Staleness.Valid && err == nil {
			t.MaxStaleness = new(interval.ToDuration().Seconds())
		}
	}
	for _, t := range d.tables {
		if t.missing = !t.exists; t.missing {
			t.Notes = append(t.Notes, d.whyNone(ctx, t.name))
		}
	}
}

// whyNone says why no change is applied to a table.
func (d *dataset) whyNone(ctx context.Context, name table.Name) string {
	found, err := d.client.Table(ctx, name)
	switch {
	case err != nil:
		return fmt.Sprintf("it does not exist, or has no primary key, so that no change can be applied to it: which of the two is not known: %v", err)
	case found == nil:
		return "it does not exist"
	case found.View == nil:
		return "it has no primary key: no change can be applied to it"
	}
	of := selected(found.View.Query)
	if len(of) == 0 {
		return "it is a view: changes are applied to tables alone, so look at the one that it shows"
	}
	return fmt.Sprintf("it is a view of %s: changes are applied to tables alone; cdc status looks at %s where that is given as TABLE", strings.Join(of, ", "), of[0])
}

// from finds the tables of a view's query, which are mostly quoted.
var from = regexp.MustCompile("(?i)\\b(?:FROM|JOIN)\\s+(?:`([^`]+)`|([A-Za-z][\\w-]*(?:\\.[\\w-]+)+))")

// selected are the tables that a query selects from, as far as that is easily seen.
func selected(query string) []string {
	var names []string
	for _, m := range from.FindAllStringSubmatch(query, -1) {
		if name := m[1] + m[2]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// pending counts what waits to be applied.
func (d *dataset) pending(ctx context.Context) {
	type row struct {
		Table   string                 `bigquery:"table_name"`
		AtLeast int64                  `bigquery:"at_least"`
		AtMost  int64                  `bigquery:"at_most"`
		Bytes   int64                  `bigquery:"bytes_at_most"`
		Since   bigquery.NullTimestamp `bigquery:"since"`
	}
	rows, ok := ask[row](ctx, d, question{
		operations.PendingRows, "how many rows wait", timelinePermission, map[string]any{"dataset": d.name.Dataset, "days": d.request.Days},
	})
	if !ok {
		return
	}
	for _, t := range d.tables {
		if !t.missing { // nothing waits for what is not there
			t.Pending = &Pending{}
		}
	}
	for _, r := range rows {
		if t := d.find(r.Table); t != nil && !t.missing {
			t.Pending = &Pending{AtLeast: r.AtLeast, AtMost: r.AtMost, Bytes: r.Bytes, Since: timeOf(r.Since)}
		}
	}
}

// applies tells how long background applies take.
func (d *dataset) applies(ctx context.Context) {
	type row struct {
		Table       string                 `bigquery:"table_name"`
		Applies     int64                  `bigquery:"applies"`
		Seconds     bigquery.NullFloat64   `bigquery:"p95_background_apply_duration_in_seconds"`
		Recommended bigquery.NullFloat64   `bigquery:"recommended_max_staleness_with_buffer_in_minutes"`
		Unfinished  bigquery.NullTimestamp `bigquery:"unfinished_since"`
	}
	rows, _ := ask[row](ctx, d, question{
		operations.ApplyDuration, "how long applies take", jobsPermission, map[string]any{"dataset": d.name.Dataset, "days": d.request.Days},
	})
	for _, r := range rows {
		t := d.find(r.Table)
		if t == nil {
			continue
		}
		t.Applies, t.UnfinishedSince = r.Applies, timeOf(r.Unfinished)
		if r.Seconds.Valid {
			t.ApplySeconds = &r.Seconds.Float64
		}
		if r.Recommended.Valid {
			t.RecommendedMinutes = new(int64(r.Recommended.Float64))
		}
	}
}

// writeErrors finds the latest code with which requests were refused.
func (d *dataset) writeErrors(ctx context.Context) {
	type row struct {
		Table    string    `bigquery:"table_name"`
		Code     string    `bigquery:"error_code"`
		Requests int64     `bigquery:"requests"`
		Rows     int64     `bigquery:"rows_refused"`
		Latest   time.Time `bigquery:"latest"`
	}
	rows, _ := ask[row](ctx, d, question{
		operations.WriteErrors, "which requests were refused", timelinePermission, map[string]any{"dataset": d.name.Dataset, "hours": d.request.Hours},
	})
	for _, r := range rows {
		d.failed(r.Table, LastError{At: r.Latest, Of: "append", Code: r.Code, Count: r.Requests, Rows: r.Rows})
	}
}

// applyErrors finds the latest reason for which applies failed.
func (d *dataset) applyErrors(ctx context.Context) {
	type row struct {
		Table   string              `bigquery:"table_name"`
		Reason  bigquery.NullString `bigquery:"reason"`
		Applies int64               `bigquery:"applies"`
		Latest  time.Time           `bigquery:"latest"`
		Message bigquery.NullString `bigquery:"message"`
	}
	rows, _ := ask[row](ctx, d, question{
		operations.ApplyErrors, "which applies failed", jobsPermission, map[string]any{"dataset": d.name.Dataset, "days": d.request.Days},
	})
	for _, r := range rows {
		d.failed(r.Table, LastError{At: r.Latest, Of: "apply", Code: r.Reason.StringVal, Count: r.Applies, Message: r.Message.StringVal})
	}
}

// failed keeps an error of a table that is later than the one that is kept.
func (d *dataset) failed(name string, e LastError) {
	if t := d.find(name); t != nil && (t.LastError == nil || e.At.After(t.LastError.At)) {
		t.LastError = &e
	}
}

// baseline tells whether a table gets as many bytes as it used to.
func (d *dataset) baseline(ctx context.Context) {
	type row struct {
		Table    string  `bigquery:"table_name"`
		Recent   int64   `bigquery:"recent_bytes"`
		Baseline float64 `bigquery:"baseline_bytes"`
		Below    bool    `bigquery:"below_baseline"`
	}
	rows, _ := ask[row](ctx, d, question{operations.WriteBaseline, "whether it gets fewer bytes than before", timelinePermission, map[string]any{
		"dataset": d.name.Dataset, "recent_minutes": d.request.RecentMinutes, "baseline_hours": d.request.BaselineHours, "fraction": d.request.Fraction,
	}})
	for _, r := range rows {
		if t := d.find(r.Table); t != nil {
			t.RecentBytes, t.BaselineBytes, t.BelowBaseline = &r.Recent, &r.Baseline, r.Below
		}
	}
}

func timeOf(t bigquery.NullTimestamp) *time.Time {
	if !t.Valid {
		return nil
	}
	return &t.Timestamp
}
