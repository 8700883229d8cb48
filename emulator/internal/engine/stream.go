package engine

import (
	"fmt"
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
