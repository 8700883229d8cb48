package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const deadSubscription = "projects/demo/subscriptions/dead"

// cdc runs cdc dead-letters beside the services, wants an exit status, and returns the
// JSON lines that it prints.
func (s *services) deadLettersCommand(status int, action string, args ...string) []map[string]any {
	s.t.Helper()
	args = append([]string{
		"dead-letters", action, "-config", s.config, "-output", "json", "-wait", "1s",
		"-bigquery_rest_endpoint", s.bigquery.RESTAddr(), "-bigquery_grpc_endpoint", s.bigquery.GRPCAddr(),
	}, args...)
	command := exec.Command(binary(s.t, "cdc"), args...)
	command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+s.pubsub.Addr)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	code := 0
	var exit *exec.ExitError
	if err := command.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	if code != status {
		s.t.Fatalf("cdc dead-letters %s exited with %d, want %d\n%.2000s\n%s", action, code, status, stdout.String(), stderr.String())
	}
	var lines []map[string]any
	for d := json.NewDecoder(&stdout); d.More(); {
		var line map[string]any
		if err := d.Decode(&line); err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// fields returns members of each line as a text, sorted.
func fields(lines []map[string]any, names ...string) []string {
	var texts []string
	for _, line := range lines {
		var values []string
		for _, name := range names {
			values = append(values, fmt.Sprint(line[name]))
		}
		texts = append(texts, strings.Join(values, " "))
	}
	slices.Sort(texts)
	return texts
}

// From each sink: what could not be processed is listed, shown byte for byte, refused
// while BigQuery may have forgotten a delete, repaired by jq and by CEL, and replayed
// to where the table equals the source; an old update that is replayed changes nothing.
func TestDeadLetters(t *testing.T) {
	for name, sink := range map[string]string{
		"directory": "{directory: %q}",
		"table":     "{table: ops.dead_letters}",
		"topic":     "{topic: projects/demo/topics/dead}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			if name == "directory" {
				sink = fmt.Sprintf(sink, filepath.Join(t.TempDir(), "dead"))
			}
			s := startServices(t, strings.Replace(fmt.Sprintf(ordersConfig, "100ms"), "{topic: projects/demo/topics/dead}", sink, 1))
			var where []string
			if name == "topic" {
				if err := s.pubsub.CreateSubscription(t.Context(), deadSubscription, launchDead); err != nil {
					t.Fatal(err)
				}
				where = []string{"-dead_letter_subscription", deadSubscription}
			}
			run := func(status int, action string, args ...string) []map[string]any {
				t.Helper()
				return s.deadLettersCommand(status, action, append(slices.Clone(where), args...)...)
			}
			order := func(lsn uint64, after string) message {
				m := pgChange{table: "public.orders", op: "u", key: "k", after: after, lastCommit: 10, lsn: lsn}.message()
				m.attributes = map[string]string{"origin": "shop"}
				return m
			}
			large := order(50, fmt.Sprintf(`{"order_id":4,"status":%q}`, strings.Repeat("x", 9_900_000-600)))
			l := s.launch()
			s.publish( // m0, …
				order(11, `{"order_id":1,"status":"placed"}`),
				order(12, `{"order_id":"two","status":"placed"}`),
				order(13, `{"order_id":"three","status":"placed","total":12.50}`),
				order(14, `{"order_id":1,"status":"older","note":1}`),
				order(20, `{"order_id":1,"status":"shipped"}`),
				large,
			)
			s.waitAcked(l)

			listed := run(0, "list", "-each")
			ids := make(map[string]string) // of messages, by what is in them
			for _, line := range run(0, "show") {
				data := fmt.Sprint(line["data"])
				for _, what := range []string{"two", "three", "older", "xxxx"} {
					if strings.Contains(data, what) {
						ids[what] = fmt.Sprint(line["message_id"])
					}
				}
				if strings.Contains(data, "xxxx") && data != large.data {
					t.Errorf("the large message comes back as %d bytes, want its %d", len(data), len(large.data))
				}
				if line["ordering_key"] != "k" || fmt.Sprint(line["attributes"]) != "map[origin:shop]" {
					t.Errorf("letter %v has ordering key %v, attributes %v", line["id"], line["ordering_key"], line["attributes"])
				}
			}
			if len(listed) != 4 || len(ids) != 4 {
				t.Fatalf("listed are %v, shown messages %v, want 4", fields(listed, "id", "reason"), ids)
			}
			if diff := cmp.Diff([]string{"encode row_too_large 1", "encode unknown_column 1", "key bad_value 2"}, fields(run(0, "list"), "stage", "reason", "letters")); diff != "" {
				t.Errorf("groups, -want +got:\n%s", diff)
			}
			if got := run(0, "list", "-each", "-stage", "key", "-until", "36h"); got != nil {
				t.Errorf("published 36 hours ago were %v", got)
			}

			// Debezium says that they were committed long ago.
			for _, o := range run(1, "replay", "-reason", "bad_value") {
				if o["outcome"] != "refused" || !strings.Contains(fmt.Sprint(o["why"]), "two days") {
					t.Errorf("an old change: %v", o)
				}
			}
			replay := func(what, outcome string, args ...string) {
				t.Helper()
				if got := fields(run(0, "replay", append(args, "-forgotten_deletes", ids[what])...), "outcome"); !slices.Equal(got, []string{outcome}) {
					t.Errorf("replaying %q: %v, want %s", what, got, outcome)
				}
			}
			replay("two", "would_replay", "-dry_run", "-repair_jq", ".after.order_id = 2")
			if n := len(run(0, "list", "-each")); n != 4 {
				t.Errorf("a dry run leaves %d letters, want 4", n)
			}
			replay("two", "replayed", "-repair_jq", ".after.order_id = 2")
			replay("three", "replayed", "-repair_cel", `data.with("after.order_id", 3).without("after.total")`)
			replay("older", "replayed", "-repair_jq", `del(.after.note)`)
			replay("xxxx", "replayed")
			s.waitAcked(l)
			l.stop()
			if diff := cmp.Diff(map[int]string{1: "shipped", 2: "placed", 3: "placed"}, s.orders()); diff != "" {
				t.Errorf("rows, -want +got:\n%s", diff)
			}
			// What failed again is another letter, of the same message.
			if diff := cmp.Diff([]string{ids["xxxx"] + " encode row_too_large 1"}, fields(run(0, "list", "-each"), "message_id", "stage", "reason", "replays")); diff != "" {
				t.Errorf("letters left, -want +got:\n%s", diff)
			}
			if again := run(0, "show", ids["xxxx"]); len(again) != 1 || again[0]["data"] != large.data {
				t.Errorf("the large message is not what it was after a replay")
			}
		})
	}
}

