package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tables with a placeholder are told under the names that they got, tables of
// another project under the configured one, and those of which nothing came as
// empty.
func TestDestinations(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
unlisted_tables: filter
window: 50ms
dead_letters: {table: ops.dead_letters}
tables:
  - source: public.elsewhere
    destination: other-project.mirror.elsewhere
    primary_key: [id]
    columns: &columns [{name: id, type: INT64, mode: REQUIRED}, {name: v, type: STRING}]
  - {source: public.never, destination: mirror.never, primary_key: [id], columns: *columns}
  - {source: shop_*.*, destination: "{schema}.t_{table}", primary_key: [id], columns: *columns}
`
	change := func(table, after string) message {
		return pgChange{table: table, op: "c", after: after, lastCommit: 10, lsn: 11}.message()
	}
	out := runLocal(t, config, []message{
		change("public.elsewhere", `{"id":1,"v":"a"}`), change("shop_1.orders", `{"id":2,"v":"b"}`),
		change("shop_2.orders", `{"id":3,"v":"c"}`), change("audit.log", `{"id":4,"v":"d"}`),
		change("shop_1.orders", `{"id":5,"w":"unknown"}`),
	})
	want := map[string][]row{
		"other-project.mirror.elsewhere": {{"id": "1", "v": "a"}},
		"mirror.never":                   {},
		"shop_1.t_orders":                {{"id": "2", "v": "b"}},
		"shop_2.t_orders":                {{"id": "3", "v": "c"}},
	}
	if diff := cmp.Diff(want, out.Tables); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if out.Counts["filtered"] != 1 || !balanced(out.Counts) {
		t.Errorf("counts: %v", out.Counts)
	}
	if len(out.DeadLetters) != 1 || out.DeadLetters[0].Reason != "unknown_column" {
		t.Errorf("dead letters: %v", out.DeadLetters)
	}
}
