package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// dbz renders a step as Debezium does, whatever the source block and the images
// look like: a changed key is a delete and a create, with headers.
func dbz(s step, source func(half int) string, image func(id int) string) []message {
	envelope := func(op, before, after string, half int) message {
		id := s.id
		if after == "null" && s.old > 0 {
			id = s.old
		}
		return message{
			data: fmt.Sprintf(`{"before":%s,"after":%s,"source":{"version":"3.4.0.Final","name":"acme","ts_ms":1741507626000,%s},`+
				`"transaction":null,"op":%q,"ts_ms":1741507626400}`, before, after, source(half), op),
			orderingKey: fmt.Sprintf(`{"id":%d}`, id),
		}
	}
	switch s.op {
	case "d":
		return []message{envelope("d", image(s.id), "null", 0)}
	case "k":
		first, second := envelope("d", image(s.old), "null", 1), envelope("c", "null", image(s.id), 2)
		first.attributes = map[string]string{"__debezium.newkey": fmt.Sprintf(`{"schema":null,"payload":{"id":%d}}`, s.id)}
		second.attributes = map[string]string{"__debezium.oldkey": fmt.Sprintf(`{"id":%d}`, s.old)}
		return []message{first, second}
	}
	return []message{envelope(s.op, "null", image(s.id), 0)}
}

func (s step) imageOf(id int) string { s.id = id; return s.image() }

func (s step) snapshot() string {
	if s.op == "r" {
		return `"snapshot":"true"`
	}
	return `"snapshot":"false"`
}

func pgSource(table string, s step) string {
	last := fmt.Sprintf(`\"%d\"`, 0xFFFFFF00+16*s.n) // a digit more on the way
	if s.op == "r" {
		last = "null"
	}
	lsn := 0xFFFFFF08 + 16*s.n
	return fmt.Sprintf(`"connector":"postgresql",%s,"db":"shop","sequence":"[%s,\"%d\"]","schema":"public","table":%q,"txId":901,"lsn":%d,"xmin":null`,
		s.snapshot(), last, lsn, part(table), lsn)
}

// part returns the last part of a table's name.
func part(table string) string { return table[strings.LastIndex(table, ".")+1:] }

func debeziumPG(table string, s step) []message {
	return dbz(s, func(int) string { return pgSource(table, s) }, s.imageOf)
}

// debeziumTyped is the same with schemas, of the key too.
func debeziumTyped(table string, s step) []message {
	messages := debeziumPG(table, s)
	const fields = `[{"field":"id","type":"int32","optional":false},{"field":"v","type":"string","optional":true},{"field":"qty","type":"int64","optional":false}]`
	for i := range messages {
		m := &messages[i]
		m.data = `{"schema":{"type":"struct","optional":false,"name":"acme.` + table + `.Envelope","version":2,"fields":[` +
			`{"field":"before","type":"struct","optional":true,"name":"acme.` + table + `.Value","fields":` + fields + `},` +
			`{"field":"after","type":"struct","optional":true,"name":"acme.` + table + `.Value","fields":` + fields + `},` +
			`{"field":"op","type":"string","optional":false}]},"payload":` + m.data + `}`
		m.orderingKey = `{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false,"name":"acme.` +
			table + `.Key"},"payload":` + m.orderingKey + `}`
	}
	return messages
}

func debeziumMySQL(connector string) func(string, step) []message {
	return func(table string, s step) []message {
		file, pos, gtid, server := "mysql-bin.999999", 9000+s.n, `"7d0c51aa-0b52-11f0-8a41-0242ac110002:23"`, 184054
		if s.n > 4 { // the files' numbers get another digit, and positions begin again
			file, pos = "mysql-bin.1000000", 4+s.n
		}
		if connector == "mariadb" {
			gtid = `"0-1-918"`
		}
		if s.op == "r" {
			gtid, server = "null", 0
		}
		return dbz(s, func(half int) string {
			return fmt.Sprintf(`"connector":%q,%s,"db":"shop","sequence":null,"table":%q,"server_id":%d,"gtid":%s,"file":%q,"pos":%d,"row":%d,"thread":39,"query":null`,
				connector, s.snapshot(), part(table), server, gtid, file, pos, max(0, half-1))
		}, s.imageOf)
	}
}