// Where the order of publishing counts, a replay keeps the place of the first time:
// unless it is asked to be the newest.
func TestDeadLetters_arrival(t *testing.T) {
	t.Parallel() // it waits more than it works
	config := strings.Replace(fmt.Sprintf(ordersConfig, "100ms"), "primary_key:", "missing_positions: arrival\n    primary_key:", 1)
	s := startServices(t, config)
	if err := s.pubsub.CreateSubscription(t.Context(), deadSubscription, launchDead); err != nil {
		t.Fatal(err)
	}
	order := func(columns string) message {
		return pgChange{table: "public.orders", op: "u", key: "k", after: `{"order_id":1,` + columns + `}`}.message()
	}
	l := s.launch()
	for _, test := range []struct {
		want string
		args []string
	}{
		{"newest", nil},
		{"older", []string{"-as_new"}},
	} {
		s.publish(order(`"status":"older","note":1`), order(`"status":"newest"`))
		s.waitAcked(l)
		args := append([]string{"-dead_letter_subscription", deadSubscription, "-forgotten_deletes", "-repair_jq", `del(.after.note)`}, test.args...)
		if got := fields(s.deadLettersCommand(0, "replay", args...), "outcome"); !slices.Equal(got, []string{"replayed"}) {
			t.Fatalf("outcomes %v", got)
		}
		s.waitAcked(l)
		if got := s.orders()[1]; got != test.want {
			t.Errorf("after a replay with %v the row is %q, want %q", test.args, got, test.want)
		}
	}
	l.stop()
}
