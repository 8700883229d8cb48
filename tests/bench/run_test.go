package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized" // as cmd/launch
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"beamcdc/internal/counters"
	"beamcdc/internal/garbage"
	"beamcdc/internal/prism"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/counting"
	"beamcdc/tests/internal/orders"
	"beamcdc/transforms/pubsubsource"
	"beamcdc/transforms/pubsubsource/firehose"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(serverVariable); file != "" {
		if err := serve(file); err != nil {
			panic(err)
		}
		return
	}
	beamlog.LogLevel = "warn" // a line for every state of every job is too much
	if err := counters.Enable(); err != nil {
		panic(err)
	}
	garbage.Allow(garbage.Spare) // as cmd/launch
	ptest.Main(m)
}

const project = "demo"

// graph is what is run: pipeline.Build or buildEmpty.
type graph struct {
	name  string
	build func(beam.Scope, pipeline.Options)
}

var (
	realGraph  = graph{"real", pipeline.Build}
	emptyGraph = graph{"empty", buildEmpty}
)

// world is what runs share: BigQuery, and the options but for the subscription.
type world struct {
	bigquery *counting.BigQuery
	config   string
	window   time.Duration
	keys     func(messages int) *orders.Workload // which rows change; orders.Of by default
}

func newWorld(tb testing.TB, window time.Duration) *world {
	tb.Helper()
	tb.Setenv("TMPDIR", tb.TempDir()) // Beam's client leaves a file for every job
	w := &world{window: window, keys: orders.Of, config: orders.Config + "dead_letters: {directory: " + strconv.Quote(tb.TempDir()) + "}\n"}
	rules := pipeline.Parse("bench.yaml", []byte(w.config))
	if len(rules.Tables) != 1 {
		tb.Fatal(rules.Validate())
	}
	bigquery, err := counting.Start(func(string, string) *table.Rule { return &rules.Tables[0] })
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(bigquery.Close)
	w.bigquery = bigquery
	return w
}

// result is what a run came to.
type result struct {
	elapsed time.Duration // from the job's start to the last message's ack
	cpu     time.Duration // of the process meanwhile: the graph, Prism and both servers
	counts  map[string]int64
	source  firehose.Counts
}

// perSecond is the run's rate.
func (r *result) perSecond() float64 { return float64(r.source.Acked) / r.elapsed.Seconds() }

// perMessage is the processor time for a message.
func (r *result) perMessage() time.Duration { return r.cpu / time.Duration(max(r.source.Acked, 1)) }

var runs atomic.Int64

// run runs a graph over so many messages until all are acked.
func (w *world) run(tb testing.TB, g graph, messages int) result {
	tb.Helper()
	return w.runAt(tb, g, messages, 0, nil)
}

// runAt is run where so many messages a second are published, all at once if 0. acked,
// unless it is nil, is called for each that is acked.
func (w *world) runAt(tb testing.TB, g graph, messages, rate int, acked func(i int, published time.Time)) result {
	tb.Helper()
	load := w.keys(messages)
	subscription := fmt.Sprintf("projects/%s/subscriptions/bench-%d", project, runs.Add(1))
	server, err := firehose.Start("127.0.0.1:0", firehose.Options{Subscription: subscription, Messages: messages, Message: load.Message, Rate: rate, Acked: acked})
	if err != nil {
		tb.Fatal(err)
	}
	defer server.Close()
	options := pipeline.Parse("bench.yaml", []byte(w.config))
	for setting, value := range map[string]string{
		"subscription": subscription, "pubsub_endpoint": server.Addr, "pubsub_plaintext": "true",
		"bigquery_rest_endpoint": w.bigquery.RESTAddr, "bigquery_grpc_endpoint": w.bigquery.GRPCAddr, "bigquery_plaintext": "true",
		"window": w.window.String(),
	} {
		if err := options.Set(setting, value); err != nil {
			tb.Fatal(err)
		}
	}

	p, s := beam.NewPipelineWithRoot()
	g.build(s, options)
	ended, counted := make(chan error, 1), counters.Now()
	start, before := time.Now(), cpuTime()
	go func() {
		ended <- prism.Run(context.Background(), prism.Runner, p)
	}()
	select {
	case <-server.Done():
	case err := <-ended:
		tb.Fatalf("the %s graph ended early: %v; %+v", g.name, err, server.Counts())
	}
	r := result{elapsed: time.Since(start), cpu: cpuTime() - before, source: server.Counts()}
	pubsubsource.Drain(options.SourceConfig())
	if err := <-ended; err != nil {
		tb.Fatalf("the %s graph failed: %v", g.name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := pubsubsource.Close(ctx, options.SourceConfig()); err != nil {
		tb.Fatal(err)
	}
	r.counts = counted.Since()
	return r
}

// cpuTime is what the process has used. On a machine that others share it says
// more than the time that passed.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// setting returns a number from the environment, or a default.
func setting(tb testing.TB, name string, otherwise int) int {
	tb.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		tb.Fatalf("%s=%q is no number above 0", name, text)
	}
	return n
}
