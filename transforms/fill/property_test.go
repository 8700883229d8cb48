package fill

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

const testTable = "demo.shop.docs"

// source is a database's table of rows with a number and two texts, which commits
// changes and publishes them as a log does that leaves unchanged texts out.
type source struct {
	t       *rapid.T
	rows    map[string]map[string]string // by key; a column that is not there is NULL
	changes []change.RowChange
	at      uint64
	partial bool // its updates hold what they set, and nothing else
	absent  bool // they lack the other columns, which the table may not have when they come
	soft    map[string]map[string]string
}

var texts = []string{"doc", "raw"}

func (s *source) sequence(ordinal uint64) change.Sequence {
	return change.NewSequence(0, s.at, s.at, ordinal)
}

// publish publishes one row's change; left are the columns that it leaves out.
func (s *source) publish(op change.Op, kind change.Type, key string, left []string, from, to string) {
	ordinal := uint64(1)
	if kind == change.Delete {
		ordinal = 0
	}
	c := change.RowChange{
		Event: change.Event{
			Table: "public.docs", Op: op, Sequence: s.sequence(ordinal), Partial: s.partial, CommitTime: time.Unix(int64(s.at), 0).UTC(),
			Message: change.Message{ID: fmt.Sprint(len(s.changes)), Data: []byte("data"), Token: uint64(len(s.changes) + 1)}, Parts: 1,
		},
		Table: testTable, Key: []byte(key), Type: kind, Columns: []change.Column{{Name: "id", Value: change.String(key)}},
		Receipts: []change.Receipt{{Token: uint64(len(s.changes) + 1), Parts: 1}},
	}
	if from != "" {
		c.MovedFrom = []byte(from)
	}
	if to != "" {
		c.MovedTo = []byte(to)
	}
	if kind == change.Upsert {
		c.Event.AbsentUnavailable = s.absent && op == change.OpUpdate
		for _, name := range append([]string{"n"}, texts...) {
			v := change.Null()
			text, ok := s.rows[key][name]
			switch {
			case slices.Contains(left, name):
				if s.absent && rapid.Bool().Draw(s.t, "the table lacks it") {
					continue
				}
				v = change.Unavailable()
			case ok && name == "n":
				v = change.Number(text)
			case ok:
				v = change.Text(text)
			}
			c.Columns = append(c.Columns, change.Column{Name: name, Value: v})
		}
	}
	s.changes = append(s.changes, c)
}

// drawSource lets the source make changes of few keys.
func drawSource(t *rapid.T) *source {
	return drawSourceOf(t, "update", "update", "update", "delete", "move", "move")
}

// drawSourceOf is drawSource with these kinds of changes.
func drawSourceOf(t *rapid.T, kinds ...string) *source {
	s := &source{t: t, rows: make(map[string]map[string]string), soft: make(map[string]map[string]string), partial: rapid.Bool().Draw(t, "partial"), absent: rapid.Bool().Draw(t, "absent")}
	keys := rapid.SampledFrom([]string{"a", "b", "c"})
	value := func() string { return fmt.Sprint("v", s.at) }
	for range rapid.IntRange(1, 12).Draw(t, "changes") {
		s.at++
		key := keys.Draw(t, "key")
		row, there := s.rows[key]
		if _, deleted := s.soft[key]; !there && deleted && rapid.Bool().Draw(t, "deleted twice") { // as by a tombstone
			s.publish(change.OpDelete, change.Delete, key, nil, "", "")
			continue
		}
		if !there {
			s.rows[key] = map[string]string{"n": fmt.Sprint(s.at)}
			for _, name := range texts {
				if rapid.Bool().Draw(t, name) {
					s.rows[key][name] = value()
				}
			}
			delete(s.soft, key)
			s.publish(change.OpCreate, change.Upsert, key, nil, "", "")
			continue
		}
		// update sets some columns, and returns those that it leaves out.
		update := func() (left []string) {
			row["n"] = fmt.Sprint(s.at)
			for _, name := range texts {
				switch set := rapid.SampledFrom([]string{"unchanged", "unchanged", "set", "null"}).Draw(t, name); {
				case set == "set":
					row[name] = value()
				case set == "null":
					delete(row, name)
				case row[name] != "" || s.partial: // NULL is never left out but where what is unchanged is
					left = append(left, name)
				}
			}
			return left
		}
		switch rapid.SampledFrom(kinds).Draw(t, "change") {
		case "update":
			s.publish(change.OpUpdate, change.Upsert, key, update(), "", "")
		case "delete":
			delete(s.rows, key)
			s.soft[key] = row
			s.publish(change.OpDelete, change.Delete, key, nil, "", "")
		case "move":
			other := keys.Draw(t, "other key")
			if _, taken := s.rows[other]; taken {
				continue
			}
			s.soft[key] = maps.Clone(row)
			delete(s.soft, other)
			left := update()
			delete(s.rows, key)
			s.rows[other] = row
			s.publish(change.OpUpdate, change.Delete, key, nil, "", other)
			s.publish(change.OpUpdate, change.Upsert, other, left, key, "")
		}
	}
	return s
}

