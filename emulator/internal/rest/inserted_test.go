package rest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"beamcdc/emulator/internal/engine"
)

// Whatever is claimed and released when, an ID is claimed once a minute, and what is
// remembered is of the last minute.
func TestInserted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s inserted
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		claimed := map[insertID]time.Time{}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			key := insertID{engine.TableRef{Table: "t"}, fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "id"))}
			if rapid.IntRange(0, 4).Draw(t, "release") == 0 {
				s.release([]insertID{key})
				delete(claimed, key)
				continue
			}
			at, known := claimed[key]
			want := !known || now.Sub(at) >= insertIDLifetime
			if got := s.claim(key, now); got != want {
				t.Fatalf("claim of %s: %v, want %v", key.id, got, want)
			}
			if want {
				claimed[key] = now
				if _, held := s.ids[s.order[0]]; !held {
					t.Fatalf("the oldest, %s, is remembered no more, and still there", s.order[0].id)
				}
			}
		}
		if len(s.ids) > 6 {
			t.Fatalf("%d IDs are remembered", len(s.ids))
		}
	})
}
