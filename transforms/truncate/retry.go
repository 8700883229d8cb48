package truncate

import (
	"context"
	"fmt"
	"time"

	"beamcdc/internal/logs"
	"beamcdc/schemas/change"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
)

// unanswered keeps the log of questions that are asked again short.
var unanswered logs.Seldom

// destination returns the table that the truncate's source goes to.
func (f *truncateFn) destination(ctx context.Context, e *change.Event) (d *catalog.Destination, err error) {
	match, ok := f.catalog.Route(e.Table)
	if !ok {
		return nil, &catalog.Error{Permanent: true, Err: fmt.Errorf("no configured table matches %.100q", e.Table)}
	}
	err = f.retry(ctx, func() error {
		d, err = f.catalog.Destination(ctx, match)
		return err
	})
	return d, err
}

// retry asks BigQuery until it answers, says that no repetition helps, or RetryFor is over.
func (f *truncateFn) retry(ctx context.Context, ask func() error) error {
	const firstPause, longestPause = 250 * time.Millisecond, 10 * time.Second
	patience := f.Writer.RetryFor
	if patience == 0 {
		patience = bqcdc.DefaultRetryFor
	}
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := ask()
		if err == nil || catalog.IsPermanent(err) || !time.Now().Add(pause).Before(end) {
			return err
		}
		retriesCounter.Inc(ctx, 1)
		if suppressed, ok := unanswered.Ask(""); ok {
			logs.Warn(ctx, "BigQuery does not answer a question about a table to be emptied; it is asked again", logs.Error.Of(err), logs.Suppressed.Of(suppressed))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
