package databases

import (
	"context"
	"maps"
	"testing"
)

// What BigQuery can't hold, or the pipeline doesn't do, becomes a dead letter of
// its own message, and what isn't a change of a row nothing at all; the rest is as
// it is in the source.
func TestPostgresRefused(t *testing.T) {
	skipShort(t)
	source := startPostgres(t)
	d := postgresDialect
	toasted := &sourceTable{name: "toasted", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
		{name: "n", source: "integer", target: "INT64"},
		{name: "doc", source: "text", target: "STRING"},
		{name: "raw", source: "bytea", target: "BYTES", text: pgBytes},
		{name: "texts", source: "text[]", target: "STRING, mode: REPEATED", text: pgTexts, wanted: jsonValue},
		{name: "days", source: "date[]", target: "DATE, mode: REPEATED", text: pgTexts, wanted: jsonValue},
	}}
	cleared := &sourceTable{name: "cleared", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
	}}
	extremes := &sourceTable{name: "extremes", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
		{name: "day", source: "date", target: "DATE"},
		{name: "at", source: "timestamp", target: "DATETIME", text: pgDateTime},
		{name: "zoned", source: "timestamptz", target: "TIMESTAMP", text: pgTimestamp},
		{name: "exact", source: "numeric(60,30)", target: "NUMERIC", text: pgNumeric},
		{name: "texts", source: "text[]", target: "STRING, mode: REPEATED", text: pgTexts, wanted: jsonValue},
		{name: "doc", source: "json", target: "JSON"},
	}}
	keyless := &sourceTable{name: "keyless", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
		{name: "v", source: "text", target: "STRING"},
	}}
	tables := []*sourceTable{toasted, cleared, extremes}
	for _, table := range tables {
		source.exec(d.create(table)...)
	}
	source.exec("CREATE TABLE keyless (id integer, v text)", "ALTER TABLE keyless REPLICA IDENTITY FULL",
		"CREATE TABLE unlisted (id integer PRIMARY KEY)", "CREATE TABLE markers (name text PRIMARY KEY)",
		"ALTER TABLE toasted ALTER doc SET STORAGE EXTERNAL, ALTER raw SET STORAGE EXTERNAL, ALTER texts SET STORAGE EXTERNAL, ALTER days SET STORAGE EXTERNAL")
	tables = append(tables, keyless)

	s := startServices(t, d.config("debezium", tables))
	settings := source.debezium()
	maps.Copy(settings, map[string]string{"skipped.operations": "none", // a truncate is skipped by default
		"provide.transaction.metadata": "true", "heartbeat.interval.ms": "200", "tombstones.on.delete": "true"})
	capture := newDebezium(t, s.publish, settings)
	mark := func(name string) { source.exec("INSERT INTO markers VALUES (" + quoteSQL(name) + ")") }
	s.launch()
	capture.start()
	capture.catchUp(mark)

	source.exec(
		"INSERT INTO toasted VALUES (1, 1, repeat('x', 9000), NULL, '{}', '{}'), (2, 1, 'short', decode(repeat('00ff', 5000), 'hex'), '{}', '{}')",
		"INSERT INTO toasted SELECT 3, 1, NULL, NULL, array_agg(repeat('y', 100)), '{}' FROM generate_series(1, 200)",
		"INSERT INTO toasted SELECT 4, 1, NULL, NULL, '{}', array_agg('2025-03-09'::date) FROM generate_series(1, 3000)",
		"UPDATE toasted SET n = 2 WHERE id = 1", // refused: its doc is unchanged and not told
		"UPDATE toasted SET n = 2 WHERE id = 2",
		"UPDATE toasted SET n = 2 WHERE id = 3",
		"UPDATE toasted SET n = 2 WHERE id = 4",
		"INSERT INTO toasted VALUES (5, 1, 'kept', NULL, '{}', '{}')",
		"UPDATE toasted SET n = 3 WHERE id = 5",
		"INSERT INTO cleared VALUES (1), (2)", "TRUNCATE cleared",
		"INSERT INTO extremes VALUES (1, 'infinity', NULL, NULL, NULL, '{}', NULL)",
		"INSERT INTO extremes VALUES (2, NULL, '-infinity', NULL, NULL, '{}', NULL)",
		"INSERT INTO extremes VALUES (3, NULL, NULL, 'infinity', NULL, '{}', NULL)",
		"INSERT INTO extremes VALUES (4, NULL, NULL, NULL, 123456789012345678901234567890, '{}', NULL)",
		"INSERT INTO extremes VALUES (5, NULL, NULL, NULL, NULL, '{a,NULL}', NULL)",
		"INSERT INTO extremes VALUES (6, '0044-03-15 BC', NULL, NULL, NULL, '{}', NULL)",
		"INSERT INTO extremes VALUES (7, '10000-01-01', NULL, NULL, NULL, '{}', NULL)",
		`INSERT INTO extremes VALUES (8, NULL, NULL, NULL, NULL, '{}', '{"n": 18446744073709551616}')`,
		"INSERT INTO extremes VALUES (9, '2025-03-09', '2025-03-09 02:30', '2025-03-09 02:30+00', 1.5, '{a}', '{}')",
		"INSERT INTO keyless VALUES (1, 'a'), (2, 'b'), (NULL, 'c')", "UPDATE keyless SET v = 'x' WHERE id = 1", "DELETE FROM keyless WHERE id = 2",
		"INSERT INTO unlisted VALUES (1)",
		"SELECT pg_logical_emit_message(true, 'audit', 'transactional')", "SELECT pg_logical_emit_message(false, 'audit', 'not so')",
	)
	capture.catchUp(mark)
	capture.kill()
	s.stop()

	wantLetters(t, s, map[string]int{"encode/unavailable_value": 4, "key/truncate": 1, "encode/bad_value": 8, "key/missing_key": 1})

	conn, err := source.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(context.Background(), "SET timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	// The refused updates left n as it was; the truncated rows are still there.
	source.exec("UPDATE toasted SET n = 1 WHERE id <= 4", "INSERT INTO cleared VALUES (1), (2)", "DELETE FROM extremes WHERE id < 9", "DELETE FROM keyless WHERE id IS NULL")
	for _, table := range tables {
		compare(t, table, d.sourceRows(t, conn, table), s.rows(table.name))
	}
}

