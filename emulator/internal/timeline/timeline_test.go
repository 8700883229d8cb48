package timeline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimeline(t *testing.T) {
	var line Timeline
	at := time.Date(2026, 1, 2, 3, 4, 59, 0, time.UTC)
	ok, bad := Key{"p", "d", "t", "DEFAULT", "OK"}, Key{"p", "d", "t", "DEFAULT", "INVALID_ARGUMENT"}
	line.Add(at, ok, 2, 20)
	line.Add(at.Add(time.Second), ok, 1, 10) // the next minute
	line.Add(at, ok, 3, 30)
	line.Add(at, bad, 0, 5)
	start := at.Truncate(time.Minute)
	want := []Interval{{bad, start, 1, 0, 5}, {ok, start, 2, 5, 50}, {ok, start.Add(time.Minute), 1, 1, 10}}
	if diff := cmp.Diff(want, line.Intervals()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// It doesn't grow with time, and keeps the latest.
func TestTimeline_bounded(t *testing.T) {
	var line Timeline
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	const minutes = 2*maxIntervals + 1
	for i := range minutes {
		line.Add(at.Add(time.Duration(i)*time.Minute), Key{Table: "t"}, 1, 1)
	}
	list := line.Intervals()
	if len(list) > maxIntervals || len(list) < maxIntervals/2-1 {
		t.Errorf("%d intervals are kept", len(list))
	}
	if last := list[len(list)-1].Start; !last.Equal(at.Add((minutes - 1) * time.Minute)) {
		t.Errorf("the latest is of %v", last)
	}
}
