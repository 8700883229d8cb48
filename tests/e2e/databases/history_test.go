package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// source is a database server that a history is made in.
type source interface {
	exec(statements ...string) // they must succeed
	pool() *sql.DB             // another one after a restart
	restart()
}

// history makes a history in a database with all that happens to one: a snapshot
// that is interrupted, and one beside a load, restarts of the database, of
// Debezium and of the pipeline, new columns, an incremental snapshot. In the end
// each table must be in BigQuery as it is in the source.
type history struct {
	t        testing.TB
	source   source
	dialect  *dialect
	tables   []*sourceTable
	setup    []string // what each session of the workload begins with
	utc      string   // puts the session that is compared with in UTC
	expected func(error) bool
	settings map[string]string // Debezium's
	schemas  bool              // Debezium's messages have schemas
	signals  int               // that were given
	format   string            // of the messages, as the configuration names it
	more     string            // of the configuration: lines of YAML
	harmless func(letter) bool // dead letters that change no row; nil for none
}

func (h *history) run() {
	h.t.Helper()
	r := h.begin()
	w, s, capture, n := r.workload, r.services, r.capture, transactions(h.t)

	w.run(n / 10)
	w.commit() // PostgreSQL makes a slot once all transactions have ended that began before
	s.launch()
	// A snapshot that is interrupted is taken anew. What was deleted meanwhile is in
	// no message: Debezium doesn't tell, so nothing is written between the two.
	capture.start()
	capture.waitBatches(1)
	capture.kill()
	capture.start()
	capture.waitBatches(1)
	w.run(3 * n / 10) // beside the rest of the snapshot
	w.commit()
	capture.catchUp(h.mark)
	capture.kill()
	capture.start()
	w.run(4 * n / 10)
	w.commit()
	h.source.exec(h.addColumns()...)
	w.altered = true
	w.run(5 * n / 10)
	s.kill()
	s.launch()
	h.askIncremental()
	w.run(6 * n / 10)
	w.commit()
	capture.waitIncremental(h.askIncremental)
	w.disconnect()
	h.source.restart()
	w.db = h.source.pool()
	w.connect()
	w.run(8 * n / 10)
	capture.kill()
	capture.start()
	w.run(n)
	h.end(r)
}

// askIncremental asks for an incremental snapshot by a row of the signals' table.
func (h *history) askIncremental() {
	h.signals++
	h.source.exec(fmt.Sprintf(`INSERT INTO signals VALUES ('%d', 'execute-snapshot', '{"type": "incremental", "data-collections": ["%[2]s.items", "%[2]s.types"]}')`,
		h.signals, h.dialect.schema))
}

// runQuietly makes a short history in which nothing is restarted.
func (h *history) runQuietly(transactions int) {
	h.t.Helper()
	r := h.begin()
	r.workload.run(transactions / 2)
	r.workload.commit()
	r.services.launch()
	r.capture.start()
	r.capture.catchUp(h.mark)
	h.source.exec(h.addColumns()...)
	r.workload.altered = true
	r.workload.run(transactions)
	h.end(r)
}

// running is what takes part in a history.
type running struct {
	workload *workload
	services *services
	capture  *debezium
}

// begin creates the tables and prepares what takes part; neither the pipeline nor
// Debezium runs.
func (h *history) begin() *running {
	h.t.Helper()
	seed := seedOf(h.t)
	for _, table := range h.tables {
		h.source.exec(h.dialect.create(table)...)
	}
	h.source.exec("CREATE TABLE markers (name varchar(64) PRIMARY KEY)",
		"CREATE TABLE signals (id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text)")
	settings := map[string]string{
		"signal.enabled.channels":        "source",
		"snapshot.fetch.size":            "10",
		"max.batch.size":                 "500",
		"max.queue.size":                 "1000",
		"key.converter.schemas.enable":   strconv.FormatBool(h.schemas),
		"value.converter.schemas.enable": strconv.FormatBool(h.schemas),
	}
	maps.Copy(settings, h.settings)
	s := startServices(h.t, h.dialect.config(h.format, h.tables)+h.more)
	w := &workload{
		t: h.t, r: rand.New(rand.NewPCG(seed, 1)), d: h.dialect, db: h.source.pool(), tables: h.tables,
		setup: h.setup, expected: h.expected,
	}
	w.connect()
	return &running{workload: w, services: s, capture: newDebezium(h.t, s.publish, settings)}
}

func (h *history) mark(name string) {
	h.source.exec("INSERT INTO markers VALUES (" + quoteSQL(name) + ")")
}

// end waits until all is in BigQuery and compares it with the source.
func (h *history) end(r *running) {
	h.t.Helper()
	r.workload.commit()
	h.t.Logf("%d transactions, %v", r.workload.ended, r.workload.counts)
	r.capture.catchUp(h.mark)
	r.capture.kill()
	h.compareAll(r.services)
}

