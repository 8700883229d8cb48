package pubsubsource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
)

func TestMain(m *testing.M) { ptest.Main(m) }

// fakePubsub is pstest with one topic and one subscription.
type fakePubsub struct {
	*pstest.Server
	config Config
}

const testTopic = "projects/other/topics/changes"

func newFakePubsub(t *testing.T, edit func(*pubsubpb.Subscription)) *fakePubsub {
	t.Helper()
	server := pstest.NewServer()
	t.Cleanup(func() { _ = server.Close() })
	id := strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
	f := &fakePubsub{server, Config{
		Subscription: "projects/other/subscriptions/" + id, Endpoint: server.Addr, Plaintext: true, Streams: 8, BundleTime: 20 * time.Millisecond,
	}}
	client := f.client(t)
	if _, err := client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: testTopic}); err != nil {
		t.Fatal(err)
	}
	sub := &pubsubpb.Subscription{Name: f.config.Subscription, Topic: testTopic, AckDeadlineSeconds: 60}
	if edit != nil {
		edit(sub)
	}
	if _, err := client.SubscriptionAdminClient.CreateSubscription(t.Context(), sub); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fakePubsub) client(t *testing.T) *pubsub.Client {
	t.Helper()
	client, err := pubsub.NewClient(t.Context(), "other", option.WithEndpoint(f.Addr), option.WithoutAuthentication(),
		option.WithTelemetryDisabled(), option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// publish publishes n messages; the data of each is its number.
func (f *fakePubsub) publish(n int) {
	for i := range n {
		f.Publish(testTopic, fmt.Append(nil, i), map[string]string{"number": fmt.Sprint(i)})
	}
}

// acked returns how many messages have been acked.
func (f *fakePubsub) acked() int {
	n := 0
	for _, m := range f.Messages() {
		if m.Acks > 0 {
			n++
		}
	}
	return n
}

// sink keeps what a pipeline emitted, and makes receipts of it.
type sink struct {
	mu       sync.Mutex
	messages []change.Message
	windows  int
}

func (s *sink) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.messages)
}

// distinct returns the data of the messages, sorted, without repeats.
func (s *sink) distinct() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := map[string]bool{}
	for _, m := range s.messages {
		set[string(m.Data)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

var sinks sync.Map // by name: a DoFn holds configuration alone

func newSink(t *testing.T) *sink {
	s := &sink{}
	sinks.Store(t.Name(), s)
	t.Cleanup(func() { sinks.Delete(t.Name()) })
	return s
}

func init() {
	dofn.Register(func(f *sinkFn) dofn.Func { return dofn.Func2x0(f.ProcessElement) })
	register.Emitter1[change.Receipt]()
}

// sinkFn keeps messages and emits a receipt for each of the parts that it is told to.
type sinkFn struct {
	Sink  string
	Parts uint32
	Rest  []uint32 // the parts that come to rest
}

func (fn *sinkFn) ProcessElement(m change.Message, emit func(change.Receipt)) {
	value, _ := sinks.Load(fn.Sink)
	s := value.(*sink)
	s.mu.Lock()
	s.messages = append(s.messages, m)
	s.mu.Unlock()
	for _, part := range fn.Rest {
		emit(change.Receipt{Token: m.Token, Part: part, Parts: fn.Parts})
	}
}

// run runs Read -> sink -> Ack on Prism until the job ends, in the background.
func run(t *testing.T, c Config, build func(s beam.Scope, messages beam.PCollection)) (done chan error) {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	build(s, Read(s, c))
	done = make(chan error, 1)
	go func() {
		_, err := ptest.RunWithMetrics(p)
		done <- err
	}()
	return done
}

func ackAll(t *testing.T, c Config) func(beam.Scope, beam.PCollection) {
	return func(s beam.Scope, messages beam.PCollection) {
		Ack(s, c, beam.ParDo(s, &sinkFn{Sink: t.Name(), Parts: 1, Rest: []uint32{0}}, messages))
	}
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("it did not come to be that %s", what)
}

// finish drains the source and waits for the job and the last acks.
func finish(t *testing.T, c Config, done chan error) {
	t.Helper()
	Drain(c)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("the job goes on after Drain")
	}
	closeSource(t, c)
}

func closeSource(t *testing.T, c Config) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := Close(ctx, c); err != nil {
		t.Fatal(err)
	}
}
