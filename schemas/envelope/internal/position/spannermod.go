package position

import "beamcdc/schemas/change"

// SpannerMod returns the sequence of a change by its transaction's commit time in
// nanoseconds since 1970, the data change record it came in, and its number
// among that record's mods.
//
// It is the order of commits for each key: commit timestamps of transactions
// that write the same row differ, and grow in the order of the commits
// (TrueTime); within a transaction record sequences grow, and mods are in their
// order. The traps: the record sequence counts within one transaction only, and
// a connector that cuts the commit time to milliseconds ties transactions that
// Spanner's own commit wait keeps further apart than that, but an emulator
// doesn't. A change stream has no snapshot.
func SpannerMod(epoch, nanos, recordSequence, mod uint64, op change.Op) change.Sequence {
	return change.NewSequence(epoch, nanos, recordSequence, mod<<1|Ordinal(op))
}
