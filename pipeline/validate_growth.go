package pipeline

import (
	"fmt"

	"beamcdc/schemas/table"
)

// validateGrowth checks what says how a table follows its source.
func (o *Options) validateGrowth(i int, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	grows := table.GrowthOf(r) != nil
	if r.UntypedColumns != "" && !grows {
		report(at+"untyped_columns", "it says what columns are added as, and unknown_columns adds none: set unknown_columns to add, or leave it out")
	}
	switch n := r.MaxColumns; {
	case n == 0 && !o.isSet(at+"max_columns"):
	case !grows:
		report(at+"max_columns", "it bounds the columns that are added, and unknown_columns adds none: set unknown_columns to add, or leave it out")
	case n < 1 || n > table.MaxColumns:
		report(at+"max_columns", "it is %d; BigQuery takes CDC rows for tables of 1 to %d columns", n, table.MaxColumns)
	case n < len(r.Columns):
		report(at+"max_columns", "it is %d, and %d columns are configured", n, len(r.Columns))
	}
}
