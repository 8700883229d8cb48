package position

import (
	"strings"

	"beamcdc/schemas/change"
)

// DMS returns the sequence of a change that AWS DMS read at a stream position, the
// record-th of its transaction, and whether it can read that stream position.
//
//	MySQL, MariaDB  "mysql-bin.000042:7310:…"            epoch / file number / pos / (record+1)<<1 | ordinal
//	PostgreSQL      "00000009/1A2B0048.4.00000009/…"     epoch / lsn / record+1 / ordinal
//	full load                                            Lowest, it has no position
//
// MySQL's is the order of commits, as the binary log has it; rows of one event
// share the position and differ in record. PostgreSQL's is the order of the log,
// which for each key is that of commits (see Wal2JSONRecord).
//
// Traps: the commit's timestamp is the statement's for MySQL, in whole seconds,
// and orders nothing there. All tables of a source have positions of one kind, so
// the kinds never meet; a task whose IncludeTransactionDetails is switched on or
// off in between needs a higher epoch.
func DMS(epoch uint64, streamPosition string, record uint64, op change.Op) (change.Sequence, bool) {
	if record >= MaxRow {
		return change.Sequence{}, false
	}
	if first, _, _ := strings.Cut(streamPosition, "."); strings.IndexByte(first, '/') >= 0 {
		if lsn, ok := ParseLSN(first); ok && lsn > 0 {
			return change.NewSequence(epoch, lsn, record+1, Ordinal(op)), true
		}
	}
	name, rest, _ := strings.Cut(streamPosition, ":")
	at, _, _ := strings.Cut(rest, ":")
	file, fileOK := FileNumber(name)
	pos, posOK := ParseUint(at)
	if fileOK && posOK && strings.IndexByte(name, '.') > 0 {
		return MySQL(epoch, file, pos, record, op), true
	}
	return change.Sequence{}, false
}

// DMSCommit returns the sequence of a change whose stream position can't be read,
// by the time of the commit, in microseconds since 1970.
//
//	epoch / commit time / record+1 / ordinal
//
// It is the order of commits as far as the source's clock tells them apart: a
// transaction that follows another on a key commits later. Traps: a clock that
// steps back, and two commits of one key in the same instant of a clock that is
// coarse.
func DMSCommit(epoch, micros, record uint64, op change.Op) change.Sequence {
	return change.NewSequence(epoch, micros, record+1, Ordinal(op))
}
