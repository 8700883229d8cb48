package pubsubsource

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.uber.org/goleak"

	"beamcdc/schemas/change"
	"beamcdc/transforms/pubsubsource/firehose"
)

// startFirehose starts a subscription of n messages without content.
func startFirehose(t *testing.T, n int, edit func(*firehose.Options)) (*firehose.Server, Config) {
	t.Helper()
	options := firehose.Options{
		Subscription: "projects/p/subscriptions/" + t.Name(), Messages: n,
		Message: func(int) *pubsubpb.PubsubMessage { return &pubsubpb.PubsubMessage{Data: []byte("data")} },
	}
	if edit != nil {
		edit(&options)
	}
	server, err := firehose.Start("127.0.0.1:0", options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server, Config{Subscription: options.Subscription, Endpoint: server.Addr, Plaintext: true}
}

// startReceiver starts a receiver without a pipeline.
func startReceiver(t *testing.T, c Config) *receiver {
	t.Helper()
	r := newReceiver(c)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := r.close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// takeAll has a bundle take n messages.
func takeAll(t *testing.T, r *receiver, bundle int64, n int) []*delivery {
	t.Helper()
	var taken []*delivery
	eventually(t, "the messages come", func() bool {
		var err error
		if taken, _, err = r.next(taken, bundle, n-len(taken)); err != nil {
			t.Fatal(err)
		}
		return len(taken) == n
	})
	return taken
}

func receiptsOf(taken []*delivery) []change.Receipt {
	var receipts []change.Receipt
	for _, d := range taken {
		receipts = append(receipts, change.Receipt{Token: d.token, Part: 0, Parts: 1})
	}
	return receipts
}

func TestReceiver_RepeatedAndUnknownReceipts(t *testing.T) {
	server, config := startFirehose(t, 10, nil)
	r := startReceiver(t, config)
	taken := takeAll(t, r, 1, 10)
	receipts := receiptsOf(taken)
	for i, want := range []struct{ acked, unknown int }{{10, 10}, {0, 20}} {
		if acked, unknown := r.settle(append(receipts, receipts...)); len(acked) != want.acked || unknown != want.unknown {
			t.Errorf("time %d: %d acked, %d unknown, want %+v", i, len(acked), unknown, want)
		}
	}
	// A receipt that no message can have.
	if acked, unknown := r.settle([]change.Receipt{{Token: taken[0].token, Part: 1, Parts: 1}, {Token: 0, Part: 0, Parts: 1}}); len(acked) != 0 || unknown != 2 {
		t.Errorf("%d acked, %d unknown, want 0 and 2", len(acked), unknown)
	}
	eventually(t, "Pub/Sub knows of the acks", func() bool { return server.Counts().Acked == 10 })
	if got := server.Counts(); got.Delivered != 10 || got.LateAcks != 0 {
		t.Errorf("counts %+v", got)
	}
}

func TestReceiver_PartsThatDoNotExistAckNothing(t *testing.T) {
	_, config := startFirehose(t, 1, nil)
	r := startReceiver(t, config)
	d := takeAll(t, r, 1, 1)[0]
	if acked, unknown := r.settle([]change.Receipt{{Token: d.token, Part: 0, Parts: 0}, {Token: d.token, Part: 2, Parts: 2}}); len(acked) != 0 || unknown != 2 {
		t.Errorf("%d acked, %d unknown, want 0 and 2", len(acked), unknown)
	}
}

// A runner that retries a bundle, or goes back to a checkpoint, has lost what the
// bundles since then emitted. It must come again, and what was committed must not.
func TestReceiver_LostBundlesComeAgain(t *testing.T) {
	server, config := startFirehose(t, 30, nil)
	r := startReceiver(t, config)
	committed := takeAll(t, r, 1, 10)
	r.resume(1)
	takeAll(t, r, 2, 10) // lost
	r.resume(1)
	eventually(t, "the lost ones are back at Pub/Sub", func() bool { return server.Counts().Nacked == 10 })
	again := takeAll(t, r, 2, 20)
	r.resume(2)
	if acked, _ := r.settle(receiptsOf(append(committed, again...))); len(acked) != 30 {
		t.Errorf("%d acked, want 30", len(acked))
	}
	eventually(t, "all are acked", func() bool { return server.Counts().Acked == 30 })
	if got := server.Counts(); got.Delivered != 40 {
		t.Errorf("%d deliveries, want 40", got.Delivered)
	}
}

func TestReceiver_GivesUpAfterMaxExtension(t *testing.T) {
	server, config := startFirehose(t, 5, nil)
	config.MaxExtension = 200 * time.Millisecond
	r := startReceiver(t, config)
	old := takeAll(t, r, 1, 5)
	eventually(t, "they come again", func() bool { return server.Counts().Redelivered >= 5 })
	if acked, unknown := r.settle(receiptsOf(old)); len(acked) != 0 || unknown != 5 {
		t.Errorf("%d acked, %d unknown, want 0 and 5", len(acked), unknown)
	}
	if got := r.snapshot(); got.Outstanding > 5 {
		t.Errorf("%d outstanding, of 5 messages", got.Outstanding)
	}
}

func TestReceiver_CountsRedeliveries(t *testing.T) {
	server, config := startFirehose(t, 3, nil)
	r := startReceiver(t, config)
	takeAll(t, r, 1, 3)
	if got := r.snapshot().Redelivered; got != 0 {
		t.Errorf("%d redeliveries at first", got)
	}
	server.EndLeases()
	takeAll(t, r, 2, 3)
	if got := r.snapshot().Redelivered; got != 3 {
		t.Errorf("%d redeliveries, want 3", got)
	}
}

// Close waits for the last acks, and leaves no goroutine behind.
func TestReceiver_CloseFlushesAcks(t *testing.T) {
	options := firehose.Options{
		Subscription: "projects/p/subscriptions/s", Messages: 5000,
		Message: func(int) *pubsubpb.PubsubMessage { return &pubsubpb.PubsubMessage{Data: []byte("data")} },
	}
	before := goleak.IgnoreCurrent()
	server, err := firehose.Start("127.0.0.1:0", options)
	if err != nil {
		t.Fatal(err)
	}
	r := newReceiver(Config{Subscription: options.Subscription, Endpoint: server.Addr, Plaintext: true})
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	taken := takeAll(t, r, 1, 2000)
	r.settle(receiptsOf(taken[:1500]))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := server.Counts(); got.Acked != 1500 || got.Nacked < 500 {
		t.Errorf("counts %+v, want 1500 acked and at least 500 nacked", got)
	}
	server.Close()
	// The client's keep-alive ends at its next tick, within 10 s.
	goleak.VerifyNone(t, before, goleak.IgnoreTopFunction("cloud.google.com/go/pubsub/v2.(*messageIterator).streamKeepAliveHandler"))
}

// A stream that stays open while a drain waits for the last acks goes on to get
// messages, which then come to nobody until their leases end.
func TestReceiver_DrainEndsTheStreamsAndGoesOnToAck(t *testing.T) {
	server, config := startFirehose(t, 100, nil)
	config.MaxOutstandingMessages, config.Streams = 10, 2
	r := startReceiver(t, config)
	taken := takeAll(t, r, 1, 10)
	eventually(t, "the streams are open", func() bool { return server.Counts().Streams == r.config.Streams })
	r.drain()
	eventually(t, "the streams are closed", func() bool { return server.Counts().Streams == 0 })
	r.settle(receiptsOf(taken))
	eventually(t, "what was taken before is acked", func() bool { return server.Counts().Acked == 10 })
	if _, done, err := r.next(nil, 2, 10); !done || err != nil {
		t.Errorf("done %t, error %v", done, err)
	}
}

// A runner that drains asks for nothing more: the queue goes back to Pub/Sub, and
// what was emitted is still acked.
func TestReceiver_TruncateGivesTheQueueBack(t *testing.T) {
	server, config := startFirehose(t, 50, nil)
	r := startReceiver(t, config)
	taken := takeAll(t, r, 1, 20)
	eventually(t, "the rest is queued", func() bool { return r.snapshot().Queued == 30 })
	r.truncate()
	eventually(t, "the queue is back", func() bool { return server.Counts().Nacked == 30 })
	if acked, _ := r.settle(receiptsOf(taken)); len(acked) != 20 {
		t.Errorf("%d acked, want 20", len(acked))
	}
	eventually(t, "what was emitted is acked", func() bool { return server.Counts().Acked == 20 })
}

func TestReceiver_CloseIsBounded(t *testing.T) {
	server, config := startFirehose(t, 10, nil)
	r := newReceiver(config)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	r.settle(receiptsOf(takeAll(t, r, 1, 10)))
	server.Close() // the acks can't arrive
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := r.close(ctx); err == nil {
		t.Error("no error, though the acks did not arrive")
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}
