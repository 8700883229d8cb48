package firehose_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.uber.org/goleak"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/transforms/pubsubsource/firehose"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), // of packages' init
		goleak.IgnoreTopFunction("cloud.google.com/go/pubsub/v2.(*messageIterator).streamKeepAliveHandler")) // ends within 10 s
}

const subscription = "projects/p/subscriptions/s"

func start(t *testing.T, o firehose.Options) (*firehose.Server, *pubsub.Subscriber) {
	t.Helper()
	o.Subscription = subscription
	o.Message = func(i int) *pubsubpb.PubsubMessage { return &pubsubpb.PubsubMessage{Data: fmt.Append(nil, i)} }
	server, err := firehose.Start("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	client, err := pubsub.NewClient(t.Context(), "p", option.WithEndpoint(server.Addr), option.WithoutAuthentication(),
		option.WithTelemetryDisabled(), option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return server, client.Subscriber("s")
}

// Google's client gets every message, and what it nacks once more.
func TestServer_DeliversAllAndAgainWhatIsNacked(t *testing.T) {
	const n = 20_000
	server, subscriber := start(t, firehose.Options{Messages: n})
	subscriber.ReceiveSettings.NumGoroutines = 3
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		<-server.Done()
		cancel()
	}()
	var mu sync.Mutex
	seen := map[string]int{}
	err := subscriber.Receive(ctx, func(_ context.Context, m *pubsub.Message) {
		mu.Lock()
		defer mu.Unlock()
		if string(m.Data) != m.ID {
			t.Errorf("message %s holds %q", m.ID, m.Data)
		}
		if seen[m.ID]++; seen[m.ID] == 1 && len(m.ID) == 1 { // 0 … 9
			m.Nack()
			return
		}
		m.Ack()
	})
	if err != nil {
		t.Fatal(err)
	}
	got := server.Counts()
	if got.Acked != n || got.Nacked != 10 || got.Redelivered != 10 || got.Delivered != n+10 || got.Outstanding != 0 {
		t.Errorf("counts %+v", got)
	}
	for i := range n {
		if !server.IsAcked(i) {
			t.Fatalf("message %d is not acked", i)
		}
	}
}

// The service counts what is outstanding by stream, until the ack.
func TestServer_FlowControl(t *testing.T) {
	server, subscriber := start(t, firehose.Options{Messages: 70})
	subscriber.ReceiveSettings.MaxOutstandingMessages = 7
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() {
		<-server.Done()
		cancel()
	}()
	if err := subscriber.Receive(ctx, func(_ context.Context, m *pubsub.Message) { m.Ack() }); err != nil {
		t.Fatal(err)
	}
	// The client acks every 100 ms: it is the server that counts here.
	if got := server.Counts(); got.MaxOutstanding > 7 {
		t.Errorf("%d messages outstanding, the bound is 7", got.MaxOutstanding)
	}
}

func TestServer_Rate(t *testing.T) {
	server, subscriber := start(t, firehose.Options{Messages: 300, Rate: 600})
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() {
		<-server.Done()
		cancel()
	}()
	if err := subscriber.Receive(ctx, func(_ context.Context, m *pubsub.Message) { m.Ack() }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < 400*time.Millisecond {
		t.Errorf("300 messages at 600 a second took %s", took)
	}
}
