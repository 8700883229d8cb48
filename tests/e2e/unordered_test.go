package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unordered are the formats' messages whose source gives no order, each with what its
// dead letter must say to do about it.
var unordered = []struct{ name, table, message, advice string }{
	{"canal", "shop.canal", `{"id":1,"database":"shop","table":%[2]q,"pkNames":["id"],"isDdl":false,"type":"INSERT","es":1741507626000,"ts":1741507626420,"data":[{"id":"%[1]d","v":%[3]q}],"old":null}`, "missing_positions: arrival"},
	{"maxwell", "shop.maxwell", `{"database":"shop","table":%[2]q,"type":"insert","ts":1741507626,"xid":1,"commit":true,"data":{"id":%[1]d,"v":%[3]q}}`, "output_binlog_position"},
	{"maxwell with a GTID", "shop.gtid", `{"database":"shop","table":%[2]q,"type":"insert","ts":1741507626,"gtid":"7d0c51aa:23","data":{"id":%[1]d,"v":%[3]q}}`, "output_binlog_position"},
	{"wal2json 1", "public.wal1", `{"xid":901,"change":[{"kind":"insert","schema":"public","table":%[2]q,"columnnames":["id","v"],"columntypes":["bigint","text"],"columnvalues":[%[1]d,%[3]q]}]}`, "include-lsn"},
	{"wal2json 2", "public.wal2", `{"action":"I","schema":"public","table":%[2]q,"columns":[{"name":"id","type":"bigint","value":%[1]d},{"name":"v","type":"text","value":%[3]q}]}`, "include-lsn"},
	{"dms", "public.dms", `{"data":{"id":%[1]d,"v":%[3]q},"metadata":{"timestamp":"2025-03-09T08:07:06.4Z","record-type":"data","operation":"insert","schema-name":"public","table-name":%[2]q}}`, "IncludeTransactionDetails"},
	{"debezium_flat", "public.flat", `{"id":%[1]d,"v":%[3]q,"__op":"u","__table":%[2]q,"__source_schema":"public","__source_connector":"postgresql"}`, "add.fields"},
	{"columns", "any", `{"_CHANGE_TYPE":"UPSERT","id":%[1]d,"v":%[3]q}`, "_CHANGE_SEQUENCE_NUMBER"},
}

// A change without a position is refused, and its dead letter says what would give it
// one; or it is taken in the order of publishing, where its table's rule says so.
func TestUnordered(t *testing.T) {
	for _, c := range unordered {
		for _, policy := range []string{"reject", "arrival"} {
			t.Run(c.name+"/"+policy, func(t *testing.T) {
				t.Parallel()
				config := fmt.Sprintf("source: {subscription: projects/demo/subscriptions/changes}\ncreate_tables: true\nwindow: 20ms\n"+
					"dead_letters: {topic: projects/demo/topics/dead}\ntables:\n  - {source: %s, destination: shop.t, primary_key: [id], missing_positions: %s, "+
					"columns: [{name: id, type: INT64, mode: REQUIRED}, {name: v, type: STRING}]}\n", c.table, policy)
				var messages []message
				for _, v := range []string{"first", "second"} {
					messages = append(messages, message{data: fmt.Sprintf(c.message, 1, part(c.table), v), orderingKey: "one"})
				}
				out := runLocal(t, config, messages)
				want, letters := []row{{"id": "1", "v": "second"}}, 0
				if policy == "reject" {
					want, letters = nil, 2
				}
				if diff := cmp.Diff(want, out.Tables["shop.t"]); diff != "" && len(want)+len(out.Tables["shop.t"]) > 0 {
					t.Errorf("-want +got:\n%s", diff)
				}
				if len(out.DeadLetters) != letters {
					t.Errorf("%d dead letters, want %d", len(out.DeadLetters), letters)
				}
				for _, l := range out.DeadLetters {
					if l.Reason != "no_position" || !strings.Contains(l.Error, c.advice) {
						t.Errorf("dead letter %s/%s: %s, want one that says %q", l.Stage, l.Reason, l.Error, c.advice)
					}
				}
			})
		}
	}
}
