package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// combination is a table with several settings at once.
type combination struct {
	name, rule      string
	soft, truncates bool
	enriched        bool // where, set and metadata, as combinedSteps has them
}

const combinedConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 50ms
dead_letters: {topic: projects/demo/topics/dead}
runtime: {truncate_wait: 200ms}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    unknown_columns: add
    fill: {hold_for: 2s}
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: doc, type: STRING}
      - {name: n, type: INT64}
      - {name: double, type: INT64}
`

const combinedSteps = `
    enrich:
      - where: row.n % 5 != 0
      - set: {double: row.n * 2}
      - metadata: {place: position}
`

var combinations = []combination{
	{name: "fill, add, truncates, history", rule: "unavailable_values: fill\n    truncates: delete_keys\n    history: shop.items_history", truncates: true},
	{name: "fill, add, truncates, enrich", rule: "unavailable_values: fill\n    truncates: delete_keys" + combinedSteps, truncates: true, enriched: true},
	{name: "fill, add, soft, enrich", rule: "unavailable_values: fill\n    deletes: soft" + combinedSteps, soft: true, enriched: true},
	{name: "fill, add, soft, history", rule: "unavailable_values: fill\n    deletes: soft\n    history: shop.items_history", soft: true},
	{name: "soft, add", rule: "deletes: soft", soft: true},
}

// combinedRow is a row of the source, and what a soft delete leaves of it.
type combinedRow struct {
	doc, x   string // "" is NULL; x is a column that the table doesn't have at first
	n        int
	position string // of its last change
	deleted  bool
}

// combinedSource is the database of these tests: what it holds after its changes, and
// what it publishes of them. It leaves large texts out that didn't change, if it may.
type combinedSource struct {
	*rand.Rand
	combination
	leavesOut bool
	rows      map[int]*combinedRow
	messages  []message
	lsn       uint64
}

func (s *combinedSource) text(of string) string {
	if s.IntN(4) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %d", of, s.lsn)
}

// publish publishes a change; left says which texts did not change.
func (s *combinedSource) publish(op string, key int, row *combinedRow, left map[string]bool, before string) {
	image := func(name, text string) string {
		switch {
		case text == "":
			return fmt.Sprintf(`,%q:null`, name)
		case left[name] && s.leavesOut:
			return fmt.Sprintf(`,%q:%s`, name, placeholder)
		}
		return fmt.Sprintf(`,%q:%q`, name, text)
	}
	c := pgChange{table: "public.items", op: op, key: fmt.Sprintf(`{"id":%d}`, key), before: before, lastCommit: s.lsn - 1, lsn: s.lsn}
	if row != nil {
		c.after = fmt.Sprintf(`{"id":%d,"n":%d%s`, key, row.n, image("doc", row.doc))
		if row.x != "" || s.IntN(2) == 0 { // before the source had it, a row has none
			c.after += image("x", row.x)
		}
		c.after += "}"
		row.position = fmt.Sprintf("0/%X", s.lsn)
	}
	s.messages = append(s.messages, c.message())
}

func (s *combinedSource) change() {
	s.lsn += 10
	key := 1 + s.IntN(4)
	row := s.rows[key]
	if row == nil || row.deleted {
		row = &combinedRow{n: s.IntN(20), doc: s.text("doc"), x: s.text("x")}
		s.rows[key] = row
		s.publish("c", key, row, nil, "")
		return
	}
	update := func() map[string]bool {
		row.n = s.IntN(20)
		left := map[string]bool{"doc": s.IntN(3) > 0, "x": s.IntN(3) > 0}
		if !left["doc"] {
			row.doc = s.text("doc")
		}
		if !left["x"] {
			row.x = s.text("x")
		}
		return left
	}
	leave := func() { // what stays under the key
		kept := *row
		kept.deleted, kept.position = true, fmt.Sprintf("0/%X", s.lsn)
		if delete(s.rows, key); s.soft {
			s.rows[key] = &kept
		}
	}
	switch kind := s.IntN(10); {
	case kind < 2:
		leave()
		s.publish("d", key, nil, nil, fmt.Sprintf(`{"id":%d,"n":0,"doc":null}`, key))
	case kind < 4:
		other := 5 + s.IntN(3)
		if taken := s.rows[other]; taken != nil && !taken.deleted {
			return
		}
		leave()
		moved := *row
		row = &moved
		left := update()
		s.rows[other] = row
		s.publish("u", other, row, left, fmt.Sprintf(`{"id":%d}`, key))
	case kind == 4 && s.truncates:
		clear(s.rows)
		c := pgChange{table: "public.items", op: "t", lastCommit: s.lsn - 1, lsn: s.lsn}
		s.messages = append(s.messages, c.message())
	default:
		s.publish("u", key, row, update(), "")
	}
}

// want returns the table's rows, without columns that are NULL.
func (s *combinedSource) want() []row {
	var rows []row
	for _, key := range slices.Sorted(maps.Keys(s.rows)) {
		r := s.rows[key]
		if s.enriched && r.n%5 == 0 {
			continue
		}
		of := row{"id": strconv.Itoa(key), "n": strconv.Itoa(r.n)}
		for name, text := range map[string]string{"doc": r.doc, "x": r.x} {
			if text != "" {
				of[name] = text
			}
		}
		if s.enriched {
			of["double"], of["place"] = strconv.Itoa(2*r.n), r.position
		}
		if s.soft {
			of["is_deleted"] = r.deleted
		}
		rows = append(rows, of)
	}
	return rows
}

// A table with several settings at once is, whatever the order and repetition of its
// changes, what applying them one after the other makes; nothing becomes a dead letter,
// and the counts add up.
func TestCombined(t *testing.T) {
	skipShort(t)
	for at, combination := range combinations {
		t.Run(combination.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				random := rand.New(rand.NewPCG(seed, uint64(at)))
				s := &combinedSource{Rand: random, combination: combination, leavesOut: strings.Contains(combination.rule, "fill"), rows: map[int]*combinedRow{}, lsn: 100}
				for range 40 {
					s.change()
				}
				delivered := slices.Clone(s.messages)
				for range 10 {
					delivered = append(delivered, s.messages[random.IntN(len(s.messages))])
				}
				random.Shuffle(len(delivered), func(i, j int) { delivered[i], delivered[j] = delivered[j], delivered[i] })
				out := runLocal(t, combinedConfig+"    "+combination.rule+"\n", delivered)
				got := out.Tables["shop.items"]
				for _, r := range got {
					delete(r, "deleted_at") // each of the source's changes has the same time
					for name, value := range r {
						if value == nil {
							delete(r, name)
						}
					}
				}
				slices.SortFunc(got, func(a, b row) int { return cmp.Compare(a["id"].(string), b["id"].(string)) })
				if diff := gocmp.Diff(s.want(), got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("seed %d: -source +table:\n%s", seed, diff)
				}
				if len(out.DeadLetters) > 0 || !balanced(out.Counts) {
					t.Errorf("seed %d: dead letters %v, counts %v", seed, out.DeadLetters, out.Counts)
				}
				s.checkHistory(t, out.Tables["shop.items_history"], seed)
			}
		})
	}
}

// checkHistory checks that a history has each change, truncates included, and no other.
func (s *combinedSource) checkHistory(t *testing.T, history []row, seed uint64) {
	if !strings.Contains(s.rule, "history") {
		return
	}
	want := map[string]bool{}
	for _, m := range s.messages {
		var of struct{ Source struct{ LSN json.Number } }
		if err := json.Unmarshal([]byte(m.data), &of); err != nil {
			t.Fatal(err)
		}
		lsn, _ := of.Source.LSN.Int64()
		want[fmt.Sprintf("0/%X", lsn)] = true
	}
	got := map[string]bool{}
	for _, r := range history {
		got[r["position"].(string)] = true
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("seed %d: positions of the history, -source +history:\n%s", seed, diff)
	}
}
