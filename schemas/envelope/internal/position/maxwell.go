package position

import (
	"strings"

	"beamcdc/schemas/change"
)

// Maxwell returns the sequence of a change that Maxwell read at a position of the
// binary log, the offset-th row of its transaction. Maxwell gives no offset to
// the row that ends its transaction, which last says.
//
//	epoch / file number / pos / (offset+1)<<1 | ordinal
//	snapshot row (bootstrap-insert): Lowest, it has no position
//
// It is the order of commits. The binary log holds whole transactions, one after
// the other, as they were committed; pos is where the event of the row begins,
// and grows. The rows of one event share it, and are of one transaction, in which
// the offset grows and the last row is after all others.
//
// Traps: the time of a message is that of its statement, in seconds, and orders
// nothing. A GTID is none either: those of two servers don't compare. Without
// offsets (output_xoffset=false) rows of one event tie; a statement writes each
// row once, so no key has two of them, but for a key that one row of an event
// leaves and another takes: there the ordinal puts the DELETE first, which is
// what the statement did. After a failover the files are numbered anew: raise
// the epoch.
func Maxwell(epoch, file, pos, offset uint64, last bool, op change.Op) change.Sequence {
	if last {
		offset = MaxRow
	}
	return MySQL(epoch, file, pos, offset, op)
}

// ParseFilePos reads a position in a binary log: "mysql-bin.000042:7310".
func ParseFilePos(text string) (file, pos uint64, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return 0, 0, false
	}
	if file, ok = FileNumber(text[:colon]); !ok {
		return 0, 0, false
	}
	pos, ok = ParseUint(text[colon+1:])
	return file, pos, ok
}
