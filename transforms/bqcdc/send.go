package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

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

// send sends what has gathered in the lane, which goes on with a new request.
func (b *bundle) send(l *lane) error {
	r := l.request
	l.request = newRequest(r.key, r.schema)
	return b.dispatch(r)
}

// dispatch hands a request to a goroutine of its own once the process has room for it in
// flight.
func (b *bundle) dispatch(r *request) error {
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
		if err := b.dispatch(l.request); err != nil {
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
