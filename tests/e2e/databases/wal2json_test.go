package databases

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// wal2jsonTables are the workload's tables without the types that the plugin
// writes in PostgreSQL's own texts, which no column of BigQuery's reads. Values
// need no hint: the plugin names their types.
func wal2jsonTables() []*sourceTable {
	without := []string{"c_money", "c_hstore", "c_bit1", "c_bits", "c_varbit", "c_point", "c_timetz", "ignored"}
	tables := postgresTables()
	for _, t := range tables {
		t.columns = slices.DeleteFunc(t.columns, func(c column) bool { return slices.Contains(without, c.name) })
		for i := range t.columns {
			c := &t.columns[i]
			c.late = false
			c.target, _, _ = strings.Cut(c.target, ", from:")
			if c.source == "bytea[]" { // inside of an array the plugin doesn't know the type
				c.target += ", from: hex"
			}
			if c.source == "real" || c.source == "double precision" { // the plugin writes null for these
				c.text = "CASE WHEN $ NOT IN ('NaN', 'Infinity', '-Infinity') THEN $::text END"
			}
		}
	}
	return tables
}

// The output plugin wal2json needs no Debezium: what a slot gives is published as
// it is, a part of it twice, as by a publisher that was killed. PostgreSQL crashes
// in the middle of the workload, and the pipeline while it reads.
func TestWal2JSON(t *testing.T) {
	skipShort(t)
	tables := wal2jsonTables()
	h := postgresHistory(t, false)
	for _, table := range tables {
		h.source.exec(h.dialect.create(table)...)
	}
	formats := map[string]map[string]string{
		"transactions": {"format-version": "1", "include-lsn": "1", "include-timestamp": "1", "include-pk": "1"},
		"changes":      {"format-version": "2", "include-lsn": "1", "include-timestamp": "1", "include-pk": "1"},
	}
	for name := range formats {
		h.source.exec("SELECT pg_create_logical_replication_slot(" + quoteSQL(name) + ", 'wal2json')")
	}
	seed, n := seedOf(t), transactions(t)
	if n == defaultTransactions {
		n /= 3 // it runs twice, and tries less than a history does
	}
	w := &workload{t: t, r: rand.New(rand.NewPCG(seed, 1)), d: h.dialect, db: h.source.pool(), tables: tables, setup: h.setup, expected: h.expected}
	w.connect()
	w.run(n / 2)
	w.disconnect()
	h.source.restart()
	w.db = h.source.pool()
	w.connect()
	w.run(n)
	w.commit()
	t.Logf("%d transactions, %v", w.ended, w.counts)

	h.source.exec("CHECKPOINT") // a slot gives what is on the disk

	conn, err := h.source.pool().Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(context.Background(), "SET timezone = 'UTC'; SET intervalstyle = 'iso_8601'"); err != nil {
		t.Fatal(err)
	}
	for _, slot := range slices.Sorted(maps.Keys(formats)) {
		t.Run(slot, func(t *testing.T) {
			keep := keepCaptured(t)
			read := func(function string) []*pubsubpb.PubsubMessage {
				return readSlot(t, conn, function, slot, formats[slot])
			}
			s := startServices(t, h.dialect.config("wal2json", tables))
			s.launch()
			for i := 0; ; i++ {
				s.publish(read("pg_logical_slot_peek_changes"))
				messages := read("pg_logical_slot_get_changes")
				if len(messages) == 0 {
					break
				}
				if keep != nil {
					writeCaptured(t, keep, messages)
				}
				s.publish(messages)
				if i == 0 && slot == "transactions" { // what it had then comes again late, so once is enough
					s.kill()
					s.launch()
				}
			}
			s.stop()
			for _, l := range s.allLetters() {
				t.Errorf("dead letter %s/%s: %s", l.stage, l.reason, l.text)
			}
			for _, table := range tables {
				compare(t, table, h.dialect.sourceRows(t, conn, table), s.rows(table.name))
			}
			t.Logf("%d messages", s.published.Load())
		})
	}
}

// readSlot reads what a slot gives next: whole transactions, of some thousand changes.
func readSlot(t *testing.T, conn *sql.Conn, function, slot string, options map[string]string) []*pubsubpb.PubsubMessage {
	t.Helper()
	arguments := []string{quoteSQL(slot), "NULL", "5000"}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		arguments = append(arguments, quoteSQL(name), quoteSQL(options[name]))
	}
	rows, err := conn.QueryContext(context.Background(), "SELECT data FROM "+function+"("+strings.Join(arguments, ", ")+")")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	var messages []*pubsubpb.PubsubMessage
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, &pubsubpb.PubsubMessage{Data: data})
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return messages
}

// writeCaptured writes messages in the form that Debezium's are kept in.
func writeCaptured(t *testing.T, w io.Writer, messages []*pubsubpb.PubsubMessage) {
	t.Helper()
	for _, m := range messages {
		if _, err := fmt.Fprintf(w, `{"data": %s}`+"\n", m.GetData()); err != nil {
			t.Fatal(err)
		}
	}
}
