package pubsubsource

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/pubsubsource/firehose"
)

func TestRead_AllPulledEmittedAcked(t *testing.T) {
	const n = 500
	f := newFakePubsub(t, nil)
	f.publish(n)
	sink := newSink(t)
	done := run(t, f.config, ackAll(t, f.config))
	eventually(t, "all are emitted", func() bool { return sink.seen() == n })
	finish(t, f.config, done)
	if got := len(sink.distinct()); got != n {
		t.Errorf("%d messages emitted, want %d", got, n)
	}
	if got := f.acked(); got != n {
		t.Errorf("%d messages acked, want %d", got, n)
	}
	got := Stats(f.config)
	want := Counts{Taken: n, TakenBytes: got.TakenBytes, Emitted: n, Acked: n, LastAcked: got.LastAcked}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("counts (-want +got):\n", diff)
	}
}

func TestRead_KeepsTheMessage(t *testing.T) {
	f := newFakePubsub(t, nil)
	id := f.PublishOrdered(testTopic, []byte{0xff, 0}, map[string]string{"a": "b"}, "key")
	sink := newSink(t)
	done := run(t, f.config, ackAll(t, f.config))
	eventually(t, "it is emitted", func() bool { return sink.seen() == 1 })
	finish(t, f.config, done)
	got := sink.messages[0]
	if got.Token == 0 {
		t.Error("the token is 0, which stands for a runner's ack")
	}
	want := change.Message{
		ID: id, Data: []byte{0xff, 0}, Attributes: map[string]string{"a": "b"}, OrderingKey: "key",
		PublishTime: f.Message(id).PublishTime.UTC(), Token: got.Token,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("message (-want +got):\n", diff)
	}
}

// Invariant 1, from the side of the source: no receipt, no ack. What was not
// acked comes again in the next pipeline.
func TestRead_NothingAckedWithoutReceipts(t *testing.T) {
	const n = 40
	f := newFakePubsub(t, nil)
	f.publish(n)
	sink := newSink(t)
	done := run(t, f.config, func(s beam.Scope, messages beam.PCollection) {
		Ack(s, f.config, beam.ParDo(s, &sinkFn{Sink: t.Name()}, messages))
	})
	eventually(t, "all are emitted", func() bool { return sink.seen() == n })
	time.Sleep(300 * time.Millisecond) // the client sends acks every 100 ms
	if got := f.acked(); got != 0 {
		t.Fatalf("%d messages acked without a receipt", got)
	}
	if got := Stats(f.config); got.Outstanding != n || got.Acked != 0 {
		t.Errorf("counts %+v, want %d outstanding and none acked", got, n)
	}
	finish(t, f.config, done)
	if got := f.acked(); got != 0 {
		t.Fatalf("%d messages acked by Close", got)
	}
	done = run(t, f.config, ackAll(t, f.config))
	eventually(t, "all are emitted again", func() bool { return sink.seen() >= 2*n })
	finish(t, f.config, done)
	if got := f.acked(); got != n {
		t.Errorf("%d messages acked the second time, want %d", got, n)
	}
}

func TestAck_OnlyWhenAllPartsAreAtRest(t *testing.T) {
	f := newFakePubsub(t, nil)
	f.publish(1)
	sink := newSink(t)
	done := run(t, f.config, func(s beam.Scope, messages beam.PCollection) {
		// Two stages tell of two of the three parts, one of them of both.
		first := beam.ParDo(s, &sinkFn{Sink: t.Name(), Parts: 3, Rest: []uint32{2}}, messages)
		second := beam.ParDo(s, &sinkFn{Sink: t.Name(), Parts: 3, Rest: []uint32{0, 2}}, beam.Reshuffle(s, messages))
		Ack(s, f.config, first, second)
	})
	eventually(t, "both stages saw it", func() bool { return sink.seen() == 2 })
	time.Sleep(300 * time.Millisecond)
	if got := f.acked(); got != 0 {
		t.Fatal("the message was acked while a part of it was under way")
	}
	openReceiver(f.config).settle([]change.Receipt{{Token: sink.messages[0].Token, Part: 1, Parts: 3}})
	eventually(t, "the message is acked", func() bool { return f.acked() == 1 })
	finish(t, f.config, done)
}