// wantLetters compares how many dead letters there are of each stage and reason.
func wantLetters(t *testing.T, s *services, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, l := range s.allLetters() {
		got[l.stage+"/"+l.reason]++
	}
	if maps.Equal(got, want) {
		return
	}
	t.Errorf("dead letters %v, want %v", got, want)
	for _, l := range s.allLetters() {
		t.Logf("dead letter %s/%s: %s", l.stage, l.reason, l.text)
	}
}

// MariaDB holds times that are no times of day and dates that are none.
func TestMariaDBRefused(t *testing.T) {
	skipShort(t)
	source := startMariaDB(t)
	d := mariaDialect
	extremes := &sourceTable{name: "extremes", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
		{name: "clock", source: "time", target: "TIME", text: myTime},
		{name: "day", source: "date", target: "DATE", text: "nullif($, 0)"},
		{name: "at", source: "datetime(6)", target: "DATETIME", text: "nullif(" + myDateTime + ", '0000-00-00T00:00:00.000000')"},
		{name: "zoned", source: "timestamp(6) NULL", target: "TIMESTAMP", text: "nullif(" + myTimestamp + ", '0000-00-00T00:00:00.000000Z')"},
		{name: "nullable", source: "integer", target: "INT64"},
		{name: "state", source: "enum('open','paid')", target: "STRING"},
	}}
	cleared := &sourceTable{name: "cleared", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
	}}
	renamed := &sourceTable{name: "renamed", key: []string{"id"}, columns: []column{
		{name: "id", source: "integer", target: "INT64, mode: REQUIRED"},
		{name: "v", source: "varchar(20)", target: "STRING"},
	}}
	tables := []*sourceTable{extremes, cleared, renamed}
	for _, table := range tables[:2] {
		source.exec(d.create(table)...)
	}
	source.exec("CREATE TABLE markers (name varchar(64) PRIMARY KEY)")
	s := startServices(t, d.config("debezium", tables))
	settings := source.debezium()
	maps.Copy(settings, map[string]string{"skipped.operations": "none", "provide.transaction.metadata": "true", "heartbeat.interval.ms": "200"})
	capture := newDebezium(t, s.publish, settings)
	mark := func(name string) { source.exec("INSERT INTO markers VALUES (" + quoteSQL(name) + ")") }
	s.launch()
	capture.start()
	capture.catchUp(mark)

	source.exec(
		"INSERT INTO extremes (id, clock) VALUES (1, '-01:00:00'), (2, '30:00:00'), (3, '24:00:00')", // all refused
		"INSERT INTO extremes (id, clock, state) VALUES (4, '23:59:59', 'open')",
		"INSERT INTO extremes (id, day, at, zoned) VALUES (5, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00')",
		"INSERT INTO cleared VALUES (1), (2)", "TRUNCATE TABLE cleared",
		"CREATE TABLE made (id integer PRIMARY KEY, v varchar(10))", "INSERT INTO made VALUES (1, 'unlisted')",
		"RENAME TABLE made TO renamed", "INSERT INTO renamed VALUES (2, 'listed')",
		"ALTER TABLE renamed MODIFY v varchar(20), MODIFY id bigint", "UPDATE renamed SET v = 'and longer than before' WHERE false", "INSERT INTO renamed VALUES (3, 'fifteen letters')",
		"UPDATE renamed SET v = 'known now' WHERE id = 1",
		"CREATE TEMPORARY TABLE unseen (id integer)", "ANALYZE TABLE renamed", "CREATE VIEW seen AS SELECT * FROM renamed", "FLUSH BINARY LOGS",
		"DELETE FROM renamed WHERE id = 2",
	)
	capture.catchUp(mark)
	capture.kill()
	s.stop()
	wantLetters(t, s, map[string]int{"key/truncate": 1, "encode/bad_value": 3})

	conn, err := source.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(context.Background(), "SET time_zone = '+00:00'"); err != nil {
		t.Fatal(err)
	}
	source.exec("INSERT INTO cleared VALUES (1), (2)", "DELETE FROM extremes WHERE id < 4") // as BigQuery has it
	for _, table := range tables {
		compare(t, table, d.sourceRows(t, conn, table), s.rows(table.name))
	}
}
