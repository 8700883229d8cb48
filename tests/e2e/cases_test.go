package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eventCase is one fault that people met with tools for this job. Its messages are
// published in order. In them and in wants, $1 to $9 stand for keys that no other
// case has.
type eventCase struct {
	name     string
	table    string // the destination; "" for shop.items
	messages []message
	want     map[int]string // by key $n: the row's columns as JSON, those that matter; "" for no row
	letters  []string       // "stage/reason" of the dead letters, in the order of their messages
}

// runCases publishes the messages of all cases to one run of cmd/local and
// compares what each left.
func runCases(t *testing.T, config, keyColumn string, cases []eventCase) {
	t.Helper()
	var messages []message
	owner := map[string]int{} // by data and ordering key
	for i := range cases {
		for j := range cases[i].messages {
			m := &cases[i].messages[j]
			m.data, m.orderingKey = number(m.data, i), number(m.orderingKey, i)
			for name, value := range m.attributes {
				m.attributes[name] = number(value, i)
			}
			owner[m.data] = i
		}
		messages = append(messages, cases[i].messages...)
	}
	out := runLocal(t, config, messages)
	letters := make([][]string, len(cases))
	for _, l := range out.DeadLetters {
		i, ok := owner[l.Data]
		if !ok {
			t.Errorf("a dead letter holds what was never published: %q", l.Data)
			continue
		}
		letters[i] = append(letters[i], l.Stage+"/"+l.Reason)
		if l.Error == "" {
			t.Errorf("%s: the dead letter has no error", cases[i].name)
		}
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.table == "" {
				c.table = "shop.items"
			}
			rows, ok := out.Tables[c.table]
			if !ok {
				t.Fatalf("there is no table %s", c.table)
			}
			for n, want := range c.want {
				key := strconv.Itoa(keyOf(i, n))
				at := slices.IndexFunc(rows, func(r row) bool { return r[keyColumn] == key })
				switch {
				case want == "" && at >= 0:
					t.Errorf("key $%d: there is a row, want none: %v", n, rows[at])
				case want != "" && at < 0:
					t.Errorf("key $%d: there is no row, want %s", n, want)
				case want != "":
					got := row{}
					wanted := decodeRow(t, want)
					for name := range wanted {
						got[name] = rows[at][name]
					}
					if diff := cmp.Diff(wanted, got); diff != "" {
						t.Errorf("key $%d, -want +got:\n%s", n, diff)
					}
				}
			}
			if diff := cmp.Diff(c.letters, letters[i]); diff != "" {
				t.Errorf("dead letters, -want +got:\n%s", diff)
			}
		})
	}
}

func keyOf(i, n int) int { return (i+1)*100 + n }

func number(text string, i int) string {
	for n := 1; n <= 9; n++ {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(n), strconv.Itoa(keyOf(i, n)))
	}
	return text
}

const itemsConfig = `
source: {subscription: projects/demo/subscriptions/changes, format: auto}
create_tables: true
window: %s
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    columns: &items
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: qty, type: INT64}
      - {name: v, type: STRING}
      - {name: doc, type: STRING}
  - source: shop.items
    destination: shop.mysql_items
    primary_key: [id]
    columns: *items
  - source: public.pairs
    destination: shop.pairs
    primary_key: [a, b]
    columns:
      - {name: a, type: INT64, mode: REQUIRED}
      - {name: b, type: INT64, mode: REQUIRED}
      - {name: v, type: STRING}
  - source: public.typed
    destination: shop.typed
    primary_key: [id]
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: day, type: DATE, mode: REQUIRED}
      - {name: n, type: NUMERIC, mode: REQUIRED}
      - {name: doc, type: JSON, mode: REQUIRED}
      - {name: at, type: TIMESTAMP, mode: REQUIRED}
`

