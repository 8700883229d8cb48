package position

import "beamcdc/schemas/change"

// Wal2JSON returns the sequence of the index-th change of a transaction that
// ends at an LSN: wal2json's first format, and Sequin's commit_lsn and commit_idx.
//
//	epoch / end / index+1 / ordinal
//
// It is the order of commits: transactions end one after the other in the log,
// and inside of one the index grows. Whatever else lies in the log between the
// changes doesn't matter, nor that transactions interleave in it.
//
// Traps: with write-in-chunks the index begins anew in each chunk, and a chunk is
// no JSON on its own; such messages aren't read.
//
// The rows of Sequin's backfills are no changes of a transaction: see Lowest.
func Wal2JSON(epoch, end, index uint64, op change.Op) change.Sequence {
	return change.NewSequence(epoch, end, index+1, Ordinal(op))
}

// MaxIndex is the highest index that Wal2JSON takes.
const MaxIndex = 1<<64 - 2

// Wal2JSONRecord returns the sequence of a change at an LSN of its own, without its
// commit: wal2json's second format, of which only the marks of a transaction's
// begin and end hold the commit's LSN, and they are other messages.
//
//	epoch / lsn / lsn / ordinal
//
// That is not the order of commits, but it is for each key, which is what counts:
// whoever writes a row holds its lock until the commit, and so does whoever
// deletes, inserts or leaves a key of a unique index. A transaction T that follows
// S on a key writes it after S's commit, and so at a higher LSN than all of S.
// Rows that share an LSN (COPY writes many at once) are new rows of different keys.
//
// Traps: a table whose key in BigQuery is no unique key of the source has no such
// lock, and a deferred unique constraint takes it late. The commit's timestamp
// would not help: clocks step back. Truncates are ordered too, since they lock the
// table.
func Wal2JSONRecord(epoch, lsn uint64, op change.Op) change.Sequence {
	return Postgres(epoch, 0, lsn, op)
}
