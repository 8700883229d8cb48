package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// With -serve the system goes on: what is published to the address that it prints
// is in BigQuery's emulator, at the other, after a window. Interrupted, it prints
// what there is and exits with 0.
func TestServe(t *testing.T) {
	t.Parallel() // it waits more than it works
	skipShort(t)
	config := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, ordersConfig, "100ms"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary(t, "local"), "-config", config, "-serve", "-output", "json")
	var out strings.Builder
	command.Stdout = &out
	stderr, err := command.StderrPipe() // JSON alone goes to standard output
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	said := bufio.NewReader(stderr)
	host := readMatch(t, said, `PUBSUB_EMULATOR_HOST=(\S+)`)
	topic := readMatch(t, said, `publish to +projects/demo/topics/(\S+)`)
	letters := readMatch(t, said, `dead-letters list -dead_letter_subscription (\S+)`)
	rows := readMatch(t, said, `shop\.orders +(http://\S+)`)

	client, err := pubsub.NewClient(t.Context(), "demo", option.WithEndpoint(host), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	change := pgChange{table: "public.orders", op: "c", after: `{"order_id":1,"status":"placed"}`, lastCommit: 10, lsn: 11}.message()
	if _, err := client.Publisher(topic).Publish(t.Context(), &pubsub.Message{Data: []byte(change.data)}).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for text := ""; !strings.Contains(text, `"placed"`); time.Sleep(20 * time.Millisecond) {
		if text = get(ctx, t, rows); ctx.Err() != nil {
			t.Fatalf("the row is not there after a minute: %s", text)
		}
	}

	// A dead letter is seen by the command that was printed.
	if _, err := client.Publisher(topic).Publish(t.Context(), &pubsub.Message{Data: []byte("{")}).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	for listed := ""; !strings.Contains(listed, `"bad_json"`); {
		list := exec.CommandContext(ctx, binary(t, "cdc"), "dead-letters", "list", "-output", "json", "-wait", "1s", "-dead_letter_subscription", letters)
		list.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+host)
		text, err := list.CombinedOutput()
		if listed = string(text); err != nil {
			t.Fatalf("listing the dead letters: %v\n%s", err, listed)
		}
	}

	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said) // until it ends
	if err := command.Wait(); err != nil {
		t.Fatalf("after SIGINT: %v\n%s", err, rest)
	}
	var result outcome
	if err := json.Unmarshal([]byte(out.String()), &result); err != nil {
		t.Fatalf("it printed no JSON object: %v\n%s", err, out.String())
	}
	if len(result.Tables["shop.orders"]) != 1 || result.Counts["rows_upserted"] != 1 {
		t.Errorf("it printed %s", out.String())
	}
}

// readMatch reads lines up to one that matches, and returns its first group.
func readMatch(t *testing.T, r *bufio.Reader, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	for {
		line, err := r.ReadString('\n')
		if match := expression.FindStringSubmatch(line); match != nil {
			return match[1]
		}
		if err != nil {
			t.Fatalf("no line matches %s", pattern)
		}
	}
}

func get(ctx context.Context, t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
