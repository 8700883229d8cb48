package pubsubsource

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// brought is a service's stream, on which these responses have come.
type brought struct {
	grpc.ClientStream
	ctx       context.Context //nolint:containedctx // a ClientStream has it
	responses []*pubsubpb.StreamingPullResponse
}

func (b *brought) Context() context.Context { return b.ctx }

func (b *brought) RecvMsg(m any) error {
	proto.Merge(m.(proto.Message), b.responses[0])
	b.responses = b.responses[1:]
	return nil
}

// A stream that waits for room goes on to answer, as the service's properties are. The
// client would take one that doesn't for dead 15 s after a ping, and open another, to which
// Pub/Sub sends as many messages again.
func TestGatedStream_answersWhileItWaits(t *testing.T) {
	g := testGate(func(c *Config) { c.MaxOutstandingMessages = 1 })
	g.answerEvery = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	service := &brought{ctx: ctx, responses: []*pubsubpb.StreamingPullResponse{
		{
			ReceivedMessages:       []*pubsubpb.ReceivedMessage{{AckId: "1", Message: &pubsubpb.PubsubMessage{MessageId: "1"}}},
			SubscriptionProperties: &pubsubpb.StreamingPullResponse_SubscriptionProperties{MessageOrderingEnabled: true},
		},
		{ReceivedMessages: []*pubsubpb.ReceivedMessage{{AckId: "2", Message: &pubsubpb.PubsubMessage{MessageId: "2"}}}},
	}}
	s := &gatedStream{gate: g, stream: service, done: ctx.Done(), cause: ctx.Err}
	receive := func() *pubsubpb.StreamingPullResponse {
		t.Helper()
		m := new(pubsubpb.StreamingPullResponse)
		if err := s.RecvMsg(m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if got := receive().GetReceivedMessages(); len(got) != 1 || got[0].GetAckId() != "1" {
		t.Fatalf("the first response has %v", got)
	}
	g.take(0)
	for range 2 {
		if got := receive(); len(got.GetReceivedMessages()) != 0 || !got.GetSubscriptionProperties().GetMessageOrderingEnabled() {
			t.Errorf("without room the response is %v", got)
		}
	}
	if g.waiting != 0 || g.arriving != 0 || len(service.responses) != 1 {
		t.Errorf("it waits no more, and %d streams count as waiting, %d messages as arriving, and %d responses are left", g.waiting, g.arriving, len(service.responses))
	}
	g.leave(1, 0)
	if got := receive().GetReceivedMessages(); len(got) != 1 || got[0].GetAckId() != "2" {
		t.Errorf("with room the response has %v", got)
	}
	g.take(0)
	cancel()
	if err := s.RecvMsg(new(pubsubpb.StreamingPullResponse)); err == nil {
		t.Error("a stream that has ended answers")
	}
}
