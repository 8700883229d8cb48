package pubsubsource

import (
	"context"
	"testing"
	"time"
)

// entered reports whether a stream may ask for a response now.
func entered(t *testing.T, g *gate) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	return g.enter(ctx) == nil
}

func testGate(edit func(*Config)) *gate {
	c := Config{MaxOutstandingMessages: 10, MaxOutstandingBytes: 1000, BundleMessages: 100, BundleBytes: 1000}
	edit(&c)
	return newGate(c.withDefaults())
}

func TestGate_CountsWaitingArrivingAndOutstanding(t *testing.T) {
	g := testGate(func(*Config) {})
	for range 3 {
		if !entered(t, g) {
			t.Fatal("no room at first")
		}
	}
	g.arrive(6, 60) // 2 wait, 6 arrive
	g.take(10)
	g.take(10) // 2 wait, 4 arrive, 2 are outstanding
	for range 2 {
		if !entered(t, g) {
			t.Fatal("no room for the ninth and tenth")
		}
	}
	if entered(t, g) {
		t.Fatal("room for an eleventh")
	}
	g.leave(1, 10)
	if !entered(t, g) {
		t.Fatal("no room after one left")
	}
	g.arrive(0, 0) // a stream got an error, or a ping
	if !entered(t, g) {
		t.Fatal("no room after a stream gave its place up")
	}
}

func TestGate_Bytes(t *testing.T) {
	g := testGate(func(*Config) {})
	entered(t, g)
	g.arrive(1, 1000)
	if entered(t, g) {
		t.Error("room beyond the bound")
	}
	g.take(1000)
	g.leave(1, 1000)
	if !entered(t, g) {
		t.Error("no room after it left")
	}
}

// With exactly-once delivery messages may be dropped without a callback, so they
// count from their callback on.
func TestGate_TakeWithoutArrival(t *testing.T) {
	g := testGate(func(*Config) {})
	for range 10 {
		g.take(1)
	}
	if entered(t, g) {
		t.Error("room beyond the bound")
	}
	g.leave(10, 10)
	if g.arriving != 0 || g.outstanding != 0 || g.arrivingBytes != 0 || g.outstandingBytes != 0 {
		t.Errorf("left over: %+v", g)
	}
}

func TestGate_QueueIsBoundedWhileBundlesAsk(t *testing.T) {
	g := testGate(func(c *Config) { c.BundleMessages = 1; c.MaxOutstandingMessages = 100 })
	g.unqueue(0, 0) // a bundle asks
	for range queuedBundles {
		g.take(1)
	}
	if entered(t, g) {
		t.Error("more is taken than the coming bundles ask for")
	}
	g.unqueue(1, 1)
	if !entered(t, g) {
		t.Error("no room after a bundle took one")
	}
	g.asked = time.Now().Add(-patience) // bundles have stopped to ask
	if !entered(t, g) {
		t.Error("leases end in between while the pipeline stands")
	}
}

func TestGate_ShutForGood(t *testing.T) {
	g := testGate(func(*Config) {})
	cut := false
	s := &gatedStream{gate: g}
	if !g.add(s, func() { cut = true }) {
		t.Fatal("shut from the start")
	}
	g.close()
	if !cut {
		t.Error("the stream goes on")
	}
	cut = false
	if g.add(&gatedStream{gate: g}, func() { cut = true }) || !cut {
		t.Error("another stream began")
	}
}

func TestReceiver_TellsOfTroubleSometimes(t *testing.T) {
	r := newReceiver(Config{Subscription: "projects/p/subscriptions/s"})
	r.gate.note(context.DeadlineExceeded)
	if r.silent() != nil {
		t.Error("told at once")
	}
	r.gate.since = time.Now().Add(-2 * troubleTime)
	if r.silent() == nil {
		t.Error("not told")
	}
	if r.silent() != nil {
		t.Error("told again at once")
	}
	r.gate.note(nil)
	r.warned = time.Time{}
	if r.silent() != nil {
		t.Error("told though a response came")
	}
}
