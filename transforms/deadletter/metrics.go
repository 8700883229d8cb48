package deadletter

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Namespace is the namespace of this package's counters: letters, and one for
// each stage and reason, letters_STAGE_REASON.
const Namespace = "deadletter"

// counters holds the counters that a DoFn has used: which reasons there are is
// known to the stages alone. The zero value is ready for use.
type counters struct {
	total  beam.Counter
	byKind map[[2]string]beam.Counter
}

func (c *counters) count(ctx context.Context, l *Letter) {
	if c.byKind == nil {
		c.total = beam.NewCounter(Namespace, "letters")
		c.byKind = make(map[[2]string]beam.Counter)
	}
	kind := [2]string{l.Stage, l.Reason}
	counter, ok := c.byKind[kind]
	if !ok {
		counter = beam.NewCounter(Namespace, "letters_"+l.Stage+"_"+l.Reason)
		c.byKind[kind] = counter
	}
	c.total.Inc(ctx, 1)
	counter.Inc(ctx, 1)
}
