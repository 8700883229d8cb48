package deadletter

import (
	"cmp"
	"context"

	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters: letters, and the same by stage
// and reason, letters_by_reason, and by table, letters_by_table.
const Namespace = "deadletter"

var (
	lettersCounter = metric.In(Namespace).Counter("letters", metric.Letters, "Dead letters that were stored.")
	lettersByKind  = metric.In(Namespace).Counters("letters_by_reason", metric.Letters, "The same by stage and reason.", "stage", "reason")
	lettersByTable = metric.In(Namespace).Counters("letters_by_table", metric.Letters,
		"The same by stage and table: BigQuery's of a row that BigQuery refused, else the source's; unknown where a message tells none.", "stage", "table")
)

// count counts a letter that is stored.
func count(ctx context.Context, l *Letter) {
	lettersCounter.Inc(ctx, 1)
	lettersByKind.With(l.Stage, l.Reason).Inc(ctx, 1)
	lettersByTable.With(l.Stage, cmp.Or(l.Table, "unknown")).Inc(ctx, 1)
}
