package engine

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// CreateStream creates a stream of a table.
func (e *Engine) CreateStream(ctx context.Context, ref TableRef, kind StreamType) (*Stream, error) {
	t, err := e.catalog.table(ref)
	if err != nil {
		return nil, err
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	// DuckDB's driver takes unsigned numbers of 63 bits alone.
	s := &Stream{id: binary.BigEndian.Uint64(b[:]) >> 1, kind: kind, created: e.now(), table: t}
	s.used.Store(s.created.UnixMicro())
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.dropped:
		return nil, NotFound("Not found: Table %s", ref)
	case t.isView():
		return nil, Invalid("Cannot write to %s, which is a view", ref)
	}
	_, err = e.db.ExecContext(ctx, "INSERT INTO emulator_streams VALUES (?, ?, ?, ?, 0, 0, false, NULL)", s.id, t.id, kind, s.created.UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("creating a stream of %s: %w", ref, err)
	}
	if t.streams == nil {
		t.streams = map[uint64]*Stream{}
	}
	t.streams[s.id] = s
	return s, nil
}

// Stream finds a stream by its table and ID: a *StreamError if the table is there and
// the stream isn't.
func (e *Engine) Stream(ref TableRef, id string) (*Stream, error) {
	t, err := e.catalog.table(ref)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.stream(id)
}

// stream finds a stream. The caller holds mu.
func (t *Table) stream(id string) (*Stream, error) {
	if n, err := strconv.ParseUint(id, 16, 64); err == nil && len(id) == 16 {
		if s, ok := t.streams[n]; ok {
			return s, nil
		}
	}
	return nil, &StreamError{Problem: StreamNotFound, Stream: Clip(id)}
}

// change runs f in a transaction while nothing is appended to the table. What f
// returns is done once the transaction is through.
func (s *Stream) change(ctx context.Context, e *Engine, f func(tx *sql.Tx) (done func(), err error)) error {
	t := s.table
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped || t.streams[s.id] != s {
		return s.fail(StreamNotFound)
	}
	var done func()
	err := e.transact(ctx, func(tx *sql.Tx) (err error) {
		done, err = f(tx)
		return err
	})
	if err != nil {
		return err
	}
	s.used.Store(e.now().UnixMicro())
	done()
	return nil
}

// Finalize ends a stream: it takes no more rows. It returns how many there are; more
// calls do nothing else.
func (e *Engine) Finalize(ctx context.Context, s *Stream) (rows int64, err error) {
	err = s.change(ctx, e, func(tx *sql.Tx) (func(), error) {
		if _, err := tx.ExecContext(ctx, "UPDATE emulator_streams SET finalized = true WHERE id = ?", s.id); err != nil {
			return nil, fmt.Errorf("finalizing stream %s: %w", s.ID(), err)
		}
		return func() { s.finalized = true }, nil
	})
	return s.next.Load(), err
}

// moveSQL moves a stream's rows before an offset into the baseline, where they show
// from now on, in microseconds.
func (s *Stream) moveSQL(now, before int64) []string {
	from := streamTableName(s.id)
	return []string{
		fmt.Sprintf("INSERT INTO %s BY NAME SELECT * REPLACE (0 AS _s1, %d AS _at) FROM %s WHERE _s1 < %d", baseName(s.table.id), now, from, before),
		fmt.Sprintf("DELETE FROM %s WHERE _s1 < %d", from, before),
	}
}

