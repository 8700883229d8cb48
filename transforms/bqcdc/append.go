package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"

	"beamcdc/schemas/change"
)

// Append writes rows outside of a pipeline: for the commands that mend tables which
// take no DML. It returns when BigQuery has acknowledged all of them, or with an error
// that says why one was refused, while others may have been written.
func Append(ctx context.Context, c Config, rows []change.Row) error {
	if err := c.Validate(); err != nil {
		return err
	}
	w, err := openWriter(ctx, c)
	if err != nil {
		return err
	}
	var refused []error
	take := func(r *result) {
		for i := range r.rejected {
			x := &r.rejected[i]
			refused = append(refused, fmt.Errorf("writing a row to table %s: %s: %s", x.table, x.reason, x.text))
		}
	}
	b := w.begin(ctx)
	at := mtime.FromTime(time.Now())
	for i := range rows {
		err := b.collect(take)
		if err == nil {
			err = b.add(&rows[i], at)
		}
		if err != nil {
			b.cancel(err)
			return err
		}
	}
	return errors.Join(b.finish(take), errors.Join(refused...))
}
