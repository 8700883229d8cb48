package bench

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSoak runs the graph BEAMCDC_SOAK times over BEAMCDC_SOAK_MESSAGES messages
// (1,000,000), with the default window, in one process. It prints each run's rate,
// and what the heap held for every 100,000 messages. It fails if the runner does,
// if a message is not acked, or delivered twice, if a change is neither written
// nor superseded, and if the heap grows.
//
//	BEAMCDC_SOAK=10 go test -run=Soak -v -timeout=0 ./tests/bench
func TestSoak(t *testing.T) {
	if os.Getenv("BEAMCDC_SOAK") == "" {
		t.Skip("it takes minutes; set BEAMCDC_SOAK to the number of runs")
	}
	count := setting(t, "BEAMCDC_SOAK", 1)
	messages := setting(t, "BEAMCDC_SOAK_MESSAGES", 1_000_000)
	w := newWorld(t, 5*time.Second)
	var peaks []uint64
	for i := range count {
		r := w.run(t, realGraph, messages)
		for _, problem := range w.problems(realGraph, &r, messages) {
			t.Error(problem)
		}
		t.Logf("run %d: %.0f messages/s, %v of processor time a message; %d acked; %d rows written, %d changes superseded", i+1,
			r.perSecond(), r.perMessage().Round(10*time.Nanosecond), r.source.Acked,
			r.counts["bqcdc/rows_upserted"]+r.counts["bqcdc/rows_deleted"], r.counts["bqcdc/rows_superseded"])
		t.Logf("run %d: heap alive, MB for every 100,000 messages: %s", i+1, megabytes(r.heap, func(u heapUse) uint64 { return u.live }))
		t.Logf("run %d: heap in use, MB for every 100,000 messages: %s", i+1, megabytes(r.heap, func(u heapUse) uint64 { return u.inUse }))
		if early, late, flat := flatness(r.heap); !flat {
			t.Errorf("run %d: the heap grows: %d MB alive at first, %d MB at last", i+1, early>>20, late>>20)
		}
		peaks = append(peaks, slices.MaxFunc(r.heap, func(a, b heapUse) int { return int(int64(a.live) - int64(b.live)) }).live)
	}
	t.Logf("peak of the heap alive by run, MB: %s", megabytes(peaks, func(n uint64) uint64 { return n }))
}

// flatness compares what the heap held at most in the second quarter of a run with
// the last quarter: the first is the filling of the source's bound on outstanding
// messages. A rise by less than a fifth is the windows' coming and going.
func flatness(heap []heapUse) (early, late uint64, flat bool) {
	quarter := len(heap) / 4
	if quarter == 0 {
		return 0, 0, true // too few messages to tell
	}
	for _, u := range heap[quarter : 2*quarter] {
		early = max(early, u.live)
	}
	for _, u := range heap[len(heap)-quarter:] {
		late = max(late, u.live)
	}
	return early, late, late <= early+early/5
}

func megabytes[T any](values []T, of func(T) uint64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatUint(of(v)>>20, 10)
	}
	return strings.Join(texts, " ")
}
