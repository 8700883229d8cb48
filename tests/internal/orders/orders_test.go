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
