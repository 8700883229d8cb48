package envelope_test

import (
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// TestDecode_debeziumSequence: what a source block's position comes to. Where
// want is empty the position can't be read, and says why.
func TestDecode_debeziumSequence(t *testing.T) {
	for _, test := range []struct {
		what, op, source, want string
	}{
		{"both", "u", `"connector":"postgresql","sequence":"[\"90\",\"100\"]","lsn":100`, "3/64/64/1"},
		{"commit after it", "u", `"connector":"postgresql","sequence":"[\"200\",\"130\"]","lsn":130`, "3/C8/82/1"},
		{"delete", "d", `"connector":"postgresql","sequence":"[\"200\",\"130\"]","lsn":130`, "3/C8/82/0"},
		{"create", "c", `"connector":"postgresql","sequence":"[\"200\",\"130\"]","lsn":130`, "3/C8/82/1"},
		{"white space in it", "u", `"connector":"postgresql","sequence":"[ \"200\" , \"130\" ]","lsn":130`, "3/C8/82/1"},
		{"numbers in it", "u", `"connector":"postgresql","sequence":"[200,130]","lsn":130`, "3/C8/82/1"},
		{"an array instead of its text", "u", `"connector":"postgresql","sequence":["200","130"],"lsn":130`, "3/C8/82/1"},
		{"null in it", "u", `"connector":"postgresql","sequence":"[null,\"130\"]","lsn":130`, "3/82/82/1"},
		{"no sequence", "u", `"connector":"postgresql","lsn":130`, "3/82/82/1"},
		{"no lsn", "u", `"connector":"postgresql","sequence":"[\"200\",\"130\"]"`, "3/C8/82/1"},
		{"lsn as a string", "u", `"connector":"postgresql","lsn":"130"`, "3/82/82/1"},
		{"lsn as PostgreSQL writes it", "u", `"connector":"postgresql","lsn":"7/A1B2C3D8"`, "3/7A1B2C3D8/7A1B2C3D8/1"},
		{"lsn of 64 bits", "u", `"connector":"postgresql","lsn":18446744073709551615`, "3/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/1"},
		{"neither", "u", `"connector":"postgresql"`, ""},
		{"nulls", "u", `"connector":"postgresql","lsn":null,"sequence":"[\"200\",null]"`, ""},
		{"lsn 0", "u", `"connector":"postgresql","lsn":0`, ""},
		{"lsn negative", "u", `"connector":"postgresql","lsn":-1`, ""},
		{"lsn with a fraction", "u", `"connector":"postgresql","lsn":1.5`, ""},
		{"lsn as an object", "u", `"connector":"postgresql","lsn":{}`, ""},
		{"sequence that is no LSN", "u", `"connector":"postgresql","lsn":5,"sequence":"[\"x\",\"5\"]"`, ""},

		{"snapshot", "r", `"connector":"postgresql","snapshot":"true","sequence":"[null,\"130\"]","lsn":130`, "3/82/0/0"},
		{"snapshot after a commit", "r", `"connector":"postgresql","snapshot":"last","sequence":"[\"200\",\"130\"]","lsn":130`, "3/82/0/0"},
		{"snapshot, boolean", "r", `"connector":"postgresql","snapshot":true,"lsn":130`, "3/82/0/0"},
		{"snapshot without its flag", "r", `"connector":"postgresql","snapshot":"false","lsn":130`, "3/82/0/0"},
		{"snapshot as an insert", "c", `"connector":"postgresql","snapshot":"true","lsn":130`, "3/82/0/0"},
		{"no snapshot, boolean", "c", `"connector":"postgresql","snapshot":false,"lsn":130`, "3/82/82/1"},
		{"no snapshot, null", "c", `"connector":"postgresql","snapshot":null,"lsn":130`, "3/82/82/1"},
		{"an update with a snapshot's flag", "u", `"connector":"postgresql","snapshot":"last","lsn":130`, "3/82/82/1"},
		{"snapshot without position", "r", `"connector":"postgresql","snapshot":"true"`, "3/0/0/0"},
		{"incremental snapshot", "r", `"connector":"postgresql","snapshot":"incremental"`, "3/0/0/0"},
		{"incremental snapshot with a stale position", "r", `"connector":"postgresql","snapshot":"incremental","lsn":130`, "3/0/0/0"},
		{"truncate", "t", `"connector":"postgresql","lsn":130`, "3/82/82/1"},

		{"MySQL", "u", `"connector":"mysql","file":"mysql-bin.000042","pos":7310,"row":0`, "3/2A/1C8E/3"},
		{"MySQL, third row", "u", `"connector":"mysql","file":"mysql-bin.000042","pos":7310,"row":2`, "3/2A/1C8E/7"},
		{"MySQL, delete", "d", `"connector":"mysql","file":"mysql-bin.000042","pos":7310,"row":2`, "3/2A/1C8E/6"},
		{"MySQL, file beyond six digits", "u", `"connector":"mysql","file":"mysql-bin.1000000","pos":4,"row":0`, "3/F4240/4/3"},
		{"MySQL, no row", "u", `"connector":"mysql","file":"mysql-bin.000042","pos":7310`, "3/2A/1C8E/3"},
		{"MySQL, strings", "u", `"connector":"mysql","file":"mysql-bin.000042","pos":"7310","row":"1"`, "3/2A/1C8E/5"},
		{"MySQL, snapshot", "r", `"connector":"mysql","snapshot":"true","file":"mysql-bin.000042","pos":7310,"row":0`, "3/2A/1C8E/0"},
		{"MySQL, incremental snapshot", "r", `"connector":"mysql","snapshot":"incremental","file":"mysql-bin.000042","pos":7310`, "3/0/0/0"},
		{"MySQL, snapshot without position", "r", `"connector":"mysql","snapshot":"true","file":"","pos":0`, "3/0/0/0"},
		{"MySQL, no file", "u", `"connector":"mysql","pos":7310`, ""},
		{"MySQL, no pos", "u", `"connector":"mysql","file":"mysql-bin.000042"`, ""},
		{"MySQL, pos that is no number", "u", `"connector":"mysql","file":"mysql-bin.000042","pos":"x"`, ""},
		{"MySQL, gigantic row", "u", `"connector":"mysql","file":"mysql-bin.000042","pos":1,"row":4611686018427387904`, ""},
		{"MySQL, file without a number", "u", `"connector":"mysql","file":"mysql-bin","pos":1`, ""},
		{"MariaDB", "u", `"connector":"mariadb","file":"mariadb-bin.000042","pos":7310,"row":0,"gtid":"0-1-918"`, "3/2A/1C8E/3"},

		{"SQL Server", "u", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009","change_lsn":"0000003c:000015f8:0004","event_serial_no":2`, "3/3C000015F8/90000003C0000/15F8000400000005"},
		{"SQL Server, serial as text", "u", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009","change_lsn":"0000003c:000015f8:0004","event_serial_no":"2"`, "3/3C000015F8/90000003C0000/15F8000400000005"},
		{"SQL Server, no serial", "d", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009","change_lsn":"0000003c:000015f8:0004"`, "3/3C000015F8/90000003C0000/15F8000400000000"},
		{"SQL Server, gigantic serial", "u", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009","change_lsn":"0000003c:000015f8:0004","event_serial_no":2147483648`, ""},
		{"SQL Server, no change_lsn", "u", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009"`, ""},
		{"SQL Server, no commit_lsn", "u", `"connector":"sqlserver","change_lsn":"0000003c:000015f8:0009"`, ""},
		{"SQL Server, short commit_lsn", "u", `"connector":"sqlserver","commit_lsn":"3c:15f8:9","change_lsn":"0000003c:000015f8:0009"`, ""},
		{"SQL Server, bad change_lsn", "u", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009","change_lsn":"x"`, ""},
		{"SQL Server, change_lsn 0", "u", `"connector":"sqlserver","commit_lsn":"0000003c:000015f8:0009","change_lsn":"00000000:00000000:0000"`, ""},
		{"SQL Server, snapshot", "r", `"connector":"sqlserver","snapshot":"true","commit_lsn":"0000003c:000015f8:0009","change_lsn":null`, "3/3C000015F8/9000000000000/0"},
		{"SQL Server, snapshot without position", "r", `"connector":"sqlserver","snapshot":"true","commit_lsn":null`, "3/0/0/0"},
		{"Oracle", "u", `"connector":"oracle","commit_scn":"77310455","scn":"77310412","txSeq":4`, "3/49BA9F7/49BA9CC/9"},
		{"Oracle, numbers", "d", `"connector":"oracle","commit_scn":77310455,"scn":77310412,"txSeq":"4"`, "3/49BA9F7/49BA9CC/8"},
		{"Oracle, an older commit", "u", `"connector":"oracle","commit_scn":"77310400","scn":"77310412","txSeq":4`, "3/49BA9CC/49BA9CC/9"},
		{"Oracle, by redo record", "u", `"connector":"oracle","commit_scn":"77310455","scn":"77310412","rs_id":"0004d2.0001f0a3.0090","ssn":1`, "3/49BA9F7/49BA9CC/F85180480003"},
		{"Oracle, no place", "u", `"connector":"oracle","commit_scn":"77310455","scn":"77310412"`, ""},
		{"Oracle, bad place", "u", `"connector":"oracle","commit_scn":"77310455","scn":"77310412","rs_id":"x"`, ""},
		{"Oracle, bad txSeq", "u", `"connector":"oracle","commit_scn":"77310455","scn":"77310412","txSeq":-1`, ""},
		{"Oracle, no commit_scn", "u", `"connector":"oracle","scn":"77310412","txSeq":4`, ""},
		{"Oracle, hexadecimal", "u", `"connector":"oracle","commit_scn":"49BA9F7","scn":"77310412","txSeq":4`, ""},
		{"Oracle, no scn", "u", `"connector":"oracle","commit_scn":"77310455","txSeq":4`, ""},
		{"Oracle, scn 0", "u", `"connector":"oracle","commit_scn":"77310455","scn":"0","txSeq":4`, ""},
		{"Oracle, XStream", "u", `"connector":"oracle","lcr_position":"00ff"`, ""},
		{"Oracle, snapshot", "r", `"connector":"oracle","snapshot":"true","scn":"77310412"`, "3/49BA9CC/0/0"},
		{"Oracle, snapshot without position", "r", `"connector":"oracle","snapshot":"true","scn":null`, "3/0/0/0"},
		{"MongoDB, no ts_ms", "t", `"connector":"mongodb","ord":31`, ""},
		{"MongoDB, ts_ms negative", "t", `"connector":"mongodb","ts_ms":-1000,"ord":31`, ""},
		{"MongoDB, no ord", "t", `"connector":"mongodb","ts_ms":1741507626000`, ""},
		{"MongoDB, bad ord", "t", `"connector":"mongodb","ts_ms":1741507626000,"ord":-1`, ""},
		{"MongoDB", "t", `"connector":"mongodb","ts_ms":1741507626000,"ord":31`, "3/67CD4C2A/1F/3"},
		{"Spanner", "u", `"connector":"spanner","ts_ns":1741507626005004001,"record_sequence":1,"mod_number":2`, "3/182B13F57DA97EE1/1/5"},
		{"Spanner, text", "u", `"connector":"spanner","ts_ns":1741507626005004001,"record_sequence":"00000001","mod_number":"2"`, "3/182B13F57DA97EE1/1/5"},
		{"Spanner, milliseconds", "d", `"connector":"spanner","ts_ms":1741507626005,"record_sequence":1,"mod_number":0`, "3/182B13F57DA96F40/1/0"},
		{"Spanner, no time", "u", `"connector":"spanner","record_sequence":1,"mod_number":0`, ""},
		{"Spanner, a time before 1970", "u", `"connector":"spanner","ts_ms":-1,"record_sequence":1,"mod_number":0`, ""},
		{"Spanner, a time beyond nanoseconds", "u", `"connector":"spanner","ts_ms":99999999999999,"record_sequence":1,"mod_number":0`, ""},
		{"Spanner, no record_sequence", "u", `"connector":"spanner","ts_ms":1741507626005,"mod_number":0`, ""},
		{"Spanner, sequence", "u", `"connector":"spanner","ts_ms":1741507626005,"sequence":"12","mod_number":0`, "3/182B13F57DA96F40/C/1"},
		{"Spanner, sequence of another kind", "u", `"connector":"spanner","ts_ms":1741507626005,"sequence":"963d1af435fb3e79-00000000","mod_number":0`, ""},
		{"Spanner, no mod_number", "u", `"connector":"spanner","ts_ms":1741507626005,"record_sequence":1`, ""},

		{"another connector", "u", `"connector":"vitess","vgtid":"x"`, ""},
		{"no connector", "u", `"lsn":1`, ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			data := fmt.Sprintf(`{"op":%q,"source":{%s},"before":{"id":1},"after":{"id":1}}`, test.op, test.source)
			events, _, err := decode(t, envelope.Options{Epoch: 3}, change.Message{Data: []byte(data)})
			if err != nil {
				t.Fatal(err)
			}
			checkSequence(t, &events[0], test.want)
		})
	}
}

// checkSequence checks a sequence, and that its position says where or why not.
func checkSequence(t *testing.T, e *change.Event, want string) {
	t.Helper()
	if got := e.Sequence.String(); got != want {
		t.Errorf("sequence %q at %q, want %q", got, e.Position, want)
	}
	if e.Position == "" {
		t.Error("the position is empty")
	}
	if n := len(e.Sequence.Sections()); n != 0 && n != 4 {
		t.Errorf("the sequence has %d sections", n)
	}
}

func TestDecode_datastreamSequence(t *testing.T) {
	for _, test := range []struct {
		what, method, metadata, want string
	}{
		{"MySQL", "mysql-cdc-binlog", `"change_type":"INSERT","log_file":"mysql-bin.000042","log_position":7310`, "3/2A/1C8E/3"},
		{"MySQL, the other spelling", "mysql-cdc-binlog", `"change_type":"INSERT","binlog_file":"mysql-bin.000007","binlog_position":44`, "3/7/2C/3"},
		{"MySQL, both halves of a key change, first", "mysql-cdc-binlog", `"change_type":"UPDATE-DELETE","is_deleted":true,"log_file":"f.1","log_position":4`, "3/1/4/2"},
		{"MySQL, both halves of a key change, second", "mysql-cdc-binlog", `"change_type":"UPDATE-INSERT","is_deleted":false,"log_file":"f.1","log_position":4`, "3/1/4/3"},
		{"MySQL, position as text", "mysql-cdc-binlog", `"change_type":"INSERT","log_file":"f.1","log_position":"4"`, "3/1/4/3"},
		{"MySQL, neither", "mysql-cdc-binlog", `"change_type":"INSERT"`, ""},
		{"MySQL, file alone", "mysql-cdc-binlog", `"change_type":"INSERT","log_file":"f.1"`, ""},
		{"MySQL, empty", "mysql-cdc-binlog", `"change_type":"INSERT","log_file":"","log_position":0`, ""},
		{"MySQL, backfill", "mysql-backfill-incremental", `"change_type":"INSERT","log_file":"","log_position":0`, "3/0/0/0"},
		{"MySQL, backfill without", "mysql-backfill-fulldump", `"change_type":"INSERT"`, "3/0/0/0"},
		{"MySQL, backfill with file 0", "mysql-backfill-fulldump", `"change_type":"INSERT","log_file":0,"log_position":0`, "3/0/0/0"},
		{"MySQL, backfill at a position", "mysql-backfill-fulldump", `"change_type":"INSERT","log_file":"f.1","log_position":4`, "3/1/4/0"},
		{"PostgreSQL", "postgres-cdc-wal", `"change_type":"INSERT","schema":"public","lsn":"7/A1B2C3D8"`, "3/7A1B2C3D8/7A1B2C3D8/1"},
		{"PostgreSQL, 10/200", "postgres-cdc-wal", `"change_type":"UPDATE","schema":"public","lsn":"10/200"`, "3/1000000200/1000000200/1"},
		{"PostgreSQL, delete", "postgresql-cdc-wal", `"change_type":"DELETE","is_deleted":true,"schema":"public","lsn":"0/5"`, "3/5/5/0"},
		{"PostgreSQL, none", "postgres-cdc-wal", `"change_type":"INSERT","schema":"public"`, ""},
		{"PostgreSQL, no LSN", "postgres-cdc-wal", `"change_type":"INSERT","schema":"public","lsn":"x"`, ""},
		{"PostgreSQL, 0", "postgres-cdc-wal", `"change_type":"INSERT","schema":"public","lsn":"0/0"`, ""},
		{"PostgreSQL, backfill", "postgresql-backfill", `"change_type":"INSERT","schema":"public","lsn":""`, "3/0/0/0"},
		{"PostgreSQL, backfill at 0", "postgresql-backfill", `"change_type":"INSERT","schema":"public","lsn":"0/0"`, "3/0/0/0"},
		{"PostgreSQL, backfill at a position", "postgresql-backfill", `"change_type":"INSERT","schema":"public","lsn":"0/5"`, "3/5/0/0"},
		{"SQL Server", "sqlserver-cdc", `"change_type":"INSERT","schema":"dbo","lsn":"0000003c:00001600:0002"`, "3/3C00001600/20000003C0000/1600000200000001"},
		{"SQL Server, digits alone", "sqlserver-cdc", `"change_type":"INSERT","schema":"dbo","lsn":"0x0000003C000016000002"`, "3/3C00001600/20000003C0000/1600000200000001"},
		{"SQL Server, both halves of a key change, first", "sqlserver-cdc", `"change_type":"UPDATE-DELETE","is_deleted":true,"schema":"dbo","lsn":"0000003c:00001600:0002"`, "3/3C00001600/20000003C0000/1600000200000000"},
		{"SQL Server, none", "sqlserver-cdc", `"change_type":"INSERT","schema":"dbo"`, ""},
		{"SQL Server, 0", "sqlserver-cdc", `"change_type":"INSERT","schema":"dbo","lsn":"00000000:00000000:0000"`, ""},
		{"SQL Server, PostgreSQL's LSN", "sqlserver-cdc", `"change_type":"INSERT","schema":"dbo","lsn":"0/5"`, ""},
		{"SQL Server, backfill", "sqlserver-backfill", `"change_type":"INSERT","schema":"dbo","lsn":"0000003c:00001600:0002"`, "3/0/0/0"},
		{"Oracle", "oracle-cdc-logminer", `"change_type":"INSERT","schema":"S","scn":77310412,"rs_id":"0x0004d2.0001f0a3.0090","ssn":1`, "3/49BA9CC/49BA9CC/F85180480003"},
		{"Oracle, numbers as text", "oracle-cdc-logminer", `"change_type":"DELETE","is_deleted":true,"schema":"S","scn":"77310412","rs_id":" 0x0004d2.0001f0a3.0090 ","ssn":"1"`, "3/49BA9CC/49BA9CC/F85180480002"},
		{"Oracle, no rs_id", "oracle-cdc-logminer", `"change_type":"INSERT","schema":"S","scn":77310412`, ""},
		{"Oracle, hexadecimal", "oracle-cdc-logminer", `"change_type":"INSERT","schema":"S","scn":"49BA9CC","rs_id":"1.2.3","ssn":0`, ""},
		{"Oracle, backfill", "oracle-backfill", `"change_type":"INSERT","schema":"S","scn":77310412,"rs_id":"","ssn":0`, "3/0/0/0"},
		{"Oracle, old dump", "oracle_dump", `"change_type":"INSERT","schema":"S","scn":77310412`, "3/0/0/0"},
		{"MongoDB", "mongodb-change-stream", `"change_type":"INSERT","collection":"c","cluster_time":{"t":1770305520,"i":27478}`, "3/6984B7F0/6B56/3"},
		{"MongoDB, cluster time without the increment", "mongodb-change-stream", `"change_type":"INSERT","collection":"c","cluster_time":{"t":1770305520}`, ""},
		{"MongoDB, sort_keys of another kind", "cdc", `"change_type":"INSERT","collection":"c"`, ""},
		{"MongoDB, backfill", "backfill", `"change_type":"INSERT","collection":"c","cluster_time":null`, "3/0/0/0"},
		{"another source", "salesforce-cdc", `"change_type":"INSERT","lsn":"0/5"`, ""},
		{"no read_method, SQL Server", "", `"change_type":"INSERT","schema":"dbo","lsn":"0000003c:00001600:0002"`, "3/3C00001600/20000003C0000/1600000200000001"},
		{"no read_method, Oracle", "", `"change_type":"INSERT","schema":"S","scn":77310412,"rs_id":"0x0004d2.0001f0a3.0090","ssn":1`, "3/49BA9CC/49BA9CC/F85180480003"},
		{"no read_method, MySQL", "", `"change_type":"INSERT","database":"shop","log_file":"f.1","log_position":4`, "3/1/4/3"},
		{"no read_method, PostgreSQL", "", `"change_type":"INSERT","schema":"public","lsn":"0/5"`, "3/5/5/1"},
	} {
		t.Run(test.what, func(t *testing.T) {
			data := fmt.Sprintf(`{"read_method":%q,"sort_keys":[1741507626000,"mysql-bin.000099",99],"source_metadata":{"table":"t",%s},"payload":{"id":1}}`, test.method, test.metadata)
			events, _, err := decode(t, envelope.Options{Epoch: 3}, change.Message{Data: []byte(data)})
			if err != nil {
				t.Fatal(err)
			}
			checkSequence(t, &events[0], test.want)
		})
	}
}

func TestDecode_op(t *testing.T) {
	for _, test := range []struct {
		data string
		want change.Op
	}{
		{`{"op":"c","source":{},"after":{}}`, change.OpCreate},
		{`{"op":"u","source":{},"after":{}}`, change.OpUpdate},
		{`{"op":"d","source":{},"before":{}}`, change.OpDelete},
		{`{"op":"d","source":{},"before":{},"after":{}}`, change.OpDelete},
		{`{"op":"r","source":{},"after":{}}`, change.OpSnapshot},
		{`{"op":"c","source":{"snapshot":true},"after":{}}`, change.OpSnapshot},
		{`{"op":"t","source":{}}`, change.OpTruncate},
		{`{"op":"t","source":{},"before":null,"after":null}`, change.OpTruncate},
		{`{"source_metadata":{"change_type":"INSERT"},"payload":{}}`, change.OpCreate},
		{`{"source_metadata":{"change_type":"UPDATE"},"payload":{}}`, change.OpUpdate},
		{`{"source_metadata":{"change_type":"UPDATE-INSERT","is_deleted":false},"payload":{}}`, change.OpUpdate},
		{`{"source_metadata":{"change_type":"UPDATE-DELETE","is_deleted":true},"payload":{}}`, change.OpDelete},
		{`{"source_metadata":{"change_type":"UPDATE-DELETE"},"payload":{}}`, change.OpDelete},
		{`{"source_metadata":{"change_type":"DELETE","is_deleted":"true"},"payload":{}}`, change.OpDelete},
		{`{"source_metadata":{"is_deleted":true},"payload":{}}`, change.OpDelete},
		{`{"read_method":"mysql-backfill-incremental","source_metadata":{"change_type":"INSERT"},"payload":{}}`, change.OpSnapshot},
		{`{"read_method":"mysql-backfill-incremental","source_metadata":{},"payload":{}}`, change.OpSnapshot},
		{`{"read_method":"oracle_dump","source_metadata":{"change_type":"INSERT"},"payload":{}}`, change.OpSnapshot},
	} {
		events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(test.data)})
		if err != nil || len(events) != 1 {
			t.Errorf("%s: %d events, error %v", test.data, len(events), err)
			continue
		}
		e := &events[0]
		if e.Op != test.want {
			t.Errorf("%s: %s, want %s", test.data, e.Op, test.want)
		}
		if (e.Op == change.OpDelete || e.Op == change.OpTruncate) && e.After != nil {
			t.Errorf("%s: a %s with an after image", test.data, e.Op)
		}
	}
}

func TestDecode_table(t *testing.T) {
	for source, want := range map[string]string{
		`"connector":"postgresql","db":"shop","schema":"public","table":"t"`: "public.t",
		`"connector":"mysql","db":"shop","table":"t"`:                        "shop.t",
		`"connector":"mysql","db":"shop","schema":"x","table":"t"`:           "shop.t",
		`"connector":"mariadb","db":"shop","table":"t"`:                      "shop.t",
		`"connector":"sqlserver","db":"shop","schema":"dbo","table":"t"`:     "dbo.t",
		`"connector":"postgresql","schema":"public","table":"a.b"`:           "public.a.b",
		`"connector":"postgresql","schema":"öffentlich","table":"Täfel"`:     "öffentlich.Täfel",
		`"connector":"spanner","table":"t"`:                                  "t",
		`"connector":"postgresql","schema":"public"`:                         "",
		`"connector":"postgresql","schema":"public","table":null`:            "",
		``: "",
	} {
		events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(`{"op":"t","source":{` + source + `}}`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := events[0].Table; got != want {
			t.Errorf("source {%s}: table %q, want %q", source, got, want)
		}
	}
	for metadata, want := range map[string]string{
		`"table":"t","database":"shop"`:                 "shop.t",
		`"table":"t","schema":"public","lsn":"0/1"`:     "public.t",
		`"table":"t","schema":"SHOP","database":"ORCL"`: "SHOP.t",
		`"table":"t"`:       "t",
		`"database":"shop"`: "",
	} {
		events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(`{"source_metadata":{"change_type":"INSERT",` + metadata + `},"payload":{}}`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := events[0].Table; got != want {
			t.Errorf("source_metadata {%s}: table %q, want %q", metadata, got, want)
		}
	}
}

func TestDecode_commitTime(t *testing.T) {
	for source, want := range map[string]string{
		`"ts_ms":1741507626005,"ts_us":1741507626005004,"ts_ns":1741507626005004003`: "2025-03-09T08:07:06.005004003Z",
		`"ts_ms":1741507626005,"ts_us":1741507626005004`:                             "2025-03-09T08:07:06.005004Z",
		`"ts_ms":1741507626005`:             "2025-03-09T08:07:06.005Z",
		`"ts_ms":"1741507626005"`:           "2025-03-09T08:07:06.005Z",
		`"ts_ms":-1`:                        "1969-12-31T23:59:59.999Z",
		`"ts_ms":0`:                         "1970-01-01T00:00:00Z",
		`"ts_ms":null`:                      "",
		`"ts_ms":9223372036854775807`:       "",
		`"ts_ms":1e3`:                       "",
		`"ts_ns":null,"ts_ms":1`:            "1970-01-01T00:00:00.001Z",
		`"ts_ns":99999999999999999999`:      "",
		`"ts_ns":"x","ts_us":"y","ts_ms":2`: "1970-01-01T00:00:00.002Z",
		``:                                  "",
	} {
		checkCommitTime(t, `{"op":"t","ts_ms":5,"source":{`+source+`}}`, want)
	}
	for timestamp, want := range map[string]string{
		`"2025-03-09T08:07:06.000"`:           "2025-03-09T08:07:06Z",
		`"2025-03-09T08:07:06.005004Z"`:       "2025-03-09T08:07:06.005004Z",
		`"2025-03-09 08:07:06.005004"`:        "2025-03-09T08:07:06.005004Z",
		`"2025-03-09 08:07:06Z"`:              "2025-03-09T08:07:06Z",
		`"2025-03-09T10:07:06+02:00"`:         "2025-03-09T08:07:06Z",
		`1741507626005`:                       "2025-03-09T08:07:06.005Z",
		`"1741507626005"`:                     "2025-03-09T08:07:06.005Z",
		`"yesterday"`:                         "",
		`"infinity"`:                          "",
		`null`:                                "",
		`"` + strings.Repeat("9", 1000) + `"`: "",
	} {
		checkCommitTime(t, `{"source_timestamp":`+timestamp+`,"source_metadata":{"change_type":"INSERT"},"payload":{}}`, want)
	}
}

func checkCommitTime(t *testing.T, data, want string) {
	t.Helper()
	events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if at := events[0].CommitTime; !at.IsZero() {
		got = at.Format("2006-01-02T15:04:05.999999999Z07:00")
	}
	if got != want {
		t.Errorf("%s: committed %q, want %q", data, got, want)
	}
}
