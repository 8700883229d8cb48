package prism

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn3x1[state.Provider, string, int, error](&countFn{})
	register.DoFn2x0[[]byte, func(string, int)](&eachFn{})
	register.Emitter2[string, int]()
}

const (
	keys    = 4
	perKey  = 25
	pauseAt = 10 // the element of a key that takes long
)

// eachFn makes all elements in one bundle, each key's spread over it.
type eachFn struct{}

func (*eachFn) ProcessElement(_ []byte, emit func(string, int)) {
	for i := range perKey {
		for k := range keys {
			emit(string(rune('a'+k)), i)
		}
	}
}

// countFn counts a key's elements.
type countFn struct{ Count state.Value[int] }

var counted struct {
	sync.Mutex
	of map[string]map[int]int // by key and count, how often it was reached
}

func (f *countFn) ProcessElement(sp state.Provider, key string, i int) error {
	n, _, err := f.Count.Read(sp)
	if err != nil {
		return err
	}
	n++
	if i == pauseAt {
		// Not a wait for something: what Prism takes for no progress. It asks every tenth of a second.
		time.Sleep(600 * time.Millisecond)
	}
	counted.Lock()
	defer counted.Unlock()
	if counted.of[key] == nil {
		counted.of[key] = make(map[int]int)
	}
	counted.of[key][n]++
	return f.Count.Write(sp, n)
}

// TestRun_state: no update of a key's state is lost where a bundle makes no progress for
// a while.
func TestRun_state(t *testing.T) {
	counted.of = make(map[string]map[int]int)
	p, s := beam.NewPipelineWithRoot()
	elements := beam.ParDo(s, &eachFn{}, beam.Impulse(s))
	beam.ParDo0(s, &countFn{Count: state.MakeValueState[int]("count")}, elements)
	if err := Run(context.Background(), Runner, p); err != nil {
		t.Fatal(err)
	}
	for k := range keys {
		of := counted.of[string(rune('a'+k))]
		for n := 1; n <= perKey; n++ {
			if of[n] != 1 {
				t.Errorf("key %d: a count of %d was reached %d times", k, n, of[n])
			}
		}
	}
}
