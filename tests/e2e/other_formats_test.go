package e2e

import (
	"fmt"
	"strings"
)

// datastreamOf renders a step as Datastream does: a changed key is a pair of
// events with one position.
func datastreamOf(table, cdc, backfill string, keys string, where func(s step) (sortKeys, metadata string)) func(string, step) []message {
	return func(source string, s step) []message {
		sortKeys, metadata := where(s)
		event := func(method, changeType, image string) message {
			deleted := changeType == "DELETE" || changeType == "UPDATE-DELETE"
			return message{data: fmt.Sprintf(`{"uuid":"5f0e7a31-2b1c-4d4e-9a77-3c21%08d","read_timestamp":"2025-03-09T08:07:07.120","source_timestamp":"2025-03-09T08:07:06.000",`+
				`"object":%q,"read_method":%q,"stream_name":"projects/1/locations/us-central1/streams/s","schema_key":"0d41c7aa","sort_keys":%s,`+
				`"source_metadata":{"table":%q,%s,%s,"change_type":%q,"is_deleted":%t},"payload":%s}`,
				s.n, strings.ReplaceAll(source, ".", "_"), method, sortKeys, part(source), keys, metadata, changeType, deleted, image)}
		}
		switch s.op {
		case "r":
			return []message{event(backfill, "INSERT", s.image())}
		case "c":
			return []message{event(cdc, "INSERT", s.image())}
		case "u":
			return []message{event(cdc, table, s.image())}
		case "d":
			return []message{event(cdc, "DELETE", s.image())}
		}
		return []message{event(cdc, "UPDATE-DELETE", s.imageOf(s.old)), event(cdc, "UPDATE-INSERT", s.image())}
	}
}

func maxwell(table string, s step) []message {
	change := func(kind, image, old, rest string) []message {
		if old != "" {
			old = `,"old":` + old
		}
		image = strings.Replace(image, `"v":null,`, "", 1) // output_nulls=false
		return []message{{data: fmt.Sprintf(`{"database":"shop","table":%q,"type":%q,"ts":1741507626,%s"server_id":184054,"thread_id":39,"primary_key":[%d],"primary_key_columns":["id"],"data":%s%s}`,
			part(table), kind, rest, s.id, image, old)}}
	}
	position := fmt.Sprintf(`"xid":88104,"xoffset":%d,"position":"mysql-bin.000042:%d","gtid":null,`, s.n%2, 996+2*(s.n/2))
	switch s.op {
	case "r":
		return change("bootstrap-insert", s.image(), "", "")
	case "c":
		return change("insert", s.image(), "", position)
	case "u":
		return change("update", s.image(), `{"qty":-1}`, position)
	case "d":
		return change("delete", s.image(), "", position)
	}
	return change("update", s.image(), fmt.Sprintf(`{"id":%d}`, s.old), position)
}

// canal has all values as texts, several rows in a message, and no position. A
// message's rows here are the change and a row that nothing else touches.
func canal(table string, s step) []message {
	image := func(id int) string {
		v := s.v
		return fmt.Sprintf(`{"id":"%d","v":%s,"qty":"%d"}`, id, v, s.qty)
	}
	change := func(kind, data, old string) []message {
		return []message{{data: fmt.Sprintf(`{"id":%d,"database":"shop","table":%q,"pkNames":["id"],"isDdl":false,"type":%q,"es":1741507626000,"ts":1741507626420,"sql":"",`+
			`"sqlType":{"id":-5,"v":12,"qty":4},"mysqlType":{"id":"bigint unsigned","v":"varchar(40)","qty":"int"},"data":[%s],"old":%s,"gtid":""}`, s.n, part(table), kind, data, old)}}
	}
	switch s.op {
	case "u":
		return change("UPDATE", strings.Replace(image(s.id), `"qty":"`, `"qty":"-`, 1)+","+image(s.id), `[{"qty":"9"},{"qty":"-1"}]`) // twice in one statement
	case "d":
		return change("DELETE", image(s.id), "null")
	case "k":
		return change("UPDATE", image(s.id), fmt.Sprintf(`[{"id":"%d","v":"moving"}]`, s.old))
	}
	return change("INSERT", image(s.id), "null")
}

// pgLSN is a position of PostgreSQL's as people write it, with a digit more on the way.
func pgLSN(n int) string {
	at := uint64(0xF_FFFFFFC0) + 16*uint64(n)
	return fmt.Sprintf("%X/%X", at>>32, at&0xFFFFFFFF)
}

