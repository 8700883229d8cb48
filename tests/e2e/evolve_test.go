package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
)

// hash is the end of a name that BigQuery doesn't take.
var hash = regexp.MustCompile(`_[0-9a-f]{8}=`)

// readmeLines returns the lines of a file that begin with a word.
func readmeLines(t *testing.T, name, word string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, word) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no line that begins with %s", name, word)
	}
	return lines
}

// Section E of the public bugs: what becomes of a table whose source changes.
func TestEvolvingTables(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    unknown_columns: add
    columns: &columns
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: name, type: STRING, mode: REQUIRED}
      - {name: price, type: "NUMERIC(10, 2)"}
  - {source: public.refusing, destination: shop.refusing, primary_key: [id], columns: *columns}
  - {source: public.groups, destination: shop.groups, primary_key: [id], unknown_columns: add, columns: *columns}
  - {source: public.narrow, destination: shop.narrow, primary_key: [id], unknown_columns: add, untyped_columns: string, max_columns: 4, columns: *columns}
  - {source: public.typed, destination: shop.typed, primary_key: [id], unknown_columns: add, untyped_columns: reject, columns: *columns}
`
	var lsn uint64
	change := func(table, after string) message {
		lsn++
		return pgChange{table: "public." + table, op: "u", after: after, lastCommit: lsn, lsn: lsn}.message()
	}
	out := runLocal(t, config, []message{
		change("items", `{"id":1,"name":"a","price":"1.50"}`),
		// 76: a new column is not dropped.
		change("items", `{"id":2,"name":"a","price":"1.50","color":"red"}`),
		change("refusing", `{"id":2,"name":"a","price":"1.50","color":"red"}`),
		// 78: NOT NULL is dropped, or a column that has it is.
		change("items", `{"id":3,"name":null,"price":"1.50"}`),
		change("items", `{"id":4,"price":"1.50"}`),
		// 79: no ALTER is ever seen, and the case is kept.
		change("items", `{"id":5,"name":"a","NewCol":{"k":[1]}}`),
		// 81: reserved names are renamed, and drive nothing.
		change("items", `{"id":6,"name":"a","_CHANGE_TYPE":"DELETE","_TABLE_x":1,"_partition_day":"x","__root__a":true}`),
		// 82: names that are SQL.
		change("groups", "{\"id\":1,\"name\":\"a\",\"current\":1,\"interval\":2,\"x`; DROP TABLE items; --\":3}"),
		// 85: NUMERIC(10, 2) is what a NUMERIC is configured as; it holds more once it has to.
		change("items", `{"id":7,"name":"a","price":"0.125"}`),
		change("narrow", `{"id":1,"name":"a","one":1.50}`),
		change("narrow", `{"id":2,"name":"a","two":2}`),
		change("typed", `{"id":1,"name":"a","one":1}`),
		change("typed", `{"id":2,"name":"a","flag":true}`),
	})
	text := func(r row) string {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(r)) {
			if r[name] != nil {
				value, _ := json.Marshal(r[name])
				parts = append(parts, name+"="+string(value))
			}
		}
		return strings.Join(parts, " ")
	}
	want := map[string][]string{
		"shop.items": {
			`id="1" name="a" price="1.5"`,
			`color="red" id="2" name="a" price="1.5"`,
			`id="3" price="1.5"`,
			`id="4" price="1.5"`,
			`NewCol="{\"k\":[1]}" id="5" name="a"`,
			`c_CHANGE_TYPE="DELETE" c_TABLE_x="1" c__root__a=true c_partition_day="x" id="6" name="a"`,
			`id="7" name="a" price="0.125"`,
		},
		"shop.refusing": nil,
		"shop.groups":   {`current="1" id="1" interval="2" name="a" x__ DROP TABLE items_ --_HASH="3"`},
		"shop.narrow":   {`id="1" name="a" one="1.50"`},
		"shop.typed":    {`flag=true id="2" name="a"`},
	}
	got := make(map[string][]string)
	for name, rows := range out.Tables {
		got[name] = nil
		for _, r := range rows {
			got[name] = append(got[name], hash.ReplaceAllString(text(r), "_HASH="))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	letters := make(map[string]int)
	for _, l := range out.DeadLetters {
		letters[l.Reason]++
		if !strings.Contains(l.Error, "unknown_columns") && !strings.Contains(l.Error, "untyped_columns") && !strings.Contains(l.Error, "raise max_columns") {
			t.Errorf("a dead letter doesn't say what to do: %s", l.Error)
		}
	}
	if len(out.DeadLetters) != 3 || letters["unknown_column"] != 3 {
		t.Errorf("dead letters %v, want one each of refusing, narrow and typed", out.DeadLetters)
	}
}

// The real command: rows with a new column wait while BigQuery's writers don't know it,
// are no dead letters, and hold up neither others of the table nor another pipeline's
// stop.
func TestEvolvingTable_lag(t *testing.T) {
	s := startServices(t, `
source: {subscription: `+subscription+`}
create_tables: true
window: 20ms
dead_letters: {topic: `+launchDead+`}
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id]
    unknown_columns: add
    columns: [{name: order_id, type: INT64, mode: REQUIRED}, {name: status, type: STRING}]
`)
	if err := s.bigquery.SetFaults([]emulator.Fault{{Effect: emulator.Effect{HideNew: 6 * time.Second}}}); err != nil {
		t.Fatal(err)
	}
	l := s.launch()
	time.Sleep(6 * time.Second) // until the table itself is known
	change := func(id, after string) message {
		return pgChange{table: "public.orders", op: "c", after: `{"order_id":` + id + after + `}`, lastCommit: 10, lsn: 100}.message()
	}
	s.publish(change("1", `,"status":"first"`))
	l.waitFor("the first row's ack", func() bool { return s.pubsub.Unacked(launchTopic) == 0 })
	s.publish(change("2", `,"status":"new","color":"red"`))
	l.waitFor("the column", func() bool { return strings.Contains(l.stderr.String(), "ADD COLUMN `color` STRING;") })
	start := time.Now()
	s.publish(change("3", `,"status":"old","color":null`), change("4", `,"status":"old"`))
	l.waitFor("the acks of the others", func() bool { return s.pubsub.Unacked(launchTopic) == 1 })
	if waited := time.Since(start); waited > 5*time.Second {
		t.Errorf("the others have waited for %v", waited)
	}
	s.waitAcked(l)
	l.signal(syscall.SIGTERM)
	if code := l.waitEnd(); code != 0 {
		t.Errorf("it exited with %d\n%s", code, l.stderr.String())
	}
	if diff := cmp.Diff(map[int]string{1: "first", 2: "new", 3: "old", 4: "old"}, s.orders()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if letters := s.deadLetters(); len(letters) > 0 {
		t.Errorf("dead letters %v", letters)
	}
}

// examples/evolve does what its README says.
func TestExample_evolve(t *testing.T) {
	skipShort(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary(t, "local"), "-config", "../../examples/evolve/pipeline.yaml", "-messages", "../../examples/evolve/messages.jsonl")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, line := range readmeLines(t, "../../examples/evolve/README.md", "ALTER TABLE") {
		if !strings.Contains(strings.ReplaceAll(stderr.String(), `\"`, `"`), line) {
			t.Errorf("the README shows %s, which isn't logged:\n%s", line, stderr.String())
		}
	}
	if !strings.Contains(stdout.String(), "0 dead letters") || !strings.Contains(stdout.String(), "shop.items  6 rows") {
		t.Errorf("it prints\n%s", stdout.String())
	}
}
