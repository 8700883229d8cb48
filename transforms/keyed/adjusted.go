package keyed

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/rowproto"
	"beamcdc/transforms/metric"
)

var (
	adjustedCounter = metrics.Counter("values_adjusted", metric.Values, "Values that a column's policy for bad values replaced.")
	adjustedColumns = metrics.Counters("values_adjusted_by_column", metric.Values, "The same by policy and column, which is named project.dataset.table.column.", "policy", "column")
)

// adjustments counts the values that columns' policies replaced: all of them in
// values_adjusted, and each table's, column's and policy's in a counter of their
// own, values_adjusted_by_column/clamp/project.dataset.table.column. There are as many as
// columns that a policy acted on, and only those.
type adjustments struct {
	row      []rowproto.Adjustment // of the row that is being encoded
	counters map[adjustmentOf]beam.Counter
}

type adjustmentOf struct {
	table string
	rowproto.Adjustment
}

// count counts what was done to the row, of the table by its full name.
func (a *adjustments) count(ctx context.Context, table string) {
	if len(a.row) == 0 {
		return
	}
	adjustedCounter.Inc(ctx, int64(len(a.row)))
	if a.counters == nil {
		a.counters = make(map[adjustmentOf]beam.Counter)
	}
	for _, adjustment := range a.row {
		of := adjustmentOf{table, adjustment}
		counter, known := a.counters[of]
		if !known {
			counter = adjustedColumns.With(string(of.Policy), table+"."+of.Column)
			a.counters[of] = counter
		}
		counter.Inc(ctx, 1)
	}
}
