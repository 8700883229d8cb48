// Package counters adds up what the DoFns of this process count, for whoever runs
// a pipeline in-process and must know it exactly.
//
// Prism adds up too, but of bundles that end at one time and hold the first values
// of a counter it keeps the last one's alone (metricsStore.contributeMetrics of
// Beam 2.77 overwrites unprocessedPayloads), and then the counts don't add up. The
// worker runs in this process, and its hooks see each answer that it gives.
package counters

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
)

const hookName = "beamcdc:counters"

// counterURN is Beam's name for a user's counter.
const counterURN = "beam:metric:user:sum_int64:v1"

func init() {
	hooks.RegisterHook(hookName, func([]string) hooks.Hook {
		return hooks.Hook{Resp: func(_ context.Context, _ *fnpb.InstructionRequest, response *fnpb.InstructionResponse) error {
			process.add(response)
			return nil
		}}
	})
}

// Enable makes this process count. It must be called before Beam is initialized
// (beam.Init, or ptest.Main).
func Enable() error { return hooks.EnableHook(hookName) }

// Snapshot is what had been counted at some time.
type Snapshot struct{ sums map[string]int64 }

// Now returns what this process has counted up to now.
func Now() Snapshot { return process.now() }

// Since returns what was counted since the snapshot, by "namespace/name".
func (s Snapshot) Since() map[string]int64 { return process.since(s) }

// tally adds up the counters of bundles.
type tally struct {
	mu    sync.Mutex
	sums  map[string]int64  // by the worker's short ID of the counter
	names map[string]string // short ID to "namespace/name"
}

// process is this process's tally: Beam's hooks are the process's too.
var process = newTally()

func newTally() *tally { return &tally{sums: make(map[string]int64), names: make(map[string]string)} }

// add takes what the worker answers to the runner. A failed bundle counts nothing.
func (t *tally) add(response *fnpb.InstructionResponse) {
	if response.GetError() != "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, payload := range response.GetProcessBundle().GetMonitoringData() {
		// Of other metrics than counters this is no sum, and is never looked at.
		if n, err := coder.DecodeVarInt(bytes.NewReader(payload)); err == nil {
			t.sums[id] += n
		}
	}
	for id, info := range response.GetMonitoringInfos().GetMonitoringInfo() {
		if info.GetUrn() == counterURN {
			t.names[id] = info.GetLabels()["NAMESPACE"] + "/" + info.GetLabels()["NAME"]
		}
	}
}

func (t *tally) now() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Snapshot{maps.Clone(t.sums)}
}

func (t *tally) since(before Snapshot) map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	added := make(map[string]int64)
	for id, sum := range t.sums {
		if name, ok := t.names[id]; ok {
			added[name] += sum - before.sums[id]
		}
	}
	return added
}
