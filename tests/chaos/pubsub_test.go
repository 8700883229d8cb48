package main

import (
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
)

// Whatever its habits, every message is acked in the end: at least once is what it
// promises; and with these habits some come twice and in another order.
func TestBroker(t *testing.T) {
	t.Parallel()
	b, err := startBroker(7, habits{late: 0.3, lateBy: 300 * time.Millisecond, twice: 0.2, expire: 0.1, lostAck: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	client, err := pubsub.NewClient(t.Context(), "demo", option.WithEndpoint(b.addr), option.WithoutAuthentication(),
		option.WithTelemetryDisabled(), option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	const n = 2000
	for i := range n {
		b.publish(&pubsubpb.PubsubMessage{Data: fmt.Append(nil, i)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if unacked, deliveries := b.left(); unacked == 0 && deliveries == 0 {
				cancel()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	var mu sync.Mutex
	seen, order, backwards := map[string]int{}, 0, 0
	err = client.Subscriber("changes").Receive(ctx, func(_ context.Context, m *pubsub.Message) {
		var i int
		_, _ = fmt.Sscan(string(m.Data), &i)
		if i%10 == 0 {
			time.Sleep(3500 * time.Millisecond) // longer than a lease that is to end early
		}
		mu.Lock()
		seen[m.ID]++
		if i < order {
			backwards++
		}
		order = max(order, i)
		if len(seen) == n/2 && seen[m.ID] == 1 {
			go b.cutStreams()
		}
		mu.Unlock()
		m.Ack()
	})
	if err != nil {
		t.Fatal(err)
	}
	if unacked, deliveries := b.left(); unacked != 0 || deliveries != 0 {
		t.Fatalf("%d are not acked, %d to deliver: %+v", unacked, deliveries, b.counts())
	}
	counts := b.counts()
	if len(seen) != n || counts.Acked != n || counts.Redelivered == 0 || counts.LostAcks == 0 || counts.Expired == 0 || backwards == 0 {
		t.Errorf("%d messages came, %d out of order: %+v", len(seen), backwards, counts)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.messages) != 0 {
		t.Errorf("%d messages are kept", len(b.messages))
	}
}
