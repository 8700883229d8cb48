package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Case 28 without a configured key: a table is created with the key that a message
// names, and never without one. Until then a change that names none is a dead letter;
// after that, its key is the table's.
func TestKeyOfFirstMessage(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.keyless
    destination: shop.keyless
    columns: &columns [{name: id, type: INT64}, {name: v, type: STRING}]
  - {source: public.items, destination: shop.items, columns: *columns}
`
	change := func(table, key, v string, lsn uint64) message {
		m := pgChange{table: table, op: "u", after: `{"id":1,"v":"` + v + `"}`, lastCommit: 10, lsn: lsn}.message()
		m.orderingKey = key
		return m
	}
	// Messages of one ordering key come in their order.
	out := runLocal(t, config, []message{
		change("public.keyless", "default", "of no key", 11), change("public.keyless", "default", "nor this", 12),
		change("public.items", `{"id":1}`, "first", 11), change("public.items", `{"id":1}`, "second", 12),
	})
	if diff := cmp.Diff([]row{{"id": "1", "v": "second"}}, out.Tables["shop.items"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rows := out.Tables["shop.keyless"]; len(rows) > 0 {
		t.Errorf("there are rows without a key: %v", rows)
	}
	if len(out.DeadLetters) != 2 {
		t.Errorf("%d dead letters, want 2", len(out.DeadLetters))
	}
	for _, l := range out.DeadLetters {
		if l.Reason != "bad_destination" || !strings.Contains(l.Error, "no primary_key") {
			t.Errorf("dead letter %s/%s: %s", l.Stage, l.Reason, l.Error)
		}
	}
}
