package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/enrich"
)

// validateEnrich checks a rule's steps: against the table's columns where the rule
// lists all of them, since the table may have to be created, else by themselves; Check
// holds them against BigQuery's table.
func (o *Options) validateEnrich(i int, project string, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	for j := range r.Enrich {
		s := &r.Enrich[j]
		if l := s.Lookup; l != nil && o.RunnerOwnsSource {
			for key, path := range map[string]string{"csv": l.CSV, "json_lines": l.JSONLines, "parquet": l.Parquet} {
				if path != "" && !strings.HasPrefix(path, "gs://") {
					report(fmt.Sprintf("%senrich[%d].lookup.%s", at, j, key), "workers of this runner don't have the file; put it into Cloud Storage: gs://BUCKET/OBJECT")
				}
			}
		}
	}
	if len(r.Enrich) == 0 {
		return
	}
	if r.History != "" && (r.UnavailableValues == "fill" || r.Deletes == "soft") {
		report(at+"history", "rows that are completed (unavailable_values: fill, deletes: soft) are enriched after their history has them: leave history or enrich out")
	}
	var rows *rowproto.Plan
	if o.CreateTables && len(r.Columns) > 0 && len(r.PrimaryKey) > 0 {
		completed, _ := enrichment.Complete(r) // what is wrong with its expressions is found below
		rows = exampleRows(r, completed, project)
	}
	_, problems := enrichment.Compile(r.Enrich, rows, enrich.Open(r))
	problems = append(problems, enrichment.CheckCompleting(r, r.PrimaryKey)...)
	for _, err := range problems {
		p := new(enrichment.Problem)
		if errors.As(err, &p) {
			report(at+p.Key, "%v", p.Err)
		}
	}
}

// exampleRows compiles the table that a rule would have created, nil where that can't
// be: why is reported elsewhere.
func exampleRows(r, completed *table.Rule, project string) *rowproto.Plan {
	name := table.Name{Project: project, Dataset: "dataset", Table: "table"} // a pattern's has no name yet
	if n, err := table.ParseName(r.Destination, project); err == nil {
		name = n
	}
	t, err := table.FromRule(name, completed)
	if err != nil {
		return nil
	}
	rows, err := rowproto.Compile(t)
	if err != nil {
		return nil
	}
	return rows
}

// completed returns the rules with the columns that their steps tell of, for tables
// that may have to be created.
func (o *Options) completed(rules []table.Rule) []table.Rule {
	if !o.CreateTables {
		return rules
	}
	completed := make([]table.Rule, len(rules))
	for i := range rules {
		completed[i] = rules[i]
		if r, problems := enrichment.Complete(&rules[i]); len(problems) == 0 {
			completed[i] = *r
		}
	}
	return completed
}

// checkSteps holds the steps against the tables as BigQuery has them, and reads the
// references and keys once where the workers are in this process: it is then known
// before the first message that they can be read. What keeps a table from being there
// at all is reported elsewhere.
func (o *Options) checkSteps(ctx context.Context) []error {
	tables, err := catalog.Open(ctx, o.CatalogConfig())
	if err != nil {
		return nil
	}
	var errs []error
	for _, m := range tables.Literals() {
		if len(m.Rule.Enrich) == 0 {
			continue
		}
		found, err := tables.Destination(ctx, m)
		if err != nil {
			continue
		}
		if o.RunnerOwnsSource {
			err = enrich.Check(m.Rule, found.Plan)
		} else {
			_, err = enrich.New(ctx, enrich.ConfigOf(o.CatalogConfig()), m.Rule, found.Plan)
		}
		problems := new(enrich.Problems)
		switch {
		case err == nil:
		case !errors.As(err, &problems):
			errs = append(errs, fmt.Errorf("%s%w", o.find(fmt.Sprintf("tables[%d].enrich", m.Index), ""), err))
		default:
			for _, err := range problems.Errors {
				p := new(enrichment.Problem)
				if errors.As(err, &p) {
					errs = append(errs, Findings{o.find(fmt.Sprintf("tables[%d].%s", m.Index, p.Key), p.Error())})
				}
			}
		}
	}
	return errs
}
