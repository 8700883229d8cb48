package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
)

// writer is what the bundles of one DoFn share: the process's streams and what
// describes the rows.
type writer struct {
	config  Config // with its defaults
	plain   bool   // the rows are plain
	streams *streams

	// describe returns what describes the rows of a stream, or errUnknownSchema.
	describe func(ctx context.Context, key streamKey) (*schema, error)
	// fits reports whether such rows can be written to the table as it is now. Its
	// error is the catalog's.
	fits func(ctx context.Context, key streamKey) (bool, error)
	// grows reports whether the table may be altered to follow its source, and young
	// whether BigQuery's writers may not know yet that it was.
	grows, young func(table string) bool
	// aside says that someone takes the rows that have to wait: see waitFn.
	aside bool

	// fence returns a table's fence as it was at asOf or later, the catalog's, and
	// lease is for how long it may be relied on.
	fence func(ctx context.Context, table string, asOf time.Time) (catalog.Fence, error)
	lease time.Duration
	// isView reports whether a table is a view with a fence; nil where none is.
	isView func(table string) bool
}

// errUnknownSchema is what describe returns for a schema that neither the process
// nor, as far as can be told, the table knows.
var errUnknownSchema = errors.New("the row was encoded for a schema that the table no longer has")

// bundle is one bundle's rows on their way. Its methods are called by one
// goroutine, the DoFn's; the requests have one each.
type bundle struct {
	ctx      context.Context //nolint:containedctx // a bundle is a scope: its end ends its requests
	cancel   context.CancelCauseFunc
	writer   *writer
	lanes    map[streamKey]*lane
	views    map[string]*view
	latest   *lane // the one that took the latest row
	patient  bool  // its rows have waited already: they are tried even if the schema was unknown just now
	gathered int   // encoded bytes that are in the lanes
	results  results
}

// lane is where the rows of one stream gather to a request.
type lane struct {
	schema  *schema
	request *request
	fence   catalog.Fence // of a table that has one, as of the latest look
}

// leaves reports whether rows that BigQuery doesn't take soon may wait aside, whatever
// their table.
func (w *writer) leaves() bool { return w.aside && w.config.Aside }

// begin starts a bundle. When ctx ends, the bundle's requests do.
func (w *writer) begin(ctx context.Context) *bundle {
	b := &bundle{
		writer:  w,
		lanes:   make(map[streamKey]*lane),
		results: results{changed: make(chan struct{}, 1)},
	}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	return b
}

// add takes one row. It sends what is full, without waiting for answers; it
// blocks while too much is in flight.
func (b *bundle) add(row *change.Row, at beam.EventTime) error {
	if row.Sequence.IsZero() && !b.writer.plain {
		// Invariant 3: no CDC row is written without a sequence.
		b.reject(row, at, reasonNoSequence, "the row has no sequence")
		return nil
	}
	return b.take(row, at)
}

// take takes a row that has a sequence.
func (b *bundle) take(row *change.Row, at beam.EventTime) error {
	row, below, err := b.throughView(row, at)
	if row == nil || err != nil {
		return err
	}
	l, err := b.lane(streamKey{table: row.Table, schema: row.Schema, plain: b.writer.plain})
	if errors.Is(err, errUnknownSchema) {
		b.reject(row, at, reasonSchemaChanged, err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("describing the rows of table %s: %w", row.Table, err)
	}
	if below == nil && l.schema.plan != nil {
		if row, below, err = b.belowFence(l, row); err != nil {
			return err
		}
	}
	config := &b.writer.config
	size := framedSize(len(row.Data))
	if l.schema.overhead+size > config.MaxRequestBytes {
		b.reject(row, at, reasonTooLarge, fmt.Sprintf("the row has %d bytes; with %d for its table's descriptor a request may have %d",
			size, l.schema.overhead, config.MaxRequestBytes))
		return nil
	}
	if len(l.request.rows) > 0 && l.request.bytes+size > config.TargetRequestBytes {
		if err := b.send(l); err != nil {
			return err
		}
	}
	l.request.push(row, at, size, below)
	b.gathered += size
	if l.request.bytes >= config.TargetRequestBytes || len(l.request.rows) >= config.MaxRequestRows {
		return b.send(l)
	}
	if b.gathered >= config.MaxBufferedBytes {
		return b.send(b.fullest())
	}
	return nil
}

// lane returns the lane of the stream. Successive rows are often of one.
func (b *bundle) lane(key streamKey) (*lane, error) {
	if b.latest != nil && b.latest.request.key == key {
		return b.latest, nil
	}
	l := b.lanes[key]
	if l == nil {
		s, err := b.writer.describe(b.ctx, key)
		if err != nil {
			return nil, err
		}
		l = &lane{schema: s, request: newRequest(key, s)}
		b.lanes[key] = l
	}
	b.latest = l
	return l, nil
}

func (b *bundle) fullest() *lane {
	var most *lane
	for _, l := range b.lanes {
		if most == nil || l.request.bytes-l.schema.overhead > most.request.bytes-most.schema.overhead {
			most = l
		}
	}
	return most
}

// reject leaves the row as one that needs no request.
func (b *bundle) reject(row *change.Row, at beam.EventTime, reason, text string) {
	b.results.mu.Lock()
	b.results.outstanding++
	b.results.mu.Unlock()
	b.results.add(&result{table: row.Table, tokens: true, rejected: []rejection{{newPending(row, at), row.Table, reason, text}}})
}
