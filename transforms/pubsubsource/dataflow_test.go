package pubsubsource

import (
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"beamcdc/schemas/change"
)

// The graph that Dataflow gets: one read of the subscription by the runner, with
// attributes, and no ack.
func TestReadDataflow_Graph(t *testing.T) {
	c := Config{Subscription: "projects/other/subscriptions/changes", RunnerOwned: true}
	p, s := beam.NewPipelineWithRoot()
	messages := Read(s, c)
	Ack(s, c, beam.ParDo(s, &receiptFn{}, messages))
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	translated, err := graphx.Marshal(edges, &graphx.Options{Environment: &pipepb.Environment{}})
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, transform := range translated.GetComponents().GetTransforms() {
		if transform.GetSpec().GetUrn() != "beam:transform:pubsub_read:v1" {
			continue
		}
		reads++
		var got pipepb.PubSubReadPayload
		if err := proto.Unmarshal(transform.GetSpec().GetPayload(), &got); err != nil {
			t.Fatal(err)
		}
		if got.GetSubscription() != c.Subscription || !got.GetWithAttributes() || got.GetTopic() != "" {
			t.Errorf("payload %v", &got)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads by the runner, want 1", reads)
	}
	for name, transform := range translated.GetComponents().GetTransforms() {
		if transform.GetUniqueName() == "pubsubsource.Ack" {
			t.Errorf("there is an ack: %s", name)
		}
	}
}

func TestFromPubsub(t *testing.T) {
	published := time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC)
	got := fromPubsub(&pubsubpb.PubsubMessage{
		Data: []byte{0xff}, Attributes: map[string]string{"a": "b"}, MessageId: "7", PublishTime: timestamppb.New(published), OrderingKey: "k",
	})
	want := change.Message{ID: "7", Data: []byte{0xff}, Attributes: map[string]string{"a": "b"}, OrderingKey: "k", PublishTime: published}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("message (-want +got):\n", diff)
	}
	if got := fromPubsub(&pubsubpb.PubsubMessage{}); !got.PublishTime.IsZero() {
		t.Errorf("no publish time became %s", got.PublishTime)
	}
}
