package engine

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"
)

// watchSequences warns, once for a table, of what BigQuery calls "unpredictable
// ordering": changes with and changes without a sequence.
func (e *Engine) watchSequences(b *Batch) {
	t := b.table
	if b.sequenced {
		t.sequenced.Store(true)
	}
	if b.unsequenced {
		t.unsequenced.Store(true)
	}
	if t.sequenced.Load() && t.unsequenced.Load() && t.warned.CompareAndSwap(false, true) {
		e.log.Warn("a table gets changes with and without _CHANGE_SEQUENCE_NUMBER: their order is unpredictable in BigQuery", "table", t.ref)
	}
}

// place is where a change stands in the order of its key's, but for the time of its
// ingestion, which a request's changes share.
type place struct {
	sequence [maxSections + 1]driver.Value
	key      any
}

// place returns a row's place. A key of one number or text is itself, any other its text.
func (b *Batch) place(row []driver.Value) place {
	p := place{}
	copy(p.sequence[:], row)
	if len(b.schema.Key) == 1 {
		switch v := row[metaCount+b.schema.slots[b.schema.Key[0]]].(type) {
		case int64, string:
			p.key = v
			return p
		}
	}
	var text []byte
	for _, position := range b.schema.Key {
		column := fmt.Append(nil, row[metaCount+b.schema.slots[position]])
		text = append(strconv.AppendInt(text, int64(len(column)), 10), ':')
		text = append(text, column...)
	}
	p.key = string(text)
	return p
}

// watchTies warns, once for a table, of a request that changes a row twice in different
// ways with equal sequences, or none: which of them wins is up to BigQuery, and the
// later one here, so that a client's tests would pass and its table be wrong.
func (e *Engine) watchTies(b *Batch) {
	t := b.table
	if !b.cdc || len(b.rows) < 2 || t.warnedTies.Load() {
		return
	}
	seen := make(map[place][]driver.Value, len(b.rows))
	for _, row := range b.rows {
		p := b.place(row)
		first, tied := seen[p]
		if !tied {
			seen[p] = row
			continue
		}
		// From the kind on there are the values: the same change twice does no harm.
		if !reflect.DeepEqual(first[metaCount-1:], row[metaCount-1:]) && t.warnedTies.CompareAndSwap(false, true) {
			e.log.Warn("a request changes a row twice with equal sequences, or none: BigQuery picks one of them at random; give each its own _CHANGE_SEQUENCE_NUMBER", "table", t.ref)
			return
		}
	}
}
