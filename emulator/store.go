package emulator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// store keeps rows in DuckDB. A table is a baseline (b<id>) and generations of
// pending changes (p<id>_<n>), which a merge folds into the baseline.
//
// One goroutine commits appends, many requests at a time; merges and reads have
// connections of their own.
type store struct {
	db   *sql.DB
	path string // absolute; "" in memory
	log  *slog.Logger
	now  func() time.Time

	appends  chan *appendBatch
	merges   chan *table
	stop     chan struct{} // closed when the store closes
	finished sync.WaitGroup

	mergeRows int64 // see mergeThreshold

	ordinal atomic.Int64
	stats   stats
}

// openFiles holds the database files that this process has open. DuckDB's own lock
// keeps other processes out, not another server of this one.
var openFiles = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

func claimFile(path string) error {
	openFiles.Lock()
	defer openFiles.Unlock()
	if openFiles.paths[path] {
		return fmt.Errorf("opening the database: %s is open already", path)
	}
	openFiles.paths[path] = true
	return nil
}

func releaseFile(path string) {
	openFiles.Lock()
	defer openFiles.Unlock()
	delete(openFiles.paths, path)
}

// openStore opens the database file, or a database in memory if path is "".
func openStore(ctx context.Context, path string, log *slog.Logger, now func() time.Time) (*store, error) {
	if strings.Contains(path, "?") {
		return nil, fmt.Errorf("opening the database: %q has a question mark, which DuckDB takes for settings", path)
	}
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("opening the database: %w", err)
		}
		if err := claimFile(absolute); err != nil {
			return nil, err
		}
		path = absolute
	}
	st, err := connect(ctx, path, log, now)
	if err != nil && path != "" {
		releaseFile(path)
	}
	return st, err
}

func connect(ctx context.Context, path string, log *slog.Logger, now func() time.Time) (*store, error) {
	connector, err := duckdb.NewConnector(path, func(exec driver.ExecerContext) error {
		for _, statement := range []string{
			"SET TimeZone = 'UTC'",
			"SET autoinstall_known_extensions = false", // an emulator never downloads
			// A checkpoint writes every table's metadata: the default, after each 16 MB of
			// log, is too often for thousands of tables. The log is read when the
			// database is opened after a crash, so it can't be much longer.
			"SET checkpoint_threshold = '256MB'",
		} {
			if _, err := exec.ExecContext(context.Background(), statement, nil); err != nil {
				return fmt.Errorf("setting up a DuckDB connection: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	st := &store{
		db: sql.OpenDB(connector), path: path, log: log, now: now,
		appends: make(chan *appendBatch, 64), merges: make(chan *table, 1024), stop: make(chan struct{}),
		mergeRows: defaultMergeRows,
	}
	if _, err := st.db.ExecContext(ctx, catalogDDL); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the database: %w", err), st.db.Close())
	}
	var opened int64
	if err := st.db.QueryRowContext(ctx, "SELECT opened FROM emulator_state").Scan(&opened); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the database's state: %w", err), st.db.Close())
	}
	// The count of openings leads the order of ingestion: what is ingested now is
	// later than all that is there, without a look at it.
	st.ordinal.Store(opened << 40)
	return st, nil
}

// start starts committing and merging.
func (st *store) start(ctx context.Context) error {
	conn, err := st.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	st.finished.Go(func() {
		c := committer{st: st, conn: conn, appenders: map[string]openAppender{}}
		c.run()
	})
	st.finished.Go(st.mergeLoop)
	return nil
}

// close waits for what is being committed and closes the database, which
// empties its log. No append may be under way.
func (st *store) close() error {
	close(st.stop)
	st.finished.Wait()
	defer st.release()
	if err := st.db.Close(); err != nil {
		return fmt.Errorf("closing the database: %w", err)
	}
	return nil
}

func (st *store) release() {
	if st.path != "" {
		releaseFile(st.path)
	}
}

// transact runs f in a transaction of a connection of its own.
func (st *store) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := st.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing a transaction: %w", err)
	}
	return nil
}