// item is a change of public.items, in the shorthand of the cases: the key, the
// rest of the row, the last commit and the change's own position.
func item(op string, key string, rest string, lastCommit, lsn uint64) message {
	c := pgChange{table: "public.items", op: op, key: `{"id":` + key + `}`, lastCommit: lastCommit, lsn: lsn}
	image := `{"id":` + key + rest + `}`
	switch op {
	case "d":
		c.before = `{"id":` + key + `,"qty":null,"v":null,"doc":null}`
	case "r":
		c.after, c.snapshot = image, "true"
	default:
		c.after = image
	}
	return c.message()
}

func myItem(op, key, rest, file string, pos, line uint64) message {
	c := myChange{table: "shop.items", op: op, key: `{"id":` + key + `}`, file: file, pos: pos, row: line, server: 1}
	if op == "d" {
		c.before = `{"id":` + key + rest + `}`
	} else {
		c.after = `{"id":` + key + rest + `}`
	}
	return c.message()
}

// datastream is one of Datastream's messages. source holds the members of
// source_metadata that tell the position.
func datastream(table, method, changeType, sortKeys, source, payload string) message {
	schema, name, _ := strings.Cut(table, ".")
	where := `"schema":"` + schema + `"`
	if strings.HasPrefix(method, "mysql") {
		where = `"database":"` + schema + `"`
	}
	deleted := changeType == "DELETE" || changeType == "UPDATE-DELETE"
	return message{data: fmt.Sprintf(`{"uuid":"5f0e7a31-2b1c-4d4e-9a77-3c2100000000","read_timestamp":"2025-03-09T08:07:07.120","source_timestamp":"2025-03-09T08:07:06.000",`+
		`"object":%q,"read_method":%q,"stream_name":"projects/1/locations/us-central1/streams/s","schema_key":"0d41","sort_keys":%s,`+
		`"source_metadata":{"table":%q,%s,"primary_keys":["id"],%s"change_type":%q,"is_deleted":%t},"payload":%s}`,
		strings.ReplaceAll(table, ".", "_"), method, sortKeys, name, where, source, changeType, deleted, payload)}
}

func dsMySQL(changeType string, ms int, file string, pos int, payload string) message {
	return datastream("shop.items", "mysql-cdc-binlog", changeType, fmt.Sprintf(`[%d,%q,%d]`, ms, file, pos),
		fmt.Sprintf(`"log_file":%q,"log_position":%d,`, file, pos), payload)
}

