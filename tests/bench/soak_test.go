package bench

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSoak runs the graph BEAMCDC_SOAK times over BEAMCDC_SOAK_MESSAGES messages
// (1,000,000), with the default window, in one process. It prints each run's rate,
// what the heap held for every 100,000 messages, and what it held after the run.
// It fails if the runner does, if a message is not acked, or delivered twice, if a
// change is neither written nor superseded, and if the heap grows: within a run,
// or from the first run to the last.
//
//	BEAMCDC_SOAK=10 go test -run=Soak -v -timeout=0 ./tests/bench
func TestSoak(t *testing.T) {
	if os.Getenv("BEAMCDC_SOAK") == "" {
		t.Skip("it takes minutes; set BEAMCDC_SOAK to the number of runs")
	}
	count := setting(t, "BEAMCDC_SOAK", 1)
	messages := setting(t, "BEAMCDC_SOAK_MESSAGES", 1_000_000)
	w := newWorld(t, 5*time.Second)
	var peaks, left []uint64
	for i := range count {
		r := w.run(t, realGraph, messages)
		for _, problem := range w.problems(realGraph, &r, messages) {
			t.Error(problem)
		}
		t.Logf("run %d: %.0f messages/s, %v of processor time a message; %d acked; %d rows written, %d changes superseded", i+1,
			r.perSecond(), r.perMessage().Round(10*time.Nanosecond), r.source.Acked,
			r.counts["bqcdc/rows_upserted"]+r.counts["bqcdc/rows_deleted"], r.counts["bqcdc/rows_superseded"])
		var live, inUse []uint64
		for _, u := range r.heap {
			live, inUse = append(live, u.live), append(inUse, u.inUse)
		}
		t.Logf("run %d: heap alive, MB for every 100,000 messages: %s", i+1, megabytes(live))
		t.Logf("run %d: heap in use, MB for every 100,000 messages: %s", i+1, megabytes(inUse))
		if early, late := drift(live); late > early+early/5 {
			t.Errorf("run %d: the heap grows: %d MB alive at first, %d MB at last", i+1, early>>20, late>>20)
		}
		peaks, left = append(peaks, slices.Max(live)), append(left, heapAlive())
	}
	t.Logf("peak of the heap alive in each run, MB: %s", megabytes(peaks))
	t.Logf("heap alive after each run, MB: %s", megabytes(left))
	const perRun = 4 << 20 // what a job may leave behind: four bytes for each of a million messages
	if grown := int64(left[len(left)-1]) - int64(left[0]); grown > perRun*int64(len(left)) {
		t.Errorf("%d runs have left %d MB behind", len(left), grown>>20)
	}
}

// drift returns the heap's mean peaks in a run's first and second halves, without
// its first fifth: the source's bound on outstanding messages is filled then.
// Means, because the peaks come and go with the windows.
func drift(live []uint64) (early, late uint64) {
	if len(live) < 4 {
		return 0, 0 // too few messages to tell
	}
	live = live[len(live)/5:]
	half := len(live) / 2
	return mean(live[:half]), mean(live[half:])
}

func mean(values []uint64) uint64 {
	sum := uint64(0)
	for _, v := range values {
		sum += v
	}
	return sum / max(uint64(len(values)), 1)
}

// heapAlive returns what the heap holds when nothing runs, in bytes.
func heapAlive() uint64 {
	// A finalizer keeps its object for one collection more.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func megabytes(values []uint64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatUint(v>>20, 10)
	}
	return strings.Join(texts, " ")
}