func debeziumSQLServer(table string, s step) []message {
	return dbz(s, func(half int) string {
		change, serial := fmt.Sprintf(`"0000003c:000015f8:%04x"`, s.n), fmt.Sprint(max(1, half))
		if s.op == "r" {
			change, serial = "null", "null"
		}
		if s.op == "u" {
			serial = `"2"` // as the documentation prints it
		}
		return fmt.Sprintf(`"connector":"sqlserver",%s,"db":"shop","sequence":null,"schema":"dbo","table":%q,"change_lsn":%s,"commit_lsn":"0000003c:%08x:0009","event_serial_no":%s`,
			s.snapshot(), part(table), change, 0xFFF8+s.n, serial)
	}, s.imageOf)
}

func debeziumOracle(table string, s step) []message {
	return dbz(s, func(half int) string {
		commit := fmt.Sprintf(`"%d"`, 994+s.n) // decimal, with a digit more on the way
		if s.op == "r" {
			commit = "null"
		}
		return fmt.Sprintf(`"connector":"oracle",%s,"db":"SHOP","sequence":null,"schema":"SHOP","table":%q,"txId":"9.14.5521","scn":"%d","commit_scn":%s,"lcr_position":null,`+
			`"rs_id":"0004d2.0001f0a3.0090","ssn":1,"redo_thread":1,"user_name":"APP","redo_sql":null,"row_id":"AAAXkqAAHAAABd7AAC","txSeq":%d`,
			s.snapshot(), part(table), 984+s.n, commit, 4+half)
	}, func(id int) string { return strings.ToUpper(s.imageOf(id)[:5]) + s.imageOf(id)[5:] })
}

// debeziumMongo has its images in texts, its key in the ordering key alone, and
// no changed keys: _id is for good.
func debeziumMongo(table string, s step) []message {
	source := func(half int) string {
		return fmt.Sprintf(`"connector":"mongodb",%s,"db":"shop","sequence":null,"rs":"rs0","collection":%q,"ord":%d,"lsid":null,"txnNumber":null,"wallTime":null`,
			s.snapshot(), part(table), 10*s.n+half)
	}
	messages := dbz(s, source, func(id int) string {
		text, _ := json.Marshal(fmt.Sprintf(`{"_id": {"$numberLong": "%d"},"v": %s,"qty": %d}`, id, s.v, s.qty))
		return string(text)
	})
	for i := range messages {
		m := &messages[i]
		m.attributes = nil
		m.orderingKey = strings.NewReplacer(`{"id":`, `{"id":"`, `}`, `"}`).Replace(m.orderingKey)
		if before, after, ok := strings.Cut(m.data, `,"after":null`); ok {
			_ = before
			m.data = `{"before":null,"after":null` + after // without pre-images
		}
	}
	return messages
}

func debeziumSpanner(table string, s step) []message {
	return dbz(s, func(half int) string {
		return fmt.Sprintf(`"connector":"spanner",%s,"db":"acme","sequence":"%08d","project_id":"p","instance_id":"i","database_id":"d","change_stream_name":"s","table":%q,`+
			`"ts_us":%d,"ts_ns":%d,"server_transaction_id":"NjM1Nz","record_sequence":"%08d","transaction_tag":"","system_transaction":false,"value_capture_type":"NEW_ROW",`+
			`"mod_number":%d,"is_last_record_in_transaction_in_partition":true,"number_of_records_in_transaction":1,"number_of_partitions_in_transaction":1`,
			strings.Replace(s.snapshot(), "true", "false", 1), half, table, 1741507626000000+s.n/2, 1741507626000000000+500*s.n, half, 0)
	}, s.imageOf)
}

