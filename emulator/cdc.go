package emulator

import (
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// batch checks the rows against the table and makes them what is stored.
func (c *connection) batch(t *table, request *storagepb.AppendRowsRequest, rows []changeRow) (*appendBatch, error) {
	m, err := c.checkModes(rows)
	if err != nil {
		return nil, err
	}
	if m == modeCDC {
		if err := c.checkCDCTable(); err != nil {
			return nil, err
		}
	}
	now := c.server.store.now()
	b := &appendBatch{
		table: t, version: c.plan.schema.version, cdc: m == modeCDC,
		rows: make([][]driver.Value, 0, len(rows)), done: make(chan error, 1),
	}
	useDefault := c.defaults(request.GetMissingValueInterpretations())
	// Later requests of this connection get higher numbers: they were ingested later.
	ordinal := c.server.store.ordinal.Add(int64(len(rows))) - int64(len(rows))
	var failed rowErrors
	for i := range rows {
		row, err := c.storedRow(&rows[i], m, useDefault, now)
		if err != nil {
			failed.add(i, err)
			continue
		}
		row[5], row[6] = ordinal+int64(i), now.UnixMicro()
		b.rows = append(b.rows, row)
	}
	if err := failed.error(c); err != nil {
		return nil, err
	}
	c.mode = m
	if m == modeCDC {
		c.watchSequences(t, rows)
	}
	return b, nil
}

// watchSequences warns, once for a table, of what BigQuery calls "unpredictable
// ordering": changes with and changes without a sequence.
func (c *connection) watchSequences(t *table, rows []changeRow) {
	for i := range rows {
		if rows[i].hasSequence {
			t.sequenced.Store(true)
		} else {
			t.unsequenced.Store(true)
		}
	}
	if t.sequenced.Load() && t.unsequenced.Load() && t.warned.CompareAndSwap(false, true) {
		c.server.log.Warn("a table gets changes with and without _CHANGE_SEQUENCE_NUMBER: their order is unpredictable in BigQuery", "table", t.ref)
	}
}

// checkCDCTable refuses tables that can't take CDC rows.
func (c *connection) checkCDCTable() error {
	s := c.plan.schema
	switch {
	case len(s.key) == 0:
		return invalidAppend(c.stream, "The primary keys and clustering keys of the table %s are required to create an upsert stream.", c.ref.dotted())
	case len(s.columns) > maxCDCColumns:
		return invalidAppend(c.stream, "The table %s has %d top-level columns; a table with active CDC can't have more than %d.",
			c.ref.dotted(), len(s.columns), maxCDCColumns)
	}
	return nil
}

// defaults returns which columns get their default value where a row lacks one.
func (c *connection) defaults(byColumn map[string]storagepb.AppendRowsRequest_MissingValueInterpretation) []bool {
	use := make([]bool, len(c.plan.schema.columns))
	for i, column := range c.plan.schema.columns {
		if column.defaultValue == nil {
			continue
		}
		interpretation := c.missing
		for name, m := range byColumn {
			if strings.EqualFold(name, column.name) {
				interpretation = m
			}
		}
		use[i] = interpretation == storagepb.AppendRowsRequest_DEFAULT_VALUE
	}
	return use
}

var (
	errNullKey       = errors.New("a column of the primary key is NULL or missing")
	errPlainSequence = errors.New("a row with a sequence needs a _CHANGE_TYPE of UPSERT or DELETE")
)

// storedRow checks a row, and returns it as it is stored but for its ordinal and time.
func (c *connection) storedRow(r *changeRow, m mode, useDefault []bool, now time.Time) ([]driver.Value, error) {
	s := c.plan.schema
	row := make([]driver.Value, metaCount+len(s.columns))
	var sequence sequence
	if r.hasSequence {
		if m != modeCDC {
			return nil, &valueError{changeSequenceColumn, errPlainSequence}
		}
		var err error
		if sequence, err = parseSequence(r.sequenceText); err != nil {
			return nil, &valueError{changeSequenceColumn, err}
		}
	}
	for i, section := range sequence.sections {
		row[i] = section
	}
	row[4] = sequence.count
	deleted := m == modeCDC && strings.EqualFold(r.changeType, "DELETE")
	row[7] = !deleted
	for i, column := range s.columns {
		value := r.values[i]
		if value == nil && useDefault[i] && !deleted {
			var err error
			if value, err = column.defaultValue.at(now); err != nil {
				return nil, &valueError{column.name, err}
			}
		}
		isKey := m == modeCDC && s.isKey(i)
		switch {
		case isKey && value == nil:
			return nil, &valueError{column.name, errNullKey}
		case deleted && !isKey:
			continue // only the key of a deleted row counts
		}
		if err := column.check(value, ""); err != nil {
			return nil, err
		}
		row[metaCount+s.slots[i]] = column.stored(value)
	}
	return row, nil
}