func TestDrain_LeavesTheRestAtPubsub(t *testing.T) {
	const n = 400
	f := newFakePubsub(t, nil)
	f.config.BundleMessages = 10 // so that little is queued
	f.publish(n)
	sink := newSink(t)
	done := run(t, f.config, ackAll(t, f.config))
	eventually(t, "some are emitted", func() bool { return sink.seen() > 50 })
	finish(t, f.config, done)
	emitted := len(sink.distinct())
	if emitted == n {
		t.Fatal("all were emitted before the drain; publish more")
	}
	if got := f.acked(); got != emitted {
		t.Errorf("%d messages acked, %d emitted", got, emitted)
	}
	// A message that was under way to the client at the drain comes again only
	// when its lease ends.
	f.SetTimeNowFunc(func() time.Time { return time.Now().Add(time.Minute) })
	done = run(t, f.config, ackAll(t, f.config))
	eventually(t, "the rest is emitted", func() bool { return len(sink.distinct()) == n })
	finish(t, f.config, done)
	if got := f.acked(); got != n {
		t.Errorf("%d messages acked in the end, want %d", got, n)
	}
}

func TestRead_OutstandingStaysInBounds(t *testing.T) {
	tests := map[string]struct {
		edit func(*Config)
		want int // messages of 10 bytes
	}{
		"messages": {func(c *Config) { c.MaxOutstandingMessages = 30 }, 30},
		"bytes":    {func(c *Config) { c.MaxOutstandingBytes = 150; c.Streams = 1 }, 15},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakePubsub(t, nil)
			test.edit(&f.config)
			for range 10 * test.want {
				f.Publish(testTopic, []byte("10 bytes.."), nil)
			}
			sink := newSink(t)
			done := run(t, f.config, func(s beam.Scope, messages beam.PCollection) {
				Ack(s, f.config, beam.ParDo(s, &sinkFn{Sink: t.Name()}, messages))
			})
			eventually(t, "the bound is reached", func() bool { return sink.seen() >= test.want })
			for range 50 {
				if got := Stats(f.config); got.Outstanding > test.want {
					t.Fatalf("%d messages outstanding, the bound is %d", got.Outstanding, test.want)
				}
				time.Sleep(10 * time.Millisecond)
			}
			// As acks come in, the rest follows.
			for acked := 0; acked < 10*test.want; {
				sink.mu.Lock()
				batch := sink.messages
				sink.messages = nil
				sink.mu.Unlock()
				var receipts []change.Receipt
				for _, m := range batch {
					receipts = append(receipts, change.Receipt{Token: m.Token, Parts: 1})
				}
				settled, _ := openReceiver(f.config).settle(receipts)
				acked += len(settled)
				if got := Stats(f.config); got.Outstanding > test.want {
					t.Fatalf("%d messages outstanding, the bound is %d", got.Outstanding, test.want)
				}
				time.Sleep(5 * time.Millisecond)
			}
			finish(t, f.config, done)
		})
	}
}

// A killed process acks nothing more and extends no lease. Its successor gets
// what was not acked once the leases end.
func TestRead_RedeliveryAfterAKill(t *testing.T) {
	const n = 30
	f := newFakePubsub(t, nil)
	f.publish(n)
	sink := newSink(t)
	done := run(t, f.config, func(s beam.Scope, messages beam.PCollection) {
		Ack(s, f.config, beam.ParDo(s, &sinkFn{Sink: t.Name()}, messages))
	})
	eventually(t, "all are emitted", func() bool { return sink.seen() == n })
	killed := openReceiver(f.config)
	_ = killed.closeClient() // cuts the streams; nothing is nacked
	if err := <-done; err == nil {
		t.Error("the job outlived its connection")
	}
	f.SetTimeNowFunc(func() time.Time { return time.Now().Add(time.Minute) }) // the leases have ended

	old := slices.Clone(sink.messages)
	done = run(t, f.config, ackAll(t, f.config))
	eventually(t, "all are emitted again", func() bool { return sink.seen() >= 2*n })
	// Receipts of the killed process mean nothing to its successor.
	r := openReceiver(f.config)
	before := Stats(f.config).Acked
	if acked, unknown := r.settle([]change.Receipt{{Token: old[0].Token, Parts: 1}}); len(acked) != 0 || unknown != 1 {
		t.Errorf("an old receipt acked %d messages and was unknown %d times, want 0 and 1", len(acked), unknown)
	}
	finish(t, f.config, done)
	if got := f.acked(); got != n {
		t.Errorf("%d messages acked, %d of them before, want %d", got, before, n)
	}
}