func wal2json1(table string, s step) []message {
	row := fmt.Sprintf(`"columnnames":["id","v","qty"],"columntypes":["bigint","text","integer"],"columnvalues":[%d,%s,%d]`, s.id, s.v, s.qty)
	keys := func(id int) string {
		return fmt.Sprintf(`"oldkeys":{"keynames":["id"],"keytypes":["bigint"],"keyvalues":[%d]}`, id)
	}
	change := func(kind, rest string) string {
		return fmt.Sprintf(`{"kind":%q,"schema":"public","table":%q,%s}`, kind, part(table), rest)
	}
	transaction := func(changes ...string) []message {
		return []message{{data: fmt.Sprintf(`{"xid":901,"nextlsn":%q,"timestamp":"2025-03-09 08:07:06.005004+00","change":[%s]}`, pgLSN(s.n), strings.Join(changes, ","))}}
	}
	switch s.op {
	case "u": // twice in one transaction, after a message of an application
		return transaction(`{"kind":"message","transactional":true,"prefix":"audit","content":"hi"}`,
			change("update", strings.Replace(row, fmt.Sprintf(",%d]", s.qty), ",-1]", 1)+","+keys(s.id)), change("update", row+","+keys(s.id)))
	case "d":
		return transaction(change("delete", keys(s.id)))
	case "k":
		return transaction(change("update", row+","+keys(s.old)))
	}
	return transaction(change("insert", row))
}

func wal2json2(table string, s step) []message {
	columns := fmt.Sprintf(`"columns":[{"name":"id","type":"bigint","value":%d},{"name":"v","type":"text","value":%s},{"name":"qty","type":"integer","value":%d}]`, s.id, s.v, s.qty)
	identity := func(id int) string {
		return fmt.Sprintf(`"identity":[{"name":"id","type":"bigint","value":%d}]`, id)
	}
	change := func(action, rest string) []message {
		return []message{{data: fmt.Sprintf(`{"action":%q,"xid":901,"lsn":%q,"schema":"public","table":%q,%s,"pk":[{"name":"id","type":"bigint"}]}`, action, pgLSN(s.n), part(table), rest)}}
	}
	switch s.op {
	case "u":
		return change("U", columns+","+identity(s.id))
	case "d":
		return change("D", identity(s.id))
	case "k":
		return change("U", columns+","+identity(s.old))
	}
	return append([]message{{data: fmt.Sprintf(`{"action":"B","xid":901,"lsn":%q}`, pgLSN(s.n))}}, change("I", columns)...)
}

func dms(table string, s step) []message {
	change := func(operation, image, before string) []message {
		image = strings.Replace(image, `"v":null,`, "", 1) // IncludeNullAndEmpty is off
		if before != "" {
			before = `"before-image":` + before + `,`
		}
		transaction := fmt.Sprintf(`,"transaction-id":9051,"transaction-record-id":%d,"prev-transaction-id":9050,"prev-transaction-record-id":1,`+
			`"commit-timestamp":"2025-03-09T08:07:06.005004Z","stream-position":"00000009/1A2B%04X.4.00000009/1A2B%04X"`, 1, 0x10*s.n, 0x10*s.n)
		if operation == "load" {
			transaction = ""
		}
		return []message{{data: fmt.Sprintf(`{"data":%s,%s"metadata":{"timestamp":"2025-03-09T08:07:06.405004Z","record-type":"data","operation":%q,"partition-key-type":"schema-table",`+
			`"schema-name":"public","table-name":%q%s}}`, image, before, operation, part(table), transaction)}}
	}
	switch s.op {
	case "r":
		return change("load", s.image(), "")
	case "c":
		return change("insert", s.image(), "")
	case "u":
		return change("update", s.image(), `{"qty":-1}`)
	case "d":
		return change("delete", fmt.Sprintf(`{"id":%d,"v":null,"qty":null}`, s.id), "")
	}
	return change("update", s.image(), fmt.Sprintf(`{"id":%d}`, s.old))
}

// spannerStream is what Google's template publishes. A key never changes: a row is
// deleted and another inserted, in one transaction.
func spannerStream(table string, s step) []message {
	record := func(mod, sequence, keys, values string) message {
		return message{data: fmt.Sprintf(`{"partitionToken":"__8BAYE","commitTimestamp":{"seconds":1741507626,"nanos":%d},"serverTransactionId":"NjM1Nz","isLastRecordInTransactionInPartition":true,`+
			`"recordSequence":%q,"tableName":%q,"rowType":[{"name":"id","type":{"code":"{\"code\":\"INT64\"}"},"isPrimaryKey":true,"ordinalPosition":1},`+
			`{"name":"v","type":{"code":"{\"code\":\"STRING\"}"},"isPrimaryKey":false,"ordinalPosition":2},{"name":"qty","type":{"code":"{\"code\":\"INT64\"}"},"isPrimaryKey":false,"ordinalPosition":3}],`+
			`"mods":[{"keysJson":%q,"oldValuesJson":"{}","newValuesJson":%q}],"modType":%q,"valueCaptureType":"NEW_ROW","numberOfRecordsInTransaction":1,"numberOfPartitionsInTransaction":1,`+
			`"transactionTag":"","isSystemTransaction":false}`, 990+5*s.n, sequence, table, keys, values, mod)}
	}
	key := func(id int) string { return fmt.Sprintf(`{"id":"%d"}`, id) }
	values := fmt.Sprintf(`{"v":%s,"qty":"%d"}`, s.v, s.qty)
	switch s.op {
	case "u":
		return []message{record("UPDATE", "00000000", key(s.id), values)}
	case "d":
		return []message{record("DELETE", "00000000", key(s.id), "{}")}
	case "k":
		return []message{record("DELETE", "00000000", key(s.old), "{}"), record("INSERT", "00000001", key(s.id), values)}
	}
	return []message{record("INSERT", "00000000", key(s.id), values)}
}

