package keyed

import (
	"context"
	"errors"
	"slices"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/enrich"
	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters: events, of which each
// makes a row, two (key_changes), none (filtered, truncates), or a dead letter (letters);
// upserts and deletes; diverted, the row changes that are completed first;
// values_adjusted by policies, together and each apart (see adjustments); and of Coalesce rows_coalesced, rows_superseded, bytes_superseded.
const Namespace = "keyed"

// The stages of this package's dead letters.
const (
	StageKey    = "key"
	StageEncode = "encode"
)

var metrics = metric.In(Namespace)

var (
	eventsCounter     = metrics.Counter("events", metric.Changes, "Change events that came in.")
	keyChangesCounter = metrics.Counter("key_changes", metric.Changes, "Changes of a row's key, each of which makes two rows, a DELETE and an UPSERT.")
	lettersCounter    = metrics.Counter("letters", metric.Letters, "Changes that can't be keyed or encoded: dead letters.")
	upsertsCounter    = metrics.Counter("upserts", metric.Rows, "UPSERT rows that were made, before they are coalesced.")
	deletesCounter    = metrics.Counter("deletes", metric.Rows, "DELETE rows that were made, before they are coalesced.")
	truncatesCounter  = metrics.Counter("truncates", metric.Changes, "TRUNCATEs of tables that follow them.")
	divertedCounter   = metrics.Counter("diverted", metric.Rows, "Rows of changes that have to be completed before they are encoded.")
	catalogRetries    = metrics.Counter("catalog_retries", metric.Tries, "Questions about tables that BigQuery did not answer, and that were asked again.")
)

// RowsConfig says how events become rows. It travels to the workers as JSON.
type RowsConfig struct {
	// FilterUnlisted counts the changes of tables that no rule lists, instead of
	// making dead letters of them.
	FilterUnlisted bool
	// Epoch leads the sequences of changes that are ordered by arrival. The others
	// have it from their decoder.
	Epoch uint64
	// RetryFor is how long a destination that BigQuery does not tell about is asked
	// for again before the bundle fails. Defaults to ten minutes.
	RetryFor time.Duration
	// Histories says that some table has a history.
	Histories bool
	// MaxRequestBytes is the encoded size that no request to BigQuery exceeds, the
	// writer's. A row that none can hold is a dead letter before it is coalesced, so that
	// it supersedes nothing. Defaults to no bound here.
	MaxRequestBytes int
}

// maker makes rows of row changes: what the DoFns of this package share. It is for
// one goroutine.
type maker struct {
	rows    RowsConfig
	catalog *catalog.Catalog
	// destinations are by the source's table. Each bundle asks the catalog again, which
	// may have learned of a change.
	destinations map[string]*destination
	bundle       uint64 // the bundle's number
	orders       map[*table.Rule]order
	keyers       map[*rowproto.Plan]*keyer
	enrichers    map[enricherOf]*enrich.Rows
	references   enrich.Config
	data         []byte // of the row that is being encoded
	slab         slab   // of rows that are
	adjusted     adjustments
	copies       copies
	evolving     evolving
}

func (m *maker) setup(ctx context.Context, c catalog.Config, r RowsConfig) (err error) {
	m.rows = r
	m.references = enrich.ConfigOf(c)
	m.catalog, err = catalog.Open(ctx, c)
	return err
}

func (m *maker) startBundle() {
	const many = 10_000 // plans of old schemas add up, and names that come from messages
	if m.keyers == nil || len(m.keyers) > many || len(m.destinations) > many {
		m.keyers = make(map[*rowproto.Plan]*keyer)
		m.enrichers = make(map[enricherOf]*enrich.Rows)
		m.destinations = make(map[string]*destination)
		m.orders = make(map[*table.Rule]order)
	}
	m.bundle++
	m.copies = copies{} // what a failed bundle has stored may not be stored
}

// emit makes the row of a row change, or its dead letter, and returns the row change as
// it was written, nil where it wasn't. Of the two halves of a changed key each goes its
// way: each key's row is right on its own.
func (m *maker) emit(
	ctx context.Context, d *destination, e *change.Event, c *rowChange, write func([]byte, change.Row), rest func(change.Receipt), letter func(deadletter.Letter),
) (written *rowChange, err error) {
	row, written, err := m.row(ctx, d, e, c)
	if errors.Is(err, errLeftOut) {
		leaveOut(ctx, e, leftOutWhere, slices.Concat(c.receipts, c.past), rest)
		return nil, nil
	}
	if r, refused := errors.AsType[*refusal](err); refused {
		lettersCounter.Inc(ctx, 1)
		letter(m.letter(c.about(e), r, slices.Concat(c.receipts, c.past)))
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if row.Type == change.Delete {
		deletesCounter.Inc(ctx, 1)
	} else {
		upsertsCounter.Inc(ctx, 1)
	}
	write(m.keep(&row, c.key), row)
	return written, nil
}

// keep gives the row what is in m.data, and its key, in memory of its own, and returns
// what it is grouped by.
func (m *maker) keep(row *change.Row, key []byte) (grouped []byte) {
	size := sizeOfKey(row.Table, key)
	both := append(appendKey(m.slab.take(size+len(m.data)), row.Table, key), m.data...)
	row.Key, row.Data = both[len(row.Table)+1:size:size], both[size:]
	return both[:size:size]
}

// appendKey appends what the rows of a table and key are grouped by, of sizeOfKey bytes.
func appendKey(dst []byte, table string, key []byte) []byte {
	return append(append(append(dst, table...), 0), key...)
}

func sizeOfKey(table string, key []byte) int { return len(table) + 1 + len(key) }

func (m *maker) letter(e *change.Event, r *refusal, receipts []change.Receipt) deadletter.Letter {
	message, shared, note := m.copies.letter(e)
	return deadletter.Letter{Message: message, Shared: shared, Stage: r.stage, Reason: r.reason, Error: r.Error() + note, Table: e.Table, Part: e.Part, Receipts: receipts}
}

// row encodes a row change into m.data, and returns the row, which has no Data and Key
// yet, and the change as its rule's steps made it. A column that the table did not have
// when its schema was read may be there now: the catalog looks again, seldom, before it
// is refused.
func (m *maker) row(ctx context.Context, d *destination, e *change.Event, c *rowChange) (row change.Row, enriched *rowChange, err error) {
	if enriched, err = m.enrich(ctx, d, e, c); err != nil {
		return change.Row{}, nil, err
	}
	row, err = m.encode(ctx, d, e, enriched)
	if r, refused := errors.AsType[*refusal](err); !refused || r.reason != rowproto.ReasonUnknownColumn {
		return row, enriched, err
	}
	fresh, refreshErr := m.catalog.Refresh(ctx, d.match)
	if refreshErr != nil || fresh.Plan == d.Plan {
		return row, nil, err
	}
	if !slices.Equal(fresh.Table.PrimaryKey, d.Table.PrimaryKey) {
		return row, nil, err // its key was made for another
	}
	if err := m.use(ctx, d, fresh); err != nil {
		return change.Row{}, nil, err
	}
	if enriched, err = m.enrich(ctx, d, e, c); err != nil {
		return change.Row{}, nil, err
	}
	row, err = m.encode(ctx, d, e, enriched)
	return row, enriched, err
}

func (m *maker) encode(ctx context.Context, d *destination, e *change.Event, c *rowChange) (change.Row, error) {
	sequence := c.sequence
	var err error
	if Completes(d.Rule) {
		if sequence, err = sequence.WithRevision(c.revision); err != nil {
			return change.Row{}, refuse(StageKey, ReasonBadSequence, "ordering a change of %s: %w", d.name, err)
		}
	}
	plan := d.Plan
	columns := c.columns
	if d.Hides {
		columns = withHidden(columns, sequence, c.kind == change.Delete)
	}
	switch {
	case d.Hides && c.kind == change.Delete: // a row that is hidden: it can be read back
		m.data, err = m.keyer(plan).old.AppendUpsert(m.data[:0], columns, sequence, rowproto.RowOptions{})
	case c.kind == change.Delete:
		if settled := d.settled(); settled != nil { // its key is all that it has
			plan = settled.Plan
		}
		m.data, err = m.keyer(plan).old.AppendDelete(m.data[:0], c.columns, sequence)
	default:
		m.adjusted.row = m.adjusted.row[:0]
		plan, err = m.upsert(ctx, d, columns, sequence, rowproto.RowOptions{
			AbsentUnavailable: e.AbsentUnavailable,
			Incomplete:        c.checked,
			IgnoreUnknown:     d.Rule.UnknownColumns == "ignore",
			Adjusted:          &m.adjusted.row,
		})
		if !c.checked {
			m.adjusted.count(ctx, d.name)
		}
	}
	if err != nil {
		return change.Row{}, refuseValue(StageEncode, err)
	}
	if most := m.rows.MaxRequestBytes; most > 0 {
		if size := len(m.data) + m.keyerOf(d, plan).described(); size > most {
			n := len(m.data)
			m.data = nil // as large as the largest row ever
			return change.Row{}, refuse(StageEncode, ReasonRowTooLarge,
				"encoding a row of %s: it has %d bytes; with %d for its table's descriptor a request may have %d", d.name, n, size-n, most)
		}
	}
	return change.Row{
		Table:      d.name,
		Schema:     plan.Fingerprint(),
		Type:       c.kind,
		Sequence:   sequence,
		CommitTime: e.CommitTime,
		Message:    m.copies.row(c.about(e)),
		Receipts:   c.receipts,
	}, nil
}

// withHidden returns the row with the values of the columns that a view hides.
func withHidden(columns []change.Column, sequence change.Sequence, deleted bool) []change.Column {
	return append(slices.Clip(columns),
		change.Column{Name: table.SequenceColumn, Value: change.String(sequence.Padded())},
		change.Column{Name: table.DeletedColumn, Value: change.Bool(deleted)})
}
