package pubsubsource

import (
	"errors"
	"testing"
	"time"
)

// What a receiver counted stays counted when another takes its place; what it had
// outstanding doesn't.
func TestProcessCounts(t *testing.T) {
	c := Config{Subscription: "projects/p/subscriptions/counted"}
	before := processCounts()
	r := receiverOf(c)
	r.gate.note(errors.New("unavailable"))
	r.gate.note(nil)
	r.gate.note(errors.New("unavailable"))
	r.mu.Lock()
	r.stats.Redelivered, r.stats.Returned = 3, 2
	taken := time.Now().Add(-time.Hour)
	r.outstanding[1], r.outstanding[2] = &delivery{size: 10, taken: taken}, &delivery{size: 20, taken: taken.Add(time.Minute)}
	r.mu.Unlock()
	now := processCounts()
	if now.Restarts-before.Restarts != 2 || now.Redelivered-before.Redelivered != 3 || now.Returned-before.Returned != 2 {
		t.Errorf("while it receives: %+v after %+v", now, before)
	}
	if now.Outstanding-before.Outstanding != 2 || now.OutstandingBytes-before.OutstandingBytes != 30 || !now.OldestTaken.Equal(taken) {
		t.Errorf("outstanding while it receives: %+v after %+v", now, before)
	}
	r.gate.close()
	r.gate.note(errors.New("cut")) // by us
	forget(r)
	if now = processCounts(); now.Restarts-before.Restarts != 2 || now.Redelivered-before.Redelivered != 3 || now.Outstanding != before.Outstanding {
		t.Errorf("afterwards: %+v after %+v", now, before)
	}
	if receiverOf(c) == r {
		t.Error("the receiver was not forgotten")
	}
	forget(receiverOf(c))
}
