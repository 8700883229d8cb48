package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// lsn reads a PostgreSQL log position as people write it, "F/FFFF0000", into the
// number that Debezium writes.
func lsn(t testing.TB, text string) uint64 {
	t.Helper()
	high, low, ok := strings.Cut(text, "/")
	h, errHigh := strconv.ParseUint(high, 16, 32)
	l, errLow := strconv.ParseUint(low, 16, 32)
	if !ok || errHigh != nil || errLow != nil {
		t.Fatalf("%q is no log position", text)
	}
	return h<<32 | l
}

// pgChange is one of Debezium's messages for PostgreSQL, without its schema.
type pgChange struct {
	table  string // "public.orders"
	op     string // c u d r t
	key    string // JSON, for the ordering key; "" for none
	before string // JSON; "" for null
	after  string // JSON; "" for null

	lastCommit uint64 // 0: null, as in a snapshot
	lsn        uint64 // 0: absent, as in an incremental snapshot
	snapshot   string // "" for "false"

	attributes map[string]string
}

func (c pgChange) message() message {
	schema, table, _ := strings.Cut(c.table, ".")
	snapshot := c.snapshot
	if snapshot == "" {
		snapshot = "false"
	}
	var position string
	if c.lsn > 0 {
		last := "null"
		if c.lastCommit > 0 {
			last = fmt.Sprintf(`\"%d\"`, c.lastCommit)
		}
		position = fmt.Sprintf(`"sequence":"[%s,\"%d\"]","txId":%d,"lsn":%d,`, last, c.lsn, 500+c.lsn%100, c.lsn)
	}
	return message{
		data: fmt.Sprintf(`{"before":%s,"after":%s,"source":{"version":"3.4.0.Final","connector":"postgresql","name":"shop","ts_ms":1741507626005,`+
			`"snapshot":%q,"db":"shop",%s"schema":%q,"table":%q,"xmin":null},"transaction":null,"op":%q,"ts_ms":1741507626400}`,
			orNull(c.before), orNull(c.after), snapshot, position, schema, table, c.op),
		orderingKey: c.key, attributes: c.attributes,
	}
}

func orNull(text string) string {
	if text == "" {
		return "null"
	}
	return text
}

// myChange is one of Debezium's messages for MySQL, without its schema.
type myChange struct {
	table         string // "shop.orders"
	op            string
	key           string
	before, after string
	file          string
	pos, row      uint64
	server        uint64
	snapshot      string
}

func (c myChange) message() message {
	database, table, _ := strings.Cut(c.table, ".")
	snapshot := c.snapshot
	if snapshot == "" {
		snapshot = "false"
	}
	return message{
		data: fmt.Sprintf(`{"before":%s,"after":%s,"source":{"version":"3.4.0.Final","connector":"mysql","name":"shop","ts_ms":1741507626000,`+
			`"snapshot":%q,"db":%q,"sequence":null,"table":%q,"server_id":%d,"gtid":null,"file":%q,"pos":%d,"row":%d,"thread":39,"query":null},`+
			`"transaction":null,"op":%q,"ts_ms":1741507626400}`,
			orNull(c.before), orNull(c.after), snapshot, database, table, c.server, c.file, c.pos, c.row, c.op),
		orderingKey: c.key,
	}
}

// TestMessageLine makes sure that the tests publish what they say.
func TestMessageLine(t *testing.T) {
	for _, m := range []message{
		{data: `{"a": 1.0}`},
		{data: `{"a": 1.0}`, orderingKey: `{"id":7}`, attributes: map[string]string{"x": "y"}},
		{data: "", orderingKey: "k"},
		{data: "\xff{"},
		pgChange{table: "public.t", op: "c", after: `{"id":1}`, lastCommit: 10, lsn: 11}.message(),
		myChange{table: "d.t", op: "c", after: `{"id":1}`, file: "mysql-bin.000042", pos: 7310}.message(),
	} {
		var got struct {
			Data        json.RawMessage   `json:"data"`
			DataBase64  []byte            `json:"data_base64"`
			OrderingKey string            `json:"ordering_key"`
			Attributes  map[string]string `json:"attributes"`
		}
		if err := json.Unmarshal([]byte(m.line()), &got); err != nil {
			t.Fatalf("%s: %v", m.line(), err)
		}
		if data := string(got.Data) + string(got.DataBase64); data != m.data || got.OrderingKey != m.orderingKey || got.Attributes["x"] != m.attributes["x"] {
			t.Errorf("%+v became %s", m, m.line())
		}
	}
}
