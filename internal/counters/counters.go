// Package counters adds up what the DoFns of this process count, for whoever runs
// a pipeline in-process and must know it exactly.
//
// Prism adds up too, but of bundles that end at one time and hold the first values
// of a counter it keeps the last one's alone (metricsStore.contributeMetrics of
// Beam 2.77 overwrites unprocessedPayloads), and then the counts don't add up. The
// worker runs in this process, and its hooks see each answer that it gives.
package counters

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
)

const hookName = "beamcdc:counters"

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

// Name is a metric's.
type Name struct{ Namespace, Name string }

// Value is what became of a metric in this process: a counter has a Sum alone, a gauge
// the Latest alone, a distribution all but that.
type Value struct {
	Sum, Count, Min, Max int64
	Latest               int64
}

// Values returns the metrics that were counted since the process began.
func Values() map[Name]Value { return process.values() }
