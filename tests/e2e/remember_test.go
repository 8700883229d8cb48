package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

// The example of histories: what the table and its history have, the view without
// duplicates, and the query of its README, which makes the table of the history.
func TestExample_history(t *testing.T) {
	t.Parallel() // it waits more than it works
	skipShort(t)
	const example = "../../examples/history/"
	readme, err := os.ReadFile(example + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rebuild, _ := strings.Cut(string(readme), "```sql\n")
	rebuild, _, found := strings.Cut(rebuild, "```")
	if !found {
		t.Fatal("the README has no query")
	}
	command := exec.Command(binary(t, "local"), "-config", filepath.Join(example, "pipeline.yaml"), "-messages", filepath.Join(example, "messages.jsonl"), "-serve", "-output", "json")
	var out strings.Builder
	command.Stdout = &out
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	said := bufio.NewReader(stderr)
	address := readMatch(t, said, `shop\.stock +(http://[^/]+)`)
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(address), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	query := func(sql string) (rows []string) {
		it, err := client.Query(sql).Read(ctx)
		for err == nil {
			var row []bigquery.Value
			if err = it.Next(&row); err == nil {
				rows = append(rows, fmt.Sprint(row))
			}
		}
		if !errors.Is(err, iterator.Done) {
			t.Fatalf("%v\n%s", err, sql)
		}
		return rows
	}
	const all = 9 // seven changes, one of them of two keys, one delivered twice
	for len(query("SELECT 1 FROM shop.stock_history")) < all || len(query("SELECT 1 FROM shop.stock")) < 2 {
		time.Sleep(50 * time.Millisecond)
	}
	if diff := cmp.Diff(query("SELECT * FROM shop.stock ORDER BY sku"), query("SELECT * FROM ("+rebuild+") ORDER BY sku")); diff != "" {
		t.Errorf("the table and what its history makes of it (-table +history):\n%s", diff)
	}
	// The command prints the README's query, in its own words.
	rebuildCommand := exec.CommandContext(ctx, binary(t, "cdc"), "rebuild", "-config", filepath.Join(example, "pipeline.yaml"), "-bigquery_rest_endpoint", address,
		"-bigquery_grpc_endpoint", "127.0.0.1:1", "shop.stock") // which it doesn't connect to
	rebuildCommand.Stderr = os.Stderr
	printed, err := rebuildCommand.Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, query, _ := strings.Cut(string(printed), "\n"); strings.Join(strings.Fields(query), " ") != strings.Join(strings.Fields(rebuild), " ")+";" {
		t.Errorf("cdc rebuild prints\n%s\nand the README has\n%s", query, rebuild)
	}
	want := []string{
		`[create UPSERT {"sku":"bolt"} {"sku":"bolt","quantity":10,"price":"0.25"}]`,
		`[update UPSERT {"sku":"bolt"} {"sku":"bolt","quantity":8,"price":"0.25"}]`,
		`[update UPSERT {"sku":"bolt"} {"sku":"bolt","quantity":7,"price":"0.3"}]`,
		`[create UPSERT {"sku":"nut"} {"sku":"nut","quantity":5,"price":"0.1"}]`,
		`[update DELETE {"sku":"nut"} null]`,
		`[update UPSERT {"sku":"hex-nut"} {"sku":"hex-nut","quantity":5,"price":"0.1"}]`,
		`[create UPSERT {"sku":"washer"} {"sku":"washer","quantity":1,"price":"0.05"}]`,
		`[delete DELETE {"sku":"washer"} null]`,
	}
	got := query("SELECT operation, change_type, key, TO_JSON_STRING(after) FROM shop.stock_history_distinct ORDER BY sequence")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if n := len(query("SELECT 1 FROM shop.stock_history")); n != all {
		t.Errorf("%d rows in the history, want %d", n, all)
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(said)
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"shop.stock_history"`) {
		t.Error("it doesn't print the history")
	}
}
