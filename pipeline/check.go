package pipeline

import (
	"context"
	"fmt"

	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
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
		report("the tables", err)
	}
	if o.DeadLetters.Table == "" {
		report("the dead letters", o.deadLetters().Check(ctx))
	} else {
		report("the dead letters", deadletter.CheckTable(ctx, o.letterWriter().Catalog))
	}
	return problems
}

func checkTables(ctx context.Context, c catalog.Config) []error {
	tables, err := catalog.Open(ctx, c)
	if err != nil {
		return []error{err}
	}
	return tables.Check(ctx)
}
