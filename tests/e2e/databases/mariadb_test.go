package databases

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"
)

// mariadb is a MariaDB server with a data directory of its own.
type mariadb struct {
	t       testing.TB
	account account
	data    string
	port    int
	process *process
	db      *sql.DB
	shop    string // the database's name, once it is there
}

// startMariaDB starts a MariaDB that ends with the test. It doesn't wait for the
// disk: a restart is one of the process, not of the machine.
func startMariaDB(t testing.TB) *mariadb {
	t.Helper()
	s := &mariadb{t: t, account: accountFor(t, "mysql"), port: freePort(t)}
	directory := s.account.directory(t)
	s.data = filepath.Join(directory, "data")
	run(t, s.account.command(syscall.SIGKILL, program(t, "mariadb-install-db"), "--no-defaults", "--datadir="+s.data,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"))
	s.start()
	t.Cleanup(func() { _ = s.db.Close() }) // the server goes anyway
	s.wait()
	s.exec("CREATE DATABASE shop", "CREATE USER cdc@'127.0.0.1' IDENTIFIED BY 'cdc'", "GRANT ALL ON *.* TO cdc@'127.0.0.1'")
	s.shop = "shop"
	s.wait()
	return s
}

func (s *mariadb) start() {
	s.t.Helper()
	// Debezium's connector for MariaDB is in no package registry, its connector for
	// MySQL is. That asks MySQL 8.4 for its binlog in words that MariaDB doesn't know,
	// and takes MariaDB 10.11 for something newer: so the server says that it is older.
	s.process = start(s.t, "mariadbd", s.account.command(syscall.SIGKILL, program(s.t, "mariadbd"), "--no-defaults", "--datadir="+s.data,
		"--version=5.7.19-log", "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", s.port), "--socket="+filepath.Join(filepath.Dir(s.data), "socket"),
		"--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL", "--server-id=1", "--max-binlog-size=1M",
		"--sync-binlog=0", "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M", "--skip-name-resolve",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--default-time-zone=+05:45"))
}

// wait opens new connections: of the old ones nobody knows which are dead.
func (s *mariadb) wait() {
	s.t.Helper()
	if s.db != nil {
		_ = s.db.Close()
	}
	var err error
	if s.db, err = sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", s.port, s.shop)); err != nil {
		s.t.Fatal(err)
	}
	waitFor(s.t, "MariaDB to take connections", func() bool { return s.db.Ping() == nil }, s.process)
}

// restart lets the server crash and starts it again.
func (s *mariadb) restart() {
	s.t.Helper()
	s.process.end(syscall.SIGKILL)
	s.start()
	s.wait()
}

func (s *mariadb) pool() *sql.DB { return s.db }

func (s *mariadb) exec(statements ...string) { s.t.Helper(); execAll(s.t, s.db, statements) }

// execAll runs statements that must succeed.
func execAll(t testing.TB, db *sql.DB, statements []string) {
	t.Helper()
	for _, statement := range statements {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, err := db.ExecContext(ctx, statement)
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
