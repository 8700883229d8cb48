package deadletter

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

// A message is acked when all its Parts have come to rest: so the receipts of
// all its parts, however its keys changed and its letters were cut in pieces,
// must agree in Parts and name each part exactly once.
func TestReceipts_nameEachPartOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &change.Message{Token: 7, Data: make([]byte, rapid.SampledFrom([]int{0, 1, MaxPieceBytes, MaxPieceBytes + 1, 2*MaxPieceBytes + 1}).Draw(t, "size"))}
		parts := rapid.Uint32Range(1, 4).Draw(t, "parts")
		seen := make(map[uint32]int)
		var total uint32
		take := func(receipts []change.Receipt) {
			if len(receipts) == 0 {
				t.Fatal("a place where the message rests has no receipt: it would be acked before")
			}
			for _, r := range receipts {
				if r.Token != m.Token || total != 0 && r.Parts != total {
					t.Fatalf("receipt %+v among those of %d parts", r, total)
				}
				total = r.Parts
				seen[r.Part]++
			}
		}
		place := func(receipts []change.Receipt) {
			if !rapid.Bool().Draw(t, "letter") {
				take(receipts)
				return
			}
			places := pieceCount(len(m.Data))
			if !Affordable(m, parts) {
				places++
			}
			for _, share := range shares(receipts, m.Token, places) {
				take(share)
			}
		}
		// A history anywhere in the configuration is one for every message of several changes.
		histories := rapid.Bool().Draw(t, "histories")
		for part := range parts {
			receipts := Receipts(m, part, parts)
			if histories {
				row, past := Fork(m, part, parts)
				if rapid.Bool().Draw(t, "history of its table") {
					if rapid.Bool().Draw(t, "two rows of history") {
						first, second := Halves(past)
						place(first)
						place(second)
					} else {
						place(past)
					}
					receipts = row
				} else if parts > 1 {
					receipts = slices.Concat(row, past)
				}
			}
			if rapid.Bool().Draw(t, "key change") {
				first, second := Halves(receipts)
				place(first)
				place(second)
			} else {
				place(receipts)
			}
		}
		for part := range total {
			if seen[part] != 1 {
				t.Fatalf("part %d of %d is named %d times", part, total, seen[part])
			}
		}
		if len(seen) != int(total) {
			t.Fatalf("%d parts are named, there are %d", len(seen), total)
		}
	})
}

func TestReceipts_whereTheRunnerAcks(t *testing.T) {
	receipts := Receipts(&change.Message{}, 1, 3)
	first, second := Halves(receipts)
	if len(receipts)+len(first)+len(second) != 0 {
		t.Errorf("token 0 has receipts: %v %v %v", receipts, first, second)
	}
}

func TestHalves_shareNoMemory(t *testing.T) {
	first, second := Halves(Receipts(&change.Message{Token: 1}, 0, 2))
	want := second[0]
	_ = append(first, change.Receipt{Token: 9})
	if second[0] != want {
		t.Errorf("an append to one half wrote %+v into the other", second[0])
	}
}

func TestShares_ofSupersededRows(t *testing.T) {
	receipts := []change.Receipt{{Token: 1, Parts: 1}, {Token: 2, Part: 0, Parts: 4}, {Token: 2, Part: 1, Parts: 4}, {Token: 3, Parts: 1}}
	divided := shares(receipts, 2, 2)
	if len(divided[0]) != 1 || divided[0][0] != receipts[1] || len(divided[1]) != 3 {
		t.Errorf("shares are %v", divided)
	}
}