func orderCases() []eventCase {
	keyed := func(m message, attributes map[string]string) message { m.attributes = attributes; return m }
	return []eventCase{
		{
			name:     "1 later change arrives first",
			messages: []message{item("u", "$1", `,"qty":2`, 12, 13), item("u", "$1", `,"qty":1`, 10, 11)},
			want:     map[int]string{1: `{"qty":"2"}`},
		},
		{
			name: "4 several rows of a key in one request",
			messages: []message{
				item("u", "$1", `,"qty":1`, 10, 11), item("u", "$1", `,"qty":2`, 10, 12), item("u", "$1", `,"qty":3`, 10, 13),
				item("u", "$2", `,"qty":3`, 10, 13), item("u", "$2", `,"qty":2`, 10, 12), item("u", "$2", `,"qty":1`, 10, 11),
			},
			want: map[int]string{1: `{"qty":"3"}`, 2: `{"qty":"3"}`},
		},
		{
			name: "9 several changes in one millisecond",
			messages: []message{
				item("d", "$1", "", 10, 30), item("c", "$1", `,"qty":1`, 10, 10), item("u", "$1", `,"qty":2`, 10, 20),
			},
			want: map[int]string{1: ""},
		},
		{
			name:     "12 insert and delete with equal time",
			messages: []message{item("d", "$1", "", 9, 11), item("c", "$1", `,"qty":1`, 9, 10)},
			want:     map[int]string{1: ""},
		},
		{
			name:     "13 a row's whole life in one batch",
			messages: []message{item("c", "$1", `,"qty":1`, 9, 10), item("u", "$1", `,"qty":2`, 9, 11), item("d", "$1", "", 9, 12)},
			want:     map[int]string{1: ""},
		},
		{
			name:     "15 snapshot row after the changes",
			messages: []message{item("d", "$1", "", 880, 890), item("c", "$1", `,"v":"34"`, 895, 900), item("r", "$1", `,"v":"12"`, 0, 850)},
			want:     map[int]string{1: `{"v":"34"}`},
		},
		{
			name: "16 incremental snapshot without a position",
			messages: []message{
				item("u", "$1", `,"v":"4"`, 90, 95), item("u", "$2", `,"v":"4"`, 90, 95), item("u", "$2", `,"v":"6"`, 99, 101),
				pgChange{table: "public.items", op: "r", snapshot: "incremental", after: `{"id":$1,"v":"5"}`}.message(),
				pgChange{table: "public.items", op: "r", snapshot: "incremental", after: `{"id":$2,"v":"5"}`}.message(),
				pgChange{table: "public.items", op: "r", snapshot: "incremental", after: `{"id":$3,"v":"5"}`}.message(),
			},
			want: map[int]string{1: `{"v":"4"}`, 2: `{"v":"6"}`, 3: `{"v":"5"}`},
		},
		{
			name:     "18 delete and create again, the create first",
			messages: []message{item("c", "$1", `,"v":"again"`, 40, 51), item("d", "$1", "", 40, 50)},
			want:     map[int]string{1: `{"v":"again"}`},
		},
		{
			name:     "19 equal times",
			messages: []message{item("u", "$1", `,"v":"y"`, 6, 8), item("u", "$1", `,"v":"x"`, 6, 7)},
			want:     map[int]string{1: `{"v":"y"}`},
		},
		{
			name: "25 key change while the snapshot runs, the snapshot's row last",
			messages: []message{
				keyed(item("d", "$1", "", 18, 20), map[string]string{"__debezium.newkey": `{"id":$2}`}),
				keyed(item("c", "$2", `,"v":"moved"`, 18, 20), map[string]string{"__debezium.oldkey": `{"id":$1}`}),
				item("r", "$1", `,"v":"old"`, 0, 15),
			},
			want: map[int]string{1: "", 2: `{"v":"moved"}`},
		},
		{
			name: "a key change and back, in any order",
			messages: []message{
				item("c", "$1", `,"v":"back"`, 20, 30), item("d", "$2", "", 20, 30),
				item("d", "$1", "", 10, 20), item("c", "$2", `,"v":"away"`, 10, 20), item("c", "$1", `,"v":"here"`, 5, 10),
			},
			want: map[int]string{1: `{"v":"back"}`, 2: ""},
		},
		{
			name: "update that shows a changed key in its before image",
			messages: []message{
				pgChange{table: "public.items", op: "u", before: `{"id":$1,"qty":1,"v":"a","doc":null}`, after: `{"id":$2,"qty":1,"v":"b","doc":null}`, lastCommit: 20, lsn: 30}.message(),
				item("c", "$1", `,"v":"a"`, 5, 10),
			},
			want: map[int]string{1: "", 2: `{"v":"b"}`},
		},
		{
			name: "X1 a change after a new snapshot",
			messages: []message{
				item("r", "$1", `,"v":"snapshot"`, 0, 500), item("u", "$1", `,"v":"after"`, 480, 510), item("u", "$1", `,"v":"before"`, 470, 490),
			},
			want: map[int]string{1: `{"v":"after"}`},
		},
		{
			name: "10 binlog numbers get another digit", table: "shop.mysql_items",
			messages: []message{
				myItem("u", "$1", `,"v":"new"`, "mysql-bin.1000000", 4, 0), myItem("u", "$1", `,"v":"old"`, "mysql-bin.999999", 800, 0),
			},
			want: map[int]string{1: `{"v":"new"}`},
		},
		{
			name: "5 the file first, the position on a tie only", table: "shop.mysql_items",
			messages: []message{
				myItem("u", "$1", `,"v":"new"`, "mysql-bin.000042", 120, 0), myItem("u", "$1", `,"v":"old"`, "mysql-bin.000041", 9000, 0),
			},
			want: map[int]string{1: `{"v":"new"}`},
		},
		{
			name: "X5 rows of one statement", table: "shop.mysql_items",
			messages: []message{
				myItem("u", "$1", `,"v":"b"`, "mysql-bin.000042", 7310, 1), myItem("c", "$1", `,"v":"a"`, "mysql-bin.000042", 7310, 0),
			},
			want: map[int]string{1: `{"v":"b"}`},
		},
		{
			name: "8 log position before time", table: "shop.mysql_items",
			messages: []message{
				dsMySQL("UPDATE-INSERT", 999, "mysql-bin.000001", 900, `{"id":$1,"v":"b"}`), dsMySQL("UPDATE-INSERT", 1000, "mysql-bin.000001", 500, `{"id":$1,"v":"a"}`),
			},
			want: map[int]string{1: `{"v":"b"}`},
		},
		{
			name: "7 the position's other names, and none", table: "shop.mysql_items",
			messages: []message{
				datastream("shop.items", "mysql-cdc-binlog", "UPDATE-INSERT", `[1000,"mysql-bin.000007",44]`, `"binlog_file":"mysql-bin.000007","binlog_position":44,`, `{"id":$1,"v":"a"}`),
				dsMySQL("INSERT", 900, "mysql-bin.000007", 40, `{"id":$1,"v":"b"}`),
				datastream("shop.items", "mysql-cdc-binlog", "INSERT", `[1000,null,null]`, ``, `{"id":$2,"v":"none"}`),
			},
			want:    map[int]string{1: `{"v":"a"}`, 2: ""},
			letters: []string{"key/no_position"},
		},
		{
			name: "X2 both halves of an update with one position", table: "shop.mysql_items",
			messages: []message{
				dsMySQL("UPDATE-INSERT", 1000, "mysql-bin.000007", 50, `{"id":$1,"v":"kept"}`), dsMySQL("UPDATE-DELETE", 1000, "mysql-bin.000007", 50, `{"id":$1,"v":"old"}`),
				dsMySQL("UPDATE-DELETE", 1000, "mysql-bin.000007", 60, `{"id":$2,"v":"old"}`), dsMySQL("UPDATE-INSERT", 1000, "mysql-bin.000007", 60, `{"id":$2,"v":"kept"}`),
			},
			want: map[int]string{1: `{"v":"kept"}`, 2: `{"v":"kept"}`},
		},
		{
			name: "datastream postgresql",
			messages: []message{
				datastream("public.items", "postgres-cdc-wal", "UPDATE", `[1741507626000,"10/200"]`, `"lsn":"10/200","tx_id":9,`, `{"id":$1,"v":"new"}`),
				datastream("public.items", "postgres-cdc-wal", "INSERT", `[1741507626000,"F/FFFFFF00"]`, `"lsn":"F/FFFFFF00","tx_id":8,`, `{"id":$1,"v":"old"}`),
				datastream("public.items", "postgresql-backfill", "INSERT", `[1741507626000,""]`, `"lsn":"","tx_id":null,`, `{"id":$1,"v":"backfill"}`),
				datastream("public.items", "postgresql-backfill", "INSERT", `[1741507626000,""]`, `"lsn":"","tx_id":null,`, `{"id":$2,"v":"backfill"}`),
				datastream("public.items", "postgres-cdc-wal", "DELETE", `[1741507626000,"10/300"]`, `"lsn":"10/300","tx_id":9,`, `{"id":$3,"v":"gone"}`),
				datastream("public.items", "postgres-cdc-wal", "INSERT", `[1741507626000,"10/2FF"]`, `"lsn":"10/2FF","tx_id":9,`, `{"id":$3,"v":"gone"}`),
			},
			want: map[int]string{1: `{"v":"new"}`, 2: `{"v":"backfill"}`, 3: ""},
		},
	}
}

