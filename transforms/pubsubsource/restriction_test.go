package pubsubsource

import (
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/google/go-cmp/cmp"
)

var _ sdf.BoundableRTracker = (*tracker)(nil)

func TestTracker_TrySplit(t *testing.T) {
	tests := map[string]struct {
		rest     restriction
		claim    int64
		fraction float64
		primary  any
		residual any // nil: refused
		done     bool
	}{
		"a checkpoint after a bundle":   {restriction{Bundle: 6}, 7, 0, restriction{Bundle: 6, Over: true}, restriction{Bundle: 7}, true},
		"a checkpoint before a bundle":  {restriction{Bundle: 6}, 0, 0, restriction{Bundle: 6, Over: true}, restriction{Bundle: 6}, true},
		"a split for more parallelism":  {restriction{Bundle: 6}, 7, 0.5, restriction{Bundle: 6}, nil, false},
		"a checkpoint when all is over": {restriction{Bundle: 6, Over: true}, 0, 0, restriction{Bundle: 6, Over: true}, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tr := &tracker{rest: test.rest}
			if test.claim > 0 && !tr.TryClaim(test.claim) {
				t.Fatal("the claim failed")
			}
			primary, residual, err := tr.TrySplit(test.fraction)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{test.primary, test.residual}, []any{primary, residual}); diff != "" {
				t.Error("primary and residual (-want +got):\n", diff)
			}
			if tr.IsDone() != test.done || tr.IsBounded() != test.done {
				t.Errorf("done %t, bounded %t, want %t", tr.IsDone(), tr.IsBounded(), test.done)
			}
			if tr.TryClaim(int64(8)) == test.done {
				t.Errorf("the next claim succeeded: %t", !test.done)
			}
		})
	}
}

// A clock that is set back makes no message late.
func TestSteadyClock_NeverGoesBack(t *testing.T) {
	var c steadyClock
	ahead := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	c.last = ahead
	watermark := c.watermark()
	if at := c.eventTime().ToTime(); !at.Equal(ahead) || !watermark.Before(at) {
		t.Errorf("event time %s after watermark %s, want %s", at, watermark, ahead)
	}
}
