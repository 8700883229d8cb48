package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkLatency tells how long messages take from publish to ack, which comes after
// BigQuery's acknowledgement, at tenths of the rate that the graph reaches. The rate is
// that of a run over a backlog of BEAMCDC_BENCH_MESSAGES (60,000), just before each
// round: on a machine that others use it changes. Each rate is kept up for three seconds.
// Windows last a second, and a message waits for the end of its own, half of it on
// average. It reports the medians of the rounds.
//
//	go test -run='^$' -bench=Latency -benchtime=10x -timeout=0 ./tests/bench
func BenchmarkLatency(b *testing.B) {
	const lasts = 3 * time.Second
	backlog := setting(b, "BEAMCDC_BENCH_MESSAGES", 60_000)
	w := newWorld(b, time.Second)
	parts := []float64{0.1, 0.5, 0.9}
	p50, p99 := make([][]float64, len(parts)), make([][]float64, len(parts))
	var tops []float64
	w.run(b, realGraph, backlog/4) // connects, compiles, fills caches
	for b.Loop() {
		top := w.run(b, realGraph, backlog)
		tops = append(tops, top.perSecond())
		for i, part := range parts {
			rate := int(part * top.perSecond())
			var took []time.Duration
			w.runAt(b, realGraph, int(lasts.Seconds())*rate, rate, func(_ int, published time.Time) { took = append(took, time.Since(published)) })
			slices.Sort(took)
			p50[i] = append(p50[i], took[len(took)/2].Seconds())
			p99[i] = append(p99[i], took[len(took)*99/100].Seconds())
		}
	}
	b.ReportMetric(median(tops), "messages/s@100%_of_the_rate")
	for i, part := range parts {
		b.ReportMetric(median(p50[i]), fmt.Sprintf("p50-s@%.0f%%_of_the_rate", 100*part))
		b.ReportMetric(median(p99[i]), fmt.Sprintf("p99-s@%.0f%%_of_the_rate", 100*part))
	}
	b.ReportMetric(0, "ns/op")
}
