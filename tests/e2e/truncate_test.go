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
	run := func(config, format string) string {
		command := exec.CommandContext(ctx, local,
			"-config", filepath.Join(folder, config), "-messages", filepath.Join(folder, "messages.jsonl"), "-output", format)
		printed, err := command.Output()
		if err != nil {
			t.Fatalf("running cmd/local: %v", err)
		}
		return string(printed)
	}
	want := map[string][]row{
		"shop.stock":  {{"sku": "LAMP-OAK", "quantity": "4"}, {"sku": "MUG-BLUE", "quantity": "40"}},
		"shop.prices": {{"sku": "MUG-BLUE", "cents": "1250"}},
	}
	for _, config := range []string{"pipeline.yaml", "recreate.yaml"} {
		var out outcome
		if err := json.Unmarshal([]byte(run(config, "json")), &out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.Tables); diff != "" {
			t.Errorf("%s: tables, -want +got:\n%s", config, diff)
		}
		if len(out.DeadLetters) != 1 || out.DeadLetters[0].Reason != "truncate" || !strings.Contains(out.DeadLetters[0].Error, "delete_keys") {
			t.Errorf("%s: dead letters %+v, want that of the table that refuses truncates", config, out.DeadLetters)
		}
		if out.Counts["truncates"] != 2 || !balanced(out.Counts) {
			t.Errorf("%s: counts %v", config, out.Counts)
		}
	}
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```text\n")
	shown, _, _ = strings.Cut(shown, "```")
	if printed := run("pipeline.yaml", "table"); shown == "" || !strings.Contains(printed, shown) {
		t.Errorf("README.md shows\n%s\nand it prints\n%s", shown, printed)
	}
}

// Killed while a truncate waits, and while it deletes, and started again, the pipeline
// ends with the source's table.
func TestTruncate_kill(t *testing.T) { killTruncate(t, "delete_keys") }

// The same of a new table behind a view: it is killed while it copies, too.
func TestTruncate_killRecreate(t *testing.T) { killTruncate(t, "recreate") }

func killTruncate(t *testing.T, truncates string) {
	t.Helper()
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms")+"    truncates: "+truncates+"\nruntime: {truncate_wait: 1s}\n")
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

// Killed in the middle of the copy to the new table, the pipeline copies the rest when
// it is started again: rows that came before the truncate they are later than, and
// deletes of such rows, whose older changes come last.
func TestTruncate_killCopy(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms")+"    truncates: recreate\nruntime: {truncate_wait: 500ms, target_request_bytes: 300}\n")
	const orders, truncatedAt = 2500, 1000
	order := func(op string, id int, status string, lsn uint64) message {
		c := pgChange{table: "public.orders", op: op, key: fmt.Sprintf(`{"order_id":%d}`, id), lastCommit: lsn - 5, lsn: lsn}
		if image := fmt.Sprintf(`{"order_id":%d,"status":%q}`, id, status); op == "d" {
			c.before = image
		} else {
			c.after = image
		}
		return c.message()
	}
	want := make(map[int]string)
	for id := 1; id <= orders; id++ {
		if id%10 == 0 {
			s.publish(order("d", id, "new", uint64(50_000+id)))
			continue
		}
		s.publish(order("c", id, "new", uint64(truncatedAt+id)))
		want[id] = "new"
	}
	s.publish(order("c", orders+1, "old", 99))
	l := s.launch()
	s.waitAcked(l)
	s.publish(pgChange{table: "public.orders", op: "t", lastCommit: truncatedAt - 5, lsn: truncatedAt}.message())
	for emptied, end := false, time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		n := len(s.orders())
		emptied = emptied || n == 0
		if emptied && n > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the view has %d rows, and no copy begins", n)
		}
	}
	l.signal(syscall.SIGKILL)
	<-l.ended
	if n := len(s.orders()); n >= len(want) {
		t.Errorf("%d rows were copied: it was not killed in the middle", n)
	} else {
		t.Logf("killed when %d of %d rows were copied", n, len(want))
	}
	l = s.launch()
	for id := 10; id <= orders; id += 10 {
		s.publish(order("c", id, "new", uint64(truncatedAt+id)))
	}
	s.waitAcked(l)
	if diff := cmp.Diff(want, s.orders()); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	if counts := l.stop(); !balanced(counts) {
		t.Errorf("the counts of the last run don't add up: %v", counts)
	}
}
