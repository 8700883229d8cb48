package pubsubsource

import (
	"fmt"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
)

// restriction is what is left of the subscription to read: bundle after bundle,
// without an end. There is only ever one: Prism's watermark runs ahead when a
// source has several, and drops what it then takes for late.
type restriction struct {
	Bundle int64 // the last bundle that is committed once this restriction is resumed
	Over   bool  // nothing is left
}

// tracker claims bundle after bundle of a restriction.
type tracker struct {
	rest    restriction
	claimed int64 // the bundle in progress, 0 before it is claimed
}

// TryClaim claims a bundle, given by number, to begin it or to go on with it.
func (t *tracker) TryClaim(bundle any) bool {
	n, ok := bundle.(int64)
	if !ok || t.rest.Over {
		return false
	}
	t.claimed = n
	return true
}

// finish ends the restriction: there will be no other bundle.
func (t *tracker) finish() { t.rest.Over = true }

// GetError returns nil: no claim fails but at the end.
func (t *tracker) GetError() error { return nil }

// TrySplit hands everything but the bundle in progress on, if the fraction is 0,
// and else refuses: the rest of an endless stream has no middle.
func (t *tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction > 0 || t.rest.Over {
		return t.rest, nil, nil
	}
	residual = restriction{Bundle: max(t.claimed, t.rest.Bundle)}
	t.rest.Over = true
	return t.rest, residual, nil
}

// GetProgress returns made-up sizes: nobody knows how much is left.
func (t *tracker) GetProgress() (done, remaining float64) {
	if t.rest.Over {
		return 1, 0
	}
	return 0, 1
}

// IsDone reports whether nothing is left.
func (t *tracker) IsDone() bool { return t.rest.Over }

// GetRestriction returns the restriction.
func (t *tracker) GetRestriction() any { return t.rest }

// IsBounded reports whether an end is known.
func (t *tracker) IsBounded() bool { return t.rest.Over }

// String is for the runner's logs.
func (t *tracker) String() string {
	return fmt.Sprintf("pubsubsource %+v, bundle %d", t.rest, t.claimed)
}

// clock gives event times: now, but never earlier than before, so that a clock
// that is set back cannot make a message late.
var clock steadyClock

type steadyClock struct {
	mu   sync.Mutex
	last time.Time
}

func (c *steadyClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now().Truncate(time.Millisecond); now.After(c.last) {
		c.last = now
	}
	return c.last
}

// eventTime is when a message that is emitted now happens.
func (c *steadyClock) eventTime() mtime.Time { return mtime.FromTime(c.now()) }

// watermark is a time that every message yet to come is later than.
func (c *steadyClock) watermark() time.Time { return c.now().Add(-time.Millisecond) }
