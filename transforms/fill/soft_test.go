package fill

import (
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// softChange is a change of the one row of these tests; doc is unavailable where it is "".
func softChange(at uint64, op change.Op, doc string) change.RowChange {
	c := change.RowChange{
		Event: change.Event{Table: "public.docs", Op: op, Sequence: change.NewSequence(0, at, at, 1), Parts: 1},
		Table: testTable, Key: []byte("a"), Type: change.Upsert, Columns: []change.Column{{Name: "id", Value: change.String("a")}},
	}
	if op == change.OpDelete {
		c.Type = change.Delete
		return c
	}
	v := change.Unavailable()
	if doc != "" {
		v = change.Text(doc)
	}
	c.Columns = append(c.Columns, change.Column{Name: "doc", Value: v})
	return c
}

// A row that was deleted softly still has what it was made of: an older change that
// comes late alters it, however many came between.
func TestFill_softDeleteRemembers(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Deletes: "soft"})
	var m memory
	m.take(softChange(1, change.OpCreate, "large"), s, time.Unix(1, 0))
	for at := uint64(3); at < 20; at++ {
		m.take(softChange(at, change.OpUpdate, ""), s, time.Unix(1, 0))
	}
	m.take(softChange(20, change.OpDelete, ""), s, time.Unix(1, 0))
	o := m.take(softChange(2, change.OpUpdate, ""), s, time.Unix(1, 0))
	if len(o.rows) != 1 || o.held {
		t.Fatalf("%d rows, held %t", len(o.rows), o.held)
	}
	if doc, _ := find(o.rows[0].Columns, "doc"); doc.Text() != "large" {
		t.Errorf("doc is %q", doc.Text())
	}
}

// A tombstone deletes what its delete has deleted: when, only the delete tells, whichever
// comes first.
func TestFill_softDeleteTwice(t *testing.T) {
	s := settingsOf(&table.Rule{Deletes: "soft"})
	deleted := softChange(3, change.OpDelete, "")
	deleted.Event.CommitTime = time.Unix(1000, 0).UTC()
	changes := []change.RowChange{softChange(1, change.OpCreate, "old"), softChange(2, change.OpUpdate, "doc"), deleted, softChange(4, change.OpDelete, "")}
	for _, order := range [][]int{{0, 1, 2, 3}, {0, 2, 3, 1}, {3, 2, 1, 0}, {3, 1, 2, 0}, {2, 3, 0, 1}} {
		var m memory
		var last change.RowChange
		for _, i := range order {
			for _, row := range m.take(changes[i], s, time.Unix(1, 0)).rows {
				last = row
			}
		}
		at, _ := find(last.Columns, "deleted_at")
		doc, _ := find(last.Columns, "doc")
		if len(m.held) > 0 || at.IsNull() || at.Int() != 1000e6 || doc.Text() != "doc" {
			t.Errorf("order %v: %d wait, deleted_at %v, doc %q", order, len(m.held), at, doc.Text())
		}
	}
}
