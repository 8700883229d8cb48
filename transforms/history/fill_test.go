package history

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// source is a table whose updates leave out what they did not change.
type source struct {
	*mirrored
	rows     map[int64]map[string]change.Value
	sequence uint64
}

// change returns a change as the source sends it, without the columns left out, and as
// the table gets it, complete.
func (s *source) change(op change.Op, id int64, values map[string]change.Value) (sent, complete change.RowChange) {
	s.sequence++
	switch op {
	case change.OpDelete:
		delete(s.rows, id)
	case change.OpTruncate:
		clear(s.rows)
	case change.OpCreate:
		s.rows[id] = map[string]change.Value{"v": change.Null(), "big": change.Null()}
	default:
	}
	maps.Copy(s.rows[id], values)
	sent, complete = s.item(op, id, s.sequence, ""), s.item(op, id, s.sequence, "")
	if sent.Type == change.Upsert {
		sent.Columns, complete.Columns = sent.Columns[:1], complete.Columns[:1]
		for _, name := range []string{"v", "big"} {
			value, there := values[name]
			if !there && op != change.OpCreate {
				value = change.Unavailable()
			} else if !there {
				value = change.Null()
			}
			sent.Columns = append(sent.Columns, change.Column{Name: name, Value: value})
			complete.Columns = append(complete.Columns, change.Column{Name: name, Value: s.rows[id][name]})
		}
	}
	return sent, complete
}

// With unavailable_values: fill each column is rebuilt from the last change that has it,
// NULL being a value too, and never from before a DELETE or a truncate of the row.
func TestProperty_rebuildFilled(t *testing.T) {
	w := newWorld(t)
	nth := 0
	rapid.Check(t, func(rt *rapid.T) {
		if nth++; nth > 30 { // each run makes tables of its own, which takes a while
			return
		}
		rule := itemRule(fmt.Sprint("filled", nth))
		rule.UnavailableValues, rule.Truncates, rule.Fill = "fill", "delete_keys", &table.Fill{FirstSeen: "read"}
		s := &source{mirrored: w.mirror(rule), rows: map[int64]map[string]change.Value{}}
		var past, rows []change.RowChange
		for range rapid.IntRange(1, 25).Draw(rt, "changes") {
			id := rapid.Int64Range(1, 3).Draw(rt, "id")
			op := rapid.SampledFrom([]change.Op{change.OpUpdate, change.OpUpdate, change.OpUpdate, change.OpDelete, change.OpTruncate}).Draw(rt, "op")
			if s.rows[id] == nil && op != change.OpTruncate {
				op = change.OpCreate
			}
			values := map[string]change.Value{}
			for _, name := range []string{"v", "big"} {
				if rapid.Bool().Draw(rt, name+" is sent") && op != change.OpDelete && op != change.OpTruncate {
					values[name] = rapid.SampledFrom([]change.Value{change.Null(), change.String("a"), change.String("null"), change.String("")}).Draw(rt, name)
				}
			}
			before := slices.Sorted(maps.Keys(s.rows))
			sent, complete := s.change(op, id, values)
			past, rows = append(past, sent), append(rows, complete)
			if op == change.OpTruncate { // the table gets a DELETE of each key
				for _, id := range before {
					rows = append(rows, s.item(change.OpDelete, id, s.sequence, ""))
				}
			}
		}
		s.writePast(rapid.Permutation(past).Draw(rt, "order")...)
		s.writeRows(rows...)
		s.wantRebuilt("id")
		if got := len(s.query(fmt.Sprintf("SELECT id FROM `%s`", s.plan.Table().Name))); got != len(s.rows) {
			rt.Fatalf("the table has %d rows, the source %d", got, len(s.rows))
		}
		if t.Failed() {
			rt.Fatal("not rebuilt")
		}
	})
}

// What falls short, as the package's documentation says: the query does not follow a row
// to another key. What the source left out is NULL until it is sent.
func TestRebuild_filledAnotherKey(t *testing.T) {
	rule := itemRule("moved")
	rule.UnavailableValues = "fill"
	m := newWorld(t).mirror(rule)
	created, left, moved := m.item(change.OpCreate, 1, 1, "a"), m.item(change.OpDelete, 1, 2, ""), m.item(change.OpUpdate, 2, 2, "b")
	left.Event.Op = change.OpUpdate
	created.Columns = append(created.Columns, change.Column{Name: "big", Value: change.String("large")})
	moved.Columns = append(moved.Columns, change.Column{Name: "big", Value: change.Unavailable()})
	m.writePast(created, left, moved)
	rebuilt := "SELECT * FROM (" + RebuildQuery(m.plan.Table(), m.rule, m.past) + ")"
	if got := fmt.Sprint(m.query(rebuilt)); got != "[[2 b <nil>]]" {
		t.Errorf("after the change of the key: %s", got)
	}
	sent := m.item(change.OpUpdate, 2, 3, "c")
	sent.Columns = append(sent.Columns, change.Column{Name: "big", Value: change.String("large")})
	m.writePast(sent)
	if got := fmt.Sprint(m.query(rebuilt)); got != "[[2 c large]]" {
		t.Errorf("after it was sent: %s", got)
	}
}
