package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
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
