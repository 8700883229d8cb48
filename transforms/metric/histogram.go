package metric

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Latencies are the bounds of most histograms of times, in milliseconds.
var Latencies = []int64{10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000}

// more is the bucket of what is above all bounds.
const more = "more"

// Histogram is a distribution that tells how many of its values are how large, in
// counters NAME_upto/BOUND, each of the values above the bound before: percentiles can
// be estimated by it, which Beam's distributions don't allow.
type Histogram struct {
	distribution beam.Distribution
	bounds       []int64
	buckets      []beam.Counter
}

// Histogram declares a histogram with these bounds, in rising order.
func (n Namespace) Histogram(name string, unit Unit, help string, bounds []int64) *Histogram {
	if len(bounds) == 0 || len(bounds) > maxBounds || !slices.IsSorted(bounds) {
		panic(fmt.Sprintf("metric.Histogram: %s/%s has the bounds %v; it may have 1 to %d, in rising order", n.name, name, bounds, maxBounds))
	}
	process.declare(Description{Namespace: n.name, Name: name, Kind: Distribution, Unit: unit, Help: help, Bounds: bounds})
	of := n.counters(Description{
		Namespace: n.name, Name: BucketsName(name), Kind: Counter, Unit: Values, Help: "Values of " + name + " up to a bound, and above the one before.",
		Labels: []string{"bound"}, BucketsOf: name,
	})
	h := &Histogram{distribution: beam.NewDistribution(n.name, name), bounds: bounds}
	for _, bound := range BucketNames(bounds) {
		h.buckets = append(h.buckets, of.With(bound))
	}
	return h
}

// Update adds a value.
func (h *Histogram) Update(ctx context.Context, v int64) {
	h.distribution.Update(ctx, v)
	h.buckets[h.bucket(v)].Inc(ctx, 1)
}

// bucket returns the index of the bucket of a value: a bound belongs to its bucket.
func (h *Histogram) bucket(v int64) int {
	i, _ := slices.BinarySearch(h.bounds, v)
	return i
}

// maxBounds is how many bounds a histogram may have.
const maxBounds = 23

// Tally gathers values of a histogram's, for those that come by the thousand: that
// takes half the time. It is for one goroutine, and its zero value is empty.
type Tally struct{ buckets [maxBounds + 1]int64 }

// Add adds a value, which counts in its bucket once [Tally.Flush] is called.
func (t *Tally) Add(ctx context.Context, h *Histogram, v int64) {
	h.distribution.Update(ctx, v)
	t.buckets[h.bucket(v)]++
}

// Flush counts what was added, for the histogram that it was added for, and empties the tally.
func (t *Tally) Flush(ctx context.Context, h *Histogram) {
	for i := range h.buckets {
		if n := t.buckets[i]; n != 0 {
			h.buckets[i].Inc(ctx, n)
		}
	}
	*t = Tally{}
}

// BucketsName returns the name of the counters of a histogram.
func BucketsName(name string) string { return name + "_upto" }

// BucketNames returns the values of the label of a histogram's counters, the last being
// that of what is above all bounds.
func BucketNames(bounds []int64) []string {
	names := make([]string, 0, len(bounds)+1)
	for _, bound := range bounds {
		names = append(names, strconv.FormatInt(bound, 10))
	}
	return append(names, more)
}
