package counters

import (
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
)

// Prism keeps the last of two first values; the tally adds them up.
func TestTally(t *testing.T) {
	bundle := func(id string, n byte) *fnpb.InstructionResponse {
		return &fnpb.InstructionResponse{Response: &fnpb.InstructionResponse_ProcessBundle{
			ProcessBundle: &fnpb.ProcessBundleResponse{MonitoringData: map[string][]byte{id: {n}, "other": {}}},
		}}
	}
	names := &fnpb.InstructionResponse{Response: &fnpb.InstructionResponse_MonitoringInfos{
		MonitoringInfos: &fnpb.MonitoringInfosMetadataResponse{MonitoringInfo: map[string]*pipepb.MonitoringInfo{
			"a": {Urn: counterURN, Labels: map[string]string{"NAMESPACE": "decode", "NAME": "messages", "PTRANSFORM": "e1"}},
			"b": {Urn: counterURN, Labels: map[string]string{"NAMESPACE": "decode", "NAME": "messages", "PTRANSFORM": "e2"}},
		}},
	}}
	failed := bundle("a", 64)
	failed.Error = "no"
	tally := newTally()
	tally.sums["a"] = 7
	before := tally.now()
	for _, response := range []*fnpb.InstructionResponse{bundle("a", 1), bundle("a", 2), bundle("b", 4), names, bundle("a", 8), failed} {
		tally.add(response)
	}
	if got := tally.since(before); len(got) != 1 || got["decode/messages"] != 15 {
		t.Errorf("got %v, want 15 messages", got)
	}
}