// The client calls back serially for each key, and waits for the callback's end,
// not for the ack: all of a key's messages come, in their order, while none is acked.
func TestRead_OrderingKeysDoNotWaitForAcks(t *testing.T) {
	const n, keys = 600, 3
	config := Config{Subscription: "projects/p/subscriptions/ordered", Plaintext: true, Streams: 1, BundleTime: 20 * time.Millisecond}
	server, err := firehose.Start("127.0.0.1:0", firehose.Options{
		Subscription: config.Subscription, Messages: n, Ordered: true,
		Message: func(i int) *pubsubpb.PubsubMessage {
			return &pubsubpb.PubsubMessage{Data: fmt.Appendf(nil, "%06d", i), OrderingKey: fmt.Sprint(i % keys)}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	config.Endpoint = server.Addr
	sink := newSink(t)
	done := run(t, config, func(s beam.Scope, messages beam.PCollection) {
		Ack(s, config, beam.ParDo(s, &sinkFn{Sink: t.Name()}, messages))
	})
	eventually(t, "all are emitted", func() bool { return sink.seen() == n })
	last := map[string]string{}
	for _, m := range sink.messages {
		if data := string(m.Data); data <= last[m.OrderingKey] {
			t.Fatalf("key %s: %s after %s", m.OrderingKey, data, last[m.OrderingKey])
		}
		last[m.OrderingKey] = string(m.Data)
	}
	if got := server.Counts(); got.Acked != 0 {
		t.Errorf("%d messages acked", got.Acked)
	}
	finish(t, config, done)
}

// pstest withholds a key's messages until the earlier one is acked.
func TestRead_OrderedSubscriptionIsRead(t *testing.T) {
	const n = 24
	f := newFakePubsub(t, func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = true })
	for i := range n {
		f.PublishOrdered(testTopic, fmt.Appendf(nil, "%02d", i), nil, fmt.Sprint(i%8))
	}
	sink := newSink(t)
	done := run(t, f.config, ackAll(t, f.config))
	eventually(t, "all are acked", func() bool { return f.acked() == n })
	finish(t, f.config, done)
	if got := len(sink.distinct()); got != n {
		t.Errorf("%d messages emitted, want %d", got, n)
	}
}

func init() {
	dofn.Register(func(f *windowFn) dofn.Func { return dofn.Func2x0(f.ProcessElement) })
	register.Function1x2(toOne)
	register.Iter1[change.Message]()
}

func toOne(m change.Message) (int, change.Message) { return 1, m }

// windowFn keeps the messages of each window that fires.
type windowFn struct{ Sink string }

func (fn *windowFn) ProcessElement(_ int, messages func(*change.Message) bool) {
	value, _ := sinks.Load(fn.Sink)
	s := value.(*sink)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows++
	var m change.Message
	for messages(&m) {
		s.messages = append(s.messages, m)
	}
}

// The watermark moves on while nothing arrives, or the last window would wait for
// the next message.
func TestRead_WindowsFireWhileIdle(t *testing.T) {
	const n = 20
	f := newFakePubsub(t, nil)
	f.publish(n)
	sink := newSink(t)
	done := run(t, f.config, func(s beam.Scope, messages beam.PCollection) {
		windowed := beam.WindowInto(s, window.NewFixedWindows(500*time.Millisecond), beam.ParDo(s, toOne, messages))
		beam.ParDo0(s, &windowFn{t.Name()}, beam.GroupByKey(s, windowed))
	})
	eventually(t, "all are emitted in windows", func() bool { return sink.seen() == n })
	for range 3 { // and again, after a pause
		time.Sleep(300 * time.Millisecond)
		before := sink.seen()
		f.publish(5)
		eventually(t, "the later ones are emitted in windows", func() bool { return sink.seen() == before+5 })
	}
	finish(t, f.config, done)
	if got := sink.seen(); got != n+15 {
		t.Errorf("%d messages in %d windows, want %d: the rest was late", got, sink.windows, n+15)
	}
}

func TestRead_PermanentErrorFailsTheJob(t *testing.T) {
	f := newFakePubsub(t, nil)
	f.config.Subscription = "projects/other/subscriptions/missing"
	err := <-run(t, f.config, ackAll(t, f.config))
	if err == nil {
		t.Fatal("reading a subscription that is missing ended well")
	}
	want := "receiving from projects/other/subscriptions/missing at " + f.Addr
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("error %v, want one with %q and NotFound", err, want)
	}
	closeSource(t, f.config)
}