// want is what the table must have in the end.
func (s *source) want(deletes string) map[string]map[string]string {
	if deletes != "soft" {
		return s.rows
	}
	want := make(map[string]map[string]string)
	for key, row := range s.rows {
		want[key] = maps.Clone(row)
		want[key]["is_deleted"] = "false"
	}
	for key, row := range s.soft {
		want[key] = maps.Clone(row)
		want[key]["is_deleted"] = "true"
	}
	return want
}

// stages are the package's stages with state in memory.
type stages struct {
	t        *rapid.T
	settings *settings
	rows     map[string][]byte
	moves    map[move][]byte
	emitted  []change.RowChange
	letters  []held

	changes, made, joined, repeated int64
}

func newStages(t *rapid.T, s *settings) *stages {
	return &stages{t: t, settings: s, rows: make(map[string][]byte), moves: make(map[move][]byte)}
}

func (s *stages) get(id move) (*moveMemory, error) { return readMove(slices.Clone(s.moves[id])) }
func (s *stages) put(id move, m *moveMemory) error { s.moves[id] = m.append(nil); return nil }

func (s *stages) take(c change.RowChange) {
	m, err := readMemory(slices.Clone(s.rows[string(c.Key)]))
	if err != nil {
		s.t.Fatal(err)
	}
	o := m.take(c, s.settings, time.Unix(1, 0))
	s.rows[string(c.Key)] = m.append(nil)
	s.emitted = append(s.emitted, o.rows...)
	s.letters = append(s.letters, o.letters...)
	s.changes, s.joined = s.changes+1, s.joined+o.joined
	// The two kinds of elements are on their way in any order.
	coded := make([][]byte, 0, len(o.waiting)+len(o.told))
	for i := range o.waiting {
		coded = append(coded, o.waiting[i].append(nil))
	}
	for i := range o.told {
		coded = append(coded, o.told[i].append(nil))
	}
	for _, b := range rapid.Permutation(coded).Draw(s.t, "chained") {
		w, told, err := readChained(b)
		if err != nil {
			s.t.Fatal(err)
		}
		var made completed
		if w != nil {
			made, err = wait(s, *w, s.settings, time.Unix(1, 0))
		} else {
			made, err = hear(s, told, time.Unix(1, 0))
		}
		if err != nil {
			s.t.Fatal(err)
		}
		s.emitted = append(s.emitted, made.rows...)
		s.letters = append(s.letters, made.letters...)
		s.joined += made.joined
		s.repeated += made.repeated
	}
}

// bigQuery is a table by BigQuery's rule: of each key the row with the highest
// sequence, of equal ones the one that came last.
type bigQuery struct {
	t    *rapid.T
	last map[string]change.Row
	rest map[uint64]bool
}

