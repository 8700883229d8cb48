package e2e

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever the sink, a dead letter comes back with the message's bytes: also of a
// row that no request to BigQuery holds (case 87), and of a message that is
// larger than what one message, or row, of the sink can hold. The rows beside
// them are written.
func TestSinks(t *testing.T) {
	for name, sink := range map[string]string{
		"topic":     "{topic: projects/demo/topics/dead}",
		"table":     "{table: ops.dead_letters}",
		"directory": fmt.Sprintf("{directory: %q}", filepath.Join(t.TempDir(), "dead")),
	} {
		t.Run(name, func(t *testing.T) {
			config := strings.Replace(fmt.Sprintf(ordersConfig, "200ms"), "{topic: projects/demo/topics/dead}", sink, 1)
			order := func(id, size int) message {
				return pgChange{
					table: "public.orders", op: "c", after: fmt.Sprintf(`{"order_id":%d,"status":%q}`, id, strings.Repeat("x", size)), lastCommit: 10, lsn: uint64(10 + id),
				}.message()
			}
			messages := []message{
				order(1, 1<<10), order(2, 9_500_000), order(3, 12_000_000), order(4, 1<<10),
				{data: "\xff\xfe no text", orderingKey: "k", attributes: map[string]string{"origin": "elsewhere"}},
				{data: "[1]", orderingKey: strings.Repeat("k", 1024)},
			}
			out := runLocal(t, config, messages)
			want := []row{{"order_id": "1", "status": strings.Repeat("x", 1<<10)}, {"order_id": "4", "status": strings.Repeat("x", 1<<10)}}
			if diff := cmp.Diff(want, out.Tables["shop.orders"]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(out.Tables) != 1 {
				t.Errorf("there are %d tables, want the configured one", len(out.Tables))
			}
			var got [][3]string // stage, reason, data
			for _, l := range out.DeadLetters {
				data := l.Data
				if l.DataBase64 != "" {
					raw, err := base64.StdEncoding.DecodeString(l.DataBase64)
					if err != nil {
						t.Fatal(err)
					}
					data = string(raw)
				}
				got = append(got, [3]string{l.Stage, l.Reason, data})
			}
			wantLetters := [][3]string{
				{"encode", "row_too_large", messages[1].data},
				{"encode", "row_too_large", messages[2].data},
				{"decode", "bad_json", messages[4].data},
				{"decode", "bad_envelope", messages[5].data},
			}
			if !cmp.Equal(wantLetters, got) {
				t.Errorf("there are %d dead letters, want %d", len(got), len(wantLetters))
				for _, l := range got {
					t.Logf("%s %s %d bytes %.60q", l[0], l[1], len(l[2]), l[2])
				}
			}
			counts := out.Counts
			if !balanced(counts) || counts["rows_upserted"] != 2 || counts["dead_letters"] != 4 || counts["messages"] != 6 {
				t.Errorf("counts: %v", counts)
			}
		})
	}
}

// The changes of a message of many can't each carry its data: whatever the sink and
// the stage, its letters have it, and the other rows are written.
func TestSinks_manyChanges(t *testing.T) {
	change := func(kind, id, status string) string {
		return fmt.Sprintf(`{"kind":"insert","schema":"public","table":"orders","columnnames":["order_id","status"],"columntypes":[%q,"text"],"columnvalues":[%s,%q]}`, kind, id, status)
	}
	m := message{data: `{"xid":901,"nextlsn":"0/10","timestamp":"2025-03-09 08:07:06.005004+00","change":[` + strings.Join([]string{
		change("bigint", "1", "placed"), change("text", `"two"`, "placed"), change("text", `"three"`, "placed"), change("bigint", "4", strings.Repeat("x", 9_500_000)),
	}, ",") + `]}`}
	for name, sink := range map[string]string{
		"topic":     "{topic: projects/demo/topics/dead}",
		"table":     "{table: ops.dead_letters}",
		"directory": fmt.Sprintf("{directory: %q}", filepath.Join(t.TempDir(), "dead")),
	} {
		t.Run(name, func(t *testing.T) {
			config := strings.NewReplacer("{topic: projects/demo/topics/dead}", sink, "format: debezium", "format: wal2json").Replace(fmt.Sprintf(ordersConfig, "200ms"))
			out := runLocal(t, config, []message{m})
			if diff := cmp.Diff([]row{{"order_id": "1", "status": "placed"}}, out.Tables["shop.orders"]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			got := map[string]int{}
			for _, l := range out.DeadLetters {
				if l.Data != m.data {
					t.Errorf("the %s letter has %d bytes, want the message's %d", l.Stage, len(l.Data), len(m.data))
				}
				got[l.Stage+" "+l.Reason]++
			}
			if diff := cmp.Diff(map[string]int{"key bad_value": 2, "encode row_too_large": 1}, got); diff != "" {
				t.Errorf("letters, -want +got:\n%s", diff)
			}
			if !balanced(out.Counts) {
				t.Errorf("counts: %v", out.Counts)
			}
		})
	}
}
