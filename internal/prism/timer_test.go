package prism

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn5x1[state.Provider, timers.Provider, string, int, func(string, int), error](&tickFn{})
	register.DoFn4x1[state.Provider, timers.Provider, string, int, error](&holdFn{})
}

const (
	ticks     = 40 // of a key of tickFn, each in a bundle of its own
	holdsKeys = 8
)

// tickFn gives elements time by time, by a timer that sets itself again.
type tickFn struct {
	Count state.Value[int]
	Next  timers.ProcessingTime
}

func (f *tickFn) ProcessElement(_ state.Provider, tp timers.Provider, _ string, i int, _ func(string, int)) error {
	if i == 0 {
		f.Next.Set(tp, time.Now())
	}
	return nil
}

func (f *tickFn) OnTimer(_ context.Context, _ beam.EventTime, sp state.Provider, tp timers.Provider, _ string, _ timers.Context, emit func(string, int)) error {
	n, _, err := f.Count.Read(sp)
	if err != nil {
		return err
	}
	if n++; n < ticks {
		f.Next.Set(tp, time.Now().Add(10*time.Millisecond))
	}
	for k := range holdsKeys {
		emit("held "+strconv.Itoa(k), n)
	}
	return f.Count.Write(sp, n)
}

// holdFn holds a key's elements until its timer, as fill does: what comes sets it later,
// and it sets itself again as long as it holds something. Its timers hold the watermark:
// at the end of all windows Prism forgets their states, and what ends here has an end.
type holdFn struct {
	Held state.Value[int]
	Due  timers.ProcessingTime
}

var released struct {
	sync.Mutex
	of map[string]int
}

func (f *holdFn) ProcessElement(sp state.Provider, tp timers.Provider, _ string, i int) error {
	n, _, err := f.Held.Read(sp)
	if err != nil {
		return err
	}
	// Sometimes at once, so that it fires while its key is in progress.
	f.Due.Set(tp, time.Now().Add(time.Duration(i%4)*time.Millisecond))
	time.Sleep(200 * time.Microsecond) // the next elements and timers come meanwhile
	return f.Held.Write(sp, n+1)
}

func (f *holdFn) OnTimer(_ context.Context, _ beam.EventTime, sp state.Provider, tp timers.Provider, key string, _ timers.Context) error {
	n, _, err := f.Held.Read(sp)
	if err != nil || n == 0 {
		return err
	}
	// One at a time: the rest is released only if the timer that is set here fires.
	released.Lock()
	released.of[key]++
	released.Unlock()
	if n > 1 {
		f.Due.Set(tp, time.Now().Add(time.Millisecond))
	}
	return f.Held.Write(sp, n-1)
}

// TestRun_timers: a timer that is set while elements and timers of its key are in
// progress fires, so that all that a stage holds leaves it, once.
func TestRun_timers(t *testing.T) {
	released.of = make(map[string]int)
	p, s := beam.NewPipelineWithRoot()
	elements := beam.ParDo(s, &eachFn{}, beam.Impulse(s))
	elements = beam.ParDo(s, &tickFn{Count: state.MakeValueState[int]("count"), Next: timers.InProcessingTime("next")}, elements)
	beam.ParDo0(s, &holdFn{Held: state.MakeValueState[int]("held"), Due: timers.InProcessingTime("due")}, elements)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := Run(ctx, Runner, p); err != nil {
		t.Fatal(err)
	}
	for k := range holdsKeys {
		if key := "held " + strconv.Itoa(k); released.of[key] != keys*ticks {
			t.Errorf("%s: %d elements were released, not %d", key, released.of[key], keys*ticks)
		}
	}
}
