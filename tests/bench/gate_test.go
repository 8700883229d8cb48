//go:build !race

package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
)

// gates are the ratios that a change may not spoil: the worker path's processor time (see
// BenchmarkWorker), as a multiple of tokenizing the same bytes in the same run, and its
// allocations a change. docs/benchmarks.md tells what was measured and how it varies; a
// limit is above the most that a busy machine showed. Lower one when the path got faster.
var gates = []struct {
	shape       string
	times       float64
	allocations float64
}{
	{"30_columns", 3.9, 10},
	{"30_columns_schema", 0.8, 10.5},
	{"300_columns", 2.5, 360},
}

// TestGate fails if the worker path has become slower beside the tokenizing, or allocates
// more, and tells what the profile has on top. It compares ratios alone, and the lowest
// of some turns: what else the machine does only adds to a turn. The race detector
// would change everything, so CI runs it by itself:
//
//	go test -count=1 -run=TestGate ./tests/bench
func TestGate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, gate := range gates {
		t.Run(gate.shape, func(t *testing.T) {
			s := shapeOf(gate.shape)
			input := s.messages(2000, 2<<20)
			w := newWorker(t, &s)
			w.write(len(input), input)
			times, allocations := w.least(input)
			t.Logf("%.2f times the tokenizing, of at most %g; %.2f allocations a change, of at most %g", times, gate.times, allocations, gate.allocations)
			if times > gate.times || allocations > gate.allocations {
				t.Errorf("the worker path takes %.2f times as long as tokenizing (at most %g) and %.2f allocations a change (at most %g). Its profile:\n%s",
					times, gate.times, allocations, gate.allocations, w.profile(input))
			}
		})
	}
}

// least returns the least of some turns' ratios and allocations a change.
func (w *worker) least(input []change.Message) (times, allocations float64) {
	var tokens jsontext.Decoder
	times, allocations = 1e9, 1e9
	for range 12 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpuTime()
		w.write(2*len(input), input)
		ours := cpuTime() - start
		runtime.ReadMemStats(&after)
		start = cpuTime()
		for range 2 {
			if err := each(input, func(m *change.Message) error { return tokenize(&tokens, m.Data) }); err != nil {
				w.tb.Fatal(err)
			}
		}
		times = min(times, float64(ours)/float64(cpuTime()-start))
		allocations = min(allocations, float64(after.Mallocs-before.Mallocs)/float64(2*len(input)))
	}
	return times, allocations
}

// profile is the top of the worker path's profile.
func (w *worker) profile(input []change.Message) string {
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		return err.Error()
	}
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
		w.write(len(input), input)
	}
	pprof.StopCPUProfile()
	file := filepath.Join(w.tb.TempDir(), "cpu.prof")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		return err.Error()
	}
	top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=25", os.Args[0], file).CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(top)) + ": " + err.Error()
	}
	return string(top)
}
