package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eventCase is one fault that people met with tools for this job. Its messages are
// published in order. In them and in wants, $1 to $9 stand for keys that no other
// case has.
type eventCase struct {
	name     string
	table    string // the destination; "" for shop.items
	messages []message
	want     map[int]string // by key $n: the row's columns as JSON, those that matter; "" for no row
	letters  []string       // "stage/reason" of the dead letters, in the order of their messages
}

// runCases publishes the messages of all cases to one run of cmd/local and
// compares what each left.
func runCases(t *testing.T, config, keyColumn string, cases []eventCase) {
	t.Helper()
	var messages []message
	owner := map[string]int{} // by data and ordering key
	for i := range cases {
		for j := range cases[i].messages {
			m := &cases[i].messages[j]
			m.data, m.orderingKey = number(m.data, i), number(m.orderingKey, i)
			for name, value := range m.attributes {
				m.attributes[name] = number(value, i)
			}
			owner[m.data] = i
		}
		messages = append(messages, cases[i].messages...)
	}
	out := runLocal(t, config, messages)
	letters := make([][]string, len(cases))
	for _, l := range out.DeadLetters {
		i, ok := owner[l.Data]
		if !ok {
			t.Errorf("a dead letter holds what was never published: %q", l.Data)
			continue
		}
		letters[i] = append(letters[i], l.Stage+"/"+l.Reason)
		if l.Error == "" {
			t.Errorf("%s: the dead letter has no error", cases[i].name)
		}
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.table == "" {
				c.table = "shop.items"
			}
			rows, ok := out.Tables[c.table]
			if !ok {
				t.Fatalf("there is no table %s", c.table)
			}
			for n, want := range c.want {
				key := strconv.Itoa(keyOf(i, n))
				at := slices.IndexFunc(rows, func(r row) bool { return r[keyColumn] == key })
				switch {
				case want == "" && at >= 0:
					t.Errorf("key $%d: there is a row, want none: %v", n, rows[at])
				case want != "" && at < 0:
					t.Errorf("key $%d: there is no row, want %s", n, want)
				case want != "":
					got := row{}
					wanted := decodeRow(t, want)
					for name := range wanted {
						got[name] = rows[at][name]
					}
					if diff := cmp.Diff(wanted, got); diff != "" {
						t.Errorf("key $%d, -want +got:\n%s", n, diff)
					}
				}
			}
			if diff := cmp.Diff(c.letters, letters[i]); diff != "" {
				t.Errorf("dead letters, -want +got:\n%s", diff)
			}
		})
	}
}

func keyOf(i, n int) int { return (i+1)*100 + n }

func number(text string, i int) string {
	for n := 1; n <= 9; n++ {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(n), strconv.Itoa(keyOf(i, n)))
	}
	return text
}

const itemsConfig = `
source: {subscription: projects/demo/subscriptions/changes, format: auto}
create_tables: true
window: %s
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    columns: &items
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: qty, type: INT64}
      - {name: v, type: STRING}
      - {name: doc, type: STRING}
  - source: shop.items
    destination: shop.mysql_items
    primary_key: [id]
    columns: *items
  - source: public.pairs
    destination: shop.pairs
    primary_key: [a, b]
    columns:
      - {name: a, type: INT64, mode: REQUIRED}
      - {name: b, type: INT64, mode: REQUIRED}
      - {name: v, type: STRING}
  - source: public.typed
    destination: shop.typed
    primary_key: [id]
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: day, type: DATE, mode: REQUIRED}
      - {name: n, type: NUMERIC, mode: REQUIRED}
      - {name: doc, type: JSON, mode: REQUIRED}
      - {name: at, type: TIMESTAMP, mode: REQUIRED}
`

// item is a change of public.items, in the shorthand of the cases: the key, the
// rest of the row, the last commit and the change's own position.
func item(op string, key string, rest string, lastCommit, lsn uint64) message {
	c := pgChange{table: "public.items", op: op, key: `{"id":` + key + `}`, lastCommit: lastCommit, lsn: lsn}
	image := `{"id":` + key + rest + `}`
	switch op {
	case "d":
		c.before = `{"id":` + key + `,"qty":null,"v":null,"doc":null}`
	case "r":
		c.after, c.snapshot = image, "true"
	default:
		c.after = image
	}
	return c.message()
}

func myItem(op, key, rest, file string, pos, line uint64) message {
	c := myChange{table: "shop.items", op: op, key: `{"id":` + key + `}`, file: file, pos: pos, row: line, server: 1}
	if op == "d" {
		c.before = `{"id":` + key + rest + `}`
	} else {
		c.after = `{"id":` + key + rest + `}`
	}
	return c.message()
}

// A fault in the order of a key's changes shows with one window, in which they are
// coalesced, or with windows so short that BigQuery has to tell them apart.
func TestCases(t *testing.T) {
	for name, window := range map[string]string{"one window": "1m", "many windows": "5ms"} {
		t.Run(name, func(t *testing.T) {
			runCases(t, fmt.Sprintf(itemsConfig, window), "id", append(orderCases(), keyCases()...))
		})
	}
}

// Case 38: a composite key's columns match by name, whatever their order.
func TestCompositeKeyOrder(t *testing.T) {
	out := runLocal(t, fmt.Sprintf(itemsConfig, "1m"), []message{
		pgChange{table: "public.pairs", op: "c", key: `{"b":2,"a":1}`, after: `{"b":2,"a":1,"v":"first"}`, lastCommit: 10, lsn: 11}.message(),
		pgChange{table: "public.pairs", op: "u", key: `{"a":1,"b":2}`, after: `{"a":1,"b":2,"v":"second"}`, lastCommit: 10, lsn: 12}.message(),
		pgChange{table: "public.pairs", op: "c", key: `{"a":2,"b":1}`, after: `{"a":2,"b":1,"v":"other"}`, lastCommit: 10, lsn: 13}.message(),
		pgChange{table: "public.pairs", op: "c", key: `{"a":10,"b":1}`, after: `{"a":10,"b":1,"v":"ten"}`, lastCommit: 10, lsn: 14}.message(),
	})
	want := []row{
		{"a": "1", "b": "2", "v": "second"}, {"a": "2", "b": "1", "v": "other"}, {"a": "10", "b": "1", "v": "ten"}, // in the order of numbers
	}
	if diff := cmp.Diff(want, out.Tables["shop.pairs"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
