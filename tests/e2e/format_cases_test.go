package e2e

import (
	"fmt"
	"testing"
)

// formatCasesConfig has a table for each format that tells of a change in a way
// of its own.
const formatCasesConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: %s
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - {source: shop.maxwell, destination: shop.maxwell, primary_key: [id], columns: &columns [{name: id, type: INT64, mode: REQUIRED}, {name: v, type: STRING}, {name: qty, type: INT64}]}
  - {source: shop.canal, destination: shop.canal, primary_key: [id], columns: *columns, missing_positions: arrival}
  - {source: public.wal2json, destination: shop.wal2json, primary_key: [id], columns: *columns}
  - {source: public.dms, destination: shop.dms, primary_key: [id], columns: *columns}
  - {source: public.sequin, destination: shop.sequin, primary_key: [id], columns: *columns}
  - {source: Spanner, destination: shop.spanner, primary_key: [id], columns: *columns}
`

func spannerRecord(capture, mod, mods string, nanos int) message {
	return message{data: fmt.Sprintf(`{"commitTimestamp":{"seconds":1741507626,"nanos":%d},"serverTransactionId":"t","recordSequence":"00000001","tableName":"Spanner",`+
		`"rowType":[{"name":"id","type":{"code":"{\"code\":\"INT64\"}"},"isPrimaryKey":true,"ordinalPosition":1},{"name":"v","type":{"code":"{\"code\":\"STRING\"}"},"isPrimaryKey":false,"ordinalPosition":2},`+
		`{"name":"qty","type":{"code":"{\"code\":\"INT64\"}"},"isPrimaryKey":false,"ordinalPosition":3}],"mods":[%s],"modType":%q,"valueCaptureType":%q}`, nanos, mods, mod, capture)}
}

// formatCases are those of sections B, C and G that a format tells of in its own way.
func formatCases() []eventCase {
	wal := func(text string) message {
		return message{data: `{"schema":"public","table":"wal2json","pk":[{"name":"id","type":"bigint"}],` + text + `}`}
	}
	dms := func(text, operation string, at int) message {
		return message{data: fmt.Sprintf(`{%s,"metadata":{"timestamp":"2025-03-09T08:07:06.4Z","record-type":"data","operation":%q,"partition-key-type":"schema-table",`+
			`"schema-name":"public","table-name":"dms","transaction-id":%d,"transaction-record-id":1,"commit-timestamp":"2025-03-09T08:07:06.005004Z",`+
			`"stream-position":"00000009/1A2B%04X.4.00000009/1A2B%04X"}}`, text, operation, at, at, at)}
	}
	mod := func(key, values string) string {
		return fmt.Sprintf(`{"keysJson":"{\"id\":\"%s\"}","oldValuesJson":"{}","newValuesJson":%q}`, key, values)
	}
	return []eventCase{
		{
			name: "27 a changed key of Maxwell's", table: "shop.maxwell",
			messages: []message{
				{data: `{"database":"shop","table":"maxwell","type":"update","ts":1741507630,"xid":88105,"commit":true,"position":"mysql-bin.000042:7400","data":{"id":$2,"qty":3},"old":{"id":$1}}`},
				{data: `{"database":"shop","table":"maxwell","type":"insert","ts":1741507626,"xid":88104,"commit":true,"position":"mysql-bin.000042:7310","data":{"id":$1,"qty":3}}`},
			},
			want: map[int]string{1: "", 2: `{"qty":"3"}`},
		},
		{
			name: "27 a changed key of DMS's", table: "shop.dms",
			messages: []message{
				dms(`"data":{"id":$2,"qty":3},"before-image":{"id":$1}`, "update", 0x48), dms(`"data":{"id":$1,"qty":3}`, "insert", 0x40),
			},
			want: map[int]string{1: "", 2: `{"qty":"3"}`},
		},
		{
			name: "27 a changed key of wal2json's", table: "shop.wal2json",
			messages: []message{
				wal(`"action":"U","lsn":"0/48","columns":[{"name":"id","type":"bigint","value":$2},{"name":"v","type":"text","value":"a"},{"name":"qty","type":"integer","value":3}],"identity":[{"name":"id","type":"bigint","value":$1}]`),
				wal(`"action":"I","lsn":"0/40","columns":[{"name":"id","type":"bigint","value":$1},{"name":"v","type":"text","value":"a"},{"name":"qty","type":"integer","value":3}]`),
			},
			want: map[int]string{1: "", 2: `{"qty":"3"}`},
		},
		{
			name: "27 a changed key of Canal's", table: "shop.canal",
			messages: []message{
				{data: `{"id":1,"database":"shop","table":"canal","pkNames":["id"],"isDdl":false,"type":"INSERT","es":1741507626000,"ts":1741507626420,"data":[{"id":"$1","qty":"3"},{"id":"$3","qty":"4"}],"old":null}`},
				{data: `{"id":2,"database":"shop","table":"canal","pkNames":["id"],"isDdl":false,"type":"UPDATE","es":1741507626000,"ts":1741507626420,"data":[{"id":"$2","qty":"3"},{"id":"$4","qty":"4"}],"old":[{"id":"$1"},{"id":"$3"}]}`},
			},
			want: map[int]string{1: "", 2: `{"qty":"3"}`, 3: "", 4: `{"qty":"4"}`},
		},
		{
			name: "27 a changed key of Sequin's", table: "shop.sequin",
			messages: []message{
				{data: `{"record":{"id":$2,"qty":3},"changes":{"id":$1},"action":"update","metadata":{"table_schema":"public","table_name":"sequin","commit_timestamp":"2025-03-09T08:07:06Z","commit_lsn":200,"commit_idx":0}}`},
				{data: `{"record":{"id":$1,"qty":3},"changes":null,"action":"insert","metadata":{"table_schema":"public","table_name":"sequin","commit_timestamp":"2025-03-09T08:07:06Z","commit_lsn":100,"commit_idx":7}}`},
			},
			letters: []string{"encode/unavailable_value"}, // v is absent, so it is unchanged; the old row is gone
			want:    map[int]string{1: "", 2: ""},
		},
		{
			name: "47 an unchanged column is absent", table: "shop.wal2json",
			messages: []message{
				wal(`"action":"I","lsn":"0/40","columns":[{"name":"id","type":"bigint","value":$1},{"name":"v","type":"text","value":"large"},{"name":"qty","type":"integer","value":1}]`),
				wal(`"action":"U","lsn":"0/48","columns":[{"name":"id","type":"bigint","value":$1},{"name":"qty","type":"integer","value":2}],"identity":[{"name":"id","type":"bigint","value":$1}]`),
			},
			letters: []string{"encode/unavailable_value"},
			want:    map[int]string{1: `{"v":"large","qty":"1"}`},
		},
		{
			name: "X3 Spanner's update with the changed columns alone", table: "shop.spanner",
			messages: []message{
				spannerRecord("OLD_AND_NEW_VALUES", "INSERT", mod("$1", `{"v":"a","qty":"1"}`), 1),
				spannerRecord("OLD_AND_NEW_VALUES", "UPDATE", mod("$1", `{"qty":"5"}`), 2),
			},
			letters: []string{"encode/unavailable_value"},
			want:    map[int]string{1: `{"v":"a","qty":"1"}`},
		},
		{
			name: "X3 the same where the stream captures whole rows", table: "shop.spanner",
			messages: []message{
				spannerRecord("NEW_ROW", "UPDATE", mod("$1", `{"v":null,"qty":"5"}`), 2), spannerRecord("NEW_ROW", "INSERT", mod("$1", `{"v":"a","qty":"1"}`), 1),
			},
			want: map[int]string{1: `{"v":null,"qty":"5"}`},
		},
		{
			name: "X4 several mods in a record", table: "shop.spanner",
			messages: []message{
				spannerRecord("NEW_ROW", "UPDATE", mod("$1", `{"v":"a","qty":"1"}`)+","+mod("$2", `{"v":"b","qty":"2"}`)+","+mod("$1", `{"v":"c","qty":"3"}`), 1),
			},
			want: map[int]string{1: `{"v":"c","qty":"3"}`, 2: `{"v":"b","qty":"2"}`},
		},
		{
			name: "X7 DMS leaves out what is NULL", table: "shop.dms",
			messages: []message{
				dms(`"data":{"id":$1}`, "update", 0x48), dms(`"data":{"id":$1,"v":"a","qty":1}`, "insert", 0x40),
			},
			want: map[int]string{1: `{"v":null,"qty":null}`},
		},
	}
}

func TestFormatCases(t *testing.T) {
	for name, window := range map[string]string{"one window": "1m", "many windows": "5ms"} {
		t.Run(name, func(t *testing.T) {
			runCases(t, fmt.Sprintf(formatCasesConfig, window), "id", formatCases())
		})
	}
}
