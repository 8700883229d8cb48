package bqcdc

import (
	"context"
	"iter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// WriteAll writes rows that are no elements of a bundle of their own, from within a
// DoFn's ProcessElement, and returns when each has come to rest: BigQuery has
// acknowledged it, or letter was called with its dead letter, on the caller's
// goroutine. It returns how many BigQuery has acknowledged. Memory is bounded as a
// bundle's is. An error, of rows too, leaves some of them unwritten, and doesn't
// tell which. ctx is the DoFn's, for the counters of c's namespace.
func WriteAll(ctx context.Context, c Config, rows iter.Seq2[change.Row, error], letter func(deadletter.Letter)) (written int64, err error) {
	w, err := openWriter(ctx, c)
	if err != nil {
		return 0, err
	}
	w.config.FinishFor = w.config.RetryFor // no other bundle waits for this
	figures := newFigures(w.config.Namespace)
	take := func(r *result) {
		figures.count(ctx, r)
		for _, rows := range r.acknowledged {
			written += int64(len(rows))
		}
		for i := range r.rejected {
			letter(letterOf(&r.rejected[i], w.config.Stage))
		}
	}
	b := w.begin(ctx)
	var at beam.EventTime // no row is emitted
	for row, err := range rows {
		if err == nil {
			err = b.collect(take)
		}
		if err == nil {
			err = b.add(&row, at)
		}
		if err != nil {
			b.cancel(err) // nobody will wait for the rest of it
			return written, err
		}
	}
	return written, b.finish(take)
}
