package bench

import (
	"slices"
	"testing"
	"time"
)

// turns are things that take turns, so that what else the machine does falls on all alike.
type turns struct {
	does    []func() error
	took    [][]float64 // seconds of the process's processor time, by what took turns and round
	elapsed [][]float64 // seconds of the clock
}

func takeTurns(does ...func() error) *turns {
	return &turns{does: does, took: make([][]float64, len(does)), elapsed: make([][]float64, len(does))}
}

// round gives each a turn. Garbage collection and the kernel's work are in it, and falls
// to whoever's turn it is.
func (t *turns) round(tb testing.TB) {
	tb.Helper()
	for i, do := range t.does {
		start, busy := time.Now(), cpuTime()
		if err := do(); err != nil {
			tb.Fatal(err)
		}
		t.took[i] = append(t.took[i], (cpuTime() - busy).Seconds())
		t.elapsed[i] = append(t.elapsed[i], time.Since(start).Seconds())
	}
}

// ratios are the rounds' ratios of one's processor time to another's.
func (t *turns) ratios(of, to int) []float64 { return ratios(t.took[of], t.took[to]) }

func ratios(of, to []float64) []float64 {
	list := make([]float64, len(of))
	for i := range list {
		list[i] = of[i] / to[i]
	}
	return list
}

// least is the least that a turn of one took. What else a machine does can only add to a
// turn, so this is what is left of it if there are many.
func (t *turns) least(of int) float64 { return slices.Min(t.took[of]) }
