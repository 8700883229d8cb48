package embeddedpubsub_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/cmd/local/embeddedpubsub"
)

const (
	topic        = "projects/p/topics/t"
	subscription = "projects/p/subscriptions/s"
)

func start(t *testing.T) (*embeddedpubsub.Server, *pubsub.Client) {
	t.Helper()
	server, err := embeddedpubsub.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	if err := server.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	if err := server.CreateSubscription(t.Context(), subscription, topic); err != nil {
		t.Fatal(err)
	}
	client, err := pubsub.NewClient(context.Background(), "p", option.WithEndpoint(server.Addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return server, client
}

func TestServer(t *testing.T) {
	server, client := start(t)
	const count = 5000
	large := bytes.Repeat([]byte("x"), 9<<20)
	messages := make([]*pubsubpb.PubsubMessage, count, count+1)
	for i := range messages {
		messages[i] = &pubsubpb.PubsubMessage{Data: fmt.Append(nil, i)}
	}
	if err := server.Publish(t.Context(), topic, append(messages, &pubsubpb.PubsubMessage{Data: large})...); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got := map[string]int{}
	nacked := false
	var mu sync.Mutex
	err := client.Subscriber("s").Receive(ctx, func(_ context.Context, m *pubsub.Message) {
		mu.Lock()
		defer mu.Unlock()
		if string(m.Data) == "7" && !nacked {
			nacked = true // it must come again
			m.Nack()
			return
		}
		got[string(m.Data)]++
		m.Ack()
		if len(got) == count+1 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != count+1 || got[string(large)] != 1 {
		t.Errorf("received %d messages, the large one %d times; want %d and once", len(got), got[string(large)], count+1)
	}
	if n := server.Unacked(topic); n != 0 {
		t.Errorf("%d messages are unacked", n)
	}
	published := server.Messages(topic)
	for i := 1; i < len(published); i++ {
		if published[i].PublishTime.Sub(published[i-1].PublishTime) < time.Microsecond {
			t.Fatalf("messages %d and %d have publish times %s and %s", i-1, i, published[i-1].PublishTime, published[i].PublishTime)
		}
	}
	if len(published) != count+1 || string(published[count-1].Data) != fmt.Sprint(count-1) {
		t.Errorf("Messages returns %d messages, not in the order of their publishing", len(published))
	}
}

// A client publishes requests of Pub/Sub's size over the network.
func TestPublishLarge(t *testing.T) {
	server, client := start(t)
	result := client.Publisher("t").Publish(t.Context(), &pubsub.Message{Data: bytes.Repeat([]byte("x"), 9<<20)})
	if _, err := result.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := server.Unacked(topic); n != 1 {
		t.Errorf("%d messages are unacked, want 1", n)
	}
}

func TestUnknownSubscription(t *testing.T) {
	_, client := start(t)
	if err := client.Subscriber("none").Receive(t.Context(), func(context.Context, *pubsub.Message) {}); err == nil {
		t.Error("receiving from a subscription that is not there succeeded")
	}
}
