package deadletter

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters: letters, and the same by stage
// and reason, letters_by_reason.
const Namespace = "deadletter"

var (
	lettersCounter = metric.In(Namespace).Counter("letters", metric.Letters, "Dead letters that were stored.")
	lettersByKind  = metric.In(Namespace).Counters("letters_by_reason", metric.Letters, "The same by stage and reason.", "stage", "reason")
)

// counters holds the counters that a DoFn has used: which reasons there are is
// known to the stages alone. The zero value is ready for use.
type counters struct {
	byKind map[[2]string]beam.Counter
}

func (c *counters) count(ctx context.Context, l *Letter) {
	if c.byKind == nil {
		c.byKind = make(map[[2]string]beam.Counter)
	}
	kind := [2]string{l.Stage, l.Reason}
	counter, ok := c.byKind[kind]
	if !ok {
		counter = lettersByKind.With(l.Stage, l.Reason)
		c.byKind[kind] = counter
	}
	lettersCounter.Inc(ctx, 1)
	counter.Inc(ctx, 1)
}
