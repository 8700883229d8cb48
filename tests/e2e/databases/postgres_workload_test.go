package databases

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgresExpected reports whether a statement's failure belongs to a history.
func postgresExpected(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"55P03" /* lock_not_available */, "23505" /* unique_violation */}, failure.Code)
}

// TestPostgres makes a history in PostgreSQL with all that happens to one: a
// snapshot while it is written to, restarts of the database, of Debezium and of the
// pipeline, a new column, an incremental snapshot; and compares all tables in the end.
func TestPostgres(t *testing.T) {
	skipShort(t)
	seed := seedOf(t)
	source := startPostgres(t)
	tables := postgresTables()
	d := postgresDialect
	source.exec(pgTypesSetup...)
	for _, table := range tables {
		source.exec(d.create(table)...)
	}
	source.exec("CREATE TABLE markers (name text PRIMARY KEY)")
	source.exec("CREATE TABLE signals (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)")

	s := startServices(t, d.config(tables, ""))
	capture := newDebezium(t, s.publish, map[string]string{
		"connector.class":         "io.debezium.connector.postgresql.PostgresConnector",
		"database.hostname":       "127.0.0.1",
		"database.port":           fmt.Sprint(source.port),
		"database.user":           "postgres",
		"database.password":       "",
		"database.dbname":         "postgres",
		"plugin.name":             "pgoutput",
		"interval.handling.mode":  "string",
		"signal.data.collection":  "public.signals",
		"signal.enabled.channels": "source",
		"slot.name":               "debezium",
	})
	w := &workload{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), d: d, db: source.db, tables: tables,
		setup: []string{"SET lock_timeout = '1ms'"}, expected: postgresExpected,
	}
	w.connect()
	n := transactions(t)
	mark := func(name string) { source.exec("INSERT INTO markers VALUES (" + quoteSQL(name) + ")") }

	w.run(n / 10)
	capture.start()
	s.launch()
	w.run(2 * n / 10)
	w.commit() // a slot is made once all transactions have ended that began before
	capture.waitBatches(1)
	capture.kill()
	capture.start()
	w.run(3 * n / 10)
	w.commit()
	capture.catchUp(mark)
	w.run(4 * n / 10)
	w.commit()
	source.exec(`ALTER TABLE items ADD COLUMN added text, ADD COLUMN ignored integer`)
	w.altered = true
	w.run(5 * n / 10)
	s.kill()
	s.launch()
	source.exec(`INSERT INTO signals VALUES ('1', 'execute-snapshot', '{"type": "incremental", "data-collections": ["public.items", "public.types"]}')`)
	w.run(6 * n / 10)
	w.disconnect()
	source.restart()
	w.db = source.db
	w.connect()
	w.run(8 * n / 10)
	capture.kill()
	capture.start()
	w.run(n)
	w.commit()
	t.Logf("%d transactions, %v", w.ended, w.counts)
	capture.catchUp(mark)
	capture.kill()
	s.stop()

	for _, l := range s.letters() {
		t.Errorf("dead letter %s/%s: %s", l.stage, l.reason, l.text)
	}
	conn, err := source.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(context.Background(), "SET timezone = 'UTC'; SET extra_float_digits = 1"); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		compare(t, table, d.sourceRows(t, conn, table), s.rows(table.name))
	}
	t.Logf("%d messages", s.published.Load())
}
