package engine

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

// Options says how an engine runs. Now and Logger are required.
type Options struct {
	// DB is the file that holds the tables; it is created if it is absent, and no
	// other process may have it open. "" keeps the tables in memory.
	DB string

	// Now is the clock that rows are ingested and tables are changed by. It is called
	// from many goroutines.
	Now func() time.Time

	Logger *slog.Logger

	// Prepare, if it isn't nil, makes known to DuckDB what queries need: functions, for
	// all connections. It is called once, before anything else.
	Prepare func(ctx context.Context, conn *sql.Conn) error

	// OnApply, if it isn't nil, is asked before each background apply; the apply fails with
	// the error that it returns.
	OnApply func(TableRef) error

	// MergeRows is the least number of pending changes that are merged without being
	// asked for. Defaults to defaultMergeRows.
	MergeRows int64
}

// Engine keeps datasets and tables in DuckDB. A table is a baseline (b<id>) and
// generations of pending changes (p<id>_<n>), which an apply merges into the
// baseline; rows of it that ended are kept apart (h<id>), as are those of streams that
// don't show yet (s<stream>).
//
// One goroutine commits appends, many requests at a time; applies, statements and
// reads have connections of their own.
type Engine struct {
	db      *sql.DB
	path    string // absolute; "" in memory
	log     *slog.Logger
	now     func() time.Time
	catalog *catalog

	appends  chan *Batch
	applies  chan *Table
	reclaims chan struct{} // asks the committer to give rows' memory back
	stop     chan struct{} // closed when the store closes
	finished sync.WaitGroup
	closing  sync.Once
	closeErr error

	mergeRows int64 // see mergeThreshold
	onApply   func(TableRef) error
	maxPast   int64 // see defaultMaxPast

	ended  atomic.Int64 // rows that were deleted since their memory was given back
	held   atomic.Bool  // background applies are held back
	upkeep sync.Mutex   // serializes background work that is due by time
	tidied time.Time    // guarded by upkeep
	jobs   jobList

	ordinal atomic.Int64
	counts  counts
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

// Open opens the database, reads its catalog, and starts to commit and to apply.
func Open(ctx context.Context, o Options) (*Engine, error) {
	if o.MergeRows == 0 {
		o.MergeRows = defaultMergeRows
	}
	e, err := openDatabase(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Prepare != nil {
		err = e.prepare(ctx, o.Prepare)
	}
	if err == nil {
		e.catalog, err = e.loadCatalog(ctx)
	}
	if err == nil {
		err = e.loadJobs(ctx)
	}
	if err == nil {
		err = e.start(ctx)
	}
	if err != nil {
		e.release()
		return nil, errors.Join(err, e.db.Close())
	}
	return e, nil
}

func (e *Engine) prepare(ctx context.Context, f func(ctx context.Context, conn *sql.Conn) error) error {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	if err := f(ctx, conn); err != nil {
		return errors.Join(fmt.Errorf("preparing the database: %w", err), conn.Close())
	}
	return conn.Close()
}

// openDatabase opens the database file, or a database in memory.
func openDatabase(ctx context.Context, o Options) (*Engine, error) {
	path := o.DB
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
	e, err := connect(ctx, path, o)
	if err != nil && path != "" {
		releaseFile(path)
	}
	return e, err
}

func connect(ctx context.Context, path string, o Options) (*Engine, error) {
	source := path
	if path != "" {
		// A table's data begins blocks of its own. With DuckDB's 256 KiB a thousand short
		// tables take 300 MB, with this 100, and long ones no more than before. A file
		// that is there keeps its own.
		source += "?default_block_size=65536"
	}
	connector, err := duckdb.NewConnector(source, func(exec driver.ExecerContext) error {
		for _, statement := range []string{
			"SET TimeZone = 'UTC'",
			"SET autoinstall_known_extensions = false", // an emulator never downloads
			// A checkpoint writes every table's metadata: the default, after each 16 MB of
			// log, is too often for thousands of tables. The log is read when the
			// database is opened after a crash, some 20 MB in a second, so it can't be
			// much longer.
			"SET checkpoint_threshold = '64MB'",
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
	e := &Engine{
		db: sql.OpenDB(connector), path: path, log: o.Logger, now: o.Now,
		appends: make(chan *Batch, 64), applies: make(chan *Table, 1024), reclaims: make(chan struct{}, 1), stop: make(chan struct{}),
		mergeRows: o.MergeRows, maxPast: defaultMaxPast, onApply: o.OnApply,
	}
	var old int
	err = e.db.QueryRowContext(ctx, `SELECT count(*) FILTER (column_name = 'id') - count(*) FILTER (column_name = 'settings')
		FROM duckdb_columns() WHERE table_name = 'emulator_tables'`).Scan(&old)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the database's form: %w", err), e.db.Close())
	}
	if old > 0 {
		return nil, errors.Join(errors.New("opening the database: an older version of this emulator made it, whose tables have another form"), e.db.Close())
	}
	if _, err := e.db.ExecContext(ctx, catalogDDL); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the database: %w", err), e.db.Close())
	}
	var opened int64
	if err := e.db.QueryRowContext(ctx, "SELECT opened FROM emulator_state").Scan(&opened); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the database's state: %w", err), e.db.Close())
	}
	// The count of openings leads the order of ingestion: what is ingested now is
	// later than all that is there, without a look at it.
	e.ordinal.Store(opened << 40)
	return e, nil
}

// start starts committing and merging.
func (e *Engine) start(ctx context.Context) error {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	e.finished.Go(func() {
		c := committer{e: e, conn: conn, appenders: map[string]openAppender{}}
		c.run()
	})
	e.finished.Go(e.applyLoop)
	return nil
}

// Close waits for what is being committed and closes the database, which
// empties its log. No append may be under way. More calls return the first one's error.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		close(e.stop)
		e.finished.Wait()
		defer e.release()
		if err := e.db.Close(); err != nil {
			e.closeErr = fmt.Errorf("closing the database: %w", err)
		}
	})
	return e.closeErr
}

func (e *Engine) release() {
	if e.path != "" {
		releaseFile(e.path)
	}
}

// execute runs statements one after the other.
func execute(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// transact runs f in a transaction of a connection of its own.
func (e *Engine) transact(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := e.db.BeginTx(ctx, nil)
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
