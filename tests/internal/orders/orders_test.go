package orders_test

import (
	"testing"

	"beamcdc/tests/internal/orders"
)

func TestWorkload(t *testing.T) {
	const messages = 10_000
	w := orders.Of(messages)
	size := 0
	for i := range messages {
		size += len(w.Message(i).GetData())
	}
	if mean := size / messages; mean < 900 || mean > 1100 {
		t.Errorf("a message has %d bytes on average, want about 1,000", mean)
	}
}

// Of rows that change alike ten thousand changes seldom meet one twice; by Zipf's law most do.
func TestUniform(t *testing.T) {
	const messages = 10_000
	for name, c := range map[string]struct {
		workload    *orders.Workload
		least, most int
	}{
		"zipf":    {orders.Of(messages), 1000, 6000},
		"uniform": {orders.Uniform(messages), 9300, 9700},
	} {
		keys := make(map[string]bool)
		for i := range messages {
			keys[c.workload.Message(i).GetOrderingKey()] = true
		}
		if len(keys) < c.least || len(keys) > c.most {
			t.Errorf("%s: %d rows changed, want %d to %d", name, len(keys), c.least, c.most)
		}
	}
}
