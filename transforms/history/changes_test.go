package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

var itemColumns = []table.Column{
	{Name: "id", Type: table.Int64, Mode: table.Required}, {Name: "v", Type: table.String}, {Name: "big", Type: table.String},
}

func itemRule(destination string) table.Rule {
	return table.Rule{Source: "public." + destination, Destination: "d." + destination, History: "d." + destination + "_history", PrimaryKey: []string{"id"}, Columns: itemColumns}
}

// item is a change of an item; op 't' truncates, 'd' deletes.
func (m *mirrored) item(op change.Op, id int64, sequence uint64, v string) change.RowChange {
	c := change.RowChange{
		Type: change.Upsert, Event: change.Event{Op: op, Sequence: change.NewSequence(0, sequence, sequence, 1), Position: fmt.Sprint("at ", sequence), Message: change.Message{ID: fmt.Sprint(sequence), Token: 9}},
		Columns: []change.Column{{Name: "id", Value: change.Int64(id)}, {Name: "v", Value: change.String(v)}},
	}
	switch op {
	case change.OpDelete:
		c.Type, c.Columns = change.Delete, c.Columns[:1]
	case change.OpTruncate:
		c.Type, c.Columns = 0, nil
	default:
	}
	return m.keyed(c)
}

// Sections are compared as numbers: F/FFFFFF00 is earlier than 10/200.
func TestSequenceText_sorts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		section := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 300), rapid.SampledFrom([]uint64{0xF, 0x10, 0xFFFFFF00, 0x200}))
		sections := rapid.IntRange(1, 4).Draw(rt, "sections")
		draw := func(name string) change.Sequence {
			return change.NewSequence(rapid.SliceOfN(section, sections, sections).Draw(rt, name)...)
		}
		a, b := draw("a"), draw("b")
		textA, textB := SequenceText(a), SequenceText(b)
		if got, want := cmpText(textA, textB), a.Compare(b); got != want {
			rt.Fatalf("%s and %s compare as %d, their texts as %d", a, b, want, got)
		}
		if back, err := change.ParseSequence(textA); err != nil || back != a {
			rt.Fatalf("%s comes back as %v, %v", textA, back, err)
		}
	})
	if SequenceText(change.Sequence{}) != "" {
		t.Error("no sequence has a text")
	}
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// What tells changes apart, and what doesn't: a redelivered change has its ID again,
// in whatever message it comes.
func TestIDOf(t *testing.T) {
	base := func() change.RowChange {
		return change.RowChange{
			Table: "p.d.items", Key: []byte("k"), Type: change.Upsert, Columns: []change.Column{{Name: "id", Value: change.Int64(1)}},
			Event: change.Event{Table: "public.items", Op: change.OpUpdate, Sequence: change.NewSequence(0, 1, 2, 3), Part: 1, Message: change.Message{ID: "1"}},
		}
	}
	of := base()
	id := idOf(&of)
	if len(id) != 32 {
		t.Errorf("%d characters", len(id))
	}
	for name, c := range map[string]struct {
		edit func(*change.RowChange)
		same bool
	}{
		"table":     {func(c *change.RowChange) { c.Event.Table = "public.other" }, false},
		"key":       {func(c *change.RowChange) { c.Key = []byte("l") }, false},
		"sequence":  {func(c *change.RowChange) { c.Event.Sequence = change.NewSequence(0, 1, 2, 2) }, false},
		"operation": {func(c *change.RowChange) { c.Event.Op = change.OpCreate }, false},
		"type":      {func(c *change.RowChange) { c.Type = change.Delete }, false},
		"part":      {func(c *change.RowChange) { c.Event.Part = 0 }, false},
		"message":   {func(c *change.RowChange) { c.Event.Message = change.Message{ID: "2", Token: 4} }, true},
		"delivery":  {func(c *change.RowChange) { c.Receipts = []change.Receipt{{Token: 1}} }, true},
		"columns":   {func(c *change.RowChange) { c.Columns = nil }, true},
	} {
		other := base()
		c.edit(&other)
		if same := idOf(&other) == id; same != c.same {
			t.Errorf("%s: same is %v", name, same)
		}
	}
}

