package e2e

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What dead letters hold of their messages is what the configuration says: nothing, or
// what only its key opens. From each sink an encrypted one is shown and replayed by the
// key, and neither without; a redacted one is gone.
func TestDeadLetters_protected(t *testing.T) {
	const sentinel = "5entinel"
	for _, sink := range []string{"directory", "table", "topic"} {
		for _, data := range []string{"encrypt", "redact"} {
			t.Run(sink+"/"+data, func(t *testing.T) {
				t.Parallel() // it waits more than it works
				at := map[string]string{"directory": filepath.Join(t.TempDir(), "dead"), "table": "ops.dead_letters", "topic": launchDead}[sink]
				how := fmt.Sprintf("{%s: %q, data: %s}", sink, at, data)
				if data == "encrypt" {
					key := filepath.Join(t.TempDir(), "letters.key")
					if err := os.WriteFile(key, []byte(hex.EncodeToString([]byte(strings.Repeat("k", 32)))+"\n"), 0o600); err != nil {
						t.Fatal(err)
					}
					how = fmt.Sprintf("{%s: %q, data: %s, key: %q}", sink, at, data, key)
				}
				s := startServices(t, strings.Replace(fmt.Sprintf(ordersConfig, "100ms"), "{topic: projects/demo/topics/dead}", how, 1))
				var where []string
				if sink == "topic" {
					if err := s.pubsub.CreateSubscription(t.Context(), deadSubscription, launchDead); err != nil {
						t.Fatal(err)
					}
					where = []string{"-dead_letter_subscription", deadSubscription}
				}
				run := func(status int, action string, args ...string) []map[string]any {
					t.Helper()
					return s.deadLettersCommand(status, action, append(slices.Clone(where), args...)...)
				}
				bad := pgChange{table: "public.orders", op: "c", key: "key " + sentinel, after: `{"order_id":"` + sentinel + `","status":"placed"}`, lastCommit: 10, lsn: 12}.message()
				bad.attributes = map[string]string{"origin": sentinel}
				l := s.launch()
				s.publish(bad)
				s.waitAcked(l)

				// Whoever reads the sink sees why, and nothing of the message.
				stored, err := json.Marshal(run(1, "show", "-dead_letter_data=keep", "-dead_letter_key="))
				if err != nil || strings.Contains(string(stored), sentinel) || !strings.Contains(string(stored), "bad_value") {
					t.Errorf("%v: stored is %s", err, stored)
				}
				if sink == "directory" {
					files, err := filepath.Glob(filepath.Join(at, "*.json"))
					if err != nil || len(files) != 1 {
						t.Fatalf("%v, %v", files, err)
					}
					if text, err := os.ReadFile(files[0]); err != nil || strings.Contains(string(text), sentinel) {
						t.Errorf("%v: the file holds %s", err, text)
					}
				}
				repair := []string{"-forgotten_deletes", "-repair_jq", ".after.order_id = 7"}
				if data == "redact" {
					for _, o := range run(1, "replay", repair...) {
						if o["outcome"] != "refused" || !strings.Contains(fmt.Sprint(o["why"]), "redacted") {
							t.Errorf("a redacted letter: %v", o)
						}
					}
					l.stop()
					return
				}
				for _, o := range run(1, "replay", append([]string{"-dead_letter_data=keep", "-dead_letter_key="}, repair...)...) {
					if o["outcome"] != "refused" || !strings.Contains(fmt.Sprint(o["why"]), "-dead_letter_key") {
						t.Errorf("without the key: %v", o)
					}
				}
				shown := run(0, "show")
				if len(shown) != 1 || shown[0]["data"] != bad.data || shown[0]["ordering_key"] != bad.orderingKey || fmt.Sprint(shown[0]["attributes"]) != "map[origin:"+sentinel+"]" {
					t.Errorf("by the key it is %v", shown)
				}
				if got := fields(run(0, "replay", repair...), "outcome"); !slices.Equal(got, []string{"replayed"}) {
					t.Errorf("outcomes %v", got)
				}
				s.waitAcked(l)
				l.stop()
				if got := s.orders(); len(got) != 1 || got[7] != "placed" {
					t.Errorf("rows %v", got)
				}
			})
		}
	}
}