// Flush makes the rows of a buffered stream show, up to and with the one at this
// offset. Those that show already stay.
func (e *Engine) Flush(ctx context.Context, s *Stream, offset int64) error {
	if s.kind != Buffered {
		return s.fail(StreamWrongType)
	}
	return s.change(ctx, e, func(tx *sql.Tx) (func(), error) {
		switch next := s.next.Load(); {
		case offset < 0 || offset >= next:
			return nil, &StreamError{Problem: OffsetOutOfRange, Stream: s.ID(), Expected: next, Got: offset}
		case offset < s.flushed:
			return func() {}, nil
		}
		statements := append(s.moveSQL(e.now().UnixMicro(), offset+1), fmt.Sprintf("UPDATE emulator_streams SET flushed = %d WHERE id = %d", offset+1, s.id))
		if err := execute(ctx, tx, statements); err != nil {
			return nil, fmt.Errorf("flushing stream %s: %w", s.ID(), err)
		}
		return func() {
			s.table.rows.Add(offset + 1 - s.flushed)
			s.flushed = offset + 1
		}, nil
	})
}

// CommitStreams makes the rows of pending streams of one table show, of all at once
// or of none; the error joins a *StreamError for each stream that can't be committed.
// Appends and reads go on meanwhile.
func (e *Engine) CommitStreams(ctx context.Context, ref TableRef, ids []string) (time.Time, error) {
	return e.commitStreams(ctx, ref, ids, false)
}

// OverwriteByStreams is CommitStreams for rows that take the place of all that the
// table has: a load that overwrites.
func (e *Engine) OverwriteByStreams(ctx context.Context, ref TableRef, ids []string) (time.Time, error) {
	return e.commitStreams(ctx, ref, ids, true)
}

func (e *Engine) commitStreams(ctx context.Context, ref TableRef, ids []string, overwrite bool) (time.Time, error) {
	t, err := e.catalog.table(ref)
	if err != nil {
		return time.Time{}, err
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.RLock()
	streams, err := t.committable(ids)
	if overwrite {
		err = errors.Join(err, e.checkMutable(t, "Overwriting rows"))
	}
	now := e.now()
	f := t.freeze(now)
	t.mu.RUnlock()
	if err != nil {
		return time.Time{}, err
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("beginning a transaction: %w", err)
	}
	var rows int64
	w := rewrite{e: e, f: f, tx: tx, now: now}
	if overwrite {
		deleted, err := w.deleteAll(ctx)
		if err != nil {
			return time.Time{}, rollback(tx, err)
		}
		rows -= deleted
		e.ended.Add(deleted)
	}
	for _, s := range streams {
		var statements []string
		if s.stored {
			statements = append(s.moveSQL(now.UnixMicro(), s.next.Load()), "DROP TABLE "+streamTableName(s.id))
		}
		statements = append(statements, fmt.Sprintf("UPDATE emulator_streams SET committed = %d WHERE id = %d", now.UnixMicro(), s.id))
		if err := execute(ctx, tx, statements); err != nil {
			return time.Time{}, rollback(tx, fmt.Errorf("committing stream %s: %w", s.ID(), err))
		}
		rows += s.next.Load()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return time.Time{}, fmt.Errorf("committing streams of %s: %w", ref, err)
	}
	for _, s := range streams {
		s.committed, s.stored = now, false
		s.used.Store(now.UnixMicro())
	}
	t.rows.Add(rows)
	w.done()
	return now, nil
}

// committable finds the streams, all of which are ready to be committed. The caller
// holds admin, so that they stay so, and mu.
func (t *Table) committable(ids []string) ([]*Stream, error) {
	if t.dropped {
		return nil, NotFound("Not found: Table %s", t.ref)
	}
	var streams []*Stream
	var failed []error
	for _, id := range ids {
		s, err := t.stream(id)
		switch {
		case err != nil:
			failed = append(failed, err)
		case slices.Contains(streams, s):
			failed = append(failed, s.fail(StreamTwice))
		case s.kind != Pending:
			failed = append(failed, s.fail(StreamWrongType))
		case !s.committed.IsZero():
			failed = append(failed, s.fail(StreamCommitted))
		case !s.finalized:
			failed = append(failed, s.fail(StreamNotFinalized))
		default:
			streams = append(streams, s)
		}
	}
	return streams, errors.Join(failed...)
}
