package pubsubsource

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// However its parts come to rest, and however often, a message is complete at the
// moment when the last one does.
func TestParts_CompleteWithTheLastPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Uint32Range(1, 300).Draw(t, "parts")
		order := rapid.Permutation(numbers(want)).Draw(t, "order")
		repeats := rapid.SliceOf(rapid.Uint32Range(0, want-1)).Draw(t, "repeats")
		var p parts
		seen := map[uint32]bool{}
		add := func(part uint32) {
			seen[part] = true
			if got, all := p.add(part, want), len(seen) == int(want); got != all {
				t.Fatalf("complete = %t with %d of %d parts", got, len(seen), want)
			}
		}
		for i, part := range order {
			add(part)
			if i < len(repeats) {
				add(repeats[i])
			}
		}
	})
}

func numbers(n uint32) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}

func TestQueue_FirstInFirstOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var pushed, popped uint64
		for range rapid.IntRange(0, 30).Draw(t, "turns") {
			for range rapid.IntRange(0, 1500).Draw(t, "push") {
				pushed++
				q.push(&delivery{token: pushed})
			}
			for range min(rapid.IntRange(0, 1500).Draw(t, "pop"), q.len()) {
				popped++
				if d := q.pop(); d.token != popped {
					t.Fatalf("popped %d, want %d", d.token, popped)
				}
			}
			if q.len() != int(pushed-popped) {
				t.Fatalf("length %d, want %d", q.len(), pushed-popped)
			}
		}
	})
}

func TestNewToken_NeverZeroNeverTwice(t *testing.T) {
	before := lastToken.Load()
	t.Cleanup(func() { lastToken.Store(before) })
	lastToken.Store(^uint64(0) - 1)
	a, b := newToken(), newToken()
	if a == 0 || b == 0 || a == b {
		t.Errorf("tokens %d and %d", a, b)
	}
}

// A message's data is there until its ack, for the letters of rows that go without it.
func TestDataUntilTheAck(t *testing.T) {
	_, c := startFirehose(t, 2, nil)
	r := receiverOf(c)
	defer forget(r)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	taken := takeAll(t, r, 1, 2)
	for _, d := range taken {
		m := d.element()
		d.release()
		if !deadletter.Held(&m) {
			t.Errorf("message %s is in the pipeline, and its data is not held", m.ID)
		}
	}
	m := taken[0].element()
	r.settle([]change.Receipt{{Token: m.Token, Parts: 1}})
	if deadletter.Held(&m) {
		t.Error("the data of an acked message is held")
	}
	if m = taken[1].element(); !deadletter.Held(&m) {
		t.Error("the data of another message is held no more")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.close(ctx); err != nil {
		t.Error(err)
	}
	if deadletter.Held(&m) {
		t.Error("the data of a message that was given back is held")
	}
}
