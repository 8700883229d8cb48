package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What examples/truncate shows is what it prints.
func TestTruncate_example(t *testing.T) {
	skipShort(t)
	folder := filepath.Join("..", "..", "examples", "truncate")
	local := binary(t, "local")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := func(format string) string {
		command := exec.CommandContext(ctx, local,
			"-config", filepath.Join(folder, "pipeline.yaml"), "-messages", filepath.Join(folder, "messages.jsonl"), "-output", format)
		printed, err := command.Output()
		if err != nil {
			t.Fatalf("running cmd/local: %v", err)
		}
		return string(printed)
	}
	var out outcome
	if err := json.Unmarshal([]byte(run("json")), &out); err != nil {
		t.Fatal(err)
	}
	want := map[string][]row{
		"shop.stock":  {{"sku": "LAMP-OAK", "quantity": "4"}, {"sku": "MUG-BLUE", "quantity": "40"}},
		"shop.prices": {{"sku": "MUG-BLUE", "cents": "1250"}},
	}
	if diff := cmp.Diff(want, out.Tables); diff != "" {
		t.Errorf("tables, -want +got:\n%s", diff)
	}
	if len(out.DeadLetters) != 1 || out.DeadLetters[0].Reason != "truncate" || !strings.Contains(out.DeadLetters[0].Error, "delete_keys") {
		t.Errorf("dead letters %+v, want that of the table that refuses truncates", out.DeadLetters)
	}
	if out.Counts["truncates"] != 2 || !balanced(out.Counts) {
		t.Errorf("counts %v", out.Counts)
	}
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```text\n")
	shown, _, _ = strings.Cut(shown, "```")
	if printed := run("table"); shown == "" || !strings.Contains(printed, shown) {
		t.Errorf("README.md shows\n%s\nand it prints\n%s", shown, printed)
	}
}

// Killed while a truncate waits, and while it deletes, and started again, the pipeline
// ends with the source's table.
func TestTruncate_kill(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms")+"    truncates: delete_keys\nruntime: {truncate_wait: 1s}\n")
	order := func(id int, status string, lsn uint64) message {
		return pgChange{
			table: "public.orders", op: "c", key: fmt.Sprintf(`{"order_id":%d}`, id),
			after: fmt.Sprintf(`{"order_id":%d,"status":%q}`, id, status), lastCommit: lsn - 5, lsn: lsn,
		}.message()
	}
	const orders = 3000
	for id := 1; id <= orders; id++ {
		s.publish(order(id, "old", uint64(100+id)))
	}
	l := s.launch()
	s.waitAcked(l)
	const truncatedAt = 1_000_000
	s.publish(order(7, "new", truncatedAt+10), pgChange{table: "public.orders", op: "t", lastCommit: truncatedAt - 5, lsn: truncatedAt}.message())
	for _, pause := range []time.Duration{300 * time.Millisecond, 1200 * time.Millisecond, 1500 * time.Millisecond} {
		time.Sleep(pause)
		l.signal(syscall.SIGKILL)
		<-l.ended
		l = s.launch()
	}
	s.publish(order(orders+1, "late", 99), order(9, "newer", truncatedAt+20))
	s.waitAcked(l)
	if diff := cmp.Diff(map[int]string{7: "new", 9: "newer"}, s.orders()); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	if counts := l.stop(); !balanced(counts) {
		t.Errorf("the counts of the last run don't add up: %v", counts)
	}
	if letters := s.deadLetters(); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
}
