package direct

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
)

// tally adds up the counters of all bundles that this process finishes. Prism
// does that too, but of bundles that end at one time and hold the first values of
// a counter it keeps the last one's alone (metricsStore.contributeMetrics of Beam
// 2.77 overwrites unprocessedPayloads), and then the counts don't add up.
//
// The worker runs in this process, and its hooks see each answer that it gives.
type tally struct {
	mu    sync.Mutex
	sums  map[string]int64  // by the worker's short ID of the counter
	names map[string]string // short ID to "namespace.name"
}

// total is this process's tally: Beam's hooks are the process's too.
var total = tally{sums: map[string]int64{}, names: map[string]string{}}

const hookName = "beamcdc:counters"

func init() {
	hooks.RegisterHook(hookName, func([]string) hooks.Hook {
		return hooks.Hook{Resp: func(_ context.Context, _ *fnpb.InstructionRequest, response *fnpb.InstructionResponse) error {
			return total.add(response)
		}}
	})
}

// counterURN is Beam's name for a user's counter.
const counterURN = "beam:metric:user:sum_int64:v1"

// add takes what the worker answers to the runner. A failed bundle counts nothing.
func (t *tally) add(response *fnpb.InstructionResponse) error {
	if response.GetError() != "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, payload := range response.GetProcessBundle().GetMonitoringData() {
		// Of other metrics than counters this is no sum, and is never looked at.
		n, err := coder.DecodeVarInt(bytes.NewReader(payload))
		if err != nil {
			continue
		}
		t.sums[id] += n
	}
	for id, info := range response.GetMonitoringInfos().GetMonitoringInfo() {
		if info.GetUrn() == counterURN {
			t.names[id] = info.GetLabels()["NAMESPACE"] + "." + info.GetLabels()["NAME"]
		}
	}
	return nil
}

// snapshot returns the sums so far, by short ID.
func (t *tally) snapshot() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.sums)
}

// since returns what was added since a snapshot, by "namespace.name".
func (t *tally) since(before map[string]int64) map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	counters := map[string]int64{}
	for id, sum := range t.sums {
		if name, ok := t.names[id]; ok {
			counters[name] += sum - before[id]
		}
	}
	return counters
}
