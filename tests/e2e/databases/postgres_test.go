package databases

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// postgres is a PostgreSQL server with a data directory of its own.
type postgres struct {
	t       testing.TB
	account account
	data    string
	port    int
	process *process
	db      *sql.DB
}

// startPostgres starts a PostgreSQL that ends with the test. It doesn't wait for
// the disk: a restart is one of the process, not of the machine.
func startPostgres(t testing.TB) *postgres {
	t.Helper()
	s := &postgres{t: t, account: accountFor(t, "postgres"), port: freePort(t)}
	s.data = filepath.Join(s.account.directory(t), "data")
	run(t, s.account.command(syscall.SIGKILL, program(t, "initdb"), "--pgdata", s.data, "--auth", "trust", "--username", "postgres",
		"--encoding", "UTF8", "--locale", "C", "--no-sync"))
	s.start()
	t.Cleanup(func() { s.process.end(syscall.SIGQUIT) })
	t.Cleanup(func() { _ = s.db.Close() }) // the server goes anyway
	s.wait()
	return s
}

func (s *postgres) start() {
	s.t.Helper()
	s.process = start(s.t, "postgres", s.account.command(syscall.SIGQUIT, program(s.t, "postgres"), "-D", s.data,
		"-c", "listen_addresses=127.0.0.1", "-c", fmt.Sprintf("port=%d", s.port), "-c", "unix_socket_directories=",
		"-c", "wal_level=logical", "-c", "max_replication_slots=8", "-c", "max_wal_senders=8", "-c", "wal_sender_timeout=0",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "shared_buffers=64MB",
		"-c", "autovacuum=off", // its locks would make a seed's history another one
		"-c", "timezone=Asia/Kathmandu", // nothing may depend on it
		"-c", "log_min_messages=warning", "-c", "log_min_error_statement=panic"))
}

// wait opens new connections: of the old ones nobody knows which are dead.
func (s *postgres) wait() {
	s.t.Helper()
	if s.db != nil {
		_ = s.db.Close()
	}
	var err error
	if s.db, err = sql.Open("pgx", fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", s.port)); err != nil {
		s.t.Fatal(err)
	}
	waitFor(s.t, "PostgreSQL to take connections", func() bool { return s.db.Ping() == nil }, s.process)
}

// restart lets the server crash and starts it again. It doesn't stop it in order:
// it would wait for Debezium, which may wait for the pipeline.
func (s *postgres) restart() {
	s.t.Helper()
	s.process.end(syscall.SIGQUIT)
	s.start()
	s.wait()
}

func (s *postgres) pool() *sql.DB { return s.db }

func (s *postgres) exec(statements ...string) { s.t.Helper(); execAll(s.t, s.db, statements) }
