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

// The change that a row was read with comes again: what is made of it then has a revision
// above that of BigQuery's row, however the two came, or it would lose to it.
func TestRestore_sameChange(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Fill: &table.Fill{FirstSeen: "read"}})
	last := update(120, "2", change.Unavailable())
	var before memory
	before.take(update(100, "1", change.Text("one")), s, time.Unix(1, 0))
	before.take(last, s, time.Unix(1, 0))
	before.take(update(105, "1", change.Text("two")), s, time.Unix(1, 0))
	o := before.take(update(106, "1", change.Text("three")), s, time.Unix(1, 0))
	if len(o.rows) != 1 || o.rows[0].Revision == 0 {
		t.Fatalf("before the restart: %+v", o)
	}
	written := o.rows[0]
	// BigQuery's values have the types of its columns.
	for i := range written.Columns {
		if written.Columns[i].Name == "n" {
			written.Columns[i].Value = change.Int64(2)
		}
	}
	stored := change.AppendRowChange(nil, &change.RowChange{
		Event: change.Event{Table: "public.docs", Op: change.OpUpdate}, Table: testTable, Key: []byte("a"), Type: change.Upsert, Columns: written.Columns,
	})
	late := update(110, "1", change.Text("four"))
	for name, order := range map[string][]change.RowChange{"the change first": {last, late}, "an older one first": {late, last}} {
		for _, read := range []int{0, 1} { // with which of them BigQuery's row comes
			var m memory
			highest := change.RowChange{}
			for i, next := range order {
				if i == read {
					next.Read, next.Stored = true, stored
				}
				for _, row := range m.take(next, s, time.Unix(2, 0)).rows {
					if row.Event.Sequence == last.Event.Sequence && row.Revision >= highest.Revision {
						highest = row
					}
				}
				coded := m.append(nil)
				var err error
				if m, err = readMemory(coded); err != nil {
					t.Fatal(err)
				}
			}
			if highest.Revision <= written.Revision || text(t, &highest, "doc") != "four" {
				t.Errorf("%s, read with %d: revision %d, BigQuery's is %d, doc %q", name, read, highest.Revision, written.Revision, text(t, &highest, "doc"))
			}
		}
	}
}

// A row that was deleted softly is restored as deleted, and when it was, whether anything
// was known of its values or not.
func TestRestore_softDelete(t *testing.T) {
	s := settingsOf(&table.Rule{Deletes: "soft", Fill: &table.Fill{FirstSeen: "read"}})
	deleted := softChange(20, change.OpDelete, "")
	deleted.Event.CommitTime = time.Unix(1000, 0).UTC()
	deleted.Read = true
	full := deleted
	full.Event.BeforeComplete = true
	full.Event.Before = []change.Column{{Name: "id", Value: change.String("a")}, {Name: "doc", Value: change.Text("before")}}
	for name, known := range map[string][]change.RowChange{
		"nothing known":         nil,
		"known":                 {softChange(10, change.OpCreate, "old")},
		"known from the delete": nil,
	} {
		var before memory
		for _, c := range known {
			before.take(c, s, time.Unix(1, 0))
		}
		deleted := deleted
		if name == "known from the delete" {
			deleted = full
		}
		o := before.take(deleted, s, time.Unix(1, 0))
		if len(o.rows) != 1 {
			t.Fatalf("%s: before the restart: %+v", name, o)
		}
		written := o.rows[0]
		stored := change.AppendRowChange(nil, &change.RowChange{
			Event: change.Event{Table: "public.docs", Op: change.OpUpdate}, Table: testTable, Key: []byte("a"), Type: change.Upsert, Columns: written.Columns,
		})

		for _, next := range []change.RowChange{deleted, softChange(10, change.OpCreate, "old"), softChange(15, change.OpUpdate, "late")} {
			var m memory // what was remembered is gone
			next.Read, next.Stored = true, stored
			o = m.take(next, s, time.Unix(2, 0))
			if len(o.rows) != 1 || o.held {
				t.Fatalf("%s: %d rows, held %t", name, len(o.rows), o.held)
			}
			row := o.rows[0]
			flag, _ := find(row.Columns, "is_deleted")
			at, _ := find(row.Columns, "deleted_at")
			if !flag.Bool() || at.IsNull() || at.Int() != 1000e6 || row.Event.Sequence != deleted.Event.Sequence {
				t.Errorf("%s, %v at %s: deleted %t, at %v, as of %s", name, next.Event.Op, next.Event.Sequence, flag.Bool(), at.Int(), row.Event.Sequence)
			}
			if want := text(t, &next, "id"); text(t, &row, "id") != want {
				t.Errorf("%s: the row's key is %q", name, text(t, &row, "id"))
			}
			if doc, _ := find(row.Columns, "doc"); next.Event.Op == change.OpDelete && name == "known from the delete" && doc.Text() != "before" {
				t.Errorf("%s: the row has %q", name, doc.Text())
			}
			if next.Event.Op == change.OpUpdate && text(t, &row, "doc") != "late" {
				t.Errorf("%s: the row has %q", name, text(t, &row, "doc"))
			}
		}
	}
}

// A value that is set to what it was already is another change's from then on: the row is
// made again, or its versions would be those of either row with its sequence, and after a
// restart a change between the two would win.
func TestVersions_sameValue(t *testing.T) {
	s := settingsOf(&table.Rule{UnavailableValues: "fill", Fill: &table.Fill{FirstSeen: "read"}})
	var m memory
	m.take(update(100, "1", change.Text("one")), s, time.Unix(1, 0))
	first := m.take(update(130, "3", change.Unavailable()), s, time.Unix(1, 0))
	second := m.take(update(120, "2", change.Text("one")), s, time.Unix(1, 0))
	if len(first.rows) != 1 || len(second.rows) != 1 || second.rows[0].Revision <= first.rows[0].Revision {
		t.Fatalf("%+v, then %+v", first, second)
	}
	before, after := text(t, &first.rows[0], table.DefaultVersionsColumn), text(t, &second.rows[0], table.DefaultVersionsColumn)
	if before == after {
		t.Errorf("the versions are still %s", before)
	}
	if again := m.take(update(120, "2", change.Text("one")), s, time.Unix(1, 0)); len(again.rows) != 1 || again.rows[0].Revision != second.rows[0].Revision {
		t.Errorf("it came again, and the row is another: %+v", again)
	}
}
