package counters

import (
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/google/go-cmp/cmp"
)

func bundleOf(data map[string][]byte) *fnpb.InstructionResponse {
	return &fnpb.InstructionResponse{Response: &fnpb.InstructionResponse_ProcessBundle{
		ProcessBundle: &fnpb.ProcessBundleResponse{MonitoringData: data},
	}}
}

func infoOf(urn, transform, name string) *pipepb.MonitoringInfo {
	return &pipepb.MonitoringInfo{Urn: urn, Labels: map[string]string{"NAMESPACE": "decode", "NAME": name, "PTRANSFORM": transform}}
}

// Prism keeps the last of two first values; the tally adds them up.
func TestTally(t *testing.T) {
	bundle := func(id string, n byte) *fnpb.InstructionResponse {
		return bundleOf(map[string][]byte{id: {n}, "other": {}})
	}
	names := &fnpb.InstructionResponse{Response: &fnpb.InstructionResponse_MonitoringInfos{
		MonitoringInfos: &fnpb.MonitoringInfosMetadataResponse{MonitoringInfo: map[string]*pipepb.MonitoringInfo{
			"a": infoOf(counterURN, "e1", "messages"), "b": infoOf(counterURN, "e2", "messages"),
		}},
	}}
	failed := bundle("a", 64)
	failed.Error = "no"
	tally := newTally()
	tally.add(bundle("a", 7))
	before := tally.now()
	for _, response := range []*fnpb.InstructionResponse{bundle("a", 1), bundle("a", 2), bundle("b", 4), names, bundle("a", 8), failed} {
		tally.add(response)
	}
	if got := tally.since(before); len(got) != 1 || got["decode/messages"] != 15 {
		t.Errorf("got %v, want 15 messages", got)
	}
	if got := tally.values()[Name{"decode", "messages"}]; got != (Value{Sum: 22}) {
		t.Errorf("got %v, want 22 messages since the beginning", got)
	}
}

// What Beam's worker encodes, with IDs or without.
func TestTally_values(t *testing.T) {
	payload := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := map[string][]byte{
		"d1": payload(metricsx.Int64Distribution(2, 30, 10, 20)),
		"g":  payload(metricsx.Int64Latest(time.UnixMilli(2000), -5)),
		"c":  payload(metricsx.Int64Counter(3)),
		"x":  payload(metricsx.Int64Counter(99)), // of no user
		"y":  {0xff},                             // no number
	}
	second := map[string][]byte{
		"d1": payload(metricsx.Int64Distribution(1, 5, 5, 5)),
		"d2": payload(metricsx.Int64Distribution(1, 500, 500, 500)),
		"g":  payload(metricsx.Int64Latest(time.UnixMilli(1000), 7)),
		"c":  payload(metricsx.Int64Counter(4)),
	}
	infos := map[string]*pipepb.MonitoringInfo{
		"d1": infoOf(distributionURN, "e1", "lag"), "d2": infoOf(distributionURN, "e2", "lag"),
		"g": infoOf(gaugeURN, "e1", "age"), "c": infoOf(counterURN, "e1", "messages"),
		"x": infoOf("beam:metric:element_count:v1", "e1", "x"),
	}
	want := map[Name]Value{
		{"decode", "lag"}:      {Count: 4, Sum: 535, Min: 5, Max: 500},
		{"decode", "age"}:      {Latest: -5},
		{"decode", "messages"}: {Sum: 7},
	}

	byID := newTally()
	byID.add(bundleOf(first))
	byID.add(bundleOf(second))
	byID.add(&fnpb.InstructionResponse{Response: &fnpb.InstructionResponse_MonitoringInfos{
		MonitoringInfos: &fnpb.MonitoringInfosMetadataResponse{MonitoringInfo: infos},
	}})
	if diff := cmp.Diff(want, byID.values()); diff != "" {
		t.Errorf("by ID (-want +got):\n%s", diff)
	}

	whole := newTally()
	for _, data := range []map[string][]byte{first, second} {
		response := bundleOf(data) // the worker fills in both
		for id, payload := range data {
			if m := infos[id]; m != nil {
				response.GetProcessBundle().MonitoringInfos = append(response.GetProcessBundle().MonitoringInfos,
					&pipepb.MonitoringInfo{Urn: m.GetUrn(), Labels: m.GetLabels(), Payload: payload})
			}
		}
		whole.add(response)
	}
	if diff := cmp.Diff(want, whole.values()); diff != "" {
		t.Errorf("without IDs (-want +got):\n%s", diff)
	}
}