// A key change leaves the old key and comes to the new one; a delete has only what the
// source tells of the row; a truncate has no key; what comes twice is once in the view.
func TestRows_inTheTable(t *testing.T) {
	m := newWorld(t).mirror(itemRule("items"))
	created := m.item(change.OpCreate, 1, 1, "a")
	left, moved := m.item(change.OpDelete, 1, 2, ""), m.item(change.OpUpdate, 2, 2, "a")
	left.Event.Op = change.OpUpdate
	for _, c := range []*change.RowChange{&left, &moved} {
		c.Event.Before, c.Event.BeforeComplete = []change.Column{{Name: "id", Value: change.Int64(1)}, {Name: "v", Value: change.String("a")}, {Name: "other", Value: change.Int64(1)}}, true
	}
	toasted := m.item(change.OpUpdate, 2, 3, "b")
	toasted.Columns = append(toasted.Columns, change.Column{Name: "big", Value: change.Unavailable()})
	deleted := m.item(change.OpDelete, 2, 4, "")
	deleted.Event.Before = deleted.Columns
	m.write(created, left, moved, deleted, m.item(change.OpTruncate, 0, 5, ""), created)
	rows, letters := m.remember(toasted)
	if len(letters) != 0 || len(rows) != 1 {
		t.Fatalf("%d rows, %+v", len(rows), letters)
	}
	plain, err := m.fn.histories.PlainPlan(m.past)
	if err != nil {
		t.Fatal(err)
	}
	m.append(plain, [][]byte{rows[0].Data})
	const columns = "operation, change_type, sequence, key, TO_JSON_STRING(before), TO_JSON_STRING(after)"
	var got []string
	for _, row := range m.query("SELECT " + columns + " FROM `p.d.items_history_distinct` ORDER BY sequence, change_type, operation") {
		got = append(got, fmt.Sprint(row))
	}
	text := func(n uint64, last uint64) string { return SequenceText(change.NewSequence(0, n, n, last)) }
	want := []string{
		fmt.Sprint([]any{"create", "UPSERT", text(1, 1), `{"id":1}`, "null", `{"id":1,"v":"a","big":null}`}),
		fmt.Sprint([]any{"update", "DELETE", text(2, 1), `{"id":1}`, `{"id":1,"v":"a"}`, "null"}),
		fmt.Sprint([]any{"update", "UPSERT", text(2, 1), `{"id":2}`, `{"id":1,"v":"a"}`, `{"id":2,"v":"a","big":null}`}),
		fmt.Sprint([]any{"update", "UPSERT", text(3, 1), `{"id":2}`, "null", `{"id":2,"v":"b"}`}),
		fmt.Sprint([]any{"delete", "DELETE", text(4, 1), `{"id":2}`, `{"id":2}`, "null"}),
	}
	if len(got) != len(want)+1 {
		t.Fatalf("%q", got)
	}
	truncate := slices.DeleteFunc(slices.Clone(got), func(row string) bool { return slices.Contains(want, row) })
	if len(truncate) != 1 || truncate[0] != fmt.Sprint([]any{"truncate", nil, text(5, 1), nil, "null", "null"}) {
		t.Errorf("got %q", got)
	}
	if n := len(m.query("SELECT change_id FROM `p.d.items_history`")); n != len(want)+2 {
		t.Errorf("%d rows with the duplicate", n)
	}
}

