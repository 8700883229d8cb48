package bench

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
)

// counters adds up the counters of all bundles of this process. Prism's own sums
// can't prove that nothing is lost: of bundles that end together with a counter's
// first values it keeps the last one's (Beam 2.77, metricsStore.contributeMetrics).
type counters struct {
	mu    sync.Mutex
	sums  map[string]int64  // by the worker's short ID of the counter
	names map[string]string // short ID to "namespace/name"
}

var total = counters{sums: make(map[string]int64), names: make(map[string]string)}

const countersHook = "beamcdc:bench-counters"

func init() {
	hooks.RegisterHook(countersHook, func([]string) hooks.Hook {
		return hooks.Hook{Resp: func(_ context.Context, _ *fnpb.InstructionRequest, response *fnpb.InstructionResponse) error {
			total.add(response)
			return nil
		}}
	})
}

// add takes what the worker answers to the runner.
func (c *counters) add(response *fnpb.InstructionResponse) {
	if response.GetError() != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, payload := range response.GetProcessBundle().GetMonitoringData() {
		// Other metrics than counters have no name below, so that theirs is no matter.
		if n, err := coder.DecodeVarInt(bytes.NewReader(payload)); err == nil {
			c.sums[id] += n
		}
	}
	for id, info := range response.GetMonitoringInfos().GetMonitoringInfo() {
		if info.GetUrn() == "beam:metric:user:sum_int64:v1" {
			c.names[id] = info.GetLabels()["NAMESPACE"] + "/" + info.GetLabels()["NAME"]
		}
	}
}

// snapshot returns the sums up to now.
func (c *counters) snapshot() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sums)
}

// since returns what was added since a snapshot, by "namespace/name".
func (c *counters) since(before map[string]int64) map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	added := make(map[string]int64)
	for id, sum := range c.sums {
		if name, ok := c.names[id]; ok {
			added[name] += sum - before[id]
		}
	}
	return added
}
