package pubsubsource

import (
	"testing"

	"pgregory.net/rapid"
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