// compareAll waits until all that was published is in BigQuery and compares it.
func (h *history) compareAll(s *services) {
	h.t.Helper()
	s.stop()
	for _, l := range s.allLetters() {
		if h.harmless != nil && h.harmless(l) {
			h.t.Logf("harmless: dead letter %s/%s: %s", l.stage, l.reason, l.text)
			continue
		}
		h.t.Errorf("dead letter %s/%s: %s", l.stage, l.reason, l.text)
	}
	conn, err := h.source.pool().Conn(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(context.Background(), h.utc); err != nil {
		h.t.Fatal(err)
	}
	for _, table := range h.tables {
		compare(h.t, table, h.dialect.sourceRows(h.t, conn, table), s.rows(table.name))
	}
	h.t.Logf("%d messages", s.published.Load())
}

// addColumns are the statements that add the late columns.
func (h *history) addColumns() []string {
	var statements []string
	for _, t := range h.tables {
		for _, c := range t.columns {
			if c.late {
				statements = append(statements, "ALTER TABLE "+h.dialect.quoted(t.name)+" ADD COLUMN "+h.dialect.quoted(c.name)+" "+c.source)
			}
		}
	}
	return statements
}

func TestPostgres(t *testing.T) { postgresHistory(t, true).run() }

// Without schemas, what a value means is told by the destination's columns alone.
func TestPostgresWithoutSchemas(t *testing.T) { postgresHistory(t, false).runQuietly(300) }

func postgresHistory(t *testing.T, schemas bool) *history {
	skipShort(t)
	s := startPostgres(t)
	s.exec(pgTypesSetup...)
	return &history{
		t: t, source: s, dialect: postgresDialect, tables: postgresTables(), schemas: schemas, format: "debezium",
		setup: []string{"SET lock_timeout = '1ms'"},
		utc:   "SET timezone = 'UTC'",
		expected: func(err error) bool {
			failure, ok := errors.AsType[*pgconn.PgError](err)
			return ok && slices.Contains([]string{"55P03" /* lock_not_available */, "23505" /* unique_violation */}, failure.Code)
		},
		settings: s.debezium(),
	}
}

// debezium returns the settings of a connector to the server.
func (s *postgres) debezium() map[string]string {
	return map[string]string{
		"connector.class":        "io.debezium.connector.postgresql.PostgresConnector",
		"database.hostname":      "127.0.0.1",
		"database.port":          fmt.Sprint(s.port),
		"database.user":          "postgres",
		"database.password":      "",
		"database.dbname":        "postgres",
		"plugin.name":            "pgoutput",
		"interval.handling.mode": "string",
		"signal.data.collection": "public.signals",
		"slot.name":              "debezium",
		"slot.retry.delay.ms":    "200", // the server notices late that the one before was killed
	}
}

func TestMariaDB(t *testing.T) { mariadbHistory(t, false).run() }

func TestMariaDBWithSchemas(t *testing.T) { mariadbHistory(t, true).runQuietly(300) }

func mariadbHistory(t *testing.T, schemas bool) *history {
	skipShort(t)
	s := startMariaDB(t)
	return &history{
		t: t, source: s, dialect: mariaDialect, tables: mariadbTables(), schemas: schemas, format: "debezium",
		setup: []string{"SET innodb_lock_wait_timeout = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET sql_mode = 'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'"},
		utc:   "SET time_zone = '+00:00'",
		expected: func(err error) bool {
			failure, ok := errors.AsType[*mysql.MySQLError](err)
			return ok && slices.Contains([]uint16{1205 /* lock wait timeout */, 1213 /* deadlock */, 1062 /* duplicate key */}, failure.Number)
		},
		settings: s.debezium(),
	}
}

// debezium returns the settings of a connector to the server.
func (s *mariadb) debezium() map[string]string {
	return map[string]string{
		"connector.class":                           "io.debezium.connector.mysql.MySqlConnector",
		"database.hostname":                         "127.0.0.1",
		"database.port":                             fmt.Sprint(s.port),
		"database.user":                             "cdc",
		"database.password":                         "cdc",
		"database.server.id":                        "77",
		"database.include.list":                     "shop",
		"signal.data.collection":                    "shop.signals",
		"schema.history.internal":                   "io.debezium.storage.file.history.FileSchemaHistory",
		"schema.history.internal.file.filename":     filepath.Join(s.t.TempDir(), "history"),
		"tombstones.on.delete":                      "true", // an older Debezium Server sends them
		"connect.keep.alive.interval.ms":            "1000",
		"incremental.snapshot.allow.schema.changes": "true",
	}
}
