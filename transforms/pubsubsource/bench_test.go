package pubsubsource

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/pubsubsource/firehose"
)

func init() {
	dofn.Register(func(f *receiptFn) dofn.Func { return dofn.Func2x0(f.ProcessElement) })
}

// receiptFn gives every message a receipt.
type receiptFn struct{}

func (*receiptFn) ProcessElement(m change.Message, emit func(change.Receipt)) {
	emit(change.Receipt{Token: m.Token, Parts: 1})
}

// BenchmarkRead reads b.N messages of 1 kB on Prism and acks them: with
// everything in one stage, and with a Reshuffle behind the source.
//
//	go test -run - -bench Read -benchtime 200000x ./transforms/pubsubsource
func BenchmarkRead(b *testing.B) {
	for _, reshuffle := range []bool{false, true} {
		for _, size := range sizes() {
			b.Run(fmt.Sprintf("reshuffle=%t/bundle=%d", reshuffle, size), func(b *testing.B) {
				benchmarkRead(b, size, reshuffle)
			})
		}
	}
}

// sizes are the bundle sizes to try: the default, or what the environment says.
func sizes() []int {
	if n, err := strconv.Atoi(os.Getenv("BUNDLE_MESSAGES")); err == nil {
		return []int{n}
	}
	return []int{DefaultBundleMessages}
}

func benchmarkRead(b *testing.B, bundle int, reshuffle bool) {
	data := make([]byte, 1000)
	config := Config{Subscription: "projects/p/subscriptions/s", Plaintext: true, BundleMessages: bundle}
	server, err := firehose.Start("127.0.0.1:0", firehose.Options{
		Subscription: config.Subscription, Messages: b.N,
		Message: func(int) *pubsubpb.PubsubMessage { return &pubsubpb.PubsubMessage{Data: data} },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	config.Endpoint = server.Addr

	p, s := beam.NewPipelineWithRoot()
	messages := Read(s, config)
	if reshuffle {
		messages = beam.Reshuffle(s, messages)
	}
	Ack(s, config, beam.ParDo(s, &receiptFn{}, messages))
	peak, before := watchHeap(), cpuTime()
	b.ResetTimer()
	job := make(chan error, 1)
	go func() {
		_, err := ptest.RunWithMetrics(p)
		job <- err
	}()
	select {
	case <-server.Done():
	case err := <-job:
		b.Fatal("the job ended early: ", err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/message")
	b.ReportMetric(float64(peak()>>20), "peak-MB")
	Drain(config)
	if err := <-job; err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := Close(ctx, config); err != nil {
		b.Fatal(err)
	}
}

// cpuTime is what the process has used, the firehose and Prism included. On a
// machine that others share it says more than the time that passed.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// watchHeap samples the heap until its result is asked for.
func watchHeap() (peak func() uint64) {
	var highest atomic.Uint64
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				highest.Store(max(highest.Load(), m.HeapAlloc))
			}
		}
	}()
	return func() uint64 { close(stop); return highest.Load() }
}
