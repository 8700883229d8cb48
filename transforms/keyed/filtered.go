package keyed

import (
	"context"

	"beamcdc/schemas/change"
	"beamcdc/transforms/metric"
)

// Why the configuration leaves a change out: values of a label of filtered_by_table.
const (
	leftOutUnlisted  = "unlisted"  // no rule lists its table
	leftOutTombstone = "tombstone" // an empty message of a table that doesn't take them
	leftOutWhere     = "where"     // a step of enrich
)

var (
	filteredCounter = metrics.Counter("filtered", metric.Changes, "Changes that the configuration leaves out.")
	filteredByTable = metrics.Counters("filtered_by_table", metric.Changes, "The same by why, which is unlisted, tombstone or where, and the source's table.", "reason", "source_table")
)

// leaveOut counts a change that is left out, and lets it come to rest.
func leaveOut(ctx context.Context, e *change.Event, why string, receipts []change.Receipt, rest func(change.Receipt)) {
	filteredCounter.Inc(ctx, 1)
	filteredByTable.With(why, e.Table).Inc(ctx, 1)
	for _, r := range receipts {
		rest(r)
	}
}
