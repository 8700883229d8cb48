package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Case 31, with tombstones that delete: an empty message deletes the row that its
// ordering key names, in each form of both. The table is then ordered by arrival,
// as the change that comes again after the tombstone shows: its position is lower.
func TestTombstones_delete(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 50ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    tombstones: delete
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: v, type: STRING}
`
	const schema = `{"type":"struct","fields":[{"type":"int64","optional":false,"field":"id"}],"optional":false,"name":"acme.public.items.Key"}`
	key := func(id string) string { return `{"id":` + id + `}` }
	var messages []message
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		m := item("c", id, `,"v":"a"`, 10, 11)
		m.orderingKey = key(id)
		messages = append(messages, m)
	}
	again := item("u", "4", `,"v":"again"`, 3, 4)
	again.orderingKey = key("4")
	out := runLocal(t, config, append(messages,
		message{orderingKey: key("1")},
		message{data: "null", orderingKey: `{"schema":` + schema + `,"payload":{"id":2}}`},
		message{data: `{"schema":null,"payload":null}`, orderingKey: key("3")},
		message{orderingKey: key("4")},
		again,
		message{orderingKey: key("5"), attributes: map[string]string{"__table": `"items"`, "__schema": `"public"`}},
		message{orderingKey: key("6"), attributes: map[string]string{"__table": "other", "__schema": "public"}}, // of a table that nobody lists
		message{orderingKey: "default"},
	))
	if diff := cmp.Diff([]row{{"id": "4", "v": "again"}, {"id": "6", "v": "a"}}, out.Tables["shop.items"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	letters := map[string]int{}
	for _, l := range out.DeadLetters {
		letters[l.Stage+"/"+l.Reason]++
	}
	if diff := cmp.Diff(map[string]int{"key/unlisted_table": 1, "decode/missing_key": 1}, letters); diff != "" {
		t.Errorf("dead letters, -want +got:\n%s", diff)
	}
	if n := out.Counts["control"]; n != 0 {
		t.Errorf("%d control messages, want none", n)
	}
}

// A tombstone that names no table is nobody's where there are several, and one of
// a table that ignores them changes nothing.
func TestTombstones_severalTables(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes, format: debezium_flat}
create_tables: true
window: 50ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - {source: public.items, destination: shop.items, primary_key: [id], tombstones: delete, columns: [{name: id, type: INT64, mode: REQUIRED}]}
  - {source: public.kept, destination: shop.kept, primary_key: [id], columns: [{name: id, type: INT64, mode: REQUIRED}]}
`
	flat := func(table string) message {
		return message{data: `{"id":1,"__op":"c","__table":"` + table + `","__source_schema":"public","__source_lsn":11,"__source_sequence":"[\"10\",\"11\"]"}`, orderingKey: `{"id":1}`}
	}
	tombstone := func(table string) message {
		return message{orderingKey: `{"id":1}`, attributes: map[string]string{"__op": "d", "__table": table, "__source_schema": "public"}}
	}
	out := runLocal(t, config, []message{flat("items"), flat("kept"), tombstone("items"), tombstone("kept"), {orderingKey: `{"id":1}`}})
	want := map[string][]row{"shop.items": {}, "shop.kept": {{"id": "1"}}}
	if diff := cmp.Diff(want, out.Tables); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(out.DeadLetters) != 1 || out.DeadLetters[0].Reason != "unnamed_table" || out.Counts["filtered"] != 1 {
		t.Errorf("dead letters %v, counts %v, want one that names no table, and one change filtered", out.DeadLetters, out.Counts)
	}
}
