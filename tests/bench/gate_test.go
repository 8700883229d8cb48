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
)

// gates are what a change may not spoil: how many times the processor time of what it is
// held against in the same run something takes, and how many objects it allocates a change.
//
// A limit is a quarter or a third above what the test measured, which the comment beside it
// tells, while other work kept both cores busy (load 7): a path that gets slower by less
// goes through. Those of allocations are some tenths above. Lower them when a path got
// faster, by what `go test -count=1 -run=TestGate -v ./tests/bench` prints.
var gates = []struct {
	name        string
	shape       string
	compare     func(tb testing.TB, shape string) *comparison
	times       float64
	allocations float64
}{
	// Decode, key and encode, against tokenizing.
	{"codec", "30_columns", compareCodec, 1.5, 0.3},         // 1.11 to 1.2, 0.16
	{"codec", "300_columns", compareCodec, 0.6, 1.2},        // 0.456 to 0.464, 1
	{"codec", "30_columns_schema", compareCodec, 0.31, 0.3}, // 0.223 to 0.244, 0.167
	// What the schema adds to the decoding, against what it adds to the tokenizing.
	{"schema", "30_columns", compareSchema, 0.12, 0.3}, // 0.08 to 0.092, 0.15
	// Encoded rows to acknowledged, against bare managedwriter.
	{"write", "30_columns", compareWrite, 2.2, 0.1},      // 1.49 to 1.66, 0.027
	{"write", "5_columns_200B", compareWrite, 4.2, 0.05}, // 2.65 to 3.16, 0.0036
	// A message's bytes to acknowledged, against tokenizing.
	{"worker", "30_columns", compareWorker, 1.9, 0.5},            // 1.47, 0.334
	{"worker", "30_columns_schema", compareWorker, 0.45, 1},      // 0.352, 0.746
	{"worker", "300_columns", compareWorker, 0.75, 3.2},          // 0.576, 2.68
	{"worker", "30_columns_100_tables", compareWorker, 2.9, 4.5}, // 2.24, 3.77
}

// comparison is ours and what it is held against, in turns.
type comparison struct {
	*turns
	times   func() float64 // ours as a multiple of the other, by the least turns of each
	changes int            // of ours' turn
}

// TestGate fails if something has become slower beside what it is held against, or
// allocates more, and tells what the profile has on top. It compares ratios alone, of the
// least turns of each: what else the machine does only adds to a turn. Where one is above
// its limit it goes on for longer. The race detector would change everything, so CI runs
// it by itself:
//
//	go test -count=1 -run=TestGate -v ./tests/bench
func TestGate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const most = 12 * time.Second // for one that is above its limit
	for _, gate := range gates {
		t.Run(gate.name+"/"+gate.shape, func(t *testing.T) {
			c := gate.compare(t, gate.shape)
			allocations := c.allocations(t)
			var times float64
			for last := 3 * time.Second; last <= most; last *= 2 {
				for until := time.Now().Add(last); time.Now().Before(until) || len(c.took[0]) < 12; {
					c.round(t)
				}
				if times = c.times(); times <= gate.times {
					break
				}
			}
			t.Logf("%.3g times (at most %g), %.3g allocations a change (at most %g), %d turns", times, gate.times, allocations, gate.allocations, len(c.took[0]))
			if times > gate.times || allocations > gate.allocations {
				t.Errorf("%s of %s takes %.3g times as long as what it is held against (at most %g) and makes %.3g allocations a change (at most %g). Its profile:\n%s",
					gate.name, gate.shape, times, gate.times, allocations, gate.allocations, profile(t, c.does[0]))
			}
		})
	}
}

// allocations is the least of some of ours' turns, a change.
func (c *comparison) allocations(tb testing.TB) float64 {
	tb.Helper()
	least := uint64(1 << 62)
	for range 4 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := c.does[0](); err != nil {
			tb.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return float64(least) / float64(c.changes)
}

// compareFirst compares the first of two.
func compareFirst(t *turns, changes int) *comparison {
	return &comparison{t, func() float64 { return t.least(0) / t.least(1) }, changes}
}

func compareCodec(tb testing.TB, name string) *comparison {
	tb.Helper()
	s := shapeOf(name)
	in := codecInput{messages: s.messages(100, 128<<10)}
	return compareFirst(takeTurns(in.each(newCodec(tb, s.config()).encode), in.each(newTokenizer())), len(in.messages))
}

func compareSchema(tb testing.TB, name string) *comparison {
	tb.Helper()
	s := newSchemaTurns(tb, name)
	return &comparison{s.turns, s.skipping, schemaTurnMessages}
}

func compareWrite(tb testing.TB, name string) *comparison {
	tb.Helper()
	w := newWriteTurns(tb, name, counts, 5<<20)
	return compareFirst(w.turns, w.rows)
}

func compareWorker(tb testing.TB, name string) *comparison {
	tb.Helper()
	s := shapeOf(name)
	input := s.messages(1000, 1<<20)
	w := newWorker(tb, &s, counts)
	w.write(len(input), input)
	return compareFirst(takeTurns(
		func() error { w.write(2*len(input), input); return nil },
		repeat(2, func() error { return each(input, newTokenizer()) }),
	), 2*len(input))
}

// profile is the top of the profile of something, and of the project's own part in it.
func profile(tb testing.TB, do func() error) string {
	tb.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		return err.Error()
	}
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
		if err := do(); err != nil {
			tb.Fatal(err)
		}
	}
	pprof.StopCPUProfile()
	file := filepath.Join(tb.TempDir(), "cpu.prof")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, options := range [][]string{{"-nodecount=20"}, {"-nodecount=20", "-cum", "-show=^beamcdc/", "-hide=tests/bench"}} {
		top, err := exec.Command("go", append(append([]string{"tool", "pprof", "-top"}, options...), os.Args[0], file)...).CombinedOutput()
		text.Write(top)
		if err != nil {
			text.WriteString(err.Error())
		}
		text.WriteByte('\n')
	}
	return text.String()
}
