package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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

// errLate ends a bundle whose last requests take longer than FinishFor.
var errLate = errors.New("the end of the bundle has waited too long")

// results is where the requests' goroutines leave what became of them. It takes
// any number without blocking: a bundle that failed elsewhere is never collected.
type results struct {
	come        atomic.Bool // a look at it saves taking mu for every row
	mu          sync.Mutex
	outstanding int // requests on their way
	finished    []*result
	changed     chan struct{} // holds a token when a result may have come
}

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

func (r *results) add(res *result) {
	r.mu.Lock()
	r.outstanding--
	r.finished = append(r.finished, res)
	r.come.Store(true)
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// take returns the results that have come, and how many requests are still on
// their way. It does not block.
func (r *results) take() (finished []*result, outstanding int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.come.Store(false)
	finished, r.finished = r.finished, nil
	return finished, r.outstanding
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
	row, below, err := b.behindView(row, at)
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
		if row, below, err = b.behind(l, row); err != nil {
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

// send hands the lane's request to a goroutine of its own once the process has
// room for it in flight.
func (b *bundle) send(l *lane) error {
	r := l.request
	l.request = newRequest(r.key, r.schema)
	r.schema.latest.rows.Store(int64(len(r.rows)))
	r.schema.latest.packed.Store(int64(len(r.packed)))
	b.gathered -= r.bytes - r.schema.overhead
	s := b.writer.streams
	if err := s.requests.Acquire(b.ctx, 1); err != nil {
		return b.failure(fmt.Errorf("waiting to write to table %s: %w", r.key.table, err))
	}
	weight := int64(min(r.memory, s.endpoint.inflightBytes))
	if err := s.bytes.Acquire(b.ctx, weight); err != nil {
		s.requests.Release(1)
		return b.failure(fmt.Errorf("waiting to write to table %s: %w", r.key.table, err))
	}
	b.results.mu.Lock()
	b.results.outstanding++
	b.results.mu.Unlock()
	inflight.requests.Add(1)
	inflight.bytes.Add(weight)
	go func() {
		defer inflight.requests.Add(-1)
		defer inflight.bytes.Add(-weight)
		defer s.requests.Release(1)
		defer s.bytes.Release(weight)
		res := b.writer.deliver(b.ctx, r, b.patient)
		if res.err != nil {
			b.cancel(res.err)
		}
		b.results.add(res)
	}()
	return nil
}

// failure returns why the bundle failed: the first request's error, of which the
// others' are consequences, or else err.
func (b *bundle) failure(err error) error {
	cause := context.Cause(b.ctx)
	if cause == nil || errors.Is(cause, errLate) {
		return err
	}
	return cause
}

// collect hands the results that have come to take, on the caller's goroutine,
// and returns the bundle's error once it has failed.
func (b *bundle) collect(take func(*result)) error {
	if !b.results.come.Load() {
		return nil
	}
	finished, _ := b.results.take()
	return b.hand(finished, take)
}

func (b *bundle) hand(finished []*result, take func(*result)) error {
	for _, res := range finished {
		if res.err != nil {
			return b.failure(res.err)
		}
		take(res)
		res.recycle()
	}
	return nil
}

// settle waits while the latest row's table is in trouble, until that row has come to
// rest or the trouble is over. It is for ProcessElement: a wait there holds up nobody
// else, and the end of the bundle then has little to wait for.
func (b *bundle) settle(take func(*result)) error {
	w, l := b.writer, b.latest
	if l == nil || w.leaves() {
		return nil
	}
	if lags, _ := w.streams.lags.of(l.request.key); !lags {
		return nil
	}
	if len(l.request.rows) > 0 {
		if err := b.send(l); err != nil {
			return err
		}
	}
	for {
		finished, outstanding := b.results.take()
		if err := b.hand(finished, take); err != nil {
			return err
		}
		if lags, _ := w.streams.lags.of(l.request.key); outstanding == 0 || !lags {
			return nil
		}
		<-b.results.changed // every request ends once the bundle's context has
	}
}

// finish sends what is left and returns when every row has come to rest, or the
// bundle has failed. The bundle can't be used again.
func (b *bundle) finish(take func(*result)) error {
	defer b.cancel(nil)
	if !b.writer.leaves() { // else each request ends in time, one way or the other
		late := time.AfterFunc(b.writer.config.FinishFor, func() { b.cancel(errLate) })
		defer late.Stop()
	}
	for _, l := range b.lanes {
		if len(l.request.rows) == 0 {
			continue
		}
		if err := b.send(l); err != nil {
			return err
		}
	}
	// Invariant 1: the bundle ends only after BigQuery has acknowledged its rows.
	for {
		finished, outstanding := b.results.take()
		if err := b.hand(finished, take); err != nil {
			return err
		}
		if outstanding == 0 {
			return nil
		}
		<-b.results.changed // every request ends once the bundle's context has
	}
}