func keyCases() []eventCase {
	return []eventCase{
		{
			name: "28 no key in the message: the configured one",
			messages: []message{
				pgChange{table: "public.items", op: "c", after: `{"id":$1,"v":"a"}`, lastCommit: 10, lsn: 11}.message(),
				pgChange{table: "public.items", op: "u", after: `{"id":$1,"v":"b"}`, lastCommit: 10, lsn: 12, key: "default"}.message(),
			},
			want: map[int]string{1: `{"v":"b"}`},
		},
		{
			name: "31 tombstones",
			messages: []message{
				item("c", "$1", `,"v":"stays"`, 10, 11),
				{data: "", orderingKey: `{"id":$1}`},
				{data: "null", orderingKey: `{"id":$1}`},
				{data: `{"schema":null,"payload":null}`, orderingKey: `{"id":$1}`},
			},
			want: map[int]string{1: `{"v":"stays"}`},
		},
		{
			name: "32 a delete carries its key alone", table: "shop.typed",
			messages: []message{
				pgChange{table: "public.typed", op: "c", after: `{"id":$1,"day":"2025-03-09","n":"1.5","doc":"{}","at":"2025-03-09T08:07:06Z"}`, lastCommit: 10, lsn: 11}.message(),
				pgChange{table: "public.typed", op: "c", after: `{"id":$2,"day":"2025-03-09","n":"1.5","doc":"{}","at":"2025-03-09T08:07:06Z"}`, lastCommit: 10, lsn: 12}.message(),
				pgChange{table: "public.typed", op: "d", before: `{"id":$1,"day":0,"n":"","doc":"","at":"never"}`, lastCommit: 10, lsn: 20}.message(),
			},
			want: map[int]string{1: "", 2: `{"day":"2025-03-09","n":"1.5","doc":"{}","at":"2025-03-09T08:07:06.000000Z"}`},
		},
		{
			name:     "34 a delete of what was never seen",
			messages: []message{item("d", "$9", "", 10, 11)},
			want:     map[int]string{9: ""},
		},
		{
			name: "39 a NULL key",
			messages: []message{
				pgChange{table: "public.items", op: "c", after: `{"id":null,"v":"$1"}`, lastCommit: 10, lsn: 11}.message(),
				pgChange{table: "public.items", op: "c", after: `{"v":"$2"}`, lastCommit: 10, lsn: 12}.message(),
			},
			letters: []string{"key/missing_key", "key/missing_key"},
		},
		{
			name:     "41 a value moves from one key to another",
			messages: []message{item("c", "$2", `,"v":"mail"`, 10, 12), item("d", "$1", "", 10, 11), item("c", "$1", `,"v":"mail"`, 5, 6)},
			want:     map[int]string{1: "", 2: `{"v":"mail"}`},
		},
		{
			name: "42 an unchanged large value is not written as what stands for it",
			messages: []message{
				item("c", "$1", `,"qty":1,"doc":"large"`, 10, 11), item("u", "$1", `,"qty":2,"doc":"__debezium_unavailable_value"`, 10, 12),
			},
			want:    map[int]string{1: `{"qty":"1","doc":"large"}`},
			letters: []string{"encode/unavailable_value"},
		},
		{
			name: "44 an unavailable key",
			messages: []message{
				pgChange{table: "public.items", op: "u", after: `{"id":"__debezium_unavailable_value","v":"$1"}`, lastCommit: 10, lsn: 11}.message(),
			},
			letters: []string{"key/unavailable_value"},
		},
		{
			name:     "48 an unknown operation",
			messages: []message{item("c", "$1", `,"v":"a"`, 10, 11), item("p", "$1", `,"v":"b"`, 10, 12)},
			want:     map[int]string{1: `{"v":"a"}`},
			letters:  []string{"decode/unknown_op"},
		},
		{
			name: "keys that are one key: 1, \"1\" and 1.0",
			messages: []message{
				item("c", "$1", `,"v":"number"`, 10, 11), item("u", `"$1"`, `,"v":"text"`, 10, 12), item("u", "$1.0", `,"v":"point"`, 10, 13),
			},
			want: map[int]string{1: `{"v":"point"}`},
		},
		{
			name: "a table that is not configured",
			messages: []message{
				pgChange{table: "public.sessions", op: "c", after: `{"id":$1}`, lastCommit: 10, lsn: 11}.message(),
			},
			letters: []string{"key/unlisted_table"},
		},
		{
			name: "control messages",
			messages: []message{
				{data: `{"ts_ms":1741507626400}`, orderingKey: `{"serverName":"acme"}`},
				{data: `{"status":"BEGIN","id":"901:32777618392","ts_ms":1741507626400,"event_count":null,"data_collections":null}`},
				{data: `{"status":"END","id":"901:32777618640","ts_ms":1741507626400,"event_count":2,"data_collections":[{"data_collection":"public.items","event_count":2}]}`},
				{data: `{"status":"END","id":"901:32777618640","ts_ms":1741507626400,"event_count":2,"data_collections":[{"data_collection":"public.items","event_count":2}]}`},
				{data: `{"source":{"version":"3.4.0.Final","connector":"mysql","name":"acme","db":"shop"},"ts_ms":1741507626400,"databaseName":"shop","schemaName":null,"ddl":"ALTER TABLE items ADD COLUMN color varchar(9)","tableChanges":[]}`},
			},
		},
		{
			name:     "no change at all",
			messages: []message{{data: `{"hello":"$1"}`}, {data: `[$1]`}, {data: `"$1"`}, {data: `{"op":"c","after":{"id":$1}`}},
			letters:  []string{"decode/unknown_format", "decode/unknown_format", "decode/unknown_format", "decode/bad_json"},
		},
	}
}

