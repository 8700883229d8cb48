package position

import (
	"strings"

	"beamcdc/schemas/change"
)

// MaxWithin is the highest place within a transaction that Oracle takes.
const MaxWithin = 1<<62 - 1

// Oracle returns the sequence of a change by its transaction's commit SCN, its
// own SCN, and its place among the changes of both: txSeq, the number of the
// change in its transaction, or OracleRecord's.
//
// It is the order of commits for each key. A transaction T that writes a row
// after S did so after S's commit, since S had locked the row until then: T's
// SCNs are no lower than S's commit SCN. The greater of the two SCNs matters
// where a connector of several redo threads writes the last commit of the
// change's own thread instead of the change's commit: that can lie before
// another thread's commit, but the change's SCN can't. Within a transaction
// SCNs never fall, and the place tells changes of one SCN apart.
//
// The traps: SCNs are decimal text, which is wrong but valid where it is taken
// for hexadecimal; the SCN alone is the order of statements, not of commits. A
// snapshot's row is what was committed at its SCN, and sorts below all that was
// committed at it or later. Where the connector writes an older commit than the
// change's, a transaction under way at the snapshot sorts below it, as
// PostgreSQL's does.
func Oracle(epoch, commit, scn, within uint64, op change.Op) change.Sequence {
	if op == change.OpSnapshot {
		return change.NewSequence(epoch, scn, 0, 0)
	}
	return change.NewSequence(epoch, max(commit, scn), scn, within<<1|Ordinal(op))
}

// OracleRecord returns a change's place by the redo record that holds it,
// "0004d2.0001f0a3.0090", and its number in that, the SSN. Of the record's three
// numbers the first, the log's, is left out: records of one SCN are in one log,
// since a log ends where its next SCN begins. The others have 32 and 16 bits,
// and 14 are left for the SSN.
func OracleRecord(rsID, ssn string) (within uint64, ok bool) {
	const maxSSN = 1<<14 - 1
	log, rest, split := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rsID), "0x"), ".")
	block, offset, splitAgain := strings.Cut(rest, ".")
	if !split || !splitAgain || len(block) > 8 || len(offset) > 4 {
		return 0, false
	}
	_, logOK := parseHex(log)
	b, blockOK := parseHex(block)
	o, offsetOK := parseHex(offset)
	var n uint64
	ssnOK := ssn == ""
	if !ssnOK {
		n, ssnOK = ParseUint(ssn)
	}
	return b<<30 | o<<14 | n, logOK && blockOK && offsetOK && ssnOK && n <= maxSSN
}
