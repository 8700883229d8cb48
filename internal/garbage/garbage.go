// Package garbage lets garbage lie until there is enough of it to be worth a
// collection.
//
// Go collects when the heap has doubled. A pipeline that keeps up holds some tens of
// megabytes and allocates a hundred a second and more, so that it would be marked
// several times a second: that was a quarter of the processor time of a message.
package garbage

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Spare is how many bytes of garbage a process that runs the pipeline lets lie, on
// top of what is alive. On more than that it has no effect: a heap of which more is
// alive is collected when it has doubled, as ever.
const Spare = 256 << 20

var once sync.Once

// Allow has the process collect its garbage when there is as much of it as there is
// alive, but never before there are so many bytes of it; so the heap takes so many
// bytes more at most. Its first call decides. It does nothing where the environment
// sets GOGC: that is the operator's. GOMEMLIMIT goes before it.
func Allow(bytes uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	once.Do(func() { adjust(bytes) })
}

// adjust sets the collector's percentage for what is alive now, and again after each
// collection. Setting it stops the world for a moment, so it is set where it changes.
func adjust(bytes uint64) {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	// The percentage is of what the last collection left, and of what it looked through besides.
	var alive uint64
	for _, s := range samples[1:] {
		alive += s.Value.Uint64()
	}
	if want := percent(alive, bytes); uint64(want) != samples[0].Value.Uint64() {
		debug.SetGCPercent(want)
	}
	// What nobody refers to is cleaned up after the next collection. Of less than 16
	// bytes several share a place, and one could keep the others.
	runtime.AddCleanup(new([16]byte), adjust, bytes)
}

// percent is how much a heap of which so much is alive may grow.
func percent(alive, spare uint64) int {
	if alive >= spare {
		return 100
	}
	return int(min(100*spare/max(alive, 1), math.MaxInt32))
}
