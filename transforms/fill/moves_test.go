package fill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// keptMoves are moves in memory.
type keptMoves map[move][]byte

func (k keptMoves) get(id move) (*moveMemory, error) { return readMove(slices.Clone(k[id])) }

func (k keptMoves) put(id move, m *moveMemory) error {
	if m.isEmpty() {
		delete(k, id)
		return nil
	}
	k[id] = m.append(nil)
	return nil
}

// waitingOf is a row that lacks its doc, of the place at, with a receipt of its own.
func waitingOf(id move, at uint64, n int) waitingRow {
	return waitingRow{
		RowChange: change.RowChange{
			Event: change.Event{Table: "public.docs", Sequence: change.NewSequence(0, at, at, 1), Parts: 1},
			Table: "p.d.docs", Key: []byte("b"), Type: change.Upsert,
			Columns: []change.Column{
				{Name: "n", Value: change.String(strings.Repeat("x", n))}, {Name: "doc", Value: change.Unavailable()},
			},
			Receipts: []change.Receipt{{Token: at, Parts: 1}},
		},
		from: id, columns: []string{"doc"},
	}
}

func toldOf(id, parent move, times uint32, doc string) moving {
	t := moving{move: id, source: "public.docs", told: times, parent: parent}
	if doc != "" {
		t.columns = []change.Column{{Name: "doc", Value: change.String(doc)}}
	}
	return t
}

// A row that was completed too often is a dead letter with what came to rest with it,
// and not one that fails its bundle for ever.
func TestMoves_completedTooOften(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill"})
	all, now := keptMoves{}, time.Unix(1, 0)
	made, err := wait(all, waitingOf("m", 9, 1), s, now)
	if err != nil || len(made.rows) != 0 {
		t.Fatalf("%d rows, %v", len(made.rows), err)
	}
	for i := uint32(1); i <= maxCompletions+1; i++ {
		made, err = hear(all, toldOf("m", "", i, fmt.Sprint(i)), now)
		if err != nil || len(made.rows) != 1 || made.rows[0].Revision != i-1 || len(made.letters) > 0 {
			t.Fatalf("told %d times: %+v, %v", i, made, err)
		}
	}
	made, err = hear(all, toldOf("m", "", maxCompletions+2, "last"), now)
	if err != nil || len(made.rows) != 0 || len(made.letters) != 1 {
		t.Fatalf("%d rows, %d dead letters, %v; want a dead letter", len(made.rows), len(made.letters), err)
	}
	if text := whyLacking(&made.letters[0], s); !strings.Contains(text, "completed 1023 times") {
		t.Errorf("the dead letter says %q", text)
	}
	// A later change of the row is made.
	made, err = wait(all, waitingOf("m", 10, 1), s, now)
	if err != nil || len(made.rows) != 1 || made.rows[0].Revision != 0 {
		t.Fatalf("the row's next change: %+v, %v", made, err)
	}
}

// What is remembered of a changed key is forgotten by keep_for, unless rows need it, by
// way of another move too, or wait.
func TestMoves_keepFor(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Fill: &table.Fill{KeepFor: time.Hour, HoldFor: time.Minute}})
	all, start := keptMoves{}, time.Unix(1_000_000, 0)
	for _, told := range []moving{toldOf("a-b", "", 1, "large"), toldOf("b-c", "a-b", 1, "")} {
		if _, err := hear(all, told, start); err != nil {
			t.Fatal(err)
		}
	}
	expired := func(id move, at time.Time) (letters int, forget bool) {
		m, err := all.get(id)
		if err != nil {
			t.Fatal(err)
		}
		l, forget := m.expire(s, at)
		return len(l), forget
	}
	later := start.Add(50 * time.Minute)
	made, err := wait(all, waitingOf("b-c", 9, 1), s, later)
	if err != nil || len(made.rows) != 1 {
		t.Fatalf("%d rows, %v", len(made.rows), err)
	}
	if err := touch(all, "b-c", s.KeepFor, later); err != nil {
		t.Fatal(err)
	}
	for _, id := range []move{"a-b", "b-c"} {
		if _, forget := expired(id, later.Add(59*time.Minute)); forget {
			t.Errorf("%s is forgotten though a row needed it", id)
		}
		if _, forget := expired(id, later.Add(time.Hour)); !forget {
			t.Errorf("%s is not forgotten", id)
		}
		m, _ := all.get(id)
		if due := m.due(s); !due.Equal(later.Add(time.Hour)) {
			t.Errorf("%s is looked at again at %v", id, due)
		}
	}
	if _, err := wait(all, waitingOf("c-d", 9, 1), s, start); err != nil {
		t.Fatal(err)
	}
	if letters, forget := expired("c-d", start.Add(30*time.Second)); letters != 0 || forget {
		t.Errorf("a row that waits: %d letters, forgotten %t", letters, forget)
	}
	if letters, _ := expired("c-d", start.Add(time.Minute)); letters != 1 {
		t.Errorf("%d letters of a row that has waited for too long", letters)
	}
	if err := all.put("a-b", new(moveMemory)); err != nil || len(all) != 2 {
		t.Errorf("a forgotten move is still there: %d, %v", len(all), err)
	}
}

