package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/duckdb/duckdb-go/v2"
)

// What one commit takes, and how many appenders stay open. An appender holds
// room for 2,048 rows of its table.
const (
	maxCommitRows = 16_384
	maxAppenders  = 32
)

// committer appends batches to the database, as many as are waiting in one
// transaction: a commit costs the same for one row as for thousands.
type committer struct {
	e         *Engine
	conn      *sql.Conn
	appenders map[string]openAppender // by DuckDB table
	order     []string                // of their use, the latest last
}

// openAppender knows the schema that it was opened for: a changed table needs another.
type openAppender struct {
	*duckdb.Appender
	version int64
}

func (c *committer) run() {
	defer func() {
		c.discard()
		if err := c.conn.Close(); err != nil {
			c.e.log.Error("closing the committer's connection", "error", err)
		}
	}()
	for {
		select {
		case first := <-c.e.appends:
			c.commit(c.gather(first))
		case <-c.e.reclaims:
			c.reclaim()
		case <-c.e.stop:
			for {
				select {
				case b := <-c.e.appends:
					b.done <- ErrClosed
				default:
					return
				}
			}
		}
	}
}

// gather takes what is waiting behind the first batch, without waiting for more.
func (c *committer) gather(first *Batch) []*Batch {
	batches, rows := []*Batch{first}, len(first.rows)
	for rows < maxCommitRows {
		select {
		case b := <-c.e.appends:
			batches = append(batches, b)
			rows += len(b.rows)
		default:
			return batches
		}
	}
	return batches
}

// commit stores the batches. Each one's done gets its result when they are
// durable, never before: what was acknowledged survives a kill.
func (c *committer) commit(batches []*Batch) {
	tables := make([]*Table, len(batches))
	for i, b := range batches {
		tables[i] = b.table
	}
	// Held until the commit is through: an apply closes a generation only when none of
	// its rows is still on its way.
	defer lockForReading(tables)()

	current := c.place(batches)
	if len(current) == 0 {
		return
	}
	err := c.store(current)
	if err != nil && len(current) > 1 {
		// One by one, so that a batch that the database refuses fails alone.
		for _, b := range current {
			if placed := c.place([]*Batch{b}); len(placed) > 0 {
				b.done <- c.store(placed)
			}
		}
		return
	}
	for _, b := range current {
		b.done <- err
	}
}

// place answers the batches that don't fit their table or stream as it is now, and
// returns the others with the offsets they get. They are ingested now: no apply that
// has closed their generation is later than they are.
func (c *committer) place(batches []*Batch) []*Batch {
	now := c.e.now()
	at := driver.Value(now.UnixMicro()) // once, not for each row
	placed := batches[:0:0]
	next := map[*Stream]int64{}
	for _, b := range batches {
		switch {
		case b.table.dropped:
			b.done <- ErrTableDropped
			continue
		case b.table.schema.Version != b.schema.Version:
			b.done <- ErrSchemaChanged
			continue
		}
		if s := b.stream; s != nil {
			if _, ok := next[s]; !ok {
				next[s] = s.next.Load()
			}
			if err := s.accept(b, next[s]); err != nil {
				b.done <- err
				continue
			}
			next[s] += int64(len(b.rows))
		}
		b.now = now
		for _, row := range b.rows {
			row[6] = at
		}
		placed = append(placed, b)
	}
	return placed
}

