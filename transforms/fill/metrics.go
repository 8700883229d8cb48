package fill

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Namespace is the namespace of this package's counters. Of changes each makes a row
// (rows), of which some have values filled in (rows_filled) or are made again since an
// older change came late (rows_revised); waits (held), of which some wait for too long
// (expired); or becomes a dead letter (letters). Rows of changed keys that lack what
// they had under the other key are key_changes_waiting, and key_changes_told are the
// messages about that; moves_forgotten are changed keys that were forgotten by
// fill.keep_for. changes_joined come to rest with the row of another change, and
// rows_repeated are rows that were made again without a change of their own: changes
// and rows_repeated are rows, changes_joined and letters, and what waits. memory_bytes has the sizes of what is remembered of a row,
// and moves_bytes of what is of a changed key, each time that it is written; forgotten are the rows that were forgotten by
// fill.keep_for, and overflowed the changes at which a row passed fill.max_bytes. Rows
// asked for in BigQuery are rows_read, those that it had rows_found, in queries.
const Namespace = "fill"

// Stage is the stage of this package's dead letters.
const Stage = "fill"

var (
	changesCounter   = beam.NewCounter(Namespace, "changes")
	rowsCounter      = beam.NewCounter(Namespace, "rows")
	filledCounter    = beam.NewCounter(Namespace, "rows_filled")
	revisedCounter   = beam.NewCounter(Namespace, "rows_revised")
	heldCounter      = beam.NewCounter(Namespace, "held")
	expiredCounter   = beam.NewCounter(Namespace, "expired")
	lettersCounter   = beam.NewCounter(Namespace, "letters")
	waitingCounter   = beam.NewCounter(Namespace, "key_changes_waiting")
	toldCounter      = beam.NewCounter(Namespace, "key_changes_told")
	forgottenCounter = beam.NewCounter(Namespace, "forgotten")
	overflowCounter  = beam.NewCounter(Namespace, "overflowed")
	readCounter      = beam.NewCounter(Namespace, "rows_read")
	foundCounter     = beam.NewCounter(Namespace, "rows_found")
	queriesCounter   = beam.NewCounter(Namespace, "queries")
	joinedCounter    = beam.NewCounter(Namespace, "changes_joined")
	repeatedCounter  = beam.NewCounter(Namespace, "rows_repeated")

	movesForgottenCounter = beam.NewCounter(Namespace, "moves_forgotten")
	movesBytes            = beam.NewDistribution(Namespace, "moves_bytes")

	memoryBytes = beam.NewDistribution(Namespace, "memory_bytes")
)

func (o *outcome) count(ctx context.Context) {
	for i := range o.rows {
		rowsCounter.Inc(ctx, 1)
		if o.rows[i].Revision > 0 {
			revisedCounter.Inc(ctx, 1)
		}
	}
	if o.filled {
		filledCounter.Inc(ctx, 1)
	}
	if o.held {
		heldCounter.Inc(ctx, 1)
	}
	if o.forgot {
		overflowCounter.Inc(ctx, 1)
	}
	waitingCounter.Inc(ctx, int64(len(o.waiting)))
	toldCounter.Inc(ctx, int64(len(o.told)))
	joinedCounter.Inc(ctx, o.joined)
}

func (c *completed) count(ctx context.Context) {
	joinedCounter.Inc(ctx, c.joined)
	repeatedCounter.Inc(ctx, c.repeated)
	overflowCounter.Inc(ctx, c.overflow)
}
