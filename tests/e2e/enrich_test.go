package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestExample_enrich runs examples/enrich as its README does: each kind of step, rows
// that start and stop matching, a delete, and a row for which an expression fails.
func TestExample_enrich(t *testing.T) {
	skipShort(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary(t, "local"),
		"-config", "examples/enrich/pipeline.yaml", "-messages", "examples/enrich/messages.jsonl", "-output", "json")
	command.Dir = "../.." // the example's paths are the repository's
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("running cmd/local: %v\n%s", err, stderr.String())
	}
	var out struct {
		Tables      map[string][]map[string]any `json:"tables"`
		DeadLetters []map[string]string         `json:"dead_letters"`
		Counts      map[string]int              `json:"counts"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	// printf %s ann@example.com | openssl dgst -sha256 -hmac "$(cat examples/enrich/mask.key)"
	const ann = "183b9dfffa3a09d57c25d9ea92422bce57f4446c9ac15c52e4123064bfdfa445"
	want := []string{
		`"1" "7" "Ann Lee" "retail" "paid" "100" "119" "` + ann + `" "**********4567" "2025-03-09T08:07:06.503000Z" "0/6E" "update"`,
		`"3" "9" null "unknown" "paid" "0.05" "0.06" "` + ann + `" null "2025-03-09T08:07:06.523000Z" "0/82" "create"`,
	}
	columns := strings.Fields("order_id customer_id customer_name segment status net gross email phone committed_at source_position last_operation")
	var got []string
	for _, row := range out.Tables["shop.orders"] {
		var values []string
		for _, name := range columns {
			text, err := json.Marshal(row[name])
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, string(text))
		}
		if len(row) != len(columns) {
			t.Errorf("the table has %d columns, want %d: %v", len(row), len(columns), row)
		}
		got = append(got, strings.Join(values, " "))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the table has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Order 1 was created as a draft: nothing was written for that.
	if out.Counts["filtered"] != 1 || len(out.DeadLetters) != 1 {
		t.Fatalf("counts %v, dead letters %v", out.Counts, out.DeadLetters)
	}
	letter := out.DeadLetters[0]
	if letter["stage"] != "enrich" || letter["reason"] != "expression_failed" || !strings.Contains(letter["error"], "enrich[3].set, column gross: ") {
		t.Errorf("the dead letter says %v", letter)
	}
}

// short finds the beginnings of masked values.
var short = regexp.MustCompile(`\b([0-9a-f]{4})[0-9a-f]{60}\b`)

// TestEnrich_keys: a key that is renamed and masked is the same in a row, in a delete
// and where it changes; a condition on the row is about it as its source has it. The
// history has what the table got, and nothing that is masked there.
func TestEnrich_keys(t *testing.T) {
	skipShort(t)
	t.Setenv("ENRICH_E2E_KEY", "0123456789abcdef")
	const config = `
source: {subscription: projects/demo/subscriptions/people}
create_tables: true
window: 1s
tables:
  - source: public.people
    destination: shop.people
    history: shop.people_history
    primary_key: [person]
    columns: [{name: person, type: STRING}, {name: name, type: STRING}]
    enrich:
      - where: row.email != "nobody@x" && row.name != "hidden"
      - rename: {email: person}
      - mask: {columns: [person], by: sha256, key: {env: ENRICH_E2E_KEY}}
dead_letters: {topic: projects/demo/topics/dead}
`
	person := func(email, name string) string { return `{"email":"` + email + `","name":"` + name + `"}` }
	lsn := 100
	change := func(op, before, after string) message {
		lsn += 10
		n := strconv.Itoa(lsn)
		return message{data: `{"op":"` + op + `","before":` + before + `,"after":` + after + `,"source":{"connector":"postgresql","db":"shop","schema":"public","table":"people","snapshot":"false","lsn":` + n +
			`,"sequence":"[\"` + n + `\",\"` + n + `\"]"},"ts_ms":1741507626400}`}
	}
	out := runLocal(t, config, []message{
		change("c", "null", person("a@x", "Ann")),
		change("c", "null", person("b@x", "Bob")),
		change("c", "null", person("c@x", "Cy")),
		change("c", "null", person("e@x", "Eve")),
		change("d", person("b@x", "Bob"), "null"),
		change("u", person("c@x", "Cy"), person("d@x", "Cy")),      // another key
		change("u", person("e@x", "Eve"), person("e@x", "hidden")), // stops matching
		change("c", "null", person("nobody@x", "x")),
	})
	// printf a@x | openssl dgst -sha256 -hmac 0123456789abcdef
	want := map[string]string{
		"b376083abdc4a15a06dc0af7e565bedd79e79ebbe06326a79c24ce045785dec2": "Ann",
		"ad43f4bf3ae6ecd7f65ce620468adaba1887bb14cce090a7d2188e3e67c35a5b": "Cy",
	}
	rows := out.Tables["shop.people"]
	if len(rows) != len(want) || len(out.DeadLetters) != 0 {
		t.Fatalf("the table has %v, dead letters %v", rows, out.DeadLetters)
	}
	for _, row := range rows {
		if want[row["person"].(string)] != row["name"] {
			t.Errorf("%v is %v", row["person"], row["name"])
		}
	}
	all, err := json.Marshal(out.Tables)
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`[a-e]@x|nobody|hidden`).Match(all) {
		t.Errorf("what is masked, or left out, is in a table: %s", all)
	}
	var past []string
	for _, row := range out.Tables["shop.people_history"] {
		text, err := json.Marshal([]any{row["operation"], row["change_type"], row["key"], row["before"], row["after"]})
		if err != nil {
			t.Fatal(err)
		}
		past = append(past, short.ReplaceAllString(string(text), "$1…"))
	}
	slices.Sort(past)
	wantPast := []string{
		`["create","UPSERT","{\"person\":\"4215…\"}",null,"{\"person\":\"4215…\",\"name\":\"Eve\"}"]`,
		`["create","UPSERT","{\"person\":\"b0f9…\"}",null,"{\"person\":\"b0f9…\",\"name\":\"Cy\"}"]`,
		`["create","UPSERT","{\"person\":\"b376…\"}",null,"{\"person\":\"b376…\",\"name\":\"Ann\"}"]`,
		`["create","UPSERT","{\"person\":\"d5c1…\"}",null,"{\"person\":\"d5c1…\",\"name\":\"Bob\"}"]`,
		`["delete","DELETE","{\"person\":\"d5c1…\"}","{\"person\":\"d5c1…\",\"name\":\"Bob\"}",null]`,
		`["update","DELETE","{\"person\":\"4215…\"}","{\"person\":\"4215…\",\"name\":\"Eve\"}",null]`, // stops matching
		`["update","DELETE","{\"person\":\"b0f9…\"}","{\"person\":\"b0f9…\",\"name\":\"Cy\"}",null]`,
		`["update","UPSERT","{\"person\":\"ad43…\"}","{\"person\":\"b0f9…\",\"name\":\"Cy\"}","{\"person\":\"ad43…\",\"name\":\"Cy\"}"]`,
	}
	if diff := cmp.Diff(wantPast, past); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
}
