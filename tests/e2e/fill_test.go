package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const fillConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 50ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    unavailable_values: fill
    fill: {first_seen: %s, hold_for: 500ms}
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: doc, type: STRING}
      - {name: n, type: INT64}
`

const placeholder = `"__debezium_unavailable_value"`

func filled(doc, n string) string { return `,"doc":` + doc + `,"n":` + n }

// Cases 42 and 43: an update without a large unchanged value keeps the value,
// in one batch with the insert, before it, and under a changed key; what can't be
// completed is a dead letter, never NULL and never the placeholder.
func TestFill(t *testing.T) {
	moved := item("c", "12", filled(placeholder, "2"), 49, 50)
	moved.attributes = map[string]string{"__debezium.oldkey": `{"id":2}`}
	gone := item("d", "2", "", 49, 50)
	gone.attributes = map[string]string{"__debezium.newkey": `{"id":12}`}
	again := item("c", "22", filled(placeholder, "3"), 59, 60)
	again.attributes = map[string]string{"__debezium.oldkey": `{"id":12}`}
	goneAgain := item("d", "12", "", 59, 60)
	goneAgain.attributes = map[string]string{"__debezium.newkey": `{"id":22}`}
	out := runLocal(t, fmt.Sprintf(fillConfig, "hold"), []message{
		item("c", "1", filled(`"large"`, "1"), 10, 11),
		item("u", "1", filled(placeholder, "2"), 19, 20),
		item("u", "3", filled(placeholder, "2"), 39, 40), // before its row
		item("c", "3", filled(`"late"`, "1"), 29, 30),
		item("c", "2", filled(`"moved"`, "1"), 10, 12),
		again, goneAgain, moved, gone, // a row with three keys one after the other
		item("u", "9", filled(placeholder, "2"), 69, 70), // nobody knows it
		item("u", "1", `,"doc":"bad","n":"no number"`, 79, 80),
		item("u", "1", filled(placeholder, "4"), 89, 90),
	})
	want := []row{
		{"id": "1", "doc": "large", "n": "4"},
		{"id": "3", "doc": "late", "n": "2"},
		{"id": "22", "doc": "moved", "n": "3"},
	}
	if diff := cmp.Diff(want, out.Tables["shop.items"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	letters := map[string]int{}
	for _, l := range out.DeadLetters {
		letters[l.Stage+"/"+l.Reason]++
	}
	if diff := cmp.Diff(map[string]int{"fill/unavailable_value": 1, "encode/bad_value": 1}, letters); diff != "" {
		t.Errorf("dead letters, -want +got:\n%s\n%v", diff, out.DeadLetters)
	}
}

// Case 47: a column that wal2json leaves out is not NULL.
func TestFill_wal2json(t *testing.T) {
	change := func(action, lsn, columns string) message {
		return message{data: `{"action":"` + action + `","lsn":"` + lsn + `","schema":"public","table":"items","columns":[` + columns + `],"pk":[{"name":"id","type":"bigint"}],"identity":[{"name":"id","type":"bigint","value":1}]}`}
	}
	const id, n2, doc = `{"name":"id","type":"bigint","value":1}`, `{"name":"n","type":"bigint","value":2}`, `{"name":"doc","type":"text","value":"large"}`
	out := runLocal(t, fmt.Sprintf(fillConfig, "hold"), []message{
		change("U", "0/20", id+","+n2),
		change("I", "0/10", id+`,{"name":"n","type":"bigint","value":1},`+doc),
	})
	if diff := cmp.Diff([]row{{"id": "1", "doc": "large", "n": "2"}}, out.Tables["shop.items"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Case 44: the placeholder in a key is an error that names table and column.
func TestFill_key(t *testing.T) {
	out := runLocal(t, fmt.Sprintf(fillConfig, "reject"), []message{item("u", placeholder, filled(`"x"`, "1"), 10, 11)})
	if len(out.DeadLetters) != 1 || !strings.Contains(out.DeadLetters[0].Error, "shop.items") || !strings.Contains(out.DeadLetters[0].Error, "column id") {
		t.Errorf("dead letters %v", out.DeadLetters)
	}
	if rows := out.Tables["shop.items"]; len(rows) != 0 {
		t.Errorf("rows %v", rows)
	}
}

// A pipeline that has forgotten a row reads it, once, and an older change that comes
// again wins over nothing that it read.
func TestFill_read(t *testing.T) {
	config, db := fmt.Sprintf(fillConfig, "read"), filepath.Join(t.TempDir(), "db")
	runLocal(t, config, []message{
		item("c", "1", filled(`"large"`, "1"), 10, 11),
		item("u", "1", filled(placeholder, "2"), 19, 20),
	}, "-db", db)
	out := runLocal(t, config, []message{
		item("u", "1", filled(`"old"`, "0"), 4, 5),
		item("u", "1", filled(placeholder, "3"), 29, 30),
		item("u", "9", filled(placeholder, "3"), 29, 30), // BigQuery doesn't have it either
	}, "-db", db)
	rows := out.Tables["shop.items"]
	if len(rows) != 1 || rows[0]["doc"] != "large" || rows[0]["n"] != "3" {
		t.Errorf("rows %v", rows)
	}
	if len(out.DeadLetters) != 1 || out.DeadLetters[0].Stage != "fill" {
		t.Errorf("dead letters %v", out.DeadLetters)
	}
}

// Cases 33 and 34: a soft delete keeps what is known, whatever the delete holds, and of a
// row that nobody knows writes the key, the flag and the time.
func TestSoftDeletes(t *testing.T) {
	config := strings.Replace(fmt.Sprintf(fillConfig, "read"), "unavailable_values: fill", "deletes: soft", 1)
	out := runLocal(t, config, []message{
		item("c", "1", filled(`"BOLT"`, "3"), 10, 11),
		item("d", "1", filled(`""`, "0"), 19, 20),
		item("d", "2", "", 39, 40), // before its row
		item("c", "2", filled(`"NUT"`, "1"), 29, 30),
		item("d", "3", "", 39, 41),
		item("c", "3", filled(`"AGAIN"`, "5"), 49, 50),
		item("d", "9", "", 69, 70), // of a row that was never there
	})
	for _, r := range out.Tables["shop.items"] {
		delete(r, "beamcdc_versions")
		if deleted := r["is_deleted"] == true; deleted != (r["deleted_at"] != nil) && r["id"] != "9" {
			t.Errorf("row %v: the flag and the time disagree", r)
		}
		delete(r, "deleted_at")
	}
	want := []row{
		{"id": "1", "doc": "BOLT", "n": "3", "is_deleted": true},
		{"id": "2", "doc": "NUT", "n": "1", "is_deleted": true},
		{"id": "3", "doc": "AGAIN", "n": "5", "is_deleted": false},
		{"id": "9", "doc": nil, "n": nil, "is_deleted": true},
	}
	if diff := cmp.Diff(want, out.Tables["shop.items"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(out.DeadLetters) > 0 {
		t.Errorf("dead letters %v", out.DeadLetters)
	}
}

// examples/fill and examples/soft-deletes do what their README says.
func TestFillExamples(t *testing.T) {
	skipShort(t)
	for name, want := range map[string][]string{
		"fill":         {`"title":"Bolts","body":"A long text about bolts."`, `"id":"12","title":"Nuts and washers","body":"A long text about nuts."`, `"unavailable_value"`},
		"soft-deletes": {`"id":"1","title":"Bolts","views":"3","is_deleted":true`, `"id":"2","title":"Nuts","views":"5","is_deleted":true`, `"id":"3","title":"Screws, new","views":"0","is_deleted":false`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		folder := "../../examples/" + name
		command := exec.CommandContext(ctx, binary(t, "local"), "-output", "json", "-config", folder+"/pipeline.yaml", "-messages", folder+"/messages.jsonl")
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out) {
			t.Fatalf("%s: no JSON", name)
		}
		for _, text := range want {
			if !strings.Contains(string(out), text) {
				t.Errorf("examples/%s: %s is not in\n%s", name, text, out)
			}
		}
	}
}

// Asked to stop while changes wait for what completes their rows, it finishes them too:
// they are dead letters after hold_for, and the counts add up.
func TestFill_stop(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, strings.Replace(fmt.Sprintf(fillConfig, "hold"), "500ms", "5s", 1))
	l := s.launch("--metrics_address", "127.0.0.1:0", "--log_format", "json")
	address := l.address()
	moved := item("c", "12", filled(placeholder, "2"), 49, 50)
	moved.attributes = map[string]string{"__debezium.oldkey": `{"id":2}`}
	s.publish(
		item("c", "1", filled(`"large"`, "1"), 10, 11),
		item("u", "3", filled(placeholder, "2"), 29, 30),
		item("u", "3", filled(placeholder, "3"), 39, 40),
		moved, moved, // whose old key is not known
	)
	l.waitFor("the changes that wait", func() bool {
		m := scrape(t, address)
		return m.sum("fill_held_total") == 2 && m.sum("fill_key_changes_waiting_total") == 2
	})
	counts := l.stop()
	if !balanced(counts) || counts["messages"] != 5 || counts["rows_upserted"] != 1 || counts["dead_letters"]+counts["waiting"]+counts["superseded"] != 4 {
		t.Errorf("stopped with 4 of 5 changes waiting, it counts %v", counts)
	}
	if unacked := s.pubsub.Unacked(launchTopic); int64(unacked) != counts["waiting"] {
		t.Errorf("%d messages are unacked, the counts have %d that wait", unacked, counts["waiting"])
	}
}
