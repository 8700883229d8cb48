package pubsubsource

import (
	"testing"
)

func TestRead_AllPulledEmittedAcked(t *testing.T) {
	const n = 1000
	f := newFakePubsub(t, nil)
	f.publish(n)
	sink := newSink(t)
	done := run(t, f.config, ackAll(t, f.config))
	eventually(t, "all are emitted", func() bool { return sink.seen() == n })
	finish(t, f.config, done)
	if got := len(sink.distinct()); got != n {
		t.Errorf("%d messages emitted, want %d", got, n)
	}
	if got := f.acked(); got != n {
		t.Errorf("%d messages acked, want %d", got, n)
	}
	got := Stats(f.config)
	want := Counts{Taken: n, TakenBytes: got.TakenBytes, Emitted: n, Acked: n}
	if got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}