// store appends the batches in one transaction, and counts them once it is through.
func (c *committer) store(batches []*Batch) (err error) {
	ctx := context.Background()
	if _, err := c.conn.ExecContext(ctx, "BEGIN TRANSACTION"); err != nil {
		return fmt.Errorf("beginning to commit rows: %w", err)
	}
	defer func() {
		if err != nil {
			c.discard() // they may hold rows that weren't appended
			if _, e := c.conn.ExecContext(ctx, "ROLLBACK"); e != nil {
				c.e.log.Error("rolling back", "error", e)
			}
			c.e.log.Error("storing rows", "error", err)
		}
	}()
	created := map[string]bool{}
	touched := map[string]*duckdb.Appender{}
	for _, b := range batches {
		name, exists := b.destination()
		if !exists && !created[name] {
			if _, err := c.conn.ExecContext(ctx, b.table.schema.createSQL(name)); err != nil {
				return fmt.Errorf("creating %s for rows of %s: %w", name, b.table.ref, err)
			}
			created[name] = true
		}
		appender, ok := touched[name]
		if !ok {
			if appender, err = c.appender(name, b.schema.Version); err != nil {
				return fmt.Errorf("appending to %s: %w", b.table.ref, err)
			}
			touched[name] = appender
		}
		for _, row := range b.rows {
			if err := appender.AppendRow(row...); err != nil {
				return fmt.Errorf("appending to %s: %w", b.table.ref, err)
			}
		}
	}
	for name, appender := range touched {
		if err := appender.Flush(); err != nil {
			return fmt.Errorf("appending to %s: %w", name, err)
		}
	}
	next := map[*Stream]int64{}
	for _, b := range batches {
		if b.stream != nil {
			next[b.stream] = b.offset + int64(len(b.rows))
		}
	}
	for s, n := range next {
		if _, err := c.conn.ExecContext(ctx, "UPDATE emulator_streams SET next = ? WHERE id = ?", n, s.id); err != nil {
			return fmt.Errorf("counting the rows of stream %s: %w", s.ID(), err)
		}
	}
	if _, err := c.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("committing rows: %w", err)
	}
	for s, n := range next {
		s.next.Store(n)
		s.used.Store(c.e.now().UnixMicro())
		s.stored = s.stored || s.kind != Committed
	}
	c.evict()
	c.count(batches)
	return nil
}

// count updates what is known of the tables, and asks for the applies that are due.
func (c *committer) count(batches []*Batch) {
	c.e.counts.commits.Add(1)
	for _, b := range batches {
		n := int64(len(b.rows))
		c.e.counts.rows.Add(n)
		if b.stream != nil && b.stream.kind != Committed {
			continue
		}
		if !b.cdc {
			b.table.rows.Add(n)
			continue
		}
		b.table.addPending(n)
		b.table.pendingSince.CompareAndSwap(0, b.now.UnixMicro())
		b.table.lastUpsert.Store(b.now.UnixMicro())
		if b.table.pendingRows.Load() >= c.e.mergeThreshold(b.table.rows.Load()) {
			c.e.requestApply(b.table)
		}
	}
}

func (c *committer) appender(name string, version int64) (*duckdb.Appender, error) {
	if a, ok := c.appenders[name]; ok {
		if a.version == version {
			c.order = append(slices.DeleteFunc(c.order, func(n string) bool { return n == name }), name)
			return a.Appender, nil
		}
		c.closeAppender(name)
	}
	var a *duckdb.Appender
	err := c.conn.Raw(func(conn any) (err error) {
		a, err = duckdb.NewAppenderFromConn(conn.(driver.Conn), "", name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening an appender: %w", err)
	}
	c.appenders[name] = openAppender{a, version}
	c.order = append(c.order, name)
	return a, nil
}

// closeAppender closes an empty appender.
func (c *committer) closeAppender(name string) {
	if err := c.appenders[name].Close(); err != nil {
		c.e.log.Error("closing an appender", "error", err)
	}
	delete(c.appenders, name)
	c.order = slices.DeleteFunc(c.order, func(n string) bool { return n == name })
}

// evict closes the appenders used longest ago until few enough are left. It runs
// between transactions, when they are empty.
func (c *committer) evict() {
	for len(c.order) > maxAppenders {
		c.closeAppender(c.order[0])
	}
}

// discard closes all appenders, without storing what they hold.
func (c *committer) discard() {
	for _, a := range c.appenders {
		if err := errors.Join(a.Clear(), a.Close()); err != nil {
			c.e.log.Error("discarding an appender", "error", err)
		}
	}
	clear(c.appenders)
	c.order = nil
}
