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
	"sync/atomic"
	"time"
)

// StreamType says when a stream's rows show in its table.
type StreamType uint8

// The types of the streams that a client creates.
const (
	Committed StreamType = iota + 1 // at once
	Pending                         // when the stream is committed
	Buffered                        // when they are flushed
)

// streamLife is how long a stream is remembered after its last use. BigQuery doesn't
// document when it forgets one.
const streamLife = 7 * 24 * time.Hour

// Stream is one write stream of a table, apart from the default one. Rows of a
// pending or buffered stream wait in a DuckDB table of its own (s<id>), where _s1 is
// their offset.
type Stream struct {
	id      uint64
	kind    StreamType
	created time.Time
	table   *Table

	next atomic.Int64 // the offset of the next row; the committer advances it
	used atomic.Int64 // microseconds since the epoch

	// All below are guarded by the table's mu; the committer, which sets stored, holds
	// it for reading.
	stored    bool  // whether s<id> exists
	flushed   int64 // rows that show
	finalized bool
	committed time.Time // zero before
}

// ID is the stream's name within its table.
func (s *Stream) ID() string { return fmt.Sprintf("%016x", s.id) }

// Type says when the stream's rows show.
func (s *Stream) Type() StreamType { return s.kind }

// Created is when the stream was created.
func (s *Stream) Created() time.Time { return s.created }

// Table is the stream's table.
func (s *Stream) Table() *Table { return s.table }

// StreamState is how far a stream is.
type StreamState struct {
	Rows       int64 // appended so far: the next row's offset
	Flushed    int64 // of those, rows of a buffered stream that show
	Finalized  bool
	CommitTime time.Time // of a pending stream; zero before
}

// State is how far the stream is.
func (s *Stream) State() StreamState {
	s.table.mu.RLock()
	defer s.table.mu.RUnlock()
	return StreamState{Rows: s.next.Load(), Flushed: s.flushed, Finalized: s.finalized, CommitTime: s.committed}
}

// StreamProblem is what is wrong with a stream, or with a call on it.
type StreamProblem uint8

// What can be wrong.
const (
	StreamNotFound     StreamProblem = iota + 1
	StreamFinalized                  // it takes no more rows
	StreamNotFinalized               // it can't be committed yet
	StreamCommitted                  // it was committed already
	StreamWrongType                  // it is of a type that the call isn't for
	OffsetExists                     // a row is there already: Got < Expected
	OffsetOutOfRange                 // rows before it are missing: Got > Expected
	StreamTwice                      // it is named twice in one commit
)

// StreamError is a call on a stream that is refused.
type StreamError struct {
	Problem       StreamProblem
	Stream        string // its ID
	Expected, Got int64  // of OffsetExists and OffsetOutOfRange
}

func (e *StreamError) Error() string {
	switch e.Problem {
	case StreamNotFound:
		return fmt.Sprintf("stream %s was not found", e.Stream)
	case StreamFinalized:
		return fmt.Sprintf("stream %s is finalized", e.Stream)
	case StreamNotFinalized:
		return fmt.Sprintf("stream %s is not finalized", e.Stream)
	case StreamCommitted:
		return fmt.Sprintf("stream %s is committed already", e.Stream)
	case StreamWrongType:
		return fmt.Sprintf("stream %s is of another type", e.Stream)
	case OffsetExists:
		return fmt.Sprintf("the offset is within stream %s, expected offset %d, received %d", e.Stream, e.Expected, e.Got)
	case OffsetOutOfRange:
		return fmt.Sprintf("the offset is beyond the end of stream %s, expected offset %d, received %d", e.Stream, e.Expected, e.Got)
	default:
		return fmt.Sprintf("stream %s is named more than once", e.Stream)
	}
}

func (s *Stream) fail(p StreamProblem) error { return &StreamError{Problem: p, Stream: s.ID()} }

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

// accept decides whether the batch may follow the rows before next. The caller holds
// the table's lock.
func (s *Stream) accept(b *Batch, next int64) error {
	switch {
	case s.table.streams[s.id] != s:
		return s.fail(StreamNotFound)
	case s.finalized:
		return s.fail(StreamFinalized)
	case b.wantOffset >= 0 && b.wantOffset < next:
		return &StreamError{Problem: OffsetExists, Stream: s.ID(), Expected: next, Got: b.wantOffset}
	case b.wantOffset > next:
		return &StreamError{Problem: OffsetOutOfRange, Stream: s.ID(), Expected: next, Got: b.wantOffset}
	}
	b.offset = next
	if s.kind != Committed {
		for i, row := range b.rows {
			row[0] = uint64(next) + uint64(i)
		}
	}
	return nil
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
	t, err := e.catalog.table(ref)
	if err != nil {
		return time.Time{}, err
	}
	t.admin.Lock()
	defer t.admin.Unlock()
	t.mu.RLock()
	streams, err := t.committable(ids)
	t.mu.RUnlock()
	if err != nil {
		return time.Time{}, err
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("beginning a transaction: %w", err)
	}
	now := e.now()
	var rows int64
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

// loadStreams reads the streams of a database that was just opened.
func (e *Engine) loadStreams(ctx context.Context, tables map[int64]*Table) error {
	rows, err := e.db.QueryContext(ctx, `SELECT id, table_id, kind, created, next, flushed, finalized, coalesce(committed, 0), estimated_size IS NOT NULL
		FROM emulator_streams LEFT JOIN duckdb_tables() ON table_name = 's' || id`)
	if err != nil {
		return fmt.Errorf("reading the catalog's streams: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	now := e.now().UnixMicro()
	for rows.Next() {
		s := &Stream{}
		var table, created, next, committed int64
		if err := rows.Scan(&s.id, &table, &s.kind, &created, &next, &s.flushed, &s.finalized, &committed, &s.stored); err != nil {
			return fmt.Errorf("reading the catalog's streams: %w", err)
		}
		if s.table = tables[table]; s.table == nil {
			continue
		}
		s.created = time.UnixMicro(created)
		s.next.Store(next)
		s.used.Store(now)
		if committed > 0 {
			s.committed = time.UnixMicro(committed)
		}
		if s.table.streams == nil {
			s.table.streams = map[uint64]*Stream{}
		}
		s.table.streams[s.id] = s
	}
	return rows.Err()
}

// forgetStreams forgets the table's streams that weren't used for streamLife.
func (e *Engine) forgetStreams(ctx context.Context, t *Table) error {
	before := e.now().Add(-streamLife).UnixMicro()
	t.mu.RLock()
	var old []*Stream
	for _, s := range t.streams {
		if s.used.Load() < before {
			old = append(old, s)
		}
	}
	t.mu.RUnlock()
	for _, s := range old {
		err := s.change(ctx, e, func(tx *sql.Tx) (func(), error) {
			err := execute(ctx, tx, []string{"DROP TABLE IF EXISTS " + streamTableName(s.id), fmt.Sprintf("DELETE FROM emulator_streams WHERE id = %d", s.id)})
			if err != nil {
				return nil, fmt.Errorf("forgetting stream %s: %w", s.ID(), err)
			}
			return func() { delete(t.streams, s.id) }, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
