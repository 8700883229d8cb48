package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"
)

// Batch is the rows of one request, on their way into the database.
type Batch struct {
	table    *Table
	schema   *Schema // the one that the rows were read for
	cdc      bool    // pending changes; else rows of the baseline
	loaded   bool    // by a load job
	rows     [][]driver.Value
	done     chan error // gets one error, or nil when the rows are durable
	now      time.Time
	ordinal  int64  // of the next row
	defaults []bool // by position: where a row lacks the column, it gets its default value

	sequenced, unsequenced bool // whether there are changes with and without a sequence

	stream     *Stream // nil for the default stream
	wantOffset int64   // negative for none
	offset     int64   // of the first row; decided when the batch is stored
}

// NewBatch begins a batch of at most this many rows that were read for this schema
// of the table. cdc says that they are UPSERTs and DELETEs: such a table has a
// primary key. What a later batch holds was ingested later.
func (e *Engine) NewBatch(t *Table, s *Schema, cdc bool, rows int) *Batch {
	return &Batch{
		table: t, schema: s, cdc: cdc, rows: make([][]driver.Value, 0, rows), done: make(chan error, 1),
		now: e.now(), ordinal: e.ordinal.Add(int64(rows)) - int64(rows),
	}
}

// UseDefaults says, by position, which columns get their default value where a row
// that is added lacks one. Nil is for none.
func (b *Batch) UseDefaults(defaults []bool) { b.defaults = defaults }

// Loaded says that the rows which follow are a load job's, not streamed.
func (b *Batch) Loaded() { b.loaded = true }

// SchemaVersion is that of the schema that the rows were read for.
func (b *Batch) SchemaVersion() int64 { return b.schema.Version }

// To appends the batch to a stream that was created, not to the default one. offset
// is what its client expects of the first row, or negative if it expects none.
func (b *Batch) To(s *Stream, offset int64) { b.stream, b.wantOffset = s, offset }

// Offset is the first row's place in its stream, once Wait has returned nil.
func (b *Batch) Offset() int64 { return b.offset }

var errNullKey = errors.New("a column of the primary key is NULL or missing")

// Add adds a row: its values by position in the schema, nil for NULL, in the forms
// that Column's methods return. A DELETE keeps those of the key alone. The error is
// a *ValueError for a row that the table can't hold, which isn't added.
func (b *Batch) Add(values []any, sequence Sequence, deleted bool) error {
	s := b.schema
	row := make([]driver.Value, metaCount+len(s.Columns))
	for i, section := range sequence.sections {
		row[i] = section
	}
	kind := rowStreamed
	switch {
	case deleted:
		kind = rowDeleted
	case b.cdc:
		kind = rowUpserted
	case b.loaded:
		kind = rowInserted
	}
	row[4], row[5], row[7] = sequence.count, b.ordinal, kind // row[6] is when it is ingested: see place
	for i, column := range s.Columns {
		value := values[i]
		if value == nil && b.defaults != nil && b.defaults[i] && !deleted {
			var err error
			if value, err = column.DefaultValue.at(b.now); err != nil {
				return &ValueError{column.Name, err}
			}
		}
		isKey := b.cdc && s.isKey(i)
		switch {
		case isKey && value == nil:
			return &ValueError{column.Name, errNullKey}
		case deleted && !isKey:
			continue // only the key of a deleted row counts
		}
		if err := column.Check(value, ""); err != nil {
			return err
		}
		row[metaCount+s.slots[i]] = column.Stored(value)
	}
	b.rows = append(b.rows, row)
	b.ordinal++
	if b.cdc {
		b.sequenced = b.sequenced || sequence.count > 0
		b.unsequenced = b.unsequenced || sequence.count == 0
	}
	return nil
}

// destination is the DuckDB table that takes the rows, and whether it is there. The
// caller holds the table's lock.
func (b *Batch) destination() (name string, exists bool) {
	switch {
	case b.stream != nil && b.stream.kind != Committed:
		return streamTableName(b.stream.id), b.stream.stored
	case b.cdc:
		return pendingName(b.table.id, b.table.generation), b.table.hasGeneration()
	}
	return baseName(b.table.id), true
}

// Wait returns nil when the rows are durable, or why they aren't stored.
func (b *Batch) Wait(ctx context.Context) error {
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

var (
	// ErrSchemaChanged says that the table's schema isn't the one that the rows
	// were read for: they have to be read again.
	ErrSchemaChanged = errors.New("the table's schema changed")
	// ErrTableDropped says that the table is gone.
	ErrTableDropped = errors.New("the table was deleted")
	// ErrClosed says that the engine is being closed.
	ErrClosed = errors.New("the emulator is closing")
)

// Append queues a batch. Batches of one caller are ingested in the order in which
// it queues them.
func (e *Engine) Append(ctx context.Context, b *Batch) error {
	e.watchSequences(b)
	e.watchTies(b)
	select {
	case e.appends <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stop:
		return ErrClosed
	}
}
