package diff

import (
	"context"
	"fmt"
	"time"
)

// Position is a place in a source's log, in the members of Debezium's source block
// that the order of its changes is read from. A snapshot's row with a position is
// later than every change before it, and earlier than every change from there on
// (schemas/envelope/internal/position): just what a repaired row must be.
type Position struct {
	Connector string // "postgresql", "mysql"
	LSN       uint64 // PostgreSQL
	File      string // MySQL
	Pos       uint64
}

// Settled takes the end of the write-ahead log first. Then it waits until each
// transaction that was under way has ended: one that goes on may have written its
// change before that position, and commit after the rows were read; if no other
// commit came between, its change would be earlier than the repaired row and lost.
func (p *Postgres) Settled(ctx context.Context, keys []Key) (Position, []Row, error) {
	at := Position{Connector: "postgresql"}
	// What is written, not only what is on the disk: a transaction that doesn't wait
	// for the disk is seen before its commit is there.
	err := p.query(ctx, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn", nil, func(v [][]byte) error {
		_, err := fmt.Sscan(string(v[0]), &at.LSN)
		return err
	})
	if err != nil {
		return at, nil, err
	}
	var next, oldest uint64
	// A number of our own is higher than those of all that have written before. That a
	// snapshot ends at is not: it is the one after the last that has ended.
	err = p.query(ctx, "SELECT txid_current()", nil, func(v [][]byte) error {
		_, err := fmt.Sscan(string(v[0]), &next)
		return err
	})
	for deadline := time.Now().Add(p.SettleFor); err == nil; {
		err = p.query(ctx, "SELECT txid_snapshot_xmin(txid_current_snapshot())", nil, func(v [][]byte) error {
			_, err := fmt.Sscan(string(v[0]), &oldest)
			return err
		})
		if err != nil || oldest >= next {
			break
		}
		if time.Now().After(deadline) {
			return at, nil, fmt.Errorf("a transaction of PostgreSQL's is under way for more than %s, and what it has written is not to be seen before it ends; see pg_stat_activity and pg_prepared_xacts", p.SettleFor)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return at, nil, err
	}
	rows, err := p.lookup(ctx, keys, true, "")
	return at, rows, err
}

// Settled takes the binary log's end first. A transaction is in the log before it is
// to be seen, so the rows are read with a shared lock, for which the server waits
// until the transactions that wrote them, or their gaps, have committed.
func (m *MySQL) Settled(ctx context.Context, keys []Key) (Position, []Row, error) {
	at := Position{Connector: "mysql"}
	read := func(v [][]byte) error {
		at.File = string(v[0])
		_, err := fmt.Sscan(string(v[1]), &at.Pos)
		return err
	}
	err := m.query(ctx, "SHOW MASTER STATUS", nil, read)
	if err != nil { // MySQL 8.4 has dropped these words
		err = m.query(ctx, "SHOW BINARY LOG STATUS", nil, read)
	}
	if err != nil {
		return at, nil, err
	}
	if at.File == "" {
		return at, nil, fmt.Errorf("the MySQL server writes no binary log: its changes have no order")
	}
	rows, err := m.lookup(ctx, keys, true, " LOCK IN SHARE MODE")
	return at, rows, err
}