func sequin(table string, s step) []message {
	change := func(action, image, changes string, lsn int) []message {
		return []message{{
			data: fmt.Sprintf(`{"record":%s,"changes":%s,"action":%q,"metadata":{"table_schema":"public","table_name":%q,"idempotency_key":"b3BhcXVl",`+
				`"commit_timestamp":"2025-03-09T08:07:06.005004Z","commit_lsn":%d,"commit_idx":%d,"transaction_annotations":null,"enrichment":null}}`,
				image, changes, action, part(table), lsn, s.n%2),
			attributes: map[string]string{"trace_id": "t", "type": "event", "table_name": part(table), "action": action},
		}}
	}
	lsn := 32777618640 + 8*(s.n/2)
	switch s.op {
	case "r":
		return change("read", s.image(), "null", 99999999999) // a mark that is later than what was read
	case "c":
		return change("insert", s.image(), "null", lsn)
	case "u":
		return change("update", s.image(), `{"qty":-1}`, lsn)
	case "d":
		return change("delete", s.image(), "null", lsn)
	}
	return change("update", s.image(), fmt.Sprintf(`{"id":%d,"v":"moving"}`, s.old), lsn)
}

var otherTellers = []teller{
	{format: "datastream", source: "shop.ds_my", tell: datastreamOf("UPDATE-INSERT", "mysql-cdc-binlog", "mysql-backfill-incremental", `"database":"shop","primary_keys":["id"]`, func(s step) (string, string) {
		if s.op == "r" {
			return `[1741507626000,"",0]`, `"log_file":"","log_position":0`
		}
		return fmt.Sprintf(`[%d,"mysql-bin.000042",%d]`, 1741507626000-s.n, 990+5*s.n), fmt.Sprintf(`"log_file":"mysql-bin.000042","log_position":%d`, 990+5*s.n)
	})},
	{format: "datastream", source: "public.ds_pg", tell: datastreamOf("UPDATE", "postgres-cdc-wal", "postgresql-backfill", `"schema":"public","primary_keys":["id"]`, func(s step) (string, string) {
		if s.op == "r" {
			return `[1741507626000,""]`, `"lsn":"","tx_id":null`
		}
		return fmt.Sprintf(`[%d,%q]`, 1741507626000-s.n, pgLSN(s.n)), fmt.Sprintf(`"lsn":%q,"tx_id":901`, pgLSN(s.n))
	})},
	{format: "datastream", source: "dbo.ds_ms", tell: datastreamOf("UPDATE", "sqlserver-cdc", "sqlserver-backfill", `"schema":"dbo","primary_keys":[],"replication_index":["ID"]`, func(s step) (string, string) {
		if s.op == "r" {
			return `[1741507626000,""]`, `"lsn":"","tx_id":null`
		}
		lsn := fmt.Sprintf("0000003c:%08x:0002", 0xFFF8+s.n)
		return fmt.Sprintf(`[%d,%q]`, 1741507626000-s.n, lsn), fmt.Sprintf(`"lsn":%q,"tx_id":"0000:1"`, lsn)
	})},
	{format: "datastream", source: "SHOP.DS_ORA", tell: datastreamOf("UPDATE", "oracle-cdc-logminer", "oracle-backfill", `"schema":"SHOP","database":"ORCL","primary_keys":["ID"],"row_id":"AAAXkq"`, func(s step) (string, string) {
		if s.op == "r" {
			return `[1741507626000,9999,"",0]`, `"scn":9999,"ssn":0,"rs_id":"","tx_id":null,"log_file":""`
		}
		return fmt.Sprintf(`[%d,%d,"0x0004d2.0001f0a3.0090",%d]`, 1741507626000-s.n, 994+s.n/2, s.n),
			fmt.Sprintf(`"scn":%d,"ssn":%d,"rs_id":"0x0004d2.0001f0a3.0090","tx_id":"9.14.5521","log_file":"redo01.log"`, 994+s.n/2, s.n)
	})},
	{format: "maxwell", source: "shop.max_items", tell: maxwell},
	{format: "canal", source: "shop.canal_items", ordered: true, tell: canal},
	{format: "wal2json", source: "public.w1_items", tell: wal2json1},
	{format: "wal2json", source: "public.w2_items", tell: wal2json2},
	{format: "dms", source: "public.dms_items", tell: dms},
	{format: "spanner", source: "StreamItems", tell: spannerStream},
	{format: "sequin", source: "public.seq_items", tell: sequin},
}
