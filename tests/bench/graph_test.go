package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"beamcdc/tests/internal/orders"
)

// TestGraphs runs both graphs over a few messages, so that the benchmarks below
// can't rot, and checks that they are about the same thing.
func TestGraphs(t *testing.T) {
	const messages = 5_000
	w := newWorld(t, 100*time.Millisecond)
	for _, g := range []graph{realGraph, emptyGraph} {
		r := w.run(t, g, messages)
		for _, problem := range w.problems(g, &r, messages) {
			t.Error(problem)
		}
		if g.name == "real" {
			mean := r.counts["bqcdc/bytes_appended"] / (r.counts["bqcdc/rows_upserted"] + r.counts["bqcdc/rows_deleted"])
			if mean < emptyRowBytes*9/10 || mean > emptyRowBytes*11/10 {
				t.Errorf("a row has %d bytes on average, and in the empty graph %d", mean, emptyRowBytes)
			}
		}
	}
}

// problems returns what went missing in a run, or was there twice.
func (w *world) problems(g graph, r *result, messages int) []string {
	var problems []string
	check := func(what string, got, want int64) {
		if got != want {
			problems = append(problems, fmt.Sprintf("%s graph: %s: %d, want %d", g.name, what, got, want))
		}
	}
	n := int64(messages)
	check("messages acked", int64(r.source.Acked), n)
	check("deliveries", int64(r.source.Delivered), n) // none had to come again
	check("messages that the pipeline acked", r.counts["pubsubsource/messages_acked"], n)
	check("rows coalesced and superseded", r.counts["keyed/rows_coalesced"]+r.counts["keyed/rows_superseded"], n)
	if g.name == "real" {
		rows := r.counts["bqcdc/rows_upserted"] + r.counts["bqcdc/rows_deleted"]
		check("rows acknowledged and superseded", rows+r.counts["bqcdc/rows_superseded"], n)
		check("rows that BigQuery counted", w.bigquery.Rows.Swap(0), rows)
		check("dead letters", r.counts["deadletter/letters"], 0)
	}
	return problems
}

// BenchmarkGraph runs the graph and the empty graph in turns, each over
// BEAMCDC_BENCH_MESSAGES messages (200,000), with windows of a second. It reports
// messages per second and processor time per message of both, and the medians of
// the rounds' ratios: how much of the rate of doing nothing is left. Rows change by Zipf's
// law, so that most changes are superseded in their window, or all alike.
//
//	go test -run='^$' -bench=Graph -benchtime=10x -timeout=0 ./tests/bench
func BenchmarkGraph(b *testing.B) {
	b.Run("zipf_keys", func(b *testing.B) { benchmarkGraph(b, orders.Of) })
	b.Run("uniform_keys", func(b *testing.B) { benchmarkGraph(b, orders.Uniform) })
}

func benchmarkGraph(b *testing.B, keys func(messages int) *orders.Workload) {
	messages := setting(b, "BEAMCDC_BENCH_MESSAGES", 200_000)
	w := newWorld(b, time.Second)
	w.keys = keys
	w.run(b, realGraph, min(messages, 20_000)) // connects, compiles, fills caches
	w.bigquery.Rows.Swap(0)
	var rates, times [2][]float64
	var ratios, timeRatios []float64
	for b.Loop() {
		for i, g := range []graph{realGraph, emptyGraph} {
			r := w.run(b, g, messages)
			for _, problem := range w.problems(g, &r, messages) {
				b.Error(problem)
			}
			rates[i] = append(rates[i], r.perSecond())
			times[i] = append(times[i], float64(r.perMessage().Nanoseconds())/1000)
		}
		last := len(rates[0]) - 1
		ratios = append(ratios, rates[0][last]/rates[1][last])
		timeRatios = append(timeRatios, times[1][last]/times[0][last])
	}
	b.ReportMetric(median(rates[0]), "messages/s")
	b.ReportMetric(median(rates[1]), "empty-messages/s")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(slices.Min(ratios), "min-ratio")
	b.ReportMetric(slices.Max(ratios), "max-ratio")
	b.ReportMetric(median(times[0]), "cpu-µs/message")
	b.ReportMetric(median(times[1]), "empty-cpu-µs/message")
	b.ReportMetric(median(timeRatios), "cpu-ratio")
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
