package bench

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkGrowth runs the graph over a million messages, two and four in turns (or
// over as many as BEAMCDC_BENCH_GROWTH lists), with windows of a second. It reports
// what a message costs at each, what of the heap was alive at most and afterwards,
// and how many times as much as of the fewest a message of the most costs.
//
//	go test -run='^$' -bench=Growth -benchtime=1x -timeout=0 ./tests/bench
func BenchmarkGrowth(b *testing.B) {
	sizes := growthSizes(b)
	w := newWorld(b, time.Second)
	w.run(b, realGraph, min(sizes[0], 20_000)) // connects, compiles, fills caches
	w.bigquery.Rows.Swap(0)
	costs, rates := make([][]float64, len(sizes)), make([][]float64, len(sizes))
	most, after := make([]float64, len(sizes)), make([]float64, len(sizes))
	for b.Loop() {
		for i, messages := range sizes {
			watch := watchHeap()
			r := w.run(b, realGraph, messages)
			for _, problem := range w.problems(realGraph, &r, messages) {
				b.Error(problem)
			}
			most[i] = max(most[i], watch.end())
			runtime.GC()
			after[i] = max(after[i], heapAlive())
			costs[i] = append(costs[i], float64(r.perMessage().Nanoseconds())/1000)
			rates[i] = append(rates[i], r.perSecond())
		}
	}
	for i, messages := range sizes {
		b.ReportMetric(median(costs[i]), fmt.Sprintf("cpu-µs/message@%d_messages", messages))
		b.ReportMetric(median(rates[i]), fmt.Sprintf("messages/s@%d_messages", messages))
		b.ReportMetric(most[i], fmt.Sprintf("most-MB@%d_messages", messages))
		b.ReportMetric(after[i], fmt.Sprintf("MB-after@%d_messages", messages))
	}
	b.ReportMetric(median(costs[len(costs)-1])/median(costs[0]), "growth")
	b.ReportMetric(0, "ns/op")
}

// growthSizes are the numbers of messages, ascending.
func growthSizes(tb testing.TB) []int {
	tb.Helper()
	const name = "BEAMCDC_BENCH_GROWTH"
	text := os.Getenv(name)
	if text == "" {
		return []int{1_000_000, 2_000_000, 4_000_000}
	}
	var sizes []int
	for number := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n <= 0 {
			tb.Fatalf("%s=%q: %q is no number above 0", name, text, number)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return sizes
}

// heapWatch looks at the heap while something runs.
type heapWatch struct {
	stop chan struct{}
	most chan float64
}

func watchHeap() heapWatch {
	w := heapWatch{stop: make(chan struct{}), most: make(chan float64)}
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		most := 0.0
		for {
			most = max(most, heapAlive())
			select {
			case <-tick.C:
			case <-w.stop:
				w.most <- most
				return
			}
		}
	}()
	return w
}

// end returns what was alive at most, in MB.
func (w heapWatch) end() float64 {
	close(w.stop)
	return <-w.most
}

// heapAlive is what the last garbage collection left, in MB.
func heapAlive() float64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64()) / 1e6
}
