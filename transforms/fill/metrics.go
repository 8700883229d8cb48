package fill

import (
	"context"

	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters. Of changes each makes a row
// (rows), of which some have values filled in (rows_filled) or are made again since an
// older change came late (rows_revised); waits (held), of which some wait for too long
// (expired); or becomes a dead letter (letters). Rows of changed keys that lack what
// they had under the other key are key_changes_waiting, and key_changes_told are the
// messages about that; moves_forgotten are changed keys that were forgotten by
// fill.keep_for. changes_joined come to rest with the row of another change, and
// rows_repeated are rows that were made again without a change of their own: changes
// and rows_repeated are rows, changes_joined and letters, and what waits ([Waiting]). memory_bytes has the sizes of what is remembered of a row,
// and moves_bytes of what is of a changed key, each time that it is written; forgotten are the rows that were forgotten by
// fill.keep_for, and overflowed the changes at which a row passed fill.max_bytes. Rows
// asked for in BigQuery are rows_read, those that it had rows_found, in queries.
const Namespace = "fill"

// Stage is the stage of this package's dead letters.
const Stage = "fill"

var metrics = metric.In(Namespace)

var (
	changesCounter   = metrics.Counter("changes", metric.Changes, "Changes that came in to be completed.")
	rowsCounter      = metrics.Counter("rows", metric.Rows, "Rows that went on, complete.")
	filledCounter    = metrics.Counter("rows_filled", metric.Rows, "Of rows, those that had values filled in.")
	revisedCounter   = metrics.Counter("rows_revised", metric.Rows, "Of rows, those that were made again since an older change came late.")
	heldCounter      = metrics.Counter("held", metric.Changes, "Changes that wait for what completes their row.")
	expiredCounter   = metrics.Counter("expired", metric.Changes, "Changes that waited for fill.hold_for, and became dead letters.")
	lettersCounter   = metrics.Counter("letters", metric.Letters, "Changes that can't be completed: dead letters.")
	waitingCounter   = metrics.Counter("key_changes_waiting", metric.Changes, "Rows of changed keys that lack what they had under the other key.")
	toldCounter      = metrics.Counter("key_changes_told", metric.Changes, "Messages about what a row had under the other key.")
	forgottenCounter = metrics.Counter("forgotten", metric.Rows, "Rows that were forgotten by fill.keep_for.")
	overflowCounter  = metrics.Counter("overflowed", metric.Changes, "Changes at which a row passed fill.max_bytes, and was forgotten.")
	readCounter      = metrics.Counter("rows_read", metric.Rows, "Rows that BigQuery was asked for, since nobody remembers them.")
	foundCounter     = metrics.Counter("rows_found", metric.Rows, "Of rows_read, those that BigQuery had.")
	queriesCounter   = metrics.Counter("queries", metric.Requests, "Queries for rows_read.")
	joinedCounter    = metrics.Counter("changes_joined", metric.Changes, "Changes that come to rest with the row of another change.")
	repeatedCounter  = metrics.Counter("rows_repeated", metric.Rows, "Rows that were made again without a change of their own.")

	movesForgottenCounter = metrics.Counter("moves_forgotten", metric.Keys, "Changed keys that were forgotten by fill.keep_for.")
	movesBytes            = metrics.Distribution("moves_bytes", metric.Bytes, "What is remembered of a changed key, each time that it is written.")

	memoryBytes = metrics.Distribution("memory_bytes", metric.Bytes, "What is remembered of a row, each time that it is written.")
)

// Waiting returns how many changes wait for what completes their rows, by what was
// counted since none did, by "namespace/name". Where the run has ended their messages
// are not acked, and come again.
func Waiting(counted map[string]int64) int64 {
	return counted[Namespace+"/changes"] + counted[Namespace+"/rows_repeated"] -
		counted[Namespace+"/rows"] - counted[Namespace+"/changes_joined"] - counted[Namespace+"/letters"]
}

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
	rowsCounter.Inc(ctx, int64(len(c.rows)))
	joinedCounter.Inc(ctx, c.joined)
	repeatedCounter.Inc(ctx, c.repeated)
	overflowCounter.Inc(ctx, c.overflow)
}
