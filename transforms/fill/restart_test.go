package fill

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// process is a life of a pipeline that keeps what it remembers in memory.
type process struct {
	*stages
	began int // changes before this one were published before it was
	asked map[string]bool
}

// read gives the change what BigQuery has of its row, as readFn does.
func (p *process) read(c change.RowChange, i int, b *bigQuery) change.RowChange {
	f := readFn{}
	asks := f.asks(p.settings, &c) || c.Type == change.Upsert && i < p.began
	if !asks || p.asked[string(c.Key)] {
		return c
	}
	p.asked[string(c.Key)] = true
	c.Read = true
	row, ok := b.last[string(c.Key)]
	if !ok || row.Type == change.Delete {
		return c
	}
	columns, err := change.ReadColumns(row.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range columns { // BigQuery's values have the types of its columns
		if columns[i].Value.Kind() == change.KindText {
			columns[i].Value = change.String(columns[i].Value.Text())
		}
	}
	key, _ := find(columns, "id")
	c.Stored = change.AppendRowChange(nil, &change.RowChange{
		Event: change.Event{Table: c.Event.Table, Op: change.OpUpdate, Key: []change.Column{{Name: "id", Value: key}}, Partial: c.Event.Partial},
		Table: c.Table, Key: c.Key, Type: change.Upsert, Columns: columns,
	})
	return c
}

// Invariants 1 and 2 where processes are killed at any point, with what they remembered
// and what they had not written yet; what was not acked comes again, and some of what
// was. With first_seen: read the table becomes the source's, as long as no key changes.
func TestRestore_converges(t *testing.T) {
	for _, deletes := range []string{"hard", "soft"} {
		t.Run(deletes, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { restarts(t, deletes) })
		})
	}
}

func restarts(t *rapid.T, deletes string) {
	s := drawSourceOf(t, "update", "update", "update", "delete")
	if s.absent {
		return // what the table lacks when a change comes is another test's
	}
	settings := settingsOf(&table.Rule{UnavailableValues: "fill", Deletes: deletes, Fill: &table.Fill{FirstSeen: "read"}})
	b := &bigQuery{t, make(map[string]change.Row), make(map[uint64]bool)}
	published := 0
	var letters []held
	kills := rapid.IntRange(0, 3).Draw(t, "kills")
	for life := range kills + 1 {
		p := &process{newStages(t, settings), published, make(map[string]bool)}
		if published = len(s.changes); life < kills {
			published = rapid.IntRange(p.began, published).Draw(t, "published by its end")
		}
		var delivered []int
		for i := range published {
			if !b.rest[uint64(i+1)] || rapid.IntRange(0, 3).Draw(t, "again") == 0 {
				delivered = append(delivered, i)
			}
		}
		if len(delivered) > 0 {
			delivered = rapid.Permutation(delivered).Draw(t, "order of arrival")
		}
		if life < kills {
			delivered = delivered[:rapid.IntRange(0, len(delivered)).Draw(t, "taken before the kill")]
		}
		for len(delivered) > 0 {
			n := rapid.IntRange(1, len(delivered)).Draw(t, "changes of a window")
			for _, i := range delivered[:n] {
				p.take(p.read(s.changes[i], i, b))
			}
			delivered = delivered[n:]
			if life < kills && len(delivered) == 0 && rapid.Bool().Draw(t, "killed before it wrote") {
				break
			}
			b.write(p.emitted)
			p.emitted = nil
		}
		if life == kills {
			p.expire()
			letters = p.letters
		}
	}
	if diff := cmp.Diff(s.want(deletes), b.rows()); diff != "" {
		t.Fatalf("the table is not the source's (-source +table):\n%s", diff)
	}
	for _, l := range letters {
		for _, r := range l.Receipts {
			b.rest[r.Token] = true
		}
		overdue := slices.ContainsFunc(s.changes, func(c change.RowChange) bool {
			return c.Type == change.Delete && string(c.Key) == string(l.Key) && c.Event.Sequence.Compare(l.Event.Sequence) > 0
		})
		if !overdue || deletes == "soft" {
			t.Fatalf("a dead letter of a change of %s at %v", l.Key, l.Event.Sequence)
		}
	}
	for i := range s.changes {
		if !b.rest[uint64(i+1)] {
			t.Fatalf("change %d, %v of %s, has not come to rest", i, s.changes[i].Event.Op, s.changes[i].Key)
		}
	}
}
