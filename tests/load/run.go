package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/internal/counters"
	"beamcdc/internal/prism"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/counting"
	"beamcdc/transforms/pubsubsource"
	"beamcdc/transforms/pubsubsource/firehose"
)

const project = "demo"

var runs atomic.Int64

// mostMessages is more than a run can publish.
const mostMessages = 1 << 40

// runScenario runs one scenario until all is acked. Its error is one of the run; what
// is wrong with what it came to is in the result.
func runScenario(s *settings, sc scenario, w io.Writer) (*result, error) {
	directory, err := os.MkdirTemp("", "beamcdc-load-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }() // what can't be removed is the system's to clean up
	r := &result{scenario: sc, settings: *s, rate: cmp.Or(s.rate, sc.rate)}
	config := sc.config + "dead_letters: {directory: " + strconv.Quote(directory) + "}\n"
	options := pipeline.Parse("load.yaml", []byte(config))
	bigquery, err := counting.Start(func(string, string) *table.Rule { return &options.Tables[0] })
	if err != nil {
		return nil, err
	}
	defer bigquery.Close()

	take := &sampler{
		bigquery: bigquery, interval: cmp.Or(s.interval, max(s.duration/60, s.window)), log: w, rate: r.rate,
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	subscription := fmt.Sprintf("projects/%s/subscriptions/load-%d", project, runs.Add(1))
	source := firehose.Options{
		Subscription: subscription, Messages: mostMessages, Message: sc.message, Rate: r.rate,
		Acked: func(_ int, published time.Time) { take.acked(published) },
	}
	if sc.big {
		source.ResponseMessages = 1
	}
	server, err := firehose.Start("127.0.0.1:0", source)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	for setting, value := range map[string]string{
		"subscription": subscription, "pubsub_endpoint": server.Addr, "pubsub_plaintext": "true",
		"bigquery_rest_endpoint": bigquery.RESTAddr, "bigquery_grpc_endpoint": bigquery.GRPCAddr, "bigquery_plaintext": "true",
		"window": s.window.String(),
	} {
		if err := options.Set(setting, value); err != nil {
			return nil, err
		}
	}
	if err := options.Validate(); err != nil {
		return nil, err
	}

	counted, cpu := counters.Now(), cpuTime()
	ended := make(chan error, 1)
	p, scope := beam.NewPipelineWithRoot()
	pipeline.Build(scope, options)
	take.source, take.start = server, time.Now()
	say(w, "\n%s, from %s:\n", sc.name, take.start.UTC().Format("15:04:05"))
	go take.run()
	go func() {
		ended <- prism.Run(context.Background(), prism.Runner, p)
	}()
	if err := r.publish(s, server, bigquery, take, ended); err != nil {
		take.stop()
		return nil, err
	}
	r.elapsed, r.cpu = time.Since(take.start), cpuTime()-cpu
	take.stop()
	r.samples, r.latencies, r.source = take.samples, &take.all, server.Counts()

	pubsubsource.Drain(options.SourceConfig())
	if err := <-ended; err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := pubsubsource.Close(ctx, options.SourceConfig()); err != nil {
		return nil, err
	}
	r.counts, r.written, r.tables, r.opened = counted.Since(), bigquery.Rows.Load(), bigquery.Tables(), int(bigquery.Opened.Load())
	r.left = heapAlive()
	r.goroutines = runtime.NumGoroutine()
	return r, r.check(directory)
}

// publish publishes for as long as the settings say, and waits until all is acked.
func (r *result) publish(s *settings, server *firehose.Server, bigquery *counting.BigQuery, take *sampler, ended <-chan error) error {
	step := time.NewTicker(max(s.window, time.Second))
	defer step.Stop()
	over := time.After(s.duration)
	done := (<-chan struct{})(nil)
	var late, fast <-chan time.Time
	if r.scenario.slow {
		bigquery.Limit(max(r.rate/10, 1))
		fast = time.After(cmp.Or(s.slow, s.duration*2/3))
	}
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("the pipeline ended early: %w; %+v", err, server.Counts())
		case <-step.C:
			if r.scenario.adapt && done == nil {
				r.adapt(server)
				take.setRate(r.rate)
			}
		case <-fast:
			bigquery.Limit(0)
			r.fast = time.Since(take.start)
		case <-over:
			r.published = server.Cut()
			r.drained = time.Since(take.start)
			take.setRate(0)
			done, late = server.Done(), time.After(cmp.Or(s.patience, 30*time.Minute))
		case <-late:
			return fmt.Errorf("after %v not all is acked: %+v", cmp.Or(s.patience, 30*time.Minute), server.Counts())
		case <-done:
			return nil
		}
	}
}

// mostUnacked is how many messages may be unacked before the pipeline is taken to lag:
// what 10,000 a second of them need for a window of 5 s. A bound in seconds instead would
// lower the rate on a machine that others slow down for no more than that.
const mostUnacked = 50_000

// adapt raises the rate as long as the pipeline follows, and lowers it where not.
func (r *result) adapt(server *firehose.Server) {
	counts := server.Counts()
	if counts.Published-counts.Acked < mostUnacked {
		r.rate += max(r.rate/50, 1)
	} else {
		r.rate = max(r.rate*9/10, 1)
	}
	server.SetRate(r.rate)
}