// flattened is PostgreSQL's through ExtractNewRecordState, with deletes rewritten.
func flattened(table string, s step) []message {
	render := func(op, image, deleted string, id int) message {
		source := pgSource(table, s)
		source = source[strings.Index(source, `"sequence":`)+len(`"sequence":`):]
		sequence, _, _ := strings.Cut(source, `,"schema"`)
		return message{
			data: fmt.Sprintf(`%s,"__op":%q,"__table":%q,"__source_schema":"public","__source_ts_ms":1741507626005,"__lsn":%d,"__source_sequence":%s,"__deleted":%q}`,
				image[:len(image)-1], op, part(table), 0xFFFFFF08+16*s.n, sequence, deleted),
			orderingKey: fmt.Sprintf(`{"id":%d}`, id),
		}
	}
	switch s.op {
	case "d":
		return []message{render("d", fmt.Sprintf(`{"id":%d,"v":null,"qty":0}`, s.id), "true", s.id)}
	case "k":
		return []message{render("d", fmt.Sprintf(`{"id":%d,"v":null,"qty":0}`, s.old), "true", s.old), render("c", s.image(), "false", s.id)}
	}
	return []message{render(s.op, s.image(), "false", s.id)}
}

// cloudEvent is PostgreSQL's as CloudEvents, whose extensions are texts.
func cloudEvent(binary bool) func(string, step) []message {
	return func(table string, s step) []message {
		messages := debeziumPG(table, s)
		for i := range messages {
			m := &messages[i]
			var change struct {
				Op            string
				Before, After json.RawMessage
				Source        map[string]any
			}
			_ = json.Unmarshal([]byte(m.data), &change) // it was written just above
			event := map[string]any{
				"id": fmt.Sprintf("name:acme;lsn:%d;%d", s.n, i), "source": "/debezium/postgresql/acme", "specversion": "1.0",
				"type": "io.debezium.connector.postgresql.DataChangeEvent", "time": "2025-03-09T08:07:06.005Z", "datacontenttype": "application/json",
				"iodebeziumop": change.Op, "iodebeziumversion": "3.4.0.Final", "iodebeziumconnector": "postgresql", "iodebeziumname": "acme",
				"iodebeziumtsms": "1741507626005", "iodebeziumsnapshot": change.Source["snapshot"], "iodebeziumdb": "shop",
				"iodebeziumsequence": change.Source["sequence"], "iodebeziumschema": "public", "iodebeziumtable": change.Source["table"],
				"iodebeziumtxId": "901", "iodebeziumlsn": fmt.Sprint(0xFFFFFF08 + 16*s.n),
			}
			data := fmt.Sprintf(`{"before":%s,"after":%s}`, change.Before, change.After)
			if !binary {
				event["data"] = json.RawMessage(data)
				text, _ := json.Marshal(event)
				m.data = string(text)
				continue
			}
			attributes := map[string]string{"content-type": "application/json"}
			for name, value := range event {
				attributes["ce-"+name] = fmt.Sprint(value)
			}
			maps.Copy(attributes, m.attributes)
			m.data, m.attributes = data, attributes
		}
		return messages
	}
}

var debeziumTellers = []teller{
	{format: "debezium", source: "public.pg_items", tell: debeziumPG},
	{format: "debezium", source: "public.typed_items", tell: debeziumTyped},
	{format: "debezium", source: "shop.my_items", tell: debeziumMySQL("mysql")},
	{format: "debezium", source: "shop.maria_items", tell: debeziumMySQL("mariadb")},
	{format: "debezium", source: "dbo.ms_items", tell: debeziumSQLServer},
	{format: "debezium", source: "SHOP.ORA_ITEMS", tell: debeziumOracle},
	{format: "debezium", source: "shop.mongo_items", key: "_id", tell: debeziumMongo},
	{format: "debezium", source: "SpannerItems", tell: debeziumSpanner},
	{format: "debezium", source: "public.avro_items", tell: debeziumAvro},
	{format: "debezium_flat", source: "public.flat_items", tell: flattened},
	{format: "cloudevents", source: "public.ce_items", tell: cloudEvent(false)},
	{format: "cloudevents", source: "public.ce_binary_items", tell: cloudEvent(true)},
}
