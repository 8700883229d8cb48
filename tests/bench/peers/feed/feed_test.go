package feed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/tests/bench/peers/feed"
)

const subscription = "projects/demo-project/subscriptions/s"

func start(t *testing.T) *feed.Server {
	t.Helper()
	s, err := feed.Start(subscription, func(i int) *pubsubpb.PubsubMessage { return &pubsubpb.PubsubMessage{Data: fmt.Append(nil, i)} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Google's client gets each message of two lots once, and acks it.
func TestStreamingPull(t *testing.T) {
	s := start(t)
	client, err := pubsub.NewClient(t.Context(), "demo-project", option.WithEndpoint(s.GRPCAddr), option.WithoutAuthentication(),
		option.WithTelemetryDisabled(), option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	times := make(map[string]int)
	subscriber := client.Subscriber(subscription)
	subscriber.ReceiveSettings.MaxOutstandingMessages = 100 // fewer than there are: acks make room
	s.Release(1500)
	err = subscriber.Receive(ctx, func(_ context.Context, m *pubsub.Message) {
		m.Ack()
		mu.Lock()
		defer mu.Unlock()
		times[string(m.Data)]++
		switch len(times) {
		case 1500:
			s.Release(500)
		case 2000:
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if n := times[fmt.Sprint(i)]; n != 1 {
			t.Fatalf("message %d came %d times", i, n)
		}
	}
	if released, delivered, acked := s.Counts(); released != 2000 || delivered != 2000 || acked != 2000 {
		t.Errorf("%d released, %d delivered, %d acked of 2000", released, delivered, acked)
	}
}

// REST's pull answers with what there is, and at once.
func TestPull(t *testing.T) {
	s := start(t)
	post := func(method, body string, into any) {
		t.Helper()
		response, err := http.Post(s.RESTAddr+"/v1/"+subscription+":"+method, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s: %v", method, response.Status, err)
		}
	}
	type answer struct {
		ReceivedMessages []struct {
			AckID   string
			Message struct{ Data []byte }
		}
	}
	s.Release(3)
	for _, want := range [][]string{{"0", "1"}, {"2"}, {}} {
		var got answer
		post("pull", `{"maxMessages": 2}`, &got)
		if len(got.ReceivedMessages) != len(want) {
			t.Fatalf("got %d messages, want %v", len(got.ReceivedMessages), want)
		}
		for i, r := range got.ReceivedMessages {
			if string(r.Message.Data) != want[i] {
				t.Errorf("got %q, want %q", r.Message.Data, want[i])
			}
			post("acknowledge", fmt.Sprintf(`{"ackIds": [%q]}`, r.AckID), &struct{}{})
		}
	}
	if _, delivered, acked := s.Counts(); delivered != 3 || acked != 3 {
		t.Errorf("%d delivered and %d acked of 3", delivered, acked)
	}
}