// A fault in the order of a key's changes shows with one window, in which they are
// coalesced, or with windows so short that BigQuery has to tell them apart.
func TestCases(t *testing.T) {
	for name, window := range map[string]string{"one window": "1m", "many windows": "5ms"} {
		t.Run(name, func(t *testing.T) {
			runCases(t, fmt.Sprintf(itemsConfig, window), "id", append(orderCases(), keyCases()...))
		})
	}
}

// Case 38: a composite key's columns match by name, whatever their order.
func TestCompositeKeyOrder(t *testing.T) {
	out := runLocal(t, fmt.Sprintf(itemsConfig, "1m"), []message{
		pgChange{table: "public.pairs", op: "c", key: `{"b":2,"a":1}`, after: `{"b":2,"a":1,"v":"first"}`, lastCommit: 10, lsn: 11}.message(),
		pgChange{table: "public.pairs", op: "u", key: `{"a":1,"b":2}`, after: `{"a":1,"b":2,"v":"second"}`, lastCommit: 10, lsn: 12}.message(),
		pgChange{table: "public.pairs", op: "c", key: `{"a":2,"b":1}`, after: `{"a":2,"b":1,"v":"other"}`, lastCommit: 10, lsn: 13}.message(),
		pgChange{table: "public.pairs", op: "c", key: `{"a":10,"b":1}`, after: `{"a":10,"b":1,"v":"ten"}`, lastCommit: 10, lsn: 14}.message(),
	})
	want := []row{
		{"a": "1", "b": "2", "v": "second"}, {"a": "2", "b": "1", "v": "other"}, {"a": "10", "b": "1", "v": "ten"}, // in the order of numbers
	}
	if diff := cmp.Diff(want, out.Tables["shop.pairs"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
