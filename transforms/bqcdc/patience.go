package bqcdc

import (
	"context"
	"fmt"
	"time"

	"github.com/googleapis/gax-go/v2"
)

// patience is how much longer a request is tried without progress.
type patience struct {
	budget          time.Duration
	tries           int
	since           time.Time
	initial, atMost time.Duration
	pauses          map[outcome]*gax.Backoff
}

func (w *writer) newPatience() patience {
	return patience{budget: w.config.RetryFor, initial: w.config.InitialBackoff, atMost: w.config.MaxBackoff}
}

// spent is for how long there was no progress.
func (p *patience) spent() time.Duration {
	if p.tries == 0 {
		return 0
	}
	return time.Since(p.since)
}

// wait pauses before the next try, at random and up to a limit that doubles. It
// returns cause, wrapped, when the budget is spent or ctx ends.
func (p *patience) wait(ctx context.Context, o outcome, cause error) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w after %d tries, the last: %w", err, p.tries+1, cause)
	}
	if p.tries == 0 {
		p.since = time.Now()
		p.pauses = make(map[outcome]*gax.Backoff)
	}
	p.tries++
	if spent := time.Since(p.since); spent > p.budget {
		return fmt.Errorf("giving up after %d tries in %v: %w", p.tries, spent.Round(time.Millisecond), cause)
	}
	backoff := p.pauses[o]
	if backoff == nil {
		backoff = &gax.Backoff{Initial: p.initial, Max: p.atMost, Multiplier: 2}
		if o != transient { // lag and quotas take seconds at least
			backoff.Initial = min(4*p.initial, p.atMost)
		}
		p.pauses[o] = backoff
	}
	if gax.Sleep(ctx, backoff.Pause()) != nil {
		return fmt.Errorf("%w after %d tries, the last: %w", context.Cause(ctx), p.tries, cause)
	}
	return nil
}
