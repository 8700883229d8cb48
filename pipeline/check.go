package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/history"
	"beamcdc/transforms/pubsubsource"
)

// Check asks the services, before the first message, whether the pipeline can do
// its work: the subscription is there, the tables that can be told by now can
// take rows, and dead letters can be stored. It returns everything that is wrong,
// each error naming what it is about, and creates tables where the configuration
// says so. The context bounds it.
func Check(ctx context.Context, o Options) []error {
	var problems []error
	report := func(about string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("checking %s: %w", about, err))
		}
	}
	report("the source", pubsubsource.Check(ctx, o.SourceConfig()))
	for _, err := range checkTables(ctx, o.CatalogConfig()) {
		for _, err := range o.located(err) {
			report("the tables", err)
		}
	}
	if o.remembers() {
		for _, err := range history.Check(ctx, o.history()) {
			report("the histories", err)
		}
	}
	for _, err := range o.checkSteps(ctx) {
		report("the enrichment", err)
	}
	if !o.RunnerOwnsSource { // else the key is the workers' to read
		report("the dead letters", deadletter.CheckKey(ctx, o.protection()))
	}
	if o.DeadLetters.Table == "" {
		report("the dead letters", o.deadLetters().Check(ctx))
	} else {
		report("the dead letters", deadletter.CheckTable(ctx, o.letterWriter().Catalog))
	}
	return problems
}

// located returns what is wrong with a table: where it is wrong with the
// configuration's columns, as findings at their lines; else BigQuery's table is to be
// mended, and its rule's line is put before it.
func (o *Options) located(err error) []error {
	var found *catalog.Error
	if !errors.As(err, &found) {
		return []error{err}
	}
	var located []error
	for _, problem := range unjoin(found.Err) {
		var hint *table.HintError
		rule := slices.IndexFunc(o.Tables, func(r table.Rule) bool {
			name, err := table.ParseName(r.Destination, o.project())
			return err == nil && name == found.Table
		})
		switch {
		case rule < 0 || !found.Permanent:
			return []error{err}
		case !errors.As(problem, &hint):
			return []error{fmt.Errorf("%s%w", o.find(fmt.Sprintf("tables[%d]", rule), ""), err)}
		}
		located = append(located, Findings{o.find(fmt.Sprintf("tables[%d].%s", rule, hint.Key), hint.Error())})
	}
	return located
}

func checkTables(ctx context.Context, c catalog.Config) []error {
	tables, err := catalog.Open(ctx, c)
	if err != nil {
		return []error{err}
	}
	return tables.Check(ctx)
}
