// Package status asks BigQuery how the tables of a pipeline stand, by the queries of
// templates/operations.
package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// Request says what to look at.
type Request struct {
	Tables        []string // [project.]dataset.table; none for all that the configuration names
	Days          int      // of background applies
	Hours         int      // of the Storage Write API's errors
	RecentMinutes int      // whose bytes are held against the baseline
	BaselineHours int      // before the recent minutes
	Fraction      float64  // of the baseline, below which is told of
}

// Report is how the tables stand.
type Report struct {
	Tables []*Table `json:"tables"`
	Notes  []string `json:"notes,omitempty"` // what is about no single table
}

// Table is how one table stands. What BigQuery doesn't know is null.
type Table struct {
	Name   string `json:"table"`            // as the configuration names it
	Behind string `json:"behind,omitempty"` // the table behind it, where it is a view of truncates: recreate

	Watermark  *time.Time `json:"watermark"` // changes until then are applied; null before the first apply
	LagSeconds *float64   `json:"watermark_lag_seconds"`
	Pending    *Pending   `json:"pending_rows"`

	Applies            int64      `json:"applies"`               // that ended
	ApplySeconds       *float64   `json:"apply_seconds_p95"`     // from when one is asked for to its end
	RecommendedMinutes *int64     `json:"recommended_minutes"`   // of max_staleness
	MaxStaleness       *float64   `json:"max_staleness_seconds"` // null: none
	UnfinishedSince    *time.Time `json:"apply_unfinished_since,omitempty"`

	RecentBytes   *int64   `json:"recent_bytes"`
	BaselineBytes *float64 `json:"baseline_bytes"` // of as long a time
	BelowBaseline bool     `json:"below_baseline"`

	LastError *LastError `json:"last_error"`
	Notes     []string   `json:"notes,omitempty"`   // what to do something about
	Unknown   []string   `json:"unknown,omitempty"` // what could not be looked at, and why

	name table.Name

	answered bool // BigQuery has answered a question about its dataset
	missing  bool // it does not exist, or has no primary key
	exists   bool // and has a primary key
}

// Pending is how many acknowledged rows wait to be applied: between the two.
type Pending struct {
	AtLeast int64      `json:"at_least"`
	AtMost  int64      `json:"at_most"`
	Bytes   int64      `json:"bytes_at_most"`
	Since   *time.Time `json:"since"` // the minute of the oldest
}

// LastError is the latest error of those that are remembered.
type LastError struct {
	At      time.Time `json:"at"`    // the minute, of requests
	Of      string    `json:"of"`    // "append" or "apply"
	Code    string    `json:"code"`  // gRPC's, or the job's reason
	Count   int64     `json:"count"` // how many requests or applies failed alike
	Rows    int64     `json:"rows"`  // in those requests
	Message string    `json:"message,omitempty"`
}

// Examine asks BigQuery. What it doesn't answer is in the report; an error is of the
// configuration, or of the context.
func Examine(ctx context.Context, o pipeline.Options, q Request) (*Report, error) {
	c := o.CatalogConfig()
	c.CreateTables = false // looking changes nothing
	r := &Report{Tables: []*Table{}}
	if err := r.choose(c, q.Tables); err != nil {
		return nil, err
	}
	client, err := warehouse.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	tables, err := catalog.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	byDataset := map[table.Name][]*Table{}
	var datasets []table.Name
	for _, t := range r.Tables {
		t.name = behind(ctx, tables, t)
		of := table.Name{Project: t.name.Project, Dataset: t.name.Dataset}
		if byDataset[of] == nil {
			datasets = append(datasets, of)
		}
		byDataset[of] = append(byDataset[of], t)
	}
	for _, of := range datasets {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("interrupted: %w", err)
		}
		d := dataset{client: client, request: q, name: of, tables: byDataset[of]}
		d.examine(ctx)
	}
	for _, t := range r.Tables {
		t.judge()
	}
	return r, nil
}

// choose lists the tables: those that are asked for, or all whose names the
// configuration tells.
func (r *Report) choose(c catalog.Config, asked []string) error {
	for _, text := range asked {
		name, err := table.ParseName(text, c.Project)
		if err != nil {
			return UsageError{fmt.Errorf("%q is no table: %w", text, err)}
		}
		r.Tables = append(r.Tables, &Table{Name: name.String(), name: name})
	}
	if len(asked) > 0 {
		return nil
	}
	router, err := table.NewRouter(c.Project, c.Rules)
	if err != nil {
		return UsageError{err}
	}
	matches := router.Literals()
	for _, m := range matches {
		r.Tables = append(r.Tables, &Table{Name: m.Name.String(), name: m.Name})
	}
	slices.SortFunc(r.Tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	if n := len(c.Rules) - len(matches); n > 0 {
		text := fmt.Sprintf("%d of the rules name their tables by what messages hold; give those as arguments", n)
		if n == 1 {
			text = "one of the rules names its tables by what messages hold; give those as arguments"
		}
		r.Notes = append(r.Notes, text)
	}
	return nil
}

// behind returns the table that BigQuery applies changes to: the one behind a view,
// else the table itself.
func behind(ctx context.Context, tables *catalog.Catalog, t *Table) table.Name {
	if !tables.IsView(t.Name) {
		return t.name
	}
	fence, err := tables.Fence(ctx, t.Name, time.Time{})
	if err != nil {
		t.Unknown = append(t.Unknown, fmt.Sprintf("which table is behind the view: %v", err))
		return t.name
	}
	name := t.name
	name.Table = catalog.Behind(name.Table, fence.Truncated)
	t.Behind = name.String()
	return name
}