// write coalesces the rows of a window as a runner may, and writes what is left in any order.
func (b *bigQuery) write(all []change.RowChange) {
	byKey := make(map[string][]change.Row)
	for _, c := range all {
		sequence, err := c.Event.Sequence.WithRevision(c.Revision)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, column := range c.Columns {
			if column.Value.Kind() == change.KindUnavailable {
				b.t.Fatalf("a row of %s without its %s", c.Key, column.Name)
			}
		}
		byKey[string(c.Key)] = append(byKey[string(c.Key)], change.Row{
			Table: c.Table, Key: c.Key, Type: c.Type, Sequence: sequence, Data: change.AppendColumns(nil, c.Columns), Receipts: c.Receipts,
		})
	}
	var last []change.Row
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		rows := rapid.Permutation(byKey[key]).Draw(b.t, "order of combining")
		row := rows[0]
		for _, other := range rows[1:] {
			row = change.Supersede(row, other)
		}
		last = append(last, row)
	}
	for _, row := range rapid.Permutation(last).Draw(b.t, "order of writing") {
		for _, r := range row.Receipts {
			b.rest[r.Token] = true
		}
		before, ok := b.last[string(row.Key)]
		if !ok || later(row.Sequence.String(), before.Sequence.String()) {
			b.last[string(row.Key)] = row
		}
		if ok && row.Sequence == before.Sequence && (row.Type != before.Type || string(row.Data) != string(before.Data)) {
			b.t.Fatalf("two rows of %s with sequence %v differ: the order of ingestion would decide", row.Key, row.Sequence)
		}
	}
}

// later reports whether a is not earlier than b, by BigQuery's documentation.
func later(a, b string) bool {
	left, right := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range left {
		x, _ := new(big.Int).SetString(left[i], 16)
		y, _ := new(big.Int).SetString(right[i], 16)
		if c := x.Cmp(y); c != 0 {
			return c > 0
		}
	}
	return true
}

func (b *bigQuery) rows() map[string]map[string]string {
	rows := make(map[string]map[string]string)
	for key, row := range b.last {
		if row.Type == change.Delete {
			continue
		}
		columns, err := change.ReadColumns(row.Data)
		if err != nil {
			b.t.Fatal(err)
		}
		rows[key] = make(map[string]string)
		for _, c := range columns {
			switch {
			case c.Value.IsNull() || c.Name == "id" || c.Name == "deleted_at" || c.Name == table.DefaultVersionsColumn:
			case c.Value.Kind() == change.KindBool:
				rows[key][c.Name] = fmt.Sprint(c.Value.Bool())
			default:
				rows[key][c.Name] = c.Value.Text()
			}
		}
	}
	return rows
}

// Invariant 2 for rows that are filled in: whatever the order, repetition, windows
// and order of writing of the same changes, key changes, deletes and partial updates
// among them, the table becomes the source's.
func TestFill_converges(t *testing.T) {
	for _, deletes := range []string{"hard", "soft"} {
		t.Run(deletes, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSource(t)
				delivered := slices.Clone(s.changes)
				for range rapid.IntRange(0, 3).Draw(t, "redeliveries") {
					if len(s.changes) > 0 {
						delivered = append(delivered, rapid.SampledFrom(s.changes).Draw(t, "redelivered"))
					}
				}
				delivered = rapid.Permutation(delivered).Draw(t, "order of arrival")
				fill := newStages(t, settingsOf(&table.Rule{UnavailableValues: "fill", Deletes: deletes}))
				b := &bigQuery{t, make(map[string]change.Row), make(map[uint64]bool)}
				for len(delivered) > 0 {
					n := rapid.IntRange(1, len(delivered)).Draw(t, "changes of a window")
					for _, c := range delivered[:n] {
						fill.take(c)
					}
					b.write(fill.emitted)
					fill.made += int64(len(fill.emitted))
					fill.emitted, delivered = nil, delivered[n:]
				}
				if diff := cmp.Diff(s.want(deletes), b.rows()); diff != "" {
					t.Fatalf("the table is not the source's (-source +table):\n%s", diff)
				}
				for i := range s.changes { // invariant 1: every message is acked in the end
					if !b.rest[uint64(i+1)] {
						t.Fatalf("change %d, %v of %s, has not come to rest", i, s.changes[i].Event.Op, s.changes[i].Key)
					}
				}
				if len(fill.letters) > 0 {
					t.Fatalf("%d dead letters", len(fill.letters))
				}
				// Invariant 4, as the counters tell it.
				if fill.changes+fill.repeated != fill.made+fill.joined {
					t.Fatalf("%d changes and %d rows made again became %d rows, and %d joined another", fill.changes, fill.repeated, fill.made, fill.joined)
				}
			})
		})
	}
}

