// Package position turns a source's log position into BigQuery's change
// sequence number. All sequences have four sections, the first of which is the
// operator's epoch:
//
//	PostgreSQL      epoch / max(lastCommitLSN, lsn) / lsn / ordinal
//	MySQL, MariaDB  epoch / file number / pos / (row+1)<<1 | ordinal
//	SQL Server      epoch / 192 bits: commit LSN, change LSN, serial, ordinal
//	Oracle          epoch / max(commit SCN, SCN) / SCN / place<<1 | ordinal
//	MongoDB         epoch / seconds / increment / (number in transaction+1)<<1 | ordinal
//	Spanner         epoch / commit time / record sequence / mod<<1 | ordinal
//	Maxwell         as MySQL, with the row's offset in its transaction
//	wal2json        epoch / end of the transaction / index+1 / ordinal, Sequin's too;
//	                its second format as PostgreSQL, without a commit
//	DMS             as MySQL, or epoch / lsn or commit time / place in transaction+1 / ordinal
//	snapshot row    the same with 0 for what follows the snapshot's position
//	no position     epoch / 0 / 0 / 0, of a snapshot's row alone
//
// Each function's comment says why that is the order of commits for each key,
// and where it isn't.
//
// No single message tells one thing: a PostgreSQL transaction that was under way
// when a new snapshot was taken, and whose changes carry no later commit, sorts
// below the snapshot's row of the same key. Raise the epoch for a snapshot that
// must win, or take it while the table rests.
//
// The ordinal is 0 for a delete and 1 for everything else, so that the two
// halves of a changed key never tie.
package position

import (
	"strconv"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

// Ordinal returns the last section's lowest bit for an operation.
func Ordinal(op change.Op) uint64 {
	if op == change.OpDelete {
		return 0
	}
	return 1
}

// Lowest returns the sequence of a snapshot's row without a position: any
// change of its epoch wins over it.
func Lowest(epoch uint64) change.Sequence { return change.NewSequence(epoch, 0, 0, 0) }

// Postgres returns the sequence of a change at lsn, whose transaction began to
// be sent when lastCommit was the last commit sent; 0 when that is unknown.
//
// It is the order of commits for each key. A transaction T that follows S on a
// key has a lastCommit that is no lower than S's commit, which lies after all
// of S's changes; within a transaction the LSN grows. The greater of the two
// also puts the first changes after a new snapshot, which can carry a
// lastCommit from before it, above the snapshot's rows. Without lastCommit the
// LSN alone is right for each key, since a row's lock lets one transaction
// write it at a time.
func Postgres(epoch, lastCommit, lsn uint64, op change.Op) change.Sequence {
	if op == change.OpSnapshot {
		return change.NewSequence(epoch, lsn, 0, 0)
	}
	return change.NewSequence(epoch, max(lastCommit, lsn), lsn, Ordinal(op))
}

// MySQL returns the sequence of a change at a position of the binary log, whose
// row-th row it is in its event.
//
// It is the order of commits: the server writes each transaction to the log in
// one piece when it commits, in the order of the commits, and fills one file
// after the other. Rows of one event share pos and differ in row.
//
// The traps: a file's number is a number, not a text (.999999 is before
// .1000000); another server numbers its files by itself, so that a failover takes
// an epoch; a GTID is no number that grows. A snapshot's row has the position at
// which the snapshot began, and sorts below all changes from there on.
func MySQL(epoch, file, pos, row uint64, op change.Op) change.Sequence {
	if op == change.OpSnapshot {
		return change.NewSequence(epoch, file, pos, 0)
	}
	return change.NewSequence(epoch, file, pos, (row+1)<<1|Ordinal(op))
}

// MaxRow is the highest row that MySQL takes.
const MaxRow = 1<<62 - 1

// ParseLSN reads an LSN: "7/A1B2C3D8" as PostgreSQL writes it, or decimal as
// Debezium does.
func ParseLSN(text string) (uint64, bool) {
	high, low, split := strings.Cut(text, "/")
	if !split {
		return ParseUint(text)
	}
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return 0, false
	}
	l, err := strconv.ParseUint(low, 16, 32)
	if err != nil {
		return 0, false
	}
	return h<<32 | l, true
}

// ParseUint reads a decimal number of 64 bits without a sign.
func ParseUint(text string) (uint64, bool) {
	const surely = 19 // digits that are no more than 64 bits
	if len(text) > surely {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, false
		}
		return n, true
	}
	n := uint64(0)
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + uint64(digit)
	}
	return n, text != ""
}

// FileNumber returns the number that ends a binary log's name:
// "mysql-bin.1000000" is after "mysql-bin.999999".
func FileNumber(file string) (uint64, bool) {
	return ParseUint(file[strings.LastIndexByte(file, '.')+1:])
}

// FormatLSN writes an LSN as PostgreSQL does.
func FormatLSN(a *slab.Arena, lsn uint64) string {
	b := a.Reserve(17)
	b = strconv.AppendUint(b, lsn>>32, 16)
	b = append(b, '/')
	b = strconv.AppendUint(b, lsn&0xFFFFFFFF, 16)
	for i, c := range b {
		if 'a' <= c && c <= 'f' {
			b[i] = c - 'a' + 'A'
		}
	}
	return a.Keep(b)
}
