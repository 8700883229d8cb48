package history

import (
	"context"

	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// Check reports at start-up why histories can't take rows, one error for each, of the
// rules whose history has a name without placeholders. It creates what is missing where
// the catalog may.
func Check(ctx context.Context, c Config) []error {
	router, err := table.NewRouter(c.Tables.Project, c.Tables.Rules)
	if err != nil {
		return []error{err}
	}
	histories, err := catalog.Open(ctx, c.Histories)
	if err != nil {
		return []error{err}
	}
	var problems []error
	for _, match := range router.Literals() {
		if match.History == (table.Name{}) {
			continue
		}
		if err := histories.Appendable(ctx, Table(match.History), View(match.History)); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}
