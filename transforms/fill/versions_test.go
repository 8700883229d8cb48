package fill

import (
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// update returns an update of a row of one text and a number.
func update(lsn uint64, n string, doc change.Value) change.RowChange {
	return change.RowChange{
		Event: change.Event{Table: "public.docs", Op: change.OpUpdate, Sequence: change.NewSequence(0, lsn, lsn, 1), Parts: 1},
		Table: testTable, Key: []byte("a"), Type: change.Upsert,
		Columns: []change.Column{
			{Name: "id", Value: change.String("a")}, {Name: "n", Value: change.Number(n)}, {Name: "doc", Value: doc},
		},
	}
}

func text(t *testing.T, c *change.RowChange, name string) string {
	t.Helper()
	v, ok := find(c.Columns, name)
	if !ok {
		t.Fatalf("the row has no %s", name)
	}
	return v.Text()
}

// A row that was read says which changes its values are from: an older change that
// comes again wins over none of them, and a later one over those it is later than.
func TestRestore(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Fill: &table.Fill{FirstSeen: "read"}})
	var before memory
	before.take(update(100, "1", change.Text("one")), s, time.Unix(1, 0))
	o := before.take(update(120, "2", change.Unavailable()), s, time.Unix(1, 0))
	if len(o.rows) != 1 || text(t, &o.rows[0], "doc") != "one" {
		t.Fatalf("before the restart: %+v", o)
	}
	written := o.rows[0]
	written.Event = change.Event{Table: "public.docs", Op: change.OpUpdate}
	stored := change.AppendRowChange(nil, &written)

	var m memory // what was remembered is gone
	late := update(90, "0", change.Text("older"))
	next := update(500, "5", change.Unavailable())
	next.Read, next.Stored = true, stored
	if o = m.take(next, s, time.Unix(2, 0)); len(o.rows) != 1 || text(t, &o.rows[0], "doc") != "one" || text(t, &o.rows[0], "n") != "5" {
		t.Fatalf("after the restart: %+v", o)
	}
	if o = m.take(late, s, time.Unix(2, 0)); len(o.rows) != 1 || text(t, &o.rows[0], "doc") != "one" {
		t.Errorf("an older change won over a value that was read: %+v", o)
	}
	if o = m.take(update(110, "1", change.Text("between")), s, time.Unix(2, 0)); len(o.rows) != 1 || text(t, &o.rows[0], "doc") != "between" {
		t.Errorf("a later change did not win over a value that was read: %+v", o)
	}
}
