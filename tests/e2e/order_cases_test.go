package e2e

import (
	"fmt"
	"strings"
)

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

// oracle is one of Debezium's messages for Oracle, of public.items.
func oracle(op, images, snapshot string, scn, commitSCN, number int) message {
	commit := "null"
	if commitSCN > 0 {
		commit = fmt.Sprintf(`"%d"`, commitSCN)
	}
	return message{data: fmt.Sprintf(`{%s,"source":{"version":"3.4.0.Final","connector":"oracle","name":"acme","ts_ms":1741507626000,"snapshot":%q,"db":"SHOP",`+
		`"sequence":null,"schema":"public","table":"items","txId":"9.14.5521","scn":"%d","commit_scn":%s,"lcr_position":null,"rs_id":"0004d2.0001f0a3.0090","ssn":1,`+
		`"redo_thread":1,"user_name":"APP","redo_sql":null,"row_id":"AAAXkqAAHAAABd7AAC","txSeq":%d},"transaction":null,"op":%q,"ts_ms":1741507626400}`,
		images, snapshot, scn, commit, number, op)}
}

// orderCases are those of section A. Elsewhere are: 20, a request that fails
// beside one that doesn't (TestAppendFails; bqcdc's
// TestBundle_nothingBeforeTheAnswer and TestWriter_convergesUnderFire); 21, sequences as texts
// (TestSequences_texts); 23 and 24, failovers (TestFailover).
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
			name: "3 a key change that changes nothing, as both of its halves",
			messages: []message{
				item("d", "$1", "", 20, 30), item("c", "$1", `,"v":"kept"`, 20, 30),
				item("c", "$2", `,"v":"kept"`, 20, 30), item("d", "$2", "", 20, 30),
			},
			want: map[int]string{1: `{"v":"kept"}`, 2: `{"v":"kept"}`},
		},
		{
			name: "3 a key change that changes nothing, as one update",
			messages: []message{
				pgChange{table: "public.items", op: "u", before: `{"id":"$1"}`, after: `{"id":$1,"v":"kept"}`, lastCommit: 20, lsn: 30}.message(),
			},
			want: map[int]string{1: `{"v":"kept"}`},
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
			name: "15 snapshot row after the changes, Oracle's numbers",
			messages: []message{
				oracle("d", `"before":{"id":$1},"after":null`, "false", 880, 889, 1), oracle("c", `"before":null,"after":{"id":$1,"v":"34"}`, "false", 900, 1001, 1),
				oracle("u", `"before":null,"after":{"id":$1,"v":"33"}`, "false", 899, 1000, 7), oracle("r", `"before":null,"after":{"id":$1,"v":"12"}`, "true", 850, 0, 0),
			},
			want: map[int]string{1: `{"v":"34"}`},
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
