package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// history is what happened to a few orders in a PostgreSQL database, as Debezium
// tells it, and what the table holds in the end.
type history struct {
	messages []message
	final    map[int]string // status by key
}

// historyOf draws a history over keys base+1 … base+keys. Transactions run side by
// side: a change's own position grows within its transaction, the last commit that
// Debezium names is of the transaction that it streamed before, and no two open
// transactions touch one key, as row locks have it.
func historyOf(base int) *rapid.Generator[history] {
	return rapid.Custom(func(t *rapid.T) history {
		const keys = 4
		h := history{final: map[int]string{}}
		type transaction struct {
			changes []pgChange
			keys    map[int]bool
		}
		open := []*transaction{}
		at, lastCommit := uint64(0xFFFFF0000)+uint64(base), uint64(0) // near the point where positions get another digit
		lock := func(tx *transaction, key int) bool {
			for _, other := range open {
				if other != tx && other.keys[key] {
					return false
				}
			}
			tx.keys[key] = true
			return true
		}
		image := func(key int, status string) string { return fmt.Sprintf(`{"order_id":%d,"status":%q}`, key, status) }
		commit := func(i int) {
			tx := open[i]
			for _, c := range tx.changes {
				c.lastCommit = lastCommit
				h.messages = append(h.messages, c.message())
			}
			at += 8
			lastCommit = at
			open = slices.Delete(open, i, i+1)
		}
		steps := rapid.IntRange(3, 25).Draw(t, "steps")
		for step := range steps {
			if len(open) == 0 || len(open) < 3 && rapid.IntRange(0, 3).Draw(t, "begin") == 0 {
				open = append(open, &transaction{keys: map[int]bool{}})
			}
			i := rapid.IntRange(0, len(open)-1).Draw(t, "transaction")
			tx := open[i]
			at += uint64(rapid.SampledFrom([]int{8, 64, 0x8000}).Draw(t, "distance"))
			key := base + rapid.IntRange(1, keys).Draw(t, "key")
			status := "s" + strconv.Itoa(step)
			_, there := h.final[key]
			switch action := rapid.IntRange(0, 9).Draw(t, "action"); {
			case action == 0:
				commit(i)
			case !lock(tx, key):
			case !there:
				tx.changes = append(tx.changes, pgChange{table: "public.orders", op: "c", after: image(key, status), lsn: at})
				h.final[key] = status
			case action <= 5:
				tx.changes = append(tx.changes, pgChange{table: "public.orders", op: "u", after: image(key, status), lsn: at})
				h.final[key] = status
			case action <= 7:
				tx.changes = append(tx.changes, pgChange{table: "public.orders", op: "d", before: fmt.Sprintf(`{"order_id":%d,"status":null}`, key), lsn: at})
				delete(h.final, key)
			default: // the key changes
				to := base + rapid.IntRange(1, keys).Draw(t, "new key")
				if _, taken := h.final[to]; taken || !lock(tx, to) {
					break
				}
				tx.changes = append(tx.changes,
					pgChange{table: "public.orders", op: "d", before: fmt.Sprintf(`{"order_id":%d,"status":null}`, key), lsn: at},
					pgChange{table: "public.orders", op: "c", after: image(to, status), lsn: at})
				delete(h.final, key)
				h.final[to] = status
			}
		}
		for len(open) > 0 {
			commit(0)
		}
		// Delivered in any order, and more than once.
		duplicates := rapid.IntRange(0, 6).Draw(t, "duplicates")
		for range duplicates {
			if len(h.messages) > 0 {
				h.messages = append(h.messages, rapid.SampledFrom(h.messages).Draw(t, "duplicate"))
			}
		}
		h.messages = rapid.Permutation(h.messages).Draw(t, "order")
		return h
	})
}

// Whatever happened at the source, and in whatever order and number the messages
// come: the table is the source's final state (invariant 2). Hundreds of histories
// over keys of their own share one run; short windows break them up anew.
func TestHistories(t *testing.T) {
	const histories, span = 300, 10
	seed := rand.IntN(1 << 30)
	var messages []message
	var bases []int
	want := map[int]string{}
	for i := range histories {
		h := historyOf(i * span).Example(seed + i)
		messages = append(messages, h.messages...)
		for range h.messages {
			bases = append(bases, i)
		}
		maps.Copy(want, h.final)
	}
	out := runLocal(t, fmt.Sprintf(ordersConfig, "5ms"), messages)
	got := map[int]string{}
	for _, r := range out.Tables["shop.orders"] {
		key, err := strconv.Atoi(r["order_id"].(string))
		if err != nil {
			t.Fatal(err)
		}
		got[key] = r["status"].(string)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seed %d, -want +got:\n%s", seed, diff)
		for i := range histories {
			for key := i*span + 1; key <= i*span+span; key++ {
				if want[key] != got[key] {
					t.Logf("history %d, key %d:", i, key)
					for j, m := range messages {
						if bases[j] == i {
							t.Log(m.data)
						}
					}
					return
				}
			}
		}
	}
	if len(out.DeadLetters) > 0 {
		t.Errorf("there are dead letters: %v", out.DeadLetters)
	}
}
