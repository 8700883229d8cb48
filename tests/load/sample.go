package main

import (
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"time"

	"beamcdc/tests/internal/counting"
	"beamcdc/transforms/pubsubsource/firehose"
)

// sample is what an interval came to.
type sample struct {
	at, length  time.Duration // its end, since the start, and its length
	rate        int           // messages published a second, as was asked
	acked       float64       // messages a second
	p50, p99    time.Duration // from publish to acknowledged; 0 where nothing was
	heap        uint64        // the most that a garbage collection found alive, in bytes
	memory      uint64        // the most that the process had from the system, in bytes
	goroutines  int
	sockets     int           // of the process, both ends of connections within it; -1 where the system does not tell
	streams     int           // AppendRows calls that are open
	outstanding int           // messages taken and not acked
	waiting     int           // messages published and not taken
	cpu         time.Duration // of the interval
}

// sampler takes samples until it is stopped.
type sampler struct {
	source   *firehose.Server
	bigquery *counting.BigQuery
	start    time.Time
	interval time.Duration
	log      io.Writer // gets a line for each sample

	mu      sync.Mutex
	rate    int
	current latencies // of the interval
	all     latencies

	samples     []sample
	ended, done chan struct{}
}

// acked takes the time that a message took.
func (s *sampler) acked(published time.Time) {
	took := time.Since(published)
	s.mu.Lock()
	s.current.add(took)
	s.mu.Unlock()
}

func (s *sampler) setRate(rate int) {
	s.mu.Lock()
	s.rate = rate
	s.mu.Unlock()
}

// run samples until stop is called.
func (s *sampler) run() {
	defer close(s.done)
	say(s.log, "%s", sampleHead)
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	look := time.NewTicker(min(s.interval, 100*time.Millisecond))
	defer look.Stop()
	before, acked, cpu := time.Now(), 0, cpuTime()
	var heap, memory uint64
	take := func(now time.Time) {
		counts, used := s.source.Counts(), cpuTime()
		one := sample{
			at: now.Sub(s.start), length: now.Sub(before), acked: float64(counts.Acked-acked) / now.Sub(before).Seconds(),
			heap: heap, memory: memory, goroutines: runtime.NumGoroutine(), sockets: sockets(), streams: int(s.bigquery.Streams.Load()),
			outstanding: counts.Outstanding, waiting: counts.Published - counts.Acked - counts.Outstanding, cpu: used - cpu,
		}
		s.mu.Lock()
		one.rate, one.p50, one.p99 = s.rate, s.current.quantile(0.5), s.current.quantile(0.99)
		s.all.merge(&s.current)
		s.current = latencies{}
		s.mu.Unlock()
		s.samples = append(s.samples, one)
		one.print(s.log)
		before, acked, cpu, heap, memory = now, counts.Acked, used, 0, 0
	}
	for {
		select {
		case <-s.ended:
			take(time.Now())
			return
		case now := <-tick.C:
			take(now)
		case <-look.C:
			live, all := memoryUse()
			heap, memory = max(heap, live), max(memory, all)
		}
	}
}

func (s *sampler) stop() {
	close(s.ended)
	<-s.done
}

// memoryUse returns what the last garbage collection found alive, and what the
// process has from the system.
func memoryUse() (live, all uint64) {
	read := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(read)
	return read[0].Value.Uint64(), read[1].Value.Uint64() - read[2].Value.Uint64()
}

// heapAlive returns what the heap holds when nothing runs, in bytes.
func heapAlive() uint64 {
	runtime.GC()
	runtime.GC() // a finalizer keeps its object for one collection more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// sockets counts the process's sockets, where the system lists its files.
func sockets() int {
	const directory = "/proc/self/fd"
	files, err := os.ReadDir(directory)
	if err != nil {
		return -1
	}
	n := 0
	for _, f := range files {
		if to, err := os.Readlink(directory + "/" + f.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// cpuTime is what the process has used: on a machine that others share it says more
// than the time that passed.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