// waiting counts the changes that wait, in what is remembered.
func (s *stages) waiting() (n int64) {
	for _, coded := range s.rows {
		m, err := readMemory(slices.Clone(coded))
		if err != nil {
			s.t.Fatal(err)
		}
		n += int64(len(m.held))
	}
	for id := range s.moves {
		m, err := s.get(id)
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range m.rows {
			n += int64(m.rows[i].owed)
		}
	}
	return n
}

// expire lets all that waits have waited for too long.
func (s *stages) expire() {
	later := time.Unix(1, 0).Add(s.settings.HoldFor)
	for key, coded := range s.rows {
		m, err := readMemory(slices.Clone(coded))
		if err != nil {
			s.t.Fatal(err)
		}
		letters, _, _ := m.expire(s.settings, later)
		s.letters = append(s.letters, letters...)
		s.rows[key] = m.append(nil)
	}
	for id := range s.moves {
		m, err := s.get(id)
		if err != nil {
			s.t.Fatal(err)
		}
		letters, _ := m.expire(s.settings, later)
		s.letters = append(s.letters, letters...)
		s.moves[id] = m.append(nil)
	}
}

func (s *stages) counted() map[string]int64 {
	joined := s.joined
	for i := range s.letters {
		joined += s.letters[i].joined
	}
	return map[string]int64{
		"fill/changes": s.changes, "fill/rows": int64(len(s.emitted)), "fill/rows_repeated": s.repeated,
		"fill/changes_joined": joined, "fill/letters": int64(len(s.letters)),
	}
}

// Where changes are missing others wait, as many as the counters tell, and once they
// have waited for too long none does.
func TestWaiting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSource(t)
		delivered := slices.Clone(s.changes)
		for range rapid.IntRange(0, 3).Draw(t, "redeliveries") {
			if len(s.changes) > 0 {
				delivered = append(delivered, rapid.SampledFrom(s.changes).Draw(t, "redelivered"))
			}
		}
		delivered = rapid.Permutation(delivered).Draw(t, "order of arrival")
		delivered = delivered[:rapid.IntRange(0, len(delivered)).Draw(t, "that arrive")]
		rule := &table.Rule{UnavailableValues: "fill", Deletes: rapid.SampledFrom([]string{"hard", "soft"}).Draw(t, "deletes")}
		fill := newStages(t, settingsOf(rule))
		for _, c := range delivered {
			fill.take(c)
			if got, want := Waiting(fill.counted()), fill.waiting(); got != want {
				t.Fatalf("%d changes wait, the counters tell of %d: %v", want, got, fill.counted())
			}
		}
		if fill.expire(); Waiting(fill.counted()) != 0 {
			t.Fatalf("after hold_for %d changes wait by the counters: %v", Waiting(fill.counted()), fill.counted())
		}
		rest := make(map[uint64]bool)
		for _, r := range fill.emitted {
			for _, receipt := range r.Receipts {
				rest[receipt.Token] = true
			}
		}
		for i := range fill.letters {
			for _, receipt := range fill.letters[i].Receipts {
				rest[receipt.Token] = true
			}
		}
		for _, c := range delivered {
			if !rest[c.Receipts[0].Token] {
				t.Fatalf("message %d has not come to rest", c.Receipts[0].Token)
			}
		}
	})
}