// In any order and however often its rows come: the view has each change once, and the
// query makes the table.
func TestProperty_rebuild(t *testing.T) {
	w := newWorld(t)
	nth := 0
	rapid.Check(t, func(rt *rapid.T) {
		if nth++; nth > 30 { // each run makes tables of its own, which takes a while
			return
		}
		m := w.mirror(itemRule(fmt.Sprint("items", nth)))
		ops := []change.Op{change.OpCreate, change.OpUpdate, change.OpUpdate, change.OpDelete, change.OpSnapshot}
		n := rapid.IntRange(1, 25).Draw(rt, "changes")
		var changes []change.RowChange
		distinct := make(map[string]bool)
		for i := range n {
			op := rapid.SampledFrom(ops).Draw(rt, "op")
			c := m.item(op, rapid.Int64Range(1, 4).Draw(rt, "id"), uint64(1)<<(i%30)+uint64(i), rapid.SampledFrom([]string{"", "a", "null"}).Draw(rt, "v"))
			changes = append(changes, c)
			distinct[idOf(&c)] = true
		}
		changes = append(changes, changes[:rapid.IntRange(0, n).Draw(rt, "twice")]...)
		m.write(rapid.Permutation(changes).Draw(rt, "order")...)
		m.wantRebuilt("id")
		var ids []string
		for _, row := range m.query(fmt.Sprintf("SELECT change_id FROM `%s`", Distinct(m.past))) {
			ids = append(ids, fmt.Sprint(row[0]))
		}
		if len(ids) != len(distinct) {
			rt.Fatalf("the view has %d changes of %d", len(ids), len(distinct))
		}
		for _, id := range ids {
			if !distinct[id] {
				rt.Fatalf("change %s is there twice, or is none", id)
			}
			delete(distinct, id)
		}
		if t.Failed() {
			rt.Fatal("not rebuilt")
		}
	})
}

// A truncate that the table follows empties what is rebuilt too.
func TestRebuild_truncate(t *testing.T) {
	rule := itemRule("items")
	rule.Truncates = "delete_keys"
	m := newWorld(t).mirror(rule)
	m.write(m.item(change.OpCreate, 2, 3, "b"), m.item(change.OpDelete, 1, 2, ""), m.item(change.OpCreate, 2, 3, "b"))
	rows, _ := m.remember(m.item(change.OpCreate, 1, 1, "a"), m.item(change.OpTruncate, 0, 2, ""))
	plain, err := m.fn.histories.PlainPlan(m.past)
	if err != nil {
		t.Fatal(err)
	}
	m.append(plain, [][]byte{rows[0].Data, rows[1].Data})
	m.wantRebuilt("id")
}

// What can't be kept is a dead letter of this stage, with the history's receipts.
func TestRows_letters(t *testing.T) {
	m := newWorld(t).mirror(itemRule("items"))
	bad := m.item(change.OpCreate, 1, 1, "a")
	bad.Columns = append(bad.Columns, change.Column{Name: "big", Value: change.Bytes("\xff")})
	bad.Receipts = []change.Receipt{{Token: 9, Part: 2, Parts: 4}, {Token: 9, Part: 3, Parts: 4}}
	unknown := m.item(change.OpCreate, 1, 1, "a")
	unknown.Columns = append(unknown.Columns, change.Column{Name: "more", Value: change.Int64(1)})
	elsewhere := m.item(change.OpCreate, 1, 1, "a")
	elsewhere.Event.Table = "public.elsewhere"
	rows, letters := m.remember(bad, unknown, elsewhere)
	if len(rows) != 0 || len(letters) != 3 {
		t.Fatalf("%d rows, %+v", len(rows), letters)
	}
	var got []string
	for _, l := range letters {
		got = append(got, l.Stage+" "+l.Reason)
	}
	if diff := cmp.Diff([]string{"history bad_value", "history unknown_column", "history bad_history"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(bad.Receipts, letters[0].Receipts); diff != "" {
		t.Error(diff)
	}
}

// A before image that the table can't hold keeps no change out of the history.
func TestRows_badBefore(t *testing.T) {
	m := newWorld(t).mirror(itemRule("items"))
	c := m.item(change.OpUpdate, 1, 1, "a")
	c.Event.Before = []change.Column{{Name: "id", Value: change.Int64(1)}, {Name: "v", Value: change.Bytes("\xff")}, {Name: "gone", Value: change.Int64(1)}}
	m.write(c)
	if got := fmt.Sprint(m.query("SELECT TO_JSON_STRING(before) FROM `p.d.items_history`")); got != `[[{"id":1}]]` {
		t.Error(got)
	}
}