// Rows that wait take no more than max_bytes; the earliest are given up, each as a dead
// letter with its receipts.
func TestMoves_maxBytes(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Fill: &table.Fill{MaxBytes: 10_000}})
	all := keptMoves{}
	acked := map[uint64]bool{}
	for at := uint64(1); at <= 30; at++ {
		made, err := wait(all, waitingOf("m", at, 1000), s, time.Unix(1, 0))
		if err != nil || len(made.rows) > 0 || made.overflow != int64(len(made.letters)) {
			t.Fatalf("%+v, %v", made, err)
		}
		for _, l := range made.letters {
			acked[l.Receipts[0].Token] = true
		}
		if size := len(all["m"]); size > 20_000 {
			t.Fatalf("%d bytes are remembered", size)
		}
	}
	made, err := hear(all, toldOf("m", "", 1, "large"), time.Unix(1, 0))
	if err != nil || len(made.rows) != 1 {
		t.Fatalf("%d rows, %v", len(made.rows), err)
	}
	for _, r := range made.rows[0].Receipts {
		acked[r.Token] = true
	}
	if len(acked) != 30 || len(made.rows[0].Receipts) < 5 {
		t.Errorf("%d of 30 messages are at rest, %d of them with the row", len(acked), len(made.rows[0].Receipts))
	}
}

// A row that was made waits again where what it had is not known any more: an earlier
// change of the old key has come to light, and with it an older key. Changes of it that
// come again all wait, and come to rest with the row or with its dead letter.
func TestMoves_waitsAgain(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill"})
	now := time.Unix(1, 0)
	for name, end := range map[string]func(keptMoves) (receipts []change.Receipt, joined int64){
		"made": func(all keptMoves) ([]change.Receipt, int64) {
			made, err := hear(all, toldOf("m", "", 3, "text"), now)
			if err != nil || len(made.rows) != 1 || made.repeated != 0 {
				t.Fatalf("told: %+v, %v", made, err)
			}
			return made.rows[0].Receipts, made.joined
		},
		"given up": func(all keptMoves) ([]change.Receipt, int64) {
			m, err := all.get("m")
			if err != nil {
				t.Fatal(err)
			}
			if due := m.due(s); !due.Equal(now.Add(s.HoldFor)) {
				t.Errorf("it is due at %v", due)
			}
			letters, _ := m.expire(s, now.Add(s.HoldFor))
			if len(letters) != 1 || len(m.rows) != 1 || m.rows[0].owed != 0 {
				t.Fatalf("expired: %d dead letters, %+v", len(letters), m.rows)
			}
			return letters[0].Receipts, letters[0].joined
		},
	} {
		all := keptMoves{}
		if _, err := wait(all, waitingOf("m", 9, 1), s, now); err != nil {
			t.Fatal(err)
		}
		if made, err := hear(all, toldOf("m", "", 1, "text"), now); err != nil || len(made.rows) != 1 {
			t.Fatalf("told: %+v, %v", made, err)
		}
		if made, err := hear(all, toldOf("m", "older", 2, ""), now); err != nil || len(made.rows) != 0 {
			t.Fatalf("told of an older key: %+v, %v", made, err)
		}
		var want []change.Receipt
		for token := range uint64(3) {
			again := waitingOf("m", 9, 1)
			again.Receipts[0].Token = 100 + token
			want = append(want, again.Receipts[0])
			if made, err := wait(all, again, s, now); err != nil || len(made.rows) != 0 {
				t.Fatalf("it came again: %+v, %v", made, err)
			}
		}
		receipts, joined := end(all)
		slices.SortFunc(receipts, func(a, b change.Receipt) int { return cmp.Compare(a.Token, b.Token) })
		if !slices.Equal(receipts, want) || joined != 2 {
			t.Errorf("%s: receipts %v came to rest, %d changes with another's; want %v, 2", name, receipts, joined, want)
		}
	}
}
